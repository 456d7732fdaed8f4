//! A table with room for a fixed number of flows. When it is full, the flow that was seen longest
//! ago makes room.

use super::key::Key;

/// No flow.
const NONE: u32 = u32::MAX;
/// Slots for each flow: linear probing stays short while at most half of them are used.
const SLOTS_PER_FLOW: usize = 2;

struct Entry<T> {
    key: Key,
    /// Neighbours in the order in which flows were last seen.
    older: u32,
    newer: u32,
    flow: T,
}

/// Flows by their keys.
pub struct FlowTable<T> {
    /// Part of the hash, and the index of the entry plus one; 0 if there is none.
    slots: Vec<u64>,
    /// Room for all is reserved and not touched: memory is used for the flows that there are.
    entries: Vec<Entry<T>>,
    flows_max: usize,
    newest: u32,
    oldest: u32,
}

impl<T> FlowTable<T> {
    /// An empty table for so many flows, at least one.
    pub fn new(flows_max: usize) -> FlowTable<T> {
        assert!((1..NONE as usize).contains(&flows_max), "the options limit the number of flows");
        let slots = (flows_max * SLOTS_PER_FLOW).next_power_of_two();
        FlowTable {
            slots: vec![0; slots],
            entries: Vec::with_capacity(flows_max),
            flows_max,
            newest: NONE,
            oldest: NONE,
        }
    }

    /// The flow with this key, which is the newest then.
    #[inline]
    pub fn find(&mut self, key: &Key) -> Option<&mut T> {
        if self.newest != NONE && self.entries[self.newest as usize].key == *key {
            return Some(&mut self.entries[self.newest as usize].flow);
        }
        let index = self.find_entry(key)?;
        self.unlink(index);
        self.link_newest(index);
        Some(&mut self.entries[index as usize].flow)
    }

    /// Adds a flow, which is not there yet; gives the one that made room.
    pub fn insert(&mut self, key: Key, flow: T) -> Option<(Key, T)> {
        let entry = Entry { key, older: NONE, newer: NONE, flow };
        let (index, evicted) = if self.entries.len() < self.flows_max {
            self.entries.push(entry);
            ((self.entries.len() - 1) as u32, None)
        } else {
            let index = self.oldest;
            self.unlink(index);
            let old = self.entries[index as usize].key;
            self.clear_slot(&old);
            let before = std::mem::replace(&mut self.entries[index as usize], entry);
            (index, Some((before.key, before.flow)))
        };
        let hash = key.hash();
        let mut at = self.home(hash);
        while self.slots[at] != 0 {
            at = self.next(at);
        }
        self.slots[at] = slot(hash, index);
        self.link_newest(index);
        evicted
    }

    /// All flows, in no order that means anything.
    pub fn into_flows(self) -> impl Iterator<Item = (Key, T)> {
        self.entries.into_iter().map(|entry| (entry.key, entry.flow))
    }

    #[inline]
    fn find_entry(&self, key: &Key) -> Option<u32> {
        self.slot_of(key).map(|at| index_of(self.slots[at]))
    }

    /// Where the slot of this key is.
    #[inline]
    fn slot_of(&self, key: &Key) -> Option<usize> {
        let hash = key.hash();
        let mut at = self.home(hash);
        while self.slots[at] != 0 {
            let index = index_of(self.slots[at]);
            if self.slots[at] == slot(hash, index) && self.entries[index as usize].key == *key {
                return Some(at);
            }
            at = self.next(at);
        }
        None
    }

    /// Empties the slot of a key, and moves the slots behind it that would not be found any more.
    fn clear_slot(&mut self, key: &Key) {
        let mut hole = self.slot_of(key).expect("every entry has a slot");
        let mut at = hole;
        loop {
            at = self.next(at);
            if self.slots[at] == 0 {
                break;
            }
            let home = self.home(self.entries[index_of(self.slots[at]) as usize].key.hash());
            let mask = self.slots.len() - 1;
            // A slot may move to the hole unless its home is between the two, cyclically.
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
        }
        self.slots[hole] = 0;
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    #[inline]
    fn unlink(&mut self, index: u32) {
        let (older, newer) =
            (self.entries[index as usize].older, self.entries[index as usize].newer);
        match older {
            NONE => self.oldest = newer,
            _ => self.entries[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.entries[newer as usize].older = older,
        }
    }

    #[inline]
    fn link_newest(&mut self, index: u32) {
        (self.entries[index as usize].older, self.entries[index as usize].newer) =
            (self.newest, NONE);
        match self.newest {
            NONE => self.oldest = index,
            newest => self.entries[newest as usize].newer = index,
        }
        self.newest = index;
    }
}

#[inline]
fn slot(hash: u64, index: u32) -> u64 {
    hash & 0xFFFF_FFFF_0000_0000 | (u64::from(index) + 1)
}

#[inline]
fn index_of(slot: u64) -> u32 {
    (slot as u32) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::Flow;

    #[test]
    fn a_million_flows_have_room_in_480_bytes_each() {
        assert!(
            size_of::<Entry<Flow>>() + SLOTS_PER_FLOW * size_of::<u64>() <= 480,
            "{}",
            size_of::<Entry<Flow>>()
        );
    }
    use proptest::prelude::*;

    fn key(number: u16) -> Key {
        Key::of((u128::from(number), 1), (1 << 100, 2), 6).0
    }

    proptest! {
        #[test]
        fn it_finds_what_a_list_in_order_of_use_finds(
            flows_max in 1_usize..9,
            numbers in proptest::collection::vec(0_u16..12, 0..200),
        ) {
            let mut table = FlowTable::new(flows_max);
            let mut model: Vec<(u16, usize)> = Vec::new();
            for (turn, number) in numbers.into_iter().enumerate() {
                let held = model.iter().position(|one| one.0 == number).map(|at| model.remove(at));
                prop_assert_eq!(table.find(&key(number)).copied(), held.map(|one| one.1));
                let value = held.map_or(turn, |one| one.1);
                if held.is_none() {
                    let evicted = (model.len() == flows_max).then(|| model.remove(0));
                    prop_assert_eq!(
                        table.insert(key(number), turn).map(|one| one.1),
                        evicted.map(|one| one.1)
                    );
                }
                model.push((number, value));
            }
            prop_assert_eq!(table.entries.len(), model.len());
        }
    }
}
