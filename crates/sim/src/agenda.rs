//! The agenda of events: one pending time per source, in a tournament tree.
//!
//! Events belong to wires, sockets and programs, not to packets, so the set is small and fixed, and
//! each member has at most one time. The tree of winners finds the earliest and moves any member in
//! log4(n) steps of which every load is known beforehand, so they run in parallel; a member that is
//! armed again leaves no stale entry.
//!
//! Ties have an order: the lower source goes first, so that the order of insertion does not matter.

use crate::failure;
use tailrace_units::{Span, Time};

/// Index of a source. Lower goes first among equal times.
pub(crate) type Source = u32;

/// The index of a wire is its source in the agenda.
pub(crate) fn source_of(wire: usize) -> Source {
    wire as Source
}

/// A node of the tree is one word: the time since `base` above, the source below.
const SOURCE_BITS: u32 = 20;
/// Most sources: wires, generators and sockets together.
pub(crate) const SOURCES_MAX: usize = 1 << SOURCE_BITS;
/// Every link has two wires, and every connection two sockets.
const TOO_MANY: &str = "the trial has more than 524 288 links and open connections together (hint: connections are opened faster than \
                        they end: lower the load of the workloads that open them, or shorten experiment.duration)";
/// Times this far ahead of `base` (17.6 s) or further are stored as one value; when only such times
/// are left, `base` moves.
const FAR: u64 = (1 << (64 - SOURCE_BITS)) - 1;

/// Children of a node.
const WAYS: usize = 4;

/// Wires that are likely to be due shortly, by their sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coming {
    /// The next.
    pub(crate) next: usize,
    /// One of the four slots from which the next source is chosen, one of the sixteen below those,
    /// and so on.
    pub(crate) soon: [usize; STAGES],
}

/// Levels of the tree whose changes are reported to the engine.
const STAGES: usize = 4;

/// The pending times of all sources. The wires, which are armed all the time, have a tree of their
/// own: a small one.
#[derive(Debug)]
pub(crate) struct Agenda {
    wires: Tree,
    others: Tree,
    /// The first source that is not a wire.
    first_other: usize,
    /// The whole time of each source.
    due: Vec<Time>,
    base: Time,
}

impl Agenda {
    /// Sources below `wires` are wires.
    pub(crate) fn new(wires: usize, sources: usize) -> Agenda {
        assert!(
            sources <= SOURCES_MAX,
            "a world has at most {SOURCES_MAX} wires, generators and sockets"
        );
        let (near, far) = (Tree::new(wires), Tree::new(sources - wires));
        let due = vec![Time::NEVER; wires + far.leaves()];
        Agenda { wires: near, others: far, first_other: wires, due, base: Time::ZERO }
    }

    /// Makes room for at least this many sources; pending times stay. Ends the trial where they are
    /// too many: connections that are opened during a trial are not known before.
    pub(crate) fn grow(&mut self, sources: usize) {
        if sources <= self.due.len() {
            return;
        }
        if sources > SOURCES_MAX {
            failure::end_at_limit(TOO_MANY);
        }
        let mut grown = Agenda::new(
            self.first_other,
            sources.next_power_of_two().min(SOURCES_MAX).max(sources),
        );
        grown.due[..self.due.len()].copy_from_slice(&self.due);
        grown.rebuild(self.base);
        *self = grown;
    }

    fn rebuild(&mut self, base: Time) {
        self.base = base;
        for source in 0..self.due.len() {
            self.arm(source as Source, self.due[source]);
        }
    }

    /// The earliest time and its source.
    #[inline]
    pub(crate) fn next(&mut self) -> (Time, Source) {
        let least = self.wires.least.min(self.others.least);
        if least >> SOURCE_BITS >= FAR {
            return self.next_far();
        }
        let source = (least & (SOURCES_MAX as u64 - 1)) as Source;
        (self.base + Span::from_ps(least >> SOURCE_BITS), source)
    }

    /// The earliest time, without moving anything: more may become due before it.
    pub(crate) fn peek(&self) -> Time {
        let least = self.wires.least.min(self.others.least);
        if least >> SOURCE_BITS >= FAR {
            return self.due.iter().copied().min().expect("there are sources");
        }
        self.base + Span::from_ps(least >> SOURCE_BITS)
    }

    /// [`Agenda::next`], if that lies before this time and source.
    #[inline]
    pub(crate) fn next_before(&mut self, bound: (Time, Source)) -> Option<(Time, Source)> {
        if self.wires.least.min(self.others.least) >> SOURCE_BITS >= FAR && self.peek() > bound.0 {
            return None;
        }
        Some(self.next()).filter(|&next| next < bound)
    }

