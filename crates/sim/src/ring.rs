//! A queue of small things in one block of memory that only grows.

/// First size of the memory.
const CAPACITY_MIN: usize = 8;

/// First in, first out. The capacity is a power of two, so that finding a place is one mask.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring<T> {
    places: Vec<T>,
    first: usize,
    len: usize,
}

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.is_full() {
            self.grow();
        }
        let mask = self.places.len() - 1;
        self.places[(self.first + self.len) & mask] = item;
        self.len += 1;
    }

    /// Whether [`Ring::push`] needs more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len == self.places.len()
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.places.get(self.first) }
    }

    #[inline]
    pub(crate) fn second(&self) -> Option<&T> {
        if self.len < 2 { None } else { self.places.get((self.first + 1) & (self.places.len() - 1)) }
    }

    /// Takes the first away. There must be one.
    #[inline]
    pub(crate) fn drop_front(&mut self) {
        debug_assert!(self.len > 0, "something is in the ring");
        self.first = (self.first + 1) & (self.places.len() - 1);
        self.len -= 1;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|at| &self.places[(self.first + at) & (self.places.len() - 1)])
    }

    /// Takes away those from place `from` up to, without, place `to`.
    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        let kept: Vec<T> = self.iter().enumerate().filter(|(at, _)| !(from..to).contains(at)).map(|(_, &item)| item).collect();
        self.len = 0;
        kept.into_iter().for_each(|item| self.push(item));
    }

    #[cold]
    fn grow(&mut self) {
        let mut grown = Vec::with_capacity((2 * self.places.len()).max(CAPACITY_MIN));
        grown.extend(self.iter().copied());
        grown.resize(grown.capacity(), T::default());
        self.places = grown;
        self.first = 0;
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
                        ring.push(n);
                        model.push_back(n);
                    }
                    4..6 if ring.len() > 0 => {
                        ring.drop_front();
                        model.pop_front();
                    }
                    6 if ring.len() > 3 => {
                        ring.remove(1, 3);
                        model.drain(1..3);
                    }
                    _ => {}
                }
                prop_assert_eq!(ring.front(), model.front());
                prop_assert!(ring.iter().eq(model.iter()));
            }
        }
    }
}
