//! Closing a connection (RFC 9293 section 3.6): each end sends FIN after the last byte that was
//! written, and continues to receive.
//!
//! An end is closed in one direction, or in both: then it belongs to no program any more, and it is
//! an orphan.
//!
//! Simplified: FIN is a segment of its own behind the last byte, where Linux sets it on the last
//! segment if that has not left; a FIN is acknowledged at once.

use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

use super::phase::Phase;
use super::timer::Pending;
use super::{Segment, SegmentEffect, Tcp, Transmit};

/// The end that closed first waits so long for late segments before its ports are used again: after
/// one second Linux lets a new connection take them (`tcp_tw_reuse`; `TCP_TIMEWAIT_LEN` itself is
/// 60 s).
const TIME_WAIT: Span = Span::from_secs(1);
/// An orphan waits so long for the peer's FIN (Linux `tcp_fin_timeout`).
const FIN_WAIT_2: Span = Span::from_secs(60);

/// How far an end is with closing (RFC 9293 section 3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Close {
    /// Neither end has closed.
    Open,
    /// This end has closed; its FIN waits behind data or was not acknowledged.
    FinWait1,
    /// This end has closed and the peer knows; the peer may go on sending.
    FinWait2,
    /// The peer has closed; this end may go on sending.
    CloseWait,
    /// Both have closed at the same time, and the peer has not acknowledged this end's FIN.
    Closing,
    /// The peer has closed first, then this end, whose FIN was not acknowledged.
    LastAck,
    /// Both have closed; late segments may come.
    TimeWait,
    /// Nothing is left of the connection.
    Closed,
}

/// The state of both FINs: a bit each.
#[derive(Clone, Copy)]
pub(super) struct Closing(u8);

impl Closing {
    pub(super) const NOTHING: Closing = Closing(0);
    /// The program has closed this end.
    const REQUESTED: u8 = 1;
    /// The FIN was sent.
    const SENT: u8 = 2;
    /// And acknowledged.
    const ACKED: u8 = 4;
    /// The peer's FIN has come, so that the end of its stream is known.
    const PEER_END_KNOWN: u8 = 8;
    /// Everything before it has come too.
    const PEER_CLOSED: u8 = 16;
    /// The peer closed before this end did: this end need not wait for late segments.
    const PASSIVE: u8 = 32;
    /// The program has closed the other direction too.
    const ORPHAN: u8 = 64;

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
    fn set(&mut self, bit: u8) {
        self.0 |= bit;
    }
}

impl Tcp {
    /// The application closes both directions: it neither writes nor reads any more (Linux
    /// `tcp_close`). Bytes written before are still sent, then FIN. If bytes have not been read, or
    /// when more come, the connection is reset.
    pub fn close(&mut self, now: Time, wire: &mut impl Transmit) {
        if self.receive.unread > 0 && self.can_send() {
            return self.abort(wire); // RFC 2525 section 2.17
        }
        self.handshake.closing.set(Closing::ORPHAN);
        self.shut_down(now, wire);
        self.wait_for_peer_fin(now);
    }

    /// The application has written all that it will, and continues to read. Bytes written before
    /// are still sent, then FIN.
    pub fn shut_down(&mut self, now: Time, wire: &mut impl Transmit) {
        if self.is_close_requested() {
            return;
        }
        self.handshake.closing.set(Closing::REQUESTED);
        if self.has_peer_closed() {
            self.handshake.closing.set(Closing::PASSIVE);
        }
        match self.handshake.phase {
            Phase::Listen | Phase::SynSent => self.end(),
            Phase::Established | Phase::Closing => {
                self.handshake.phase = Phase::Closing;
                self.send_fin_if_due(now, wire);
            }
            // The FIN follows the opening.
            Phase::SynReceived | Phase::Closed | Phase::Failed(_) => {}
        }
    }

    /// How far this end is with closing.
    pub fn closing(&self) -> Close {
        let closing = self.handshake.closing;
        match (self.handshake.phase, self.is_close_requested(), self.has_peer_closed()) {
            (Phase::Closed | Phase::Failed(_), _, _) => Close::Closed,
            (_, false, false) => Close::Open,
            (_, false, true) => Close::CloseWait,
            (_, true, false) if closing.has(Closing::ACKED) => Close::FinWait2,
            (_, true, false) => Close::FinWait1,
            (_, true, true) if closing.has(Closing::ACKED) => Close::TimeWait,
            (_, true, true) if closing.has(Closing::PASSIVE) => Close::LastAck,
            (_, true, true) => Close::Closing,
        }
    }

    /// Whether the closing was asked for while the connection was being opened.
    pub(super) fn is_close_requested(&self) -> bool {
        self.handshake.closing.has(Closing::REQUESTED)
    }

    /// The next sequence number (`snd_nxt`): a FIN that was sent has one.
    #[inline]
    pub(super) fn next_sequence(&self) -> u64 {
        self.send.nxt + u64::from(self.handshake.closing.has(Closing::SENT))
    }

    /// Whether the application has closed both directions.
    pub(super) fn is_orphan(&self) -> bool {
        self.handshake.closing.has(Closing::ORPHAN)
    }

