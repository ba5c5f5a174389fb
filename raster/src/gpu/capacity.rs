//! Room in the lists that the device fills: what frames before needed, and more where that was not enough.

use super::layout::{self, Counters};

/// Largest item list: places are packed above a count of seven bits.
const ITEMS_MAX: u64 = 1 << 24;

/// Most items where a storage buffer has `words` and an item takes `item_words` of it; the last workgroup is filled up.
pub(super) fn items_max(words: u64, item_words: u64) -> u64 {
    (words / item_words.max(1)).saturating_sub(u64::from(layout::WORKGROUP)).min(ITEMS_MAX)
}

/// Room in the lists that the device fills.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Capacities {
    pub setups: u64,
    pub clipped: u64,
    pub large: u64,
    pub pairs: u64,
    pub items: u64,
}

impl Capacities {
    /// Makes room for what a band of `pixels` pixels needs at least, of items no more than `items_max`.
    pub fn grow_for(&mut self, pixels: u64, triangles: u64, items_max: u64) {
        self.setups = self.setups.max(triangles + 1024);
        self.clipped = self.clipped.max(1024);
        self.large = self.large.max(1024);
        self.pairs = self.pairs.max(16384);
        self.items = self.items.max(pixels + pixels / 4 + 4096).min(items_max);
    }

    /// Makes room where a list was too short. `words` are the most of a storage buffer.
    pub fn grow(&mut self, wanted: &Counters, words: u64, items_max: u64) -> Shortage {
        let most = u64::from(layout::LIST_WIDTH) * u64::from(layout::ROWS_MAX);
        let geometry = [
            ("set-up triangles", wanted.setups, &mut self.setups, most / u64::from(layout::SETUP_PARTS)),
            ("clipped triangles", wanted.clipped, &mut self.clipped, words),
        ];
        let mut short = Shortage::None;
        for (what, wanted, capacity, most) in geometry {
            short = short.or(grow(what, wanted, capacity, most, Shortage::Geometry));
        }
        let band = [
            ("large triangles", wanted.large, &mut self.large, words),
            ("triangles in tiles", wanted.pairs, &mut self.pairs, most),
            ("fragments", wanted.items, &mut self.items, items_max),
        ];
        for (what, wanted, capacity, most) in band {
            short = short.or(grow(what, wanted, capacity, most, Shortage::Band));
        }
        short
    }

    /// Whether everything that was wanted had room.
    pub fn suffice(&self, c: &Counters) -> bool {
        u64::from(c.setups) <= self.setups
            && u64::from(c.clipped) <= self.clipped
            && u64::from(c.large) <= self.large
            && u64::from(c.pairs) <= self.pairs
            && u64::from(c.items) <= self.items
    }
}

/// What a band lacked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shortage {
    None,
    /// Room for the band's lists, which was made.
    Band,
    /// Room for the frame's lists, which was made.
    Geometry,
    /// More room than there can be.
    TooMuch {
        what: &'static str,
        wanted: u64,
        got: u64,
    },
}

impl Shortage {
    /// The worse of two; geometry is first to be known whole.
    fn or(self, other: Shortage) -> Shortage {
        match (self, other) {
            (Shortage::None, other) => other,
            (Shortage::Band, Shortage::TooMuch { .. }) => other,
            (first, _) => first,
        }
    }
}

fn grow(what: &'static str, wanted: u32, capacity: &mut u64, most: u64, short: Shortage) -> Shortage {
    let wanted = u64::from(wanted);
    if wanted <= *capacity {
        return Shortage::None;
    }
    if wanted > most {
        return Shortage::TooMuch { what, wanted, got: most };
    }
    *capacity = (wanted + wanted / 4).min(most);
    short
}
