//! Both ends of the connections as the frames show them: what was sent, what arrived in order, and what each frame followed from.

use super::frames::{Entry, FrameId, Prior};
use super::part::Part;
use std::collections::BTreeMap;
use tailrace_units::Time;
use tailrace_wire::Packet;

/// A host and a socket on it.
pub(crate) type SocketId = (u16, u32);

/// One socket: what it sends, and what it has received.
#[derive(Debug, Default)]
pub(super) struct End {
    /// It belongs to a client.
    pub(super) is_client: bool,
    /// Behind the last byte that was sent.
    pub(super) sent_to: u64,
    /// Nothing waits in the socket.
    pub(super) is_drained: bool,
    /// By first byte, the latest copy of every segment that was not acknowledged.
    copies: BTreeMap<u64, FrameId>,
    pub(super) last_sent: Option<FrameId>,
    /// The next byte that is expected.
    next: u64,
    held: BTreeMap<u64, u64>,
    /// The latest frame that the transport was given.
    pub(super) last_received: Option<(Time, FrameId)>,
    /// The latest that brought bytes in order.
    pub(super) last_advance: Option<(Time, FrameId)>,
}

impl End {
    pub(super) fn new(is_client: bool) -> End {
        End { is_client, sent_to: 1, is_drained: true, next: 1, ..End::default() }
    }

    /// The latest copy of the segment with this byte, where this was sent before.
    pub(super) fn copy_of(&self, packet: &Packet) -> Option<FrameId> {
        if packet.payload_bytes == 0 || packet.seq + u64::from(packet.payload_bytes) > self.sent_to {
            return None;
        }
        self.copies.range(..=packet.seq).next_back().map(|(_, &frame)| frame)
    }

    /// A segment leaves.
    pub(super) fn note_sent(&mut self, packet: &Packet, frame: FrameId) {
        if packet.payload_bytes == 0 {
            return;
        }
        let end = packet.seq + u64::from(packet.payload_bytes);
        self.copies.insert(packet.seq, frame);
        if end > self.sent_to {
            self.sent_to = end;
            self.last_sent = Some(frame);
        }
    }

    /// What a program's write follows from: what it had received.
    pub(super) fn written(&self) -> Option<Prior> {
        let part = if self.is_client { Part::ClientWork } else { Part::ServerWork };
        let (_, frame) = self.last_advance?;
        Some(Prior { frame, entry: Entry::Delivered, part, opens_window: false })
    }

    /// The transport is given a frame for this socket.
    pub(super) fn note_received(&mut self, now: Time, packet: &Packet, frame: FrameId) {
        self.last_received = Some((now, frame));
        self.forget_below(packet.ack);
        let end = packet.seq + u64::from(packet.payload_bytes);
        if packet.payload_bytes == 0 || end <= self.next {
            return;
        }
        if packet.seq > self.next {
            let held = self.held.entry(packet.seq).or_insert(end);
            *held = end.max(*held);
            return;
        }
        self.next = end;
        while let Some((&start, &end)) = self.held.first_key_value()
            && start <= self.next
        {
            self.held.pop_first();
            self.next = end.max(self.next);
        }
        self.last_advance = Some((now, frame));
    }

    /// Everything below this byte was acknowledged; the segment that holds it may still be sent again.
    fn forget_below(&mut self, acknowledged: u64) {
        while self.copies.keys().nth(1).is_some_and(|&second| second <= acknowledged) {
            self.copies.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(seq: u64, payload_bytes: u16) -> Packet {
        Packet { seq, payload_bytes, ..Packet::default() }
    }

    #[test]
    fn the_segment_that_fills_a_gap_is_the_one_that_brought_what_was_held() {
        let mut end = End::new(true);
        for (frame, (seq, bytes)) in [(1, 100), (201, 100), (101, 100)].into_iter().enumerate() {
            end.note_received(Time::from_ps(10 + frame as u64), &segment(seq, bytes), frame as FrameId);
            let advance = end.last_advance.expect("bytes came in order");
            assert_eq!(advance.1, [0, 0, 2][frame], "after frame {frame}");
        }
        assert_eq!(end.next, 301);
    }

    #[test]
    fn a_repetition_follows_from_the_latest_copy() {
        let mut end = End::new(true);
        end.note_sent(&segment(1, 100), 7);
        end.note_sent(&segment(101, 100), 8);
        assert_eq!(end.copy_of(&segment(201, 100)), None, "new bytes");
        assert_eq!(end.copy_of(&segment(1, 100)), Some(7));
        end.note_sent(&segment(1, 100), 9);
        assert_eq!(end.copy_of(&segment(1, 100)), Some(9));
        assert_eq!((end.sent_to, end.last_sent), (201, Some(8)));
    }
}
