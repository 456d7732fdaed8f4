//! The frames that a port has committed to and not begun to send: when each starts, and its bytes.

use tailrace_units::Time;

/// First size of the memory.
const CAPACITY_MIN: usize = 4;

/// First in, first out, with a header of 24 bytes. The capacity is a power of two, and the memory only grows.
#[derive(Debug, Default)]
pub(super) struct Departures {
    places: Box<[(Time, u32)]>,
    first: u32,
    len: u32,
}

impl Departures {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// The earliest.
    #[inline]
    pub(super) fn front(&self) -> Option<(Time, u32)> {
        if self.len == 0 { None } else { self.places.get(self.first as usize).copied() }
    }

    /// All, the earliest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Time, u32)> + '_ {
        (0..self.len).map(|behind| self.places[self.place(behind) as usize])
    }

    /// The earliest starts. There must be one.
    #[inline]
    pub(super) fn pop(&mut self) {
        debug_assert!(self.len > 0, "a frame waits");
        self.first = self.place(1);
        self.len -= 1;
    }

    #[inline]
    pub(super) fn push(&mut self, start: Time, bytes: u32) {
        if self.len() == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len) as usize;
        self.places[place] = (start, bytes);
        self.len += 1;
    }

    /// The place of the one so many behind the first.
    #[inline]
    fn place(&self, behind: u32) -> u32 {
        (self.first + behind) & (self.places.len() as u32 - 1)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = vec![(Time::ZERO, 0); (2 * self.places.len()).max(CAPACITY_MIN)];
        for behind in 0..self.len {
            larger[behind as usize] = self.places[self.place(behind) as usize];
        }
        (self.places, self.first) = (larger.into_boxed_slice(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_is_a_queue(pushes in proptest::collection::vec(any::<bool>(), 0..300)) {
            let mut departures = Departures::default();
            let mut model = VecDeque::new();
            for (is_push, n) in pushes.into_iter().zip(0..) {
                if is_push {
                    departures.push(Time::from_ps(n), 2 * n as u32);
                    model.push_back((Time::from_ps(n), 2 * n as u32));
                } else if departures.front().is_some() {
                    departures.pop();
                    model.pop_front();
                }
                prop_assert_eq!((departures.len(), departures.front()), (model.len(), model.front().copied()));
                prop_assert!(departures.iter().eq(model.iter().copied()));
            }
        }
    }
}
