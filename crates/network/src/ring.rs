//! A queue of frames with their times, in memory that only grows.

use crate::NetworkFrame;
use std::collections::VecDeque;
use tailrace_units::{Time, prefetch};

/// A time and the head of its frame stand together, without a gap: successive frames of the queue
/// share cache lines.
#[derive(Clone, Copy, Debug, Default)]
struct Slot<H> {
    at: Time,
    head: H,
}

/// First size of the memory.
const CAPACITY_MIN: usize = 4;
/// Slots by which a small one grows.
const GROWTH_MIN: usize = 2;

/// First in, first out, with a header of 32 bytes. The memory grows by a quarter: most rings are
/// filled once, and a network has thousands. One slot stays free, so that two indices determine how
/// many are taken, and each moves by a comparison. A queue that becomes empty begins anew at the
/// start of its memory: while it is short it stays in the same cache lines, however much memory it
/// once needed.
#[derive(Clone, Debug)]
pub(crate) struct Ring<F: NetworkFrame> {
    slots: Box<[Slot<F::Head>]>,
    first: u32,
    /// Where the next is put.
    next: u32,
    /// Of the frames that have one, in their order.
    #[expect(clippy::box_collection, reason = "the header of a ring without any stays short")]
    rests: Option<Box<VecDeque<F::Rest>>>,
}

impl<F: NetworkFrame> Default for Ring<F> {
    fn default() -> Ring<F> {
        Ring { slots: Box::default(), first: 0, next: 0, rests: None }
    }
}

