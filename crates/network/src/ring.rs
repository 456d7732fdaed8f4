//! A queue of frames with their times, in memory that only grows.

use crate::NetworkFrame;
use std::collections::VecDeque;
use tailrace_units::{Time, prefetch};

/// A time and the head of its frame stand together, without a gap: what follows each other in the queue shares cache lines.
#[derive(Clone, Copy, Debug, Default)]
struct Slot<H> {
    at: Time,
    head: H,
}

/// First size of the memory.
const CAPACITY_MIN: usize = 4;

/// First in, first out, with a header of 32 bytes. The memory grows by half: most rings are filled once, and a network has
/// thousands. A queue that becomes empty begins anew at the start of its memory: while it is short it stays in the same
/// cache lines, however much memory it once needed.
#[derive(Clone, Debug)]
pub(crate) struct Ring<F: NetworkFrame> {
    slots: Box<[Slot<F::Head>]>,
    first: u32,
    len: u32,
    /// Of the frames that have one, in their order.
    #[expect(clippy::box_collection, reason = "the header of a ring without any stays short")]
    rests: Option<Box<VecDeque<F::Rest>>>,
}

impl<F: NetworkFrame> Default for Ring<F> {
    fn default() -> Ring<F> {
        Ring { slots: Box::default(), first: 0, len: 0, rests: None }
    }
}

impl<F: NetworkFrame> Ring<F> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The place of the one so many behind the first.
    #[inline]
    fn place(&self, behind: usize) -> usize {
        let place = self.first as usize + behind;
        if place < self.slots.len() { place } else { place - self.slots.len() }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, at: Time, frame: &F) {
        if self.is_full() {
            self.grow();
        }
        let place = self.place(self.len());
        let slot = &mut self.slots[place];
        slot.at = at;
        slot.head = frame.head();
        self.len += 1;
        if frame.has_rest() {
            self.keep_rest(place, frame);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_rest(&mut self, place: usize, frame: &F) {
        let rests = self.rests.get_or_insert_default();
        rests.extend(frame.rest(&mut self.slots[place].head));
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
        self.len() == self.slots.len()
    }

    /// The time of the first.
    #[inline]
    pub(crate) fn front(&self) -> Option<Time> {
        if self.len == 0 { None } else { self.slots.get(self.first as usize).map(|slot| slot.at) }
    }

    /// The time of the last.
    #[inline]
    pub(crate) fn back(&self) -> Option<Time> {
        let last = self.len().checked_sub(1)?;
        self.slots.get(self.place(last)).map(|slot| slot.at)
    }

    /// The time of the second.
    #[inline]
    pub(crate) fn second(&self) -> Option<Time> {
        if self.len < 2 { None } else { self.slots.get(self.place(1)).map(|slot| slot.at) }
    }

    /// Takes the first away. There must be one.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> (Time, F) {
        debug_assert!(self.len > 0, "something is in the ring");
        let Slot { at, ref head } = self.slots[self.first as usize];
        let (mut frame, tells_rest) = (F::from_head(head), F::tells_rest(head));
        if tells_rest {
            self.take_rest(&mut frame);
        }
        self.len -= 1;
        self.first = if self.len == 0 { 0 } else { self.place(1) as u32 };
        (at, frame)
    }

    /// The first is wanted soon.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.slots, self.first as usize);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Time, F)> {
        let mut rests = self.rests.iter().flat_map(|rests| rests.iter());
        (0..self.len()).map(move |behind| {
            let Slot { at, head } = &self.slots[self.place(behind)];
            let mut frame = F::from_head(head);
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

    /// Takes away those from place `from` up to, without, place `to`.
    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        let kept = self.iter().enumerate().filter(|(at, _)| !(from..to).contains(at));
        let kept: Vec<(Time, F)> = kept.map(|(_, kept)| kept).collect();
        (self.len, self.rests) = (0, None);
        kept.iter().for_each(|(at, frame)| self.push(*at, frame));
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.slots.len() + self.slots.len() / 2).max(CAPACITY_MIN);
        let mut slots = Vec::with_capacity(capacity);
        slots.extend((0..self.len()).map(|behind| self.slots[self.place(behind)]));
        slots.resize(capacity, Slot::default());
        (self.slots, self.first) = (slots.into_boxed_slice(), 0);
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
                    4..6 if ring.len() > 0 => prop_assert_eq!(Some(ring.pop()), model.pop_front()),
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
    fn memory_grows_by_half() {
        let mut ring = Ring::default();
        let mut capacities = vec![ring.slots.len()];
        for n in 0..50 {
            ring.push(Time::from_ps(n), &packet(n, false));
            if ring.slots.len() != capacities[capacities.len() - 1] {
                capacities.push(ring.slots.len());
            }
        }
        assert_eq!(capacities, [0, 4, 6, 9, 13, 19, 28, 42, 63]);
    }

    #[test]
    fn a_frame_in_flight_takes_three_quarters_of_a_cache_line() {
        assert_eq!((size_of::<Slot<<Packet as NetworkFrame>::Head>>(), size_of::<Ring<Packet>>()), (48, 32));
    }
}
