//! A queue of frames with their times, in memory that only grows.

/// A key and its item stand together, without a gap: what follows each other in the queue shares cache lines.
#[derive(Clone, Copy, Debug, Default)]
struct Slot<K, T> {
    key: K,
    item: T,
}

/// First size of the memory.
const CAPACITY_MIN: usize = 4;

/// First in, first out, with a header of 24 bytes. The capacity is a power of two, so that finding a place is one mask. A
/// queue that becomes empty begins anew at the start of its memory: while it is short it stays in the same cache lines,
/// however much memory it once needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring<K, T> {
    slots: Box<[Slot<K, T>]>,
    first: u32,
    len: u32,
}

impl<K: Copy + Default, T: Copy + Default> Ring<K, T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The place of the one so many behind the first.
    #[inline]
    fn place(&self, behind: usize) -> usize {
        (self.first as usize + behind) & (self.slots.len() - 1)
    }

    #[inline]
    pub(crate) fn push(&mut self, key: K, item: &T) {
        if self.is_full() {
            self.grow();
        }
        let place = self.place(self.len());
        let slot = &mut self.slots[place];
        slot.key = key;
        slot.item = *item;
        self.len += 1;
    }

    /// Whether [`Ring::push`] needs more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len() == self.slots.len()
    }

    /// The key of the first.
    #[inline]
    pub(crate) fn front(&self) -> Option<K> {
        if self.len == 0 { None } else { self.slots.get(self.first as usize).map(|slot| slot.key) }
    }

    /// The key of the last.
    #[inline]
    pub(crate) fn back(&self) -> Option<K> {
        let last = self.len().checked_sub(1)?;
        self.slots.get(self.place(last)).map(|slot| slot.key)
    }

    /// The key of the second.
    #[inline]
    pub(crate) fn second(&self) -> Option<K> {
        if self.len < 2 { None } else { self.slots.get(self.place(1)).map(|slot| slot.key) }
    }

    /// Takes the first away. There must be one.
    #[inline]
    pub(crate) fn pop(&mut self) -> (K, T) {
        debug_assert!(self.len > 0, "something is in the ring");
        let slot = &self.slots[self.first as usize];
        let taken = (slot.key, slot.item);
        self.len -= 1;
        self.first = if self.len == 0 { 0 } else { self.place(1) as u32 };
        taken
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        (0..self.len()).map(|behind| {
            let slot = &self.slots[self.place(behind)];
            (slot.key, &slot.item)
        })
    }

    /// Takes away those from place `from` up to, without, place `to`.
    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        let kept = self.iter().enumerate().filter(|(at, _)| !(from..to).contains(at));
        let kept: Vec<(K, T)> = kept.map(|(_, (key, &item))| (key, item)).collect();
        self.len = 0;
        kept.iter().for_each(|(key, item)| self.push(*key, item));
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = Vec::with_capacity((2 * self.slots.len()).max(CAPACITY_MIN));
        slots.extend(self.iter().map(|(key, &item)| Slot { key, item }));
        slots.resize(slots.capacity(), Slot::default());
        (self.slots, self.first) = (slots.into_boxed_slice(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_is_a_queue(steps in proptest::collection::vec(0_u8..7, 0..300)) {
            let mut ring = Ring::default();
            let mut model = VecDeque::new();
            for (n, step) in steps.into_iter().enumerate() {
                match step {
                    0..4 => {
                        ring.push(n, &(2 * n));
                        model.push_back((n, 2 * n));
                    }
                    4..6 if ring.len() > 0 => prop_assert_eq!(Some(ring.pop()), model.pop_front()),
                    6 if ring.len() > 3 => {
                        ring.remove(1, 3);
                        model.drain(1..3);
                    }
                    _ => {}
                }
                prop_assert_eq!(ring.front(), model.front().map(|first| first.0));
                prop_assert_eq!(ring.back(), model.back().map(|last| last.0));
                prop_assert_eq!(ring.second(), model.get(1).map(|second| second.0));
                prop_assert!(ring.iter().map(|(key, &item)| (key, item)).eq(model.iter().copied()));
            }
        }
    }

    #[test]
    fn memory_doubles() {
        let mut ring = Ring::default();
        let mut capacities = vec![ring.slots.len()];
        for n in 0..90 {
            ring.push(n, &n);
            if ring.slots.len() != capacities[capacities.len() - 1] {
                capacities.push(ring.slots.len());
            }
        }
        assert_eq!(capacities, [0, 4, 8, 16, 32, 64, 128]);
    }
}
