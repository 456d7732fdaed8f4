//! Records of the segments in flight, oldest first, in a ring that is never freed while the
//! connection lives.

use tailrace_units::{Time, prefetch};

/// The peer holds it out of order.
pub(crate) const SACKED: u64 = 1;
/// Taken for lost.
pub(crate) const LOST: u64 = 2;
/// A retransmission of it is in flight.
pub(crate) const RETRANSMISSION_OUT: u64 = 4;
/// It was sent more than once.
pub(crate) const EVER_RETRANSMITTED: u64 = 8;
/// Low bits of a record's word that hold flags; the rest is an offset, below 2^56.
const FLAG_BITS: u32 = 8;
/// The flags of a record's word.
const FLAG_MASK: u64 = (1 << FLAG_BITS) - 1;
/// Records of a connection's first ring: one initial window and a little.
const FIRST_CAPACITY: usize = 16;

/// One segment in flight, in 16 bytes: when it was last sent, where it ends, and its flags.
#[derive(Clone, Copy, Default)]
pub(crate) struct Record {
    pub(crate) sent: Time,
    end_and_flags: u64,
}

impl Record {
    #[inline]
    pub(crate) fn end(self) -> u64 {
        self.end_and_flags >> FLAG_BITS
    }
    #[inline]
    pub(crate) fn flags(self) -> u64 {
        self.end_and_flags & FLAG_MASK
    }
    #[inline]
    pub(crate) fn has(self, flag: u64) -> bool {
        self.end_and_flags & flag != 0
    }
    #[inline]
    pub(crate) fn set(&mut self, flags: u64) {
        self.end_and_flags |= flags;
    }
    #[inline]
    pub(crate) fn clear(&mut self, flags: u64) {
        self.end_and_flags &= !flags;
    }
}

/// Records are numbered from the start of the connection, so that a number stays valid while the
/// ring moves and grows.
#[derive(Default)]
pub(crate) struct SegmentRing {
    /// A power of two of slots, or none before the first segment.
    records: Vec<Record>,
    /// Number of the oldest record in flight.
    pub(crate) head: u64,
    /// Number of the next record.
    pub(crate) tail: u64,
    /// Where the oldest record starts.
    base: u64,
}

impl SegmentRing {
    /// An empty ring; the first segment will start at `base`.
    pub(crate) fn new(base: u64) -> SegmentRing {
        SegmentRing { base, ..SegmentRing::default() }
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        (self.tail - self.head) as u32
    }
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.tail == self.head
    }
    #[inline]
    fn index(&self, number: u64) -> usize {
        number as usize & (self.records.len() - 1)
    }
    #[inline]
    pub(crate) fn get(&self, number: u64) -> Record {
        self.records[self.index(number)]
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u64) -> &mut Record {
        let index = self.index(number);
        &mut self.records[index]
    }

    /// The oldest record is wanted soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        if !self.is_empty() {
            prefetch(&self.records, self.index(self.head));
        }
    }

    /// Where record `number` starts: segments follow each other without gaps.
    #[inline]
    pub(crate) fn start_of(&self, number: u64) -> u64 {
        if number == self.head { self.base } else { self.get(number - 1).end() }
    }

    /// Adds the segment that ends at `end`.
    #[inline]
    pub(crate) fn push(&mut self, sent: Time, end: u64) {
        if self.tail - self.head == self.records.len() as u64 {
            self.grow();
        }
        let index = self.index(self.tail);
        self.records[index] = Record { sent, end_and_flags: end << FLAG_BITS };
        self.tail += 1;
    }

    /// Removes the oldest record, which must exist.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.base = self.get(self.head).end();
        self.head += 1;
    }

    /// The first record that ends after `seq`, or `tail`.
    pub(crate) fn find(&self, seq: u64) -> u64 {
        let (mut low, mut high) = (self.head, self.tail);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).end() > seq {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.records.len() * 2).max(FIRST_CAPACITY);
        let mut larger = vec![Record::default(); capacity];
        for number in self.head..self.tail {
            larger[number as usize & (capacity - 1)] = self.get(number);
        }
        self.records = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_its_number_while_the_ring_grows_and_moves() {
        let mut ring = SegmentRing::new(1);
        for i in 0..100 {
            ring.push(Time::from_ps(i), 1 + (i + 1) * 10);
            if i % 3 == 0 {
                ring.pop();
            }
        }
        assert_eq!(ring.len(), 66);
        for number in ring.head..ring.tail {
            assert_eq!(ring.get(number).sent.ps(), number);
            assert_eq!(ring.start_of(number), 1 + number * 10);
            assert_eq!(ring.find(ring.start_of(number)), number);
            assert_eq!(ring.find(ring.start_of(number) + 9), number);
        }
    }
}
