//! In which order a tile's items are lit.

use super::items::Item;
use super::tile::TileContext;
use crate::passes::visibility::NOTHING;

/// Items ordered by instance and, within one, by triangle: eight of one triangle share its corners.
#[derive(Debug, Default)]
pub struct Order {
    slot_of_instance: Vec<u32>,
    instances: Vec<u32>,
    /// First item of each instance in `items`, one more at the end.
    first: Vec<u32>,
    groups: Vec<Group>,
    /// Slots of groups by a hash of their set-up, [`NOTHING`] where free.
    table: Vec<u32>,
    /// Group of each item.
    slots: Vec<u32>,
    /// Item numbers.
    items: Vec<u32>,
}

/// Items of one triangle.
#[derive(Debug, Clone, Copy)]
struct Group {
    setup: u32,
    /// Place in the table.
    place: u32,
    /// Slot of its instance.
    instance: u32,
    count: u32,
    /// Place of its next item.
    next: u32,
}

impl Order {
    /// Groups items; those of a triangle keep their order.
    pub fn sort(&mut self, context: &TileContext<'_>, items: &[Item]) {
        self.slot_of_instance.resize(context.list.instances.len(), NOTHING);
        let room = (2 * items.len()).next_power_of_two().max(self.table.len());
        self.table.resize(room, NOTHING);
        self.instances.clear();
        self.first.clear();
        self.groups.clear();
        self.slots.clear();
        let (mut last_setup, mut last_slot) = (NOTHING, 0);
        for item in items {
            if item.setup != last_setup {
                (last_setup, last_slot) = (item.setup, self.group_of(context, item.setup));
            }
            self.groups[last_slot as usize].count += 1;
            self.slots.push(last_slot);
        }
        for group in &self.groups {
            self.first[group.instance as usize + 1] += group.count;
        }
        for slot in 0..self.instances.len() {
            self.first[slot + 1] += self.first[slot];
        }
        for group in &mut self.groups {
            let at = &mut self.first[group.instance as usize];
            group.next = *at;
            *at += group.count;
        }
        // Each has moved on to where the next one begins.
        self.first.rotate_right(1);
        self.first[0] = 0;
        self.items.clear();
        self.items.resize(items.len(), 0);
        for (k, &slot) in self.slots.iter().enumerate() {
            let at = &mut self.groups[slot as usize].next;
            self.items[*at as usize] = k as u32;
            *at += 1;
        }
        for group in &self.groups {
            self.table[group.place as usize] = NOTHING;
        }
        for &instance in &self.instances {
            self.slot_of_instance[instance as usize] = NOTHING;
        }
    }

    /// Each instance with its items.
    pub fn by_instance(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let items = |slot: usize| &self.items[self.first[slot] as usize..self.first[slot + 1] as usize];
        self.instances.iter().enumerate().map(move |(slot, &instance)| (instance, items(slot)))
    }

    /// The slot of a triangle's group.
    fn group_of(&mut self, context: &TileContext<'_>, setup: u32) -> u32 {
        let last = self.table.len() - 1;
        // Knuth's multiplicative hash: neighbouring ids land far apart.
        let mut place = (setup.wrapping_mul(0x9E37_79B1) >> 8) as usize & last;
        loop {
            let slot = self.table[place];
            if slot == NOTHING {
                break;
            }
            if self.groups[slot as usize].setup == setup {
                return slot;
            }
            place = (place + 1) & last;
        }
        let instance = context.geometry.setup(setup).instance;
        let instance_slot = &mut self.slot_of_instance[instance as usize];
        if *instance_slot == NOTHING {
            *instance_slot = self.instances.len() as u32;
            self.instances.push(instance);
            self.first.resize(self.instances.len() + 1, 0);
        }
        let slot = self.groups.len() as u32;
        self.table[place] = slot;
        self.groups.push(Group { setup, place: place as u32, instance: *instance_slot, count: 0, next: 0 });
        slot
    }
}
