//! What happens next: one pending time per source, in a tournament tree.
//!
//! Events belong to wires, sockets and programs, not to packets, so the set is small and fixed, and each member has at
//! most one time. The tree of winners finds the earliest and moves any member in log2(n) comparisons of which every load
//! is known beforehand, so they run in parallel; a member that is armed anew leaves nothing behind.
//!
//! Ties have an order: the lower source goes first. So the order of insertion does not matter.

use tailrace_units::Time;

/// Index of a source. Lower goes first among equal times.
pub(crate) type Source = u32;

/// A node of the tree is one word: the time since `base` above, the source below.
const SOURCE_BITS: u32 = 20;
/// Most sources: wires, generators and sockets together.
pub(crate) const SOURCES_MAX: usize = 1 << SOURCE_BITS;
/// Times this far ahead of `base` (17.6 s) or further share one place; when they are all that is left, `base` moves.
const FAR: u64 = (1 << (64 - SOURCE_BITS)) - 1;

/// The pending times of all sources.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// Node 1 is the root; leaves begin at the middle. Each holds the least key below it.
    keys: Vec<u64>,
    /// The whole time of each source.
    due: Vec<Time>,
    base: Time,
}

impl Agenda {
    pub(crate) fn new(sources: usize) -> Agenda {
        let leaves = sources.next_power_of_two().max(2);
        assert!(leaves <= SOURCES_MAX, "a world has at most {SOURCES_MAX} wires, generators and sockets");
        let mut agenda = Agenda { keys: vec![0; 2 * leaves], due: vec![Time::NEVER; leaves], base: Time::ZERO };
        agenda.rebuild();
        agenda
    }

    fn rebuild(&mut self) {
        let leaves = self.due.len();
        for source in 0..leaves {
            self.keys[leaves + source] = self.key(source as Source, self.due[source]);
        }
        for node in (1..leaves).rev() {
            self.keys[node] = self.keys[2 * node].min(self.keys[2 * node + 1]);
        }
    }

    #[inline]
    fn key(&self, source: Source, at: Time) -> u64 {
        at.since(self.base).ps().min(FAR) << SOURCE_BITS | u64::from(source)
    }

    /// Makes room for at least this many sources; pending times stay.
    pub(crate) fn grow(&mut self, sources: usize) {
        if sources <= self.due.len() {
            return;
        }
        let mut grown = Agenda::new(sources);
        grown.base = self.base;
        grown.due[..self.due.len()].copy_from_slice(&self.due);
        grown.rebuild();
        *self = grown;
    }

    /// The earliest time and its source.
    #[inline]
    pub(crate) fn next(&mut self) -> (Time, Source) {
        let root = self.keys[1];
        if root >> SOURCE_BITS == FAR {
            return self.next_far();
        }
        let source = (root & (SOURCES_MAX as u64 - 1)) as Source;
        (self.base + tailrace_units::Span::from_ps(root >> SOURCE_BITS), source)
    }

    /// Everything pending is far from `base`: moves it to the earliest.
    #[cold]
    fn next_far(&mut self) -> (Time, Source) {
        let (at, source) = self.due.iter().zip(0..).map(|(&at, source)| (at, source)).min().expect("there are sources");
        if !at.is_never() {
            self.base = at;
            self.rebuild();
        }
        (at, source)
    }

    /// When this source is due.
    #[inline]
    pub(crate) fn due(&self, source: Source) -> Time {
        self.due[source as usize]
    }

    /// Sets the time of a source, earlier or later, but not before what was [`Agenda::next`]; [`Time::NEVER`] takes it out.
    #[inline]
    pub(crate) fn arm(&mut self, source: Source, at: Time) {
        debug_assert!(at >= self.base, "nothing is due before what is over");
        self.due[source as usize] = at;
        let mut winner = self.key(source, at);
        let mut node = self.due.len() + source as usize;
        let keys = self.keys.as_mut_slice();
        keys[node] = winner;
        while node > 1 {
            winner = winner.min(keys[node ^ 1]);
            node >>= 1;
            keys[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use tailrace_units::Span;

    proptest! {
        #[test]
        fn the_earliest_is_next_whatever_was_armed_before(arms in proptest::collection::vec((0_u32..37, 0_u64..50, any::<bool>()), 1..400)) {
            let mut agenda = Agenda::new(3);
            agenda.grow(37);
            let mut model = [u64::MAX; 37];
            let mut now = 0;
            for (source, at, is_far) in arms {
                // Steps of seconds reach beyond what one base can hold.
                let ahead = if is_far { Span::from_secs(at) } else { Span::from_ps(at) };
                let at = if at == 49 { u64::MAX } else { now + ahead.ps() };
                agenda.arm(source, Time::from_ps(at));
                model[source as usize] = at;
                let set: BTreeSet<(u64, u32)> = model.iter().zip(0..).map(|(&at, source)| (at, source)).collect();
                let (at, source) = *set.first().expect("not empty");
                let next = agenda.next();
                prop_assert_eq!(next.0, Time::from_ps(at));
                if at != u64::MAX {
                    prop_assert_eq!(next.1, source);
                    now = at;
                }
            }
        }
    }
}
