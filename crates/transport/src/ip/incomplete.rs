//! One datagram of which fragments are missing.

use tailrace_wire::{Ecn, Fragment};

/// The result of a fragment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Put {
    /// It waits for the others.
    Waits,
    /// It was there already.
    Duplicate,
    /// It contradicts earlier fragments: the datagram is given up (RFC 5722, which Linux applies to
    /// IPv4).
    Broken,
    /// Nothing is missing.
    Complete,
}

/// Progress of a datagram.
#[derive(Clone, Debug, Default)]
pub(super) struct Incomplete {
    /// Pieces without gaps, in order: first byte, and the byte behind the last. The memory is used
    /// again.
    runs: Vec<(u32, u32)>,
    /// The end of the last fragment, or of the furthest that has come.
    length: u32,
    has_last: bool,
    is_marked: bool,
    is_capable: bool,
    /// Memory of its fragments.
    pub(super) memory: u64,
    /// Fragments that had come from its source when its own last came.
    pub(super) arrived: u32,
}

impl Incomplete {
    /// Nothing has come of it.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        (self.length, self.has_last, self.is_marked, self.is_capable) = (0, false, false, false);
    }

    pub(super) fn holds_any(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Bytes of IP payload, as far as they are known.
    pub(super) fn bytes(&self) -> u32 {
        self.length
    }

    /// The congestion bits of the whole (RFC 3168 section 5.3): marked if any fragment is.
    pub(super) fn ecn(&self) -> Ecn {
        match (self.is_marked, self.is_capable) {
            (true, _) => Ecn::Ce,
            (false, true) => Ecn::Ect0,
            (false, false) => Ecn::NotEct,
        }
    }

    pub(super) fn put(&mut self, fragment: &Fragment, ecn: Ecn) -> Put {
        let (start, end) = (fragment.offset, fragment.offset + fragment.bytes);
        let is_beyond = end > self.length;
        let contradicts = if fragment.more {
            is_beyond && self.has_last
        } else {
            end < self.length || self.has_last && end != self.length
        };
        if contradicts {
            return Put::Broken;
        }
        self.has_last |= !fragment.more;
        self.length = self.length.max(end);
        match self.insert(start, end) {
            Put::Waits if self.has_last && self.runs == [(0, self.length)] => {}
            other => {
                self.note(ecn);
                return other;
            }
        }
        self.note(ecn);
        Put::Complete
    }

    fn note(&mut self, ecn: Ecn) {
        self.is_marked |= ecn == Ecn::Ce;
        self.is_capable |= ecn != Ecn::NotEct;
    }

    /// Adds a piece, joined with those that it touches.
    fn insert(&mut self, start: u32, end: u32) -> Put {
        let index = self.runs.partition_point(|run| run.1 < start);
        let Some(&(first, behind)) = self.runs.get(index) else {
            self.runs.push((start, end));
            return Put::Waits;
        };
        if first <= start && end <= behind {
            return Put::Duplicate;
        }
        let next = self.runs.get(index + 1).map_or(u32::MAX, |run| run.0);
        if first < end && start < behind || next < end {
            return Put::Broken;
        }
        if behind == start {
            self.runs[index].1 = end;
            if next == end {
                self.runs[index].1 = self.runs.remove(index + 1).1;
            }
        } else if first == end {
            self.runs[index].0 = start;
        } else {
            self.runs.insert(index, (start, end));
        }
        Put::Waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(offset: u32, bytes: u32, more: bool) -> Fragment {
        Fragment { source: 0, id: 0, offset, bytes, more, datagram_hash: 0 }
    }

    /// The results of these fragments of 8 bytes each, by their positions; the one at 4 is the
    /// last.
    fn put(indices: &[u32]) -> Vec<Put> {
        let mut own = Incomplete::default();
        indices
            .iter()
            .map(|&index| own.put(&fragment(8 * index, 8, index != 4), Ecn::NotEct))
            .collect()
    }

    #[test]
    fn fragments_in_any_order_are_a_whole_once_all_have_come() {
        use Put::{Complete, Duplicate, Waits};
        assert_eq!(put(&[0, 1, 2, 3, 4]), [Waits, Waits, Waits, Waits, Complete]);
        assert_eq!(put(&[4, 2, 0, 3, 1]), [Waits, Waits, Waits, Waits, Complete]);
        assert_eq!(
            put(&[3, 1, 3, 0, 4, 1, 2]),
            [Waits, Waits, Duplicate, Waits, Waits, Duplicate, Complete]
        );
    }

    /// The order of Linux's own test (tools/testing/selftests/net/ip_defrag.c): the header of UDP
    /// is a fragment of its own; every second fragment of the payload comes before it, the others
    /// come after it.
    #[test]
    fn every_second_fragment_then_the_header_then_the_others_are_a_whole() {
        for payload in [1, 7, 8, 9, 4_095, 8_192, 59_999] {
            for each in (8..=1_496_u32).step_by(248).filter(|&each| each <= payload.max(8)) {
                let pieces: Vec<Fragment> = (0..payload)
                    .step_by(each as usize)
                    .map(|at| fragment(8 + at, each.min(payload - at), at + each < payload))
                    .collect();
                let (first, then) = (pieces.iter().step_by(2), pieces.iter().skip(1).step_by(2));
                let order: Vec<Fragment> =
                    first.copied().chain([fragment(0, 8, true)]).chain(then.copied()).collect();
                let mut own = Incomplete::default();
                let put: Vec<Put> = order.iter().map(|piece| own.put(piece, Ecn::NotEct)).collect();
                let (last, before) = put.split_last().expect("there is a header");
                assert_eq!(
                    (*last, own.bytes()),
                    (Put::Complete, 8 + payload),
                    "{payload} bytes in fragments of {each}"
                );
                assert!(before.iter().all(|put| *put == Put::Waits));
            }
        }
    }

    #[test]
    fn what_overlaps_or_lies_beyond_the_last_breaks_the_datagram() {
        let mut own = Incomplete::default();
        assert_eq!(own.put(&fragment(16, 16, true), Ecn::NotEct), Put::Waits);
        assert_eq!(own.put(&fragment(8, 16, true), Ecn::NotEct), Put::Broken);
        let mut own = Incomplete::default();
        assert_eq!(own.put(&fragment(16, 8, false), Ecn::NotEct), Put::Waits);
        assert_eq!(own.put(&fragment(24, 8, true), Ecn::NotEct), Put::Broken);
        assert_eq!(own.put(&fragment(8, 8, false), Ecn::NotEct), Put::Broken);
    }

    #[test]
    fn one_marked_fragment_marks_the_whole() {
        let mut own = Incomplete::default();
        own.put(&fragment(0, 8, true), Ecn::Ect0);
        assert_eq!(own.ecn(), Ecn::Ect0);
        own.put(&fragment(8, 8, true), Ecn::Ce);
        own.put(&fragment(16, 8, false), Ecn::Ect0);
        assert_eq!(own.ecn(), Ecn::Ce);
    }
}