    /// All pending times are far from `base`: moves it to the earliest.
    #[cold]
    fn next_far(&mut self) -> (Time, Source) {
        let (at, source) = self
            .due
            .iter()
            .zip(0..)
            .map(|(&at, source)| (at, source))
            .min()
            .expect("there are sources");
        if !at.is_never() {
            self.rebuild(at);
        }
        (at, source)
    }

    /// When this source is due.
    #[inline]
    pub(crate) fn due(&self, source: Source) -> Time {
        self.due[source as usize]
    }

    #[inline]
    fn key(&self, source: Source, at: Time) -> u64 {
        // Nothing is due before `base`.
        at.ps().wrapping_sub(self.base.ps()).min(FAR) << SOURCE_BITS | u64::from(source)
    }

    /// [`Agenda::arm`] for a wire that was [`Agenda::next`]. Its time becomes later in any case, so
    /// that nothing has to be read, and this stands in the loop that needs it for every event.
    #[inline(always)]
    pub(crate) fn postpone_wire(&mut self, wire: Source, at: Time) {
        debug_assert!((wire as usize) < self.first_other, "wires come first");
        self.due[wire as usize] = at;
        let key = self.key(wire, at);
        let slot = self.wires.slot_of(wire as usize);
        self.wires.raise(slot, key);
    }

    /// The source that is likely to be due soon after a wire was postponed.
    #[inline(always)]
    pub(crate) fn coming(&self, postponed: Source) -> Coming {
        let wire = |key: u64| (key & (SOURCES_MAX as u64 - 1)) as usize;
        Coming {
            next: wire(self.wires.least),
            soon: self.wires.path(self.wires.slot_of(postponed as usize)).map(wire),
        }
    }

    /// [`Agenda::arm`] for a wire without a pending time; one that is pending keeps its time. Its
    /// time becomes earlier in any case.
    #[inline]
    pub(crate) fn arm_idle_wire(&mut self, wire: Source, at: Time) {
        debug_assert!(at >= self.base, "nothing is due before what is over");
        let due = &mut self.due[wire as usize];
        if due.is_never() {
            *due = at;
            let key = self.key(wire, at);
            let slot = self.wires.slot_of(wire as usize);
            self.wires.lower(slot, key);
        }
    }

    /// Sets the time of a source, earlier or later, but not before the last [`Agenda::next`];
    /// [`Time::NEVER`] removes it.
    #[inline]
    pub(crate) fn arm(&mut self, source: Source, at: Time) {
        debug_assert!(at >= self.base, "nothing is due before what is over");
        self.due[source as usize] = at;
        let key = self.key(source, at);
        match (source as usize).checked_sub(self.first_other) {
            None => self.wires.set(source as usize, key),
            Some(leaf) => self.others.set(leaf, key),
        }
    }
}

/// A tree of winners.
#[derive(Debug)]
struct Tree {
    /// The slots of all nodes, root first: those of node n are 4n to 4n + 3. Slot n holds the least
    /// key of node n, or from the number of nodes on, the key of a leaf. So a slot divided by four
    /// is that of its node. Slot 0 would be that of the root, which is `least`, and stays free.
    keys: Vec<u64>,
    /// The least key of all.
    least: u64,
}

impl Tree {
    fn new(leaves: usize) -> Tree {
        // Every node but the root takes one slot of another, one stays free, and each leaf takes
        // one.
        let nodes = leaves.div_ceil(WAYS - 1).max(1);
        Tree { keys: vec![u64::MAX; nodes * WAYS], least: u64::MAX }
    }

    #[inline]
    fn nodes(&self) -> usize {
        self.keys.len() / WAYS
    }

    fn leaves(&self) -> usize {
        self.nodes() * (WAYS - 1)
    }

    #[inline]
    fn slot_of(&self, leaf: usize) -> usize {
        self.nodes() + leaf
    }

    #[inline]
    fn set(&mut self, leaf: usize, key: u64) {
        let slot = self.slot_of(leaf);
        if key < self.keys[slot] {
            self.lower(slot, key);
        } else {
            self.raise(slot, key);
        }
    }

    /// An earlier time goes up as far as it wins, which is seldom far.
    #[inline]
    fn lower(&mut self, mut slot: usize, key: u64) {
        while key < self.keys[slot] {
            self.keys[slot] = key;
            slot /= WAYS;
            if slot == 0 {
                self.least = self.least.min(key);
                break;
            }
        }
    }

