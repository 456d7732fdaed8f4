//! What happens next: one pending time per source, in a tournament tree.
//!
//! Events belong to wires, sockets and programs, not to packets, so the set is small and fixed, and each member has at
//! most one time. The tree of winners finds the earliest and moves any member in log4(n) steps of which every load is
//! known beforehand, so they run in parallel; a member that is armed anew leaves nothing behind.
//!
//! Ties have an order: the lower source goes first. So the order of insertion does not matter.

use tailrace_units::{Span, Time};

/// Index of a source. Lower goes first among equal times.
pub(crate) type Source = u32;

/// A node of the tree is one word: the time since `base` above, the source below.
const SOURCE_BITS: u32 = 20;
/// Most sources: wires, generators and sockets together.
pub(crate) const SOURCES_MAX: usize = 1 << SOURCE_BITS;
/// Times this far ahead of `base` (17.6 s) or further share one place; when they are all that is left, `base` moves.
const FAR: u64 = (1 << (64 - SOURCE_BITS)) - 1;

/// Children of a node.
const WAYS: usize = 4;

/// The pending times of all sources.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// The nodes, root first, level by level. A slot holds the least key of the node below it or, from slot
    /// `nodes - 1` on, the key of a source: low sources, which are the wires, lie near the root.
    nodes: Vec<[u64; WAYS]>,
    /// The least key of all.
    least: u64,
    /// The whole time of each source.
    due: Vec<Time>,
    base: Time,
}

impl Agenda {
    pub(crate) fn new(sources: usize) -> Agenda {
        assert!(sources <= SOURCES_MAX, "a world has at most {SOURCES_MAX} wires, generators and sockets");
        // Every node but the root takes one slot of another, and each source takes one.
        let nodes = sources.saturating_sub(1).div_ceil(WAYS - 1).max(1);
        let due = vec![Time::NEVER; nodes * (WAYS - 1) + 1];
        let mut agenda = Agenda { nodes: vec![[u64::MAX; WAYS]; nodes], least: u64::MAX, due, base: Time::ZERO };
        agenda.rebuild();
        agenda
    }

    fn rebuild(&mut self) {
        let first = self.nodes.len() - 1;
        for slot in (0..self.nodes.len() * WAYS).rev() {
            let key = match slot.checked_sub(first) {
                Some(source) => self.key(source as Source, self.due[source]),
                None => least_of(&self.nodes[slot + 1]),
            };
            self.nodes[slot / WAYS][slot % WAYS] = key;
        }
        self.least = least_of(&self.nodes[0]);
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
        let mut grown = Agenda::new(sources.next_power_of_two().min(SOURCES_MAX).max(sources));
        grown.base = self.base;
        grown.due[..self.due.len()].copy_from_slice(&self.due);
        grown.rebuild();
        *self = grown;
    }

    /// The earliest time and its source.
    #[inline]
    pub(crate) fn next(&mut self) -> (Time, Source) {
        if self.least >> SOURCE_BITS == FAR {
            return self.next_far();
        }
        let source = (self.least & (SOURCES_MAX as u64 - 1)) as Source;
        (self.base + Span::from_ps(self.least >> SOURCE_BITS), source)
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
        let mut slot = self.nodes.len() - 1 + source as usize;
        loop {
            let node = slot / WAYS;
            let keys = &mut self.nodes[node];
            let way = slot % WAYS;
            keys[way] = winner;
            // The other three are loaded before the winner from below is known.
            winner = winner.min(keys[way ^ 1].min(keys[way ^ 2]).min(keys[way ^ 3]));
            if node == 0 {
                break;
            }
            slot = node - 1;
        }
        self.least = winner;
    }
}

fn least_of(keys: &[u64; WAYS]) -> u64 {
    keys.iter().copied().fold(u64::MAX, u64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

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
