//! The frames that a port has committed to and not begun to send, by their bytes.

/// First size of the memory: what the smallest piece of memory of an allocator holds.
const CAPACITY_MIN: usize = 8;

/// First in, first out, with a header of 24 bytes. Frames that wait follow each other without a pause, so that the start of the
/// first and the bytes of each tell when all start: a frame takes two bytes here. The capacity is a power of two, and the memory
/// only grows.
#[derive(Debug, Default)]
pub(super) struct Departures {
    places: Box<[u16]>,
    first: u32,
    len: u32,
}

impl Departures {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes of all, the earliest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len).map(|behind| u32::from(self.places[self.place(behind) as usize]))
    }

    /// The earliest starts. There must be one. Returns its bytes.
    #[inline]
    pub(super) fn pop(&mut self) -> u32 {
        debug_assert!(self.len > 0, "a frame waits");
        let bytes = self.places[self.first as usize];
        self.first = self.place(1);
        self.len -= 1;
        u32::from(bytes)
    }

    /// A frame of at most 65535 bytes starts when the one before it is over.
    #[inline]
    pub(super) fn push(&mut self, bytes: u32) {
        debug_assert!(bytes <= u32::from(u16::MAX), "no frame is longer");
        if self.len() == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len) as usize;
        self.places[place] = bytes as u16;
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
        let mut larger = vec![0; (2 * self.places.len()).max(CAPACITY_MIN)];
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
                    departures.push(n);
                    model.push_back(n);
                } else if !departures.is_empty() {
                    prop_assert_eq!(Some(departures.pop()), model.pop_front());
                }
                prop_assert_eq!((departures.len(), departures.is_empty()), (model.len(), model.is_empty()));
                prop_assert!(departures.iter().eq(model.iter().copied()));
            }
        }
    }
}
