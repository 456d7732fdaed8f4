//! A queue of frames with their times, in memory that only grows.

/// First size of the memory.
const CAPACITY_MIN: usize = 8;

/// Begins at a cache line, so that a packet of 64 bytes touches one and not two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct CacheLine<T>(T);

/// First in, first out. The capacity is a power of two, so that finding a place is one mask. Keys stand apart from items:
/// who looks for the next key touches no item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring<K, T> {
    keys: Vec<K>,
    items: Vec<CacheLine<T>>,
    first: usize,
    len: usize,
}

impl<K: Copy + Default, T: Copy + Default> Ring<K, T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, key: K, item: &T) {
        if self.is_full() {
            self.grow();
        }
        let place = (self.first + self.len) & (self.keys.len() - 1);
        self.keys[place] = key;
        self.items[place].0 = *item;
        self.len += 1;
    }

    /// Whether [`Ring::push`] needs more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len == self.keys.len()
    }

    /// The key of the first.
    #[inline]
    pub(crate) fn front(&self) -> Option<K> {
        if self.len == 0 { None } else { self.keys.get(self.first).copied() }
    }

    /// The key of the last.
    #[inline]
    pub(crate) fn back(&self) -> Option<K> {
        let last = self.len.checked_sub(1)?;
        self.keys.get((self.first + last) & (self.keys.len() - 1)).copied()
    }

    /// The key of the second.
    #[inline]
    pub(crate) fn second(&self) -> Option<K> {
        if self.len < 2 { None } else { self.keys.get((self.first + 1) & (self.keys.len() - 1)).copied() }
    }

    /// Takes the first away. There must be one.
    #[inline]
    pub(crate) fn pop(&mut self) -> (K, T) {
        debug_assert!(self.len > 0, "something is in the ring");
        let taken = (self.keys[self.first], self.items[self.first].0);
        self.first = (self.first + 1) & (self.keys.len() - 1);
        self.len -= 1;
        taken
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        let place = |at: usize| (self.first + at) & (self.keys.len() - 1);
        (0..self.len).map(move |at| (self.keys[place(at)], &self.items[place(at)].0))
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
        let capacity = (2 * self.keys.len()).max(CAPACITY_MIN);
        let (mut keys, mut items) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        for (key, &item) in self.iter() {
            keys.push(key);
            items.push(CacheLine(item));
        }
        keys.resize(capacity, K::default());
        items.resize(capacity, CacheLine::default());
        (self.keys, self.items, self.first) = (keys, items, 0);
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
}
