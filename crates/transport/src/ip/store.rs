//! Where incomplete datagrams are: found by their key, and in the order in which their time is
//! over.

use super::incomplete::Incomplete;
use tailrace_units::{Time, mix64};

/// No slot.
const NONE: u32 = u32::MAX;
/// Chains of slots; a power of two.
const CHAINS: usize = 1 << 10;

/// Identity of a datagram. All are UDP's, and for one host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Key {
    pub(super) source: u16,
    pub(super) id: u16,
}

impl Key {
    fn chain(self) -> usize {
        mix64(u64::from(self.source) << 16 | u64::from(self.id)) as usize % CHAINS
    }
}

#[derive(Clone, Debug, Default)]
struct Slot {
    key: Key,
    due: Time,
    own: Incomplete,
    /// The next of its chain, or the next free one.
    next: u32,
    /// The neighbours by time.
    earlier: u32,
    later: u32,
}

/// Slots that are used again, in chains and in a list by time.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    slots: Vec<Slot>,
    chains: Vec<u32>,
    /// The first free slot, one more than its number; 0 for none.
    free: u32,
    /// The ends of the list by time, one more than their numbers; 0 for none.
    first: u32,
    last: u32,
}

impl Store {
    pub(super) fn get(&mut self, slot: u32) -> &mut Incomplete {
        &mut self.slots[slot as usize].own
    }

    pub(super) fn find(&self, key: Key) -> Option<u32> {
        let mut slot = *self.chains.get(key.chain())?;
        while slot != NONE {
            let found = &self.slots[slot as usize];
            if found.key == key {
                return Some(slot);
            }
            slot = found.next;
        }
        None
    }

    /// A new one. Its time is over no earlier than that of any other.
    pub(super) fn add(&mut self, key: Key, due: Time) -> u32 {
        if self.chains.is_empty() {
            self.chains = vec![NONE; CHAINS];
        }
        let slot = match self.free.checked_sub(1) {
            Some(slot) => {
                self.free = self.slots[slot as usize].next;
                slot
            }
            None => {
                self.slots.push(Slot::default());
                self.slots.len() as u32 - 1
            }
        };
        let chain = &mut self.chains[key.chain()];
        let next = std::mem::replace(chain, slot);
        let own = &mut self.slots[slot as usize];
        (own.key, own.next) = (key, next);
        own.own.clear();
        (own.own.memory, own.own.arrived) = (0, 0);
        self.append(slot, due);
        slot
    }

    /// Its time begins again.
    pub(super) fn put_off(&mut self, slot: u32, due: Time) {
        self.unlink(slot);
        self.append(slot, due);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.unlink(slot);
        let (key, next) = (self.slots[slot as usize].key, self.slots[slot as usize].next);
        let head = &mut self.chains[key.chain()];
        if *head == slot {
            *head = next;
        } else {
            let mut before = *head;
            while self.slots[before as usize].next != slot {
                before = self.slots[before as usize].next;
            }
            self.slots[before as usize].next = next;
        }
        self.slots[slot as usize].next = std::mem::replace(&mut self.free, slot + 1);
    }

    /// One whose time is over by `now`.
    pub(super) fn first_due(&self, now: Time) -> Option<u32> {
        let slot = self.first.checked_sub(1)?;
        (self.slots[slot as usize].due <= now).then_some(slot)
    }

    fn append(&mut self, slot: u32, due: Time) {
        let before = std::mem::replace(&mut self.last, slot + 1);
        match before.checked_sub(1) {
            Some(earlier) => self.slots[earlier as usize].later = slot + 1,
            None => self.first = slot + 1,
        }
        let own = &mut self.slots[slot as usize];
        (own.due, own.earlier, own.later) = (due, before, 0);
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { earlier, later, .. } = self.slots[slot as usize];
        match earlier.checked_sub(1) {
            Some(earlier) => self.slots[earlier as usize].later = later,
            None => self.first = later,
        }
        match later.checked_sub(1) {
            Some(later) => self.slots[later as usize].earlier = earlier,
            None => self.last = earlier,
        }
    }
}
