//! The sRGB curve (IEC 61966-2-1) from linear light to whole numbers, exactly rounded from `f64`.

use std::sync::OnceLock;

/// Encodes a linear value, 0 to 1, as the curve says.
fn encoded(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * libm::pow(linear, 1.0 / 2.4) - 0.055 }
}

/// The code of a linear value: `round(curve * full)`, halves to even; below 0 (and NaN) is 0, above 1 is full.
pub(super) fn code(linear: f32, full: u32) -> u32 {
    if linear.is_nan() || linear <= 0.0 {
        return 0;
    }
    libm::rint(encoded(f64::from(linear).min(1.0)) * f64::from(full)) as u32
}

/// [`code`] for every value at once: the least `f32` of each code, and where to start looking.
pub(super) struct Table {
    /// `least[k]` is the least bit pattern whose code is k.
    least: Vec<u32>,
    /// Code of the first value of each bucket of bit patterns.
    first: Vec<u32>,
    shift: u32,
    full: u32,
}

const ONE_BITS: u32 = 1.0_f32.to_bits();

impl Table {
    fn new(full: u32, shift: u32) -> Table {
        let mut least = Vec::with_capacity(full as usize + 1);
        least.push(0);
        for target in 1..=full {
            // Bit patterns of positive floats are ordered as the floats are.
            let (mut low, mut high) = (*least.last().unwrap_or(&0), ONE_BITS);
            while low < high {
                let middle = low + (high - low) / 2;
                if code(f32::from_bits(middle), full) >= target { high = middle } else { low = middle + 1 }
            }
            least.push(low);
        }
        let first =
            (0..=ONE_BITS >> shift).map(|bucket| code(f32::from_bits(bucket << shift), full)).collect();
        Table { least, first, shift, full }
    }

    /// For 8 bits.
    pub(super) fn eight() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Table::new(255, 16))
    }

    /// For 16 bits.
    pub(super) fn sixteen() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Table::new(65535, 12))
    }

    /// The code of a linear value, as [`code`] gives it.
    pub(super) fn code(&self, linear: f32) -> u32 {
        if linear.is_nan() || linear <= 0.0 {
            return 0;
        }
        let bits = linear.to_bits();
        if bits >= ONE_BITS {
            return self.full;
        }
        let mut code = self.first[(bits >> self.shift) as usize];
        while code < self.full && self.least[code as usize + 1] <= bits {
            code += 1;
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of IEC 61966-2-1 at its corners, 18 % grey (0.461356) and half (0.735357), times 255 and 65535.
    #[test]
    fn codes_are_those_of_the_curve() {
        for (linear, eight, sixteen) in [
            (0.0, 0, 0),
            (-1.0, 0, 0),
            (f32::NAN, 0, 0),
            (1e-40, 0, 0),
            (0.18, 118, 30235),
            (0.5, 188, 48192),
            (1.0, 255, 65535),
            (7.0, 255, 65535),
            (f32::INFINITY, 255, 65535),
        ] {
            assert_eq!((code(linear, 255), code(linear, 65535)), (eight, sixteen), "{linear}");
            let table = (Table::eight().code(linear), Table::sixteen().code(linear));
            assert_eq!(table, (eight, sixteen), "{linear}");
        }
    }

    #[test]
    fn the_tables_are_the_curve() {
        for (table, full) in [(Table::eight(), 255), (Table::sixteen(), 65535)] {
            // Both sides of every threshold, and a walk over all exponents.
            for least in &table.least {
                for bits in least.saturating_sub(1)..=(least + 1).min(ONE_BITS) {
                    let linear = f32::from_bits(bits);
                    assert_eq!(table.code(linear), code(linear, full), "{linear:e}");
                }
            }
            for bits in (0..ONE_BITS + 4096).step_by(7919) {
                let linear = f32::from_bits(bits);
                assert_eq!(table.code(linear), code(linear, full), "{linear:e}");
            }
        }
    }

    #[test]
    fn every_code_is_reached_and_none_skipped() {
        for (table, full) in [(Table::eight(), 255), (Table::sixteen(), 65535)] {
            assert_eq!(table.least.len(), full as usize + 1);
            assert!(table.least.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
