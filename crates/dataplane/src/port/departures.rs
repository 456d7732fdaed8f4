//! The frames that a port has committed to and not begun to send, by their bytes.

/// First size of the memory: what the smallest piece of memory of an allocator holds.
const CAPACITY_MIN: usize = 8;

/// First in, first out, with a header of 32 bytes. Frames that wait follow each other without a
/// pause, so that the start of the first and the bytes of each tell when all start: a frame takes
/// two bytes here. The capacity is a power of two, and the memory only grows. The earliest stands
/// in the header: whoever takes it need not wait for memory that is in no cache.
#[derive(Debug, Default)]
pub(super) struct Departures {
    /// Those behind the earliest.
    places: Box<[u16]>,
    first: u32,
    /// Of all.
    len: u32,
    earliest: u16,
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
        let earliest = (!self.is_empty()).then_some(self.earliest);
        let behind = (1..self.len).map(|number| self.places[self.place(number - 1) as usize]);
        earliest.into_iter().chain(behind).map(u32::from)
    }

    /// The earliest starts. There must be one. Returns its bytes.
    #[inline]
    pub(super) fn pop(&mut self) -> u32 {
        debug_assert!(self.len > 0, "a frame waits");
        let bytes = self.earliest;
        self.len -= 1;
        if self.len > 0 {
            self.earliest = self.places[self.first as usize];
            self.first = self.place(1);
        }
        u32::from(bytes)
    }

    /// A frame of at most 65535 bytes starts when the one before it is over.
    #[inline]
    pub(super) fn push(&mut self, bytes: u32) {
        debug_assert!(bytes <= u32::from(u16::MAX), "no frame is longer");
        self.len += 1;
        if self.len == 1 {
            self.earliest = bytes as u16;
            return;
        }
        if self.len() - 2 == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len - 2) as usize;
        self.places[place] = bytes as u16;
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
        for behind in 0..self.places.len() as u32 {
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
            for (is_push, n) in pushes.into_iter().zip(1..) {
                if is_push {
                    departures.push(n);
                    model.push_back(n);
                } else if !departures.is_empty() {
                    prop_assert_eq!(Some(departures.pop()), model.pop_front());
                }
                prop_assert_eq!(
                    (departures.len(), departures.is_empty()),
                    (model.len(), model.is_empty())
                );
                prop_assert!(departures.iter().eq(model.iter().copied()));
            }
        }
    }
}