impl<F: NetworkFrame> Ring<F> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        let (first, next) = (self.first as usize, self.next as usize);
        if first <= next { next - first } else { next + self.slots.len() - first }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// The index of the frame this many behind the first.
    #[inline]
    fn index(&self, behind: usize) -> usize {
        let index = self.first as usize + behind;
        if index < self.slots.len() { index } else { index - self.slots.len() }
    }

    /// The index behind this one. Without memory there is one slot, and it stays free.
    #[inline(always)]
    fn behind(&self, index: u32) -> u32 {
        let behind = index + 1;
        if behind as usize >= self.slots.len() { 0 } else { behind }
    }

    /// Returns whether it is the only one.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: Time, frame: &F) -> bool {
        if self.is_full() {
            self.grow();
        }
        // All that is read of the ring is read before anything is written, which might change it as
        // far as a compiler knows.
        let (index, next, is_only) = (self.next as usize, self.behind(self.next), self.is_empty());
        self.next = next;
        let slot = &mut self.slots[index];
        slot.at = at;
        slot.head = frame.head();
        if frame.has_rest() {
            self.keep_rest(index, frame);
        }
        is_only
    }

    #[cold]
    #[inline(never)]
    fn keep_rest(&mut self, index: usize, frame: &F) {
        // Most wires see one in the whole run, that of the first packet of a connection.
        let rests = self.rests.get_or_insert_with(|| Box::new(VecDeque::with_capacity(1)));
        rests.extend(frame.rest(&mut self.slots[index].head));
    }

    #[cold]
    #[inline(never)]
    fn take_rest(&mut self, frame: &mut F) {
        let rest = self.rests.as_mut().and_then(|rests| rests.pop_front());
        frame.add_rest(rest.expect("the head tells of a rest"));
    }

    /// Whether [`Ring::push`] needs more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.behind(self.next) == self.first
    }

    /// The time of the first.
    #[inline]
    pub(crate) fn front(&self) -> Option<Time> {
        if self.is_empty() { None } else { self.slots.get(self.first as usize).map(|slot| slot.at) }
    }

    /// The time of the last.
    #[inline]
    pub(crate) fn back(&self) -> Option<Time> {
        let last = self.len().checked_sub(1)?;
        self.slots.get(self.index(last)).map(|slot| slot.at)
    }

    /// The time of the second.
    #[inline]
    pub(crate) fn second(&self) -> Option<Time> {
        let second = self.behind(self.first);
        if self.is_empty() || second == self.next {
            None
        } else {
            self.slots.get(second as usize).map(|slot| slot.at)
        }
    }

    /// Takes the first away, to where it is wanted. There must be one. Returns its time.
    #[inline(always)]
    pub(crate) fn pop_to(&mut self, frame: &mut F) -> Time {
        debug_assert!(!self.is_empty(), "something is in the ring");
        let Slot { at, ref head } = self.slots[self.first as usize];
        frame.read_head(head);
        if F::tells_rest(head) {
            self.take_rest(frame);
        }
        self.first = self.behind(self.first);
        if self.is_empty() {
            (self.first, self.next) = (0, 0);
        }
        at
    }

    /// The same, and returns the frame.
    #[inline]
    pub(crate) fn pop(&mut self) -> (Time, F) {
        let mut frame = F::default();
        let at = self.pop_to(&mut frame);
        (at, frame)
    }

    /// The first is wanted soon.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.slots, self.first as usize);
    }

    /// The head of the first, if there is one.
    #[inline(always)]
    pub(crate) fn head(&self) -> Option<&F::Head> {
        if self.is_empty() {
            None
        } else {
            self.slots.get(self.first as usize).map(|slot| &slot.head)
        }
    }

    /// Prefetches the slot of the next frame.
    #[inline(always)]
    pub(crate) fn prefetch_next(&self) {
        prefetch(&self.slots, self.next as usize);
    }

    /// The address of the memory, if there is any.
    pub(crate) fn memory(&self) -> Option<usize> {
        (!self.slots.is_empty()).then_some(self.slots.as_ptr() as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Time, F)> {
        let mut rests = self.rests.iter().flat_map(|rests| rests.iter());
        (0..self.len()).map(move |behind| {
            let Slot { at, head } = &self.slots[self.index(behind)];
            let mut frame = F::default();
            frame.read_head(head);
            if F::tells_rest(head) {
                frame.add_rest(*rests.next().expect("the head tells of a rest"));
            }
            (*at, frame)
        })
    }

    /// Takes everything away, with the memory.
    pub(crate) fn discard(&mut self) {
        *self = Ring::default();
    }

    /// Removes the frames from index `from` up to, without, index `to`.
    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        let kept = self.iter().enumerate().filter(|(at, _)| !(from..to).contains(at));
        let kept: Vec<(Time, F)> = kept.map(|(_, kept)| kept).collect();
        (self.first, self.next, self.rests) = (0, 0, None);
        for (at, frame) in &kept {
            self.push(*at, frame);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let capacity =
            (self.slots.len() + (self.slots.len() / 4).max(GROWTH_MIN)).max(CAPACITY_MIN);
        let mut slots = Vec::with_capacity(capacity);
        let (first, next) = (self.first as usize, self.next as usize);
        let (front, back) =
            if first <= next { (first..next, 0..0) } else { (first..self.slots.len(), 0..next) };
        slots.extend_from_slice(&self.slots[front]);
        slots.extend_from_slice(&self.slots[back]);
        (self.first, self.next) = (0, slots.len() as u32);
        slots.resize(capacity, Slot::default());
        self.slots = slots.into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tailrace_wire::{Packet, SackBlock};

    fn packet(n: u64, has_rest: bool) -> Packet {
        let block = SackBlock { offset: n as i32, bytes: u32::from(has_rest) };
        Packet {
            seq: n,
            sack: if has_rest { [SackBlock::default(), block, block] } else { Default::default() },
            ..Packet::default()
        }
    }

    proptest! {
        #[test]
        fn it_is_a_queue(steps in proptest::collection::vec((0_u8..7, any::<bool>()), 0..300)) {
            let mut ring = Ring::default();
            let mut model = VecDeque::new();
            for ((step, has_rest), n) in steps.into_iter().zip(0..) {
                match step {
                    0..4 => {
                        ring.push(Time::from_ps(n), &packet(n, has_rest));
                        model.push_back((Time::from_ps(n), packet(n, has_rest)));
                    }
                    4..6 if !ring.is_empty() => {
                        prop_assert_eq!(Some(ring.pop()), model.pop_front())
                    }
                    6 if ring.len() > 3 => {
                        ring.remove(1, 3);
                        model.drain(1..3);
                    }
                    _ => {}
                }
                prop_assert_eq!(ring.front(), model.front().map(|first| first.0));
                prop_assert_eq!(ring.back(), model.back().map(|last| last.0));
                prop_assert_eq!(ring.second(), model.get(1).map(|second| second.0));
                prop_assert!(ring.iter().eq(model.iter().copied()));
            }
        }
    }

    #[test]
    fn memory_grows_by_a_quarter() {
        let mut ring = Ring::default();
        let mut capacities = vec![ring.slots.len()];
        for n in 0..50 {
            ring.push(Time::from_ps(n), &packet(n, false));
            if ring.slots.len() != capacities[capacities.len() - 1] {
                capacities.push(ring.slots.len());
            }
        }
        assert_eq!(capacities, [0, 4, 6, 8, 10, 12, 15, 18, 22, 27, 33, 41, 51]);
    }

    #[test]
    fn a_frame_in_flight_takes_three_quarters_of_a_cache_line() {
        assert_eq!(
            (size_of::<Slot<<Packet as NetworkFrame>::Head>>(), size_of::<Ring<Packet>>()),
            (48, 32)
        );
    }
}
