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

/// The pending times of all sources.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// Node 1 is the root; leaves begin at `leaves`. Each holds `time << 32 | source` of the earliest below it.
    nodes: Vec<u128>,
    leaves: usize,
}

const fn entry(at: Time, source: Source) -> u128 {
    (at.ps() as u128) << 32 | source as u128
}

impl Agenda {
    pub(crate) fn new(sources: usize) -> Agenda {
        let leaves = sources.next_power_of_two().max(2);
        let mut agenda = Agenda { nodes: vec![entry(Time::NEVER, Source::MAX); 2 * leaves], leaves };
        for source in 0..leaves {
            agenda.nodes[leaves + source] = entry(Time::NEVER, source as Source);
        }
        agenda.rebuild();
        agenda
    }

    fn rebuild(&mut self) {
        for node in (1..self.leaves).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }

    /// Makes room for at least this many sources; pending times stay.
    pub(crate) fn grow(&mut self, sources: usize) {
        if sources <= self.leaves {
            return;
        }
        let mut grown = Agenda::new(sources);
        grown.nodes[grown.leaves..grown.leaves + self.leaves].copy_from_slice(&self.nodes[self.leaves..]);
        grown.rebuild();
        *self = grown;
    }

    /// The earliest time and its source.
    #[inline]
    pub(crate) fn next(&self) -> (Time, Source) {
        let root = self.nodes[1];
        (Time::from_ps((root >> 32) as u64), root as Source)
    }

    /// When this source is due.
    #[inline]
    pub(crate) fn due(&self, source: Source) -> Time {
        Time::from_ps((self.nodes[self.leaves + source as usize] >> 32) as u64)
    }

    /// Sets the time of a source, earlier or later; [`Time::NEVER`] takes it out.
    #[inline]
    pub(crate) fn arm(&mut self, source: Source, at: Time) {
        let mut node = self.leaves + source as usize;
        let mut winner = entry(at, source);
        self.nodes[node] = winner;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node >>= 1;
            self.nodes[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_earliest_is_next_whatever_was_armed_before(arms in proptest::collection::vec((0_u32..37, 0_u64..50), 1..400)) {
            let mut agenda = Agenda::new(3);
            agenda.grow(37);
            let mut model = [u64::MAX; 37];
            for (source, at) in arms {
                let at = if at == 49 { u64::MAX } else { at };
                agenda.arm(source, Time::from_ps(at));
                model[source as usize] = at;
                let set: BTreeSet<(u64, u32)> = model.iter().zip(0..).map(|(&at, source)| (at, source)).collect();
                let (at, source) = *set.first().expect("not empty");
                prop_assert_eq!(agenda.next().0, Time::from_ps(at));
                if at != u64::MAX {
                    prop_assert_eq!(agenda.next().1, source);
                }
            }
        }
    }
}
