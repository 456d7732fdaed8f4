//! Both ends of the connections as the frames show them: bytes written and sent, bytes that arrived
//! in order, and the prior frame of each frame.

use super::frames::{Entry, FrameId, Prior, Window};
use super::inside::Inside;
use super::number::SocketNumber;
use super::part::Part;
use std::collections::{BTreeMap, VecDeque};
use tailrace_transport::tcp::Limit;
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

/// A host and a socket on it.
pub(crate) type SocketId = (u16, u32);

/// Moments that are kept at which bytes of a socket came in order: a program may act on a frame
/// this many later.
const ADVANCES_MAX: usize = 128;

/// Bytes of the sequence that a segment takes: a SYN takes the one before the first of the stream.
pub(super) fn sequence_bytes(packet: &Packet) -> u64 {
    u64::from(packet.payload_bytes) + u64::from(packet.flags.contains(Flags::SYN))
}

/// Bytes that a program has written at one time.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// The byte behind its last one.
    end: u64,
    at: Time,
    prior: Option<Prior>,
}

/// Counters of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Repairs {
    /// Expiries of the retransmission timer.
    pub(crate) timeouts: u64,
    /// Tail loss probes.
    pub(crate) probes: u64,
}

/// One socket: its sent and received frames.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Its index among the sockets of all explained connections.
    pub(super) number: SocketNumber,
    /// It has opened the connection.
    pub(super) is_client: bool,
    /// Both ends are peers: neither serves the other.
    pub(super) is_peer: bool,
    /// The other end.
    pub(super) peer: Option<SocketId>,
    /// The cause of its first segment.
    pub(super) opened_by: Option<Prior>,
    /// The byte behind the last one that was sent.
    pub(super) sent_to: u64,
    /// The byte behind the last one that was written.
    written_to: u64,
    /// Writes that are not completely sent.
    writes: VecDeque<Write>,
    /// A write of this event with nothing waiting before it: its first byte, and its cause.
    untouched: Option<(u64, Option<Prior>)>,
    /// In the order of their first bytes, the latest copy of every segment that was not
    /// acknowledged.
    copies: VecDeque<(u64, FrameId)>,
    pub(super) last_sent: Option<FrameId>,
    /// The next byte that is expected.
    next: u64,
    held: BTreeMap<u64, u64>,
    /// The latest frame that the transport was given.
    pub(super) last_received: Option<(Time, FrameId)>,
    /// The latest that brought bytes in order, the last of each moment.
    advances: VecDeque<(Time, FrameId)>,
    /// Waits for a core for frames since then, on a host without a processor.
    pub(super) core_wait: Span,
    /// The event in which it was last handed a frame, and that frame.
    pub(super) handed: Option<(u64, FrameId)>,
    /// Frames for it, and the opening segments that it sends, inside of nodes.
    pub(super) inside: Inside,
    /// On a host with a processor, frames that have come to the interface.
    pub(super) arrived: VecDeque<FrameId>,
    /// Its repairs at the end of its last event.
    pub(super) repairs: Repairs,
    /// Its limit at that time.
    pub(super) limit: Option<Limit>,
}

impl End {
    /// Of a connection before its first segment.
    pub(super) fn new(is_client: bool, peer: Option<SocketId>) -> End {
        End { is_client, peer, written_to: 1, ..End::default() }
    }

    /// The latest copy of the segment with this byte, where this was sent before.
    pub(super) fn copy_of(&self, packet: &Packet) -> Option<FrameId> {
        let bytes = sequence_bytes(packet);
        if bytes == 0 || packet.seq + bytes > self.sent_to {
            return None;
        }
        let behind = self.copies.partition_point(|copy| copy.0 <= packet.seq);
        self.copies.get(behind.checked_sub(1)?).map(|copy| copy.1)
    }

    /// A program writes, for this cause.
    pub(super) fn note_written(&mut self, at: Time, bytes: u64, prior: Option<Prior>) {
        if self.written_to <= self.sent_to.max(1) {
            self.untouched = Some((self.written_to, prior));
        }
        self.written_to += bytes;
        self.writes.push_back(Write { end: self.written_to, at, prior });
    }

    /// After an event: the cause of a write of this event of which nothing was sent, though nothing
    /// waited before it.
    pub(super) fn take_held_back(&mut self) -> Option<Option<Prior>> {
        let (start, prior) = self.untouched.take()?;
        (self.sent_to <= start).then_some(prior)
    }

    /// The cause of new bytes that are sent now: the cause of their write, or the frame that
    /// released them if they waited. `handed` is the frame that the socket was handed in this
    /// event, and whether it could open a window.
    pub(super) fn released(
        &self,
        now: Time,
        packet: &Packet,
        handed: Option<(FrameId, bool)>,
    ) -> Option<Prior> {
        let end = packet.seq + u64::from(packet.payload_bytes);
        let write_of = |byte: u64| self.writes.iter().find(|write| write.end > byte);
        let (first, last) = (write_of(packet.seq)?, write_of(end - 1)?);
        let hold = |frame, entry, part, opens| {
            Some(Prior { frame, entry, part, core_wait: Span::ZERO, waited: Span::ZERO, opens })
        };
        match handed {
            _ if first.at == now => first.prior,
            Some((frame, is_window)) => {
                let window = if self.limit == Some(Limit::ReceiveWindow) {
                    Window::Receiver
                } else {
                    Window::Congestion
                };
                hold(frame, Entry::Delivered, Part::SenderHold, is_window.then_some(window))
            }
            None if last.at == now => last.prior,
            None => {
                let part =
                    if self.limit == Some(Limit::Pacing) { Part::Pacing } else { Part::SenderHold };
                hold(self.last_sent?, Entry::Handed, part, None)
            }
        }
    }