    /// Whether the peer's FIN is in order among the received bytes.
    pub fn has_peer_closed(&self) -> bool {
        self.handshake.closing.has(Closing::PEER_CLOSED)
    }

    /// A segment for a connection of which an end was closed, or that carries a FIN.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_closing(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        wire: &mut impl Transmit,
    ) -> SegmentEffect {
        if self.refuses_data(segment, wire) {
            return SegmentEffect::default();
        }
        let mut packet = self.without_fin_acknowledged(segment.packet);
        let is_fin = packet.flags.contains(Flags::FIN);
        if is_fin {
            self.handshake.peer_end = (packet.seq + u64::from(segment.payload_bytes)) as u32;
            self.handshake.closing.set(Closing::PEER_END_KNOWN);
            packet.flags = packet.flags.without(Flags::FIN);
            if segment.payload_bytes == 0 {
                packet.seq = packet.seq.max(self.receive.next); // this is no probe of the window
            }
        }
        // The rest of it is a segment like any other, by the one way that there is: a second one
        // would make both slower.
        self.handshake.phase = Phase::Established;
        let progress = self.handle_segment(now, &Segment { packet: &packet, ..*segment }, wire);
        self.handshake.phase = Phase::Closing;
        let ended = self.take_peer_fin();
        if is_fin || ended {
            self.send_ack(wire);
        }
        self.send_fin_if_due(now, wire);
        self.end_if_done(now);
        self.wait_for_peer_fin(now);
        SegmentEffect { ended, ..progress }
    }

    /// The scoreboard knows nothing of FIN: an acknowledgement of it is one of everything before
    /// it.
    fn without_fin_acknowledged(&mut self, packet: &Packet) -> Packet {
        let mut packet = *packet;
        if self.handshake.closing.has(Closing::SENT) && packet.ack == self.send.written + 1 {
            packet.ack -= 1;
            packet.sack.iter_mut().for_each(|block| block.offset = block.offset.saturating_add(1));
            self.handshake.closing.set(Closing::ACKED);
            if self.timers.pending == Pending::Fin {
                self.timers.disarm();
            }
        }
        packet
    }

    /// Takes the peer's FIN in order when everything before it has come.
    fn take_peer_fin(&mut self) -> bool {
        let is_known = self.handshake.closing.has(Closing::PEER_END_KNOWN);
        let is_due = is_known
            && !self.has_peer_closed()
            && self.handshake.peer_end == self.receive.next as u32;
        if is_due {
            self.receive.next += 1;
            self.handshake.closing.set(Closing::PEER_CLOSED);
        }
        is_due
    }

    /// Sends FIN when everything that was written has been sent, and has it sent again when nothing
    /// else is on its way.
    pub(super) fn send_fin_if_due(&mut self, now: Time, wire: &mut impl Transmit) {
        let closing = self.handshake.closing;
        if !closing.has(Closing::REQUESTED) || closing.has(Closing::ACKED) || self.send.has_unsent()
        {
            return;
        }
        if !closing.has(Closing::SENT) {
            self.handshake.closing.set(Closing::SENT);
            self.end_limits(now);
            self.send_fin(wire);
        }
        if self.board.ring.is_empty() && self.timers.pending == Pending::Nothing {
            self.timers.arm(now, Pending::Fin, now + self.rtt.timeout());
        }
    }

    fn send_fin(&mut self, wire: &mut impl Transmit) {
        let packet = self.header(self.send.written, 0, Flags::FIN.with(Flags::ACK));
        wire.send(packet);
    }

    /// No acknowledgement of the FIN has come, or the time for late segments or for the peer's FIN
    /// is over.
    #[cold]
    pub(super) fn handle_fin_timeout(&mut self, now: Time, wire: &mut impl Transmit) {
        if self.handshake.closing.has(Closing::ACKED) {
            return self.end();
        }
        if self.gives_up(now) {
            return;
        }
        self.recovery.timeouts += 1;
        self.stats.timeouts += 1;
        self.rtt.back_off();
        self.send_fin(wire);
        self.timers.arm(now, Pending::Fin, now + self.rtt.timeout());
    }

    /// Both ends have closed and both know: this one waits for late segments if it was the first.
    fn end_if_done(&mut self, now: Time) {
        let closing = self.handshake.closing;
        if !closing.has(Closing::ACKED) || !closing.has(Closing::PEER_CLOSED) {
            return;
        }
        if closing.has(Closing::PASSIVE) {
            self.end();
        } else {
            self.timers.arm(now, Pending::Fin, now + TIME_WAIT);
        }
    }

    /// An orphan whose FIN is acknowledged does not wait for that of the peer for ever.
    fn wait_for_peer_fin(&mut self, now: Time) {
        if self.is_orphan()
            && self.closing() == Close::FinWait2
            && self.timers.pending == Pending::Nothing
        {
            self.timers.arm(now, Pending::Fin, now + FIN_WAIT_2);
        }
    }

    pub(super) fn end(&mut self) {
        self.handshake.phase = Phase::Closed;
        self.timers.disarm();
        (self.timers.ack_at, self.timers.room_at) = (Time::NEVER, Time::NEVER);
    }
}