    /// A later time needs the winners of the others, up to the root.
    #[inline]
    fn raise(&mut self, mut slot: usize, key: u64) {
        assert!(
            slot < self.keys.len() && self.keys.len().is_multiple_of(WAYS),
            "a node has all its slots"
        );
        let mut winner = key;
        while slot > 0 {
            #[expect(
                unsafe_code,
                reason = "four checks on each level of what was checked once: the number of slots is a multiple of four, so that the \
                          others of a slot's node are among them, as are slots of lower numbers"
            )]
            let others = unsafe {
                *self.keys.get_unchecked_mut(slot) = winner;
                let other = |way| *self.keys.get_unchecked(slot ^ way);
                // The other three are loaded before the winner from below is known.
                other(1).min(other(2)).min(other(3))
            };
            winner = winner.min(others);
            slot /= WAYS;
        }
        self.least = winner;
    }

    /// The keys in the slots above a slot, from the root on.
    #[inline(always)]
    fn path(&self, slot: usize) -> [u64; STAGES] {
        // The highest of the digits of a slot that encode its path from the root.
        let top = slot.max(1).ilog2() & !1;
        std::array::from_fn(|stage| {
            let slot = slot >> top.saturating_sub(2 * stage as u32);
            self.keys.get(slot).copied().unwrap_or(u64::MAX)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn too_many_connections_end_the_trial_with_a_hint_and_no_source_location() {
        failure::install_hook();
        let mut agenda = Agenda::new(2, 2);
        let ended = failure::caught(|| agenda.grow(SOURCES_MAX + 1)).expect_err("there is no room");
        assert_eq!(ended, TOO_MANY);
        let broken =
            failure::caught(|| Agenda::new(2, SOURCES_MAX + 1)).expect_err("no plan has so many");
        assert!(broken.contains("agenda.rs:"), "a broken invariant has its place: {broken}");
    }

    #[test]
    fn what_is_coming_is_the_earliest_of_ever_larger_parts_of_the_tree() {
        for wires in [1_u32, 2, 3, 4, 5, 20, 21, 22, 400] {
            let mut agenda = Agenda::new(wires as usize, wires as usize + 1);
            let mut random = 1_u32;
            (0..wires).for_each(|wire| agenda.arm(wire, Time::from_ps(u64::from(wire))));
            for step in 0..500 {
                let (_, wire) = agenda.next();
                random = random.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                agenda.postpone_wire(wire, Time::from_ps(u64::from(wires + step + random % 100)));
                let coming = agenda.coming(wire);
                assert_eq!(coming.next, agenda.next().1 as usize);
                let slot = |wire: u32| agenda.wires.slot_of(wire as usize);
                let mut above: Vec<usize> =
                    std::iter::successors(Some(slot(wire)), |slot| Some(slot / WAYS))
                        .take_while(|&slot| slot > 0)
                        .collect();
                above.reverse();
                // Where the way is shorter, its end stands for what would follow.
                above.resize(above.len().max(STAGES), *above.last().expect("a leaf has a slot"));
                let is_below = |wire: u32, top| {
                    std::iter::successors(Some(slot(wire)), |slot| Some(slot / WAYS))
                        .take(20)
                        .any(|slot| slot == top)
                };
                for (top, found) in above.into_iter().zip(coming.soon) {
                    let earliest = (0..wires)
                        .filter(|&wire| is_below(wire, top))
                        .min_by_key(|&wire| (agenda.due(wire), wire));
                    assert_eq!(
                        Some(found),
                        earliest.map(|wire| wire as usize),
                        "of {wires} after step {step}"
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_earliest_is_next_whatever_was_armed_before(
            arms in proptest::collection::vec((0_u32..37, 0_u64..50, any::<bool>()), 1..400),
        ) {
            let mut agenda = Agenda::new(3, 5);
            agenda.grow(37);
            let mut model = [u64::MAX; 37];
            let mut now = 0;
            for (source, at, is_far) in arms {
                // Steps of seconds reach beyond what one base can hold.
                let ahead = if is_far { Span::from_secs(at) } else { Span::from_ps(at) };
                let at = if at == 49 { u64::MAX } else { now + ahead.ps() };
                if source < 3 && agenda.next().1 == source {
                    agenda.postpone_wire(source, Time::from_ps(at));
                } else if source < 3 && agenda.due(source).is_never() {
                    agenda.arm_idle_wire(source, Time::from_ps(at));
                } else {
                    agenda.arm(source, Time::from_ps(at));
                }
                model[source as usize] = at;
                let set: BTreeSet<(u64, u32)> =
                    model.iter().zip(0..).map(|(&at, source)| (at, source)).collect();
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
