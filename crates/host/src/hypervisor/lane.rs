//! Frames that wait for a core of the hypervisor, and super-frames made of them.

use std::collections::VecDeque;
use tailrace_wire::{Flags, Packet};

/// Frames among which the segments of one super-frame are searched: those of a poll (Linux
/// `NAPI_POLL_WEIGHT`).
const WINDOW: usize = 64;

/// A bounded queue. A super-frame that was enqueued whole takes one slot.
#[derive(Debug)]
pub(super) struct Lane {
    frames: VecDeque<Slot>,
    slots: usize,
    slots_max: usize,
    merge_bytes: u32,
    counts_frames: bool,
    /// Bytes in the latest slot.
    last_bytes: u32,
    /// Frames that found it full.
    pub(super) overruns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: Packet,
    is_first: bool,
}

impl Lane {
    pub(super) fn new(slots_max: usize, merge_bytes: u32) -> Lane {
        Lane {
            frames: VecDeque::new(),
            slots: 0,
            slots_max,
            merge_bytes,
            counts_frames: false,
            last_bytes: 0,
            overruns: 0,
        }
    }

    /// The same for frames that come one by one: each takes a slot.
    pub(super) fn counting_frames(self) -> Lane {
        Lane { counts_frames: true, ..self }
    }

    pub(super) fn frames(&self) -> usize {
        self.frames.len()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Puts a frame in. Returns whether it fits.
    pub(super) fn push(&mut self, packet: &Packet) -> bool {
        let payload = u32::from(packet.payload_bytes);
        let follows = self.frames.back().is_some_and(|last| is_continued_by(&last.packet, packet));
        let is_first =
            self.counts_frames || !follows || self.last_bytes + payload > self.merge_bytes;
        if is_first && self.slots >= self.slots_max {
            self.overruns += 1;
            return false;
        }
        self.slots += usize::from(is_first);
        self.last_bytes = if is_first { payload } else { self.last_bytes + payload };
        self.frames.push_back(Slot { packet: *packet, is_first });
        true
    }

    /// Takes the next frame, and those that make one super-frame with it.
    pub(super) fn take(&mut self, into: &mut Vec<Packet>) -> bool {
        into.clear();
        let Some(first) = self.pop(0) else { return false };
        into.push(first);
        let mut bytes = u32::from(first.payload_bytes);
        let (mut at, mut seen) = (0, 1);
        while seen < WINDOW.max(into.len() + 1) && self.merge_bytes > 0 && at < self.frames.len() {
            let next = self.frames[at].packet;
            let last = into.last().expect("it has a first frame");
            if next.flow_hash != last.flow_hash {
                (at, seen) = (at + 1, seen + 1);
                continue;
            }
            if !is_continued_by(last, &next)
                || bytes + u32::from(next.payload_bytes) > self.merge_bytes
            {
                break;
            }
            bytes += u32::from(next.payload_bytes);
            into.extend(self.pop(at));
            seen += 1;
        }
        true
    }

    fn pop(&mut self, at: usize) -> Option<Packet> {
        let Slot { packet, is_first } = self.frames.remove(at)?;
        if is_first {
            // The rest of a super-frame that is cut keeps the slot.
            match self.frames.get_mut(at) {
                Some(next) if !self.counts_frames && !next.is_first => next.is_first = true,
                _ => self.slots -= 1,
            }
        }
        Some(packet)
    }
}

/// Whether a segment follows another one of the same connection without a gap, so that both are one
/// super-frame.
fn is_continued_by(last: &Packet, next: &Packet) -> bool {
    next.flow_hash == last.flow_hash
        && !last.flags.intersects(Flags::UDP.with(Flags::PSH))
        && next.payload_bytes > 0
        && last.payload_bytes > 0
        && next.seq == last.seq + u64::from(last.payload_bytes)
        && next.ack == last.ack
        && next.ecn == last.ecn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(flow_hash: u32, number: u64) -> Packet {
        Packet {
            flow_hash,
            seq: number * 1_000,
            payload_bytes: 1_000,
            frame_bytes: 1_066,
            ..Packet::default()
        }
    }

    #[test]
    fn a_super_frame_takes_one_slot_and_is_taken_whole() {
        let mut lane = Lane::new(2, 4_000);
        (0..4).for_each(|number| assert!(lane.push(&segment(1, number))));
        assert!(lane.push(&segment(1, 4)), "the limit of a super-frame begins the second place");
        assert!(!lane.push(&segment(2, 0)), "a third one finds no place");
        let mut taken = Vec::new();
        assert!(lane.take(&mut taken));
        assert_eq!((taken.len(), lane.frames(), lane.overruns), (4, 1, 1));
        assert!(lane.push(&segment(2, 0)));
    }

    #[test]
    fn interleaved_flows_are_merged_and_without_offloads_none_is() {
        for (limit, sizes) in [(64_000, vec![3, 3]), (0, vec![1; 6])] {
            let mut lane = Lane::new(100, limit);
            (0..3).for_each(|number| {
                [1, 2].iter().for_each(|&flow| assert!(lane.push(&segment(flow, number))))
            });
            let mut taken = Vec::new();
            let seen: Vec<usize> =
                std::iter::from_fn(|| lane.take(&mut taken).then_some(taken.len())).collect();
            assert_eq!(seen, sizes);
            assert_eq!(lane.slots, 0);
        }
    }
}