    /// A segment leaves.
    pub(super) fn note_sent(&mut self, packet: &Packet, frame: FrameId) {
        let bytes = sequence_bytes(packet);
        if bytes == 0 {
            return;
        }
        let end = packet.seq + bytes;
        self.note_copy(packet.seq, frame);
        if end > self.sent_to {
            self.sent_to = end;
            self.last_sent = Some(frame);
            while self.writes.front().is_some_and(|write| write.end <= end) {
                self.writes.pop_front();
            }
        }
    }

    fn note_copy(&mut self, seq: u64, frame: FrameId) {
        if self.copies.back().is_none_or(|last| last.0 < seq) {
            return self.copies.push_back((seq, frame));
        }
        match self.copies.binary_search_by_key(&seq, |copy| copy.0) {
            Ok(at) => self.copies[at].1 = frame,
            Err(at) => self.copies.insert(at, (seq, frame)),
        }
    }

    /// The latest frame that has brought bytes in order by then, of those that are kept.
    pub(super) fn advance_by(&self, by: Time) -> Option<(Time, FrameId)> {
        self.advances
            .iter()
            .rev()
            .find(|advance| advance.0 <= by)
            .or(self.advances.front())
            .copied()
    }

    /// The transport is given a frame for this socket.
    pub(super) fn note_received(&mut self, now: Time, packet: &Packet, frame: FrameId) {
        self.last_received = Some((now, frame));
        self.forget_below(packet.ack);
        let bytes = sequence_bytes(packet);
        let end = packet.seq + bytes;
        if bytes == 0 || end <= self.next {
            return;
        }
        if packet.seq > self.next {
            let held = self.held.entry(packet.seq).or_insert(end);
            *held = end.max(*held);
            return;
        }
        self.next = end;
        self.core_wait = Span::ZERO;
        while let Some((&start, &end)) = self.held.first_key_value()
            && start <= self.next
        {
            self.held.pop_first();
            self.next = end.max(self.next);
        }
        if self.advances.back().is_some_and(|last| last.0 == now) {
            self.advances.pop_back();
        } else if self.advances.len() == ADVANCES_MAX {
            self.advances.pop_front();
        }
        self.advances.push_back((now, frame));
    }

    /// Everything below this byte was acknowledged; the segment that holds it may still be sent
    /// again.
    fn forget_below(&mut self, acknowledged: u64) {
        while self.copies.get(1).is_some_and(|second| second.0 <= acknowledged) {
            self.copies.pop_front();
        }
    }
}

/// The ends of all connections that are explained.
#[derive(Debug, Default)]
pub(super) struct Ends(Vec<Vec<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    /// The hash of the packets that are for this socket: others are late ones of an earlier
    /// connection.
    expects: u32,
    end: Option<Box<End>>,
}

impl Ends {
    pub(super) fn get(&self, (host, number): SocketId) -> Option<&End> {
        self.0.get(usize::from(host))?.get(number as usize)?.end.as_deref()
    }

    pub(super) fn get_mut(&mut self, (host, number): SocketId) -> Option<&mut End> {
        self.0.get_mut(usize::from(host))?.get_mut(number as usize)?.end.as_deref_mut()
    }

    /// Whether packets of this hash for this socket belong to a connection that is explained.
    pub(super) fn expects(&self, (host, number): SocketId, flow_hash: u32) -> bool {
        let slot = self.0.get(usize::from(host)).and_then(|of_host| of_host.get(number as usize));
        slot.is_some_and(|slot| slot.end.is_some() && slot.expects == flow_hash)
    }

    /// A socket for which packets of this hash are, if its connection is explained.
    pub(super) fn expecting_mut(
        &mut self,
        (host, number): SocketId,
        flow_hash: u32,
    ) -> Option<&mut End> {
        let slot = self.0.get_mut(usize::from(host))?.get_mut(number as usize)?;
        slot.end.as_deref_mut().filter(|_| slot.expects == flow_hash)
    }

    /// The socket is another one from now on; with no end it is one that is not explained.
    pub(super) fn put(&mut self, (host, number): SocketId, expects: u32, end: Option<End>) {
        let (host, number) = (usize::from(host), number as usize);
        if end.is_none() && self.0.get(host).is_none_or(|of_host| of_host.len() <= number) {
            return;
        }
        self.0.resize_with(self.0.len().max(host + 1), Vec::new);
        let of_host = &mut self.0[host];
        of_host.resize_with(of_host.len().max(number + 1), Slot::default);
        of_host[number] = Slot { expects, end: end.map(Box::new) };
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
        let mut end = End::new(true, None);
        end.next = 1;
        for (frame, (seq, bytes)) in [(1, 100), (201, 100), (101, 100)].into_iter().enumerate() {
            end.note_received(
                Time::from_ps(10 + frame as u64),
                &segment(seq, bytes),
                frame as FrameId,
            );
            let advance = end.advance_by(Time::NEVER).expect("bytes came in order");
            assert_eq!(advance.1, [0, 0, 2][frame], "after frame {frame}");
        }
        assert_eq!(end.next, 301);
    }

    #[test]
    fn a_repetition_follows_from_the_latest_copy() {
        let mut end = End::new(true, None);
        end.note_sent(&segment(1, 100), 7);
        end.note_sent(&segment(101, 100), 8);
        assert_eq!(end.copy_of(&segment(201, 100)), None, "new bytes");
        assert_eq!(end.copy_of(&segment(1, 100)), Some(7));
        end.note_sent(&segment(1, 100), 9);
        assert_eq!(end.copy_of(&segment(1, 100)), Some(9));
        assert_eq!((end.sent_to, end.last_sent), (201, Some(8)));
    }
}
