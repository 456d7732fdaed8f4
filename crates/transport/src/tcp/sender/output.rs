//! Outputs: new segments in bursts, retransmissions, acknowledgements.

use tailrace_units::{Span, Time};
use tailrace_wire::{Ecn, Flags, Packet, TCP_SACK_BLOCK_BYTES, TCP_SACK_OPTION_BYTES};

use crate::tcp::limits::Limit;
use crate::tcp::timer::Pending;
use crate::tcp::{Tcp, Transmit};

impl Tcp {
    /// Sends new data as far as the windows allow (Linux `tcp_write_xmit`).
    #[inline]
    pub(crate) fn push(&mut self, now: Time, wire: &mut impl Transmit) {
        if self.send.has_unsent() {
            if self.congestion.is_model() {
                self.push_by_model(now, wire);
            } else {
                self.push_unsent::<false>(now, wire);
            }
        }
    }

    /// The same with a pace and samples of the delivery rate.
    #[cold]
    #[inline(never)]
    fn push_by_model(&mut self, now: Time, wire: &mut impl Transmit) {
        self.push_unsent::<true>(now, wire);
    }

    /// `MODEL` is whether the window follows a model: asked once, not for every segment.
    fn push_unsent<const MODEL: bool>(&mut self, now: Time, wire: &mut impl Transmit) {
        let burst_max = self.burst_segments();
        let before = self.board.ring.tail;
        let limit = loop {
            let sendable = self.send.sendable();
            if sendable == 0 {
                break self.send.limit_without_sendable();
            }
            if MODEL && self.is_held_by_pace(now) {
                break Limit::Pacing;
            }
            let (block, is_last) = self.send.next_block(sendable);
            if let Some(limit) = self.check(now, (block, is_last), burst_max) {
                break limit;
            }
            let room = self.congestion.cwnd - self.board.in_flight();
            let segments = room.min((self.congestion.cwnd / 2).max(1)).min(burst_max);
            let room_bytes = self.send.window_end - self.send.nxt;
            let bytes = block.min(u64::from(segments * self.send.mss)).min(room_bytes);
            self.send.cut(bytes);
            if self.is_small_queue_full(now, bytes as u32) {
                break Limit::Interface;
            }
            self.send_burst::<MODEL>(now, bytes, wire);
        };
        if limit != self.limit {
            self.turn(now, limit);
        }
        self.finish_push(now, before, limit == Limit::Congestion);
    }

    /// Bookkeeping after sending: timers, and whether the window was used.
    #[inline(always)]
    fn finish_push(&mut self, now: Time, before: u64, is_limited: bool) {
        let sent = (self.board.ring.tail - before) as u32;
        let in_flight = self.board.in_flight();
        let is_limited = is_limited || in_flight >= self.congestion.cwnd;
        if sent > 0 || is_limited {
            let (una, nxt, timeout) = (self.send.una, self.send.nxt, self.rtt.timeout());
            self.congestion.validate(now, is_limited, self.board.ring.len(), una, nxt, timeout);
        }
        if sent > 0 {
            self.recovery.sent += sent;
            let was_idle = self.board.ring.len() == sent;
            if was_idle || self.timers.pending == Pending::LossProbe || self.is_probe_allowed() {
                self.rearm(now, false);
            }
        } else if self.board.ring.is_empty()
            && self.timers.pending == Pending::Nothing
            && self.timers.room_at.is_never()
        {
            self.arm_window_probe(now);
        }
    }

    /// The reason for which the next block is not sent.
    #[inline]
    fn check(&mut self, now: Time, (block, is_last): (u64, bool), burst_max: u32) -> Option<Limit> {
        let in_flight = self.board.in_flight();
        if in_flight >= self.congestion.cwnd {
            return Some(Limit::Congestion);
        }
        let mss = u64::from(self.send.mss);
        if self.send.nxt + block.min(mss) > self.send.window_end {
            return Some(Limit::ReceiveWindow);
        }
        if burst_max > 1 && block > mss {
            return self.should_wait(now, (block, is_last), burst_max, in_flight);
        }
        None
    }

    /// Frames have left the NIC: repairs first, then new data.
    pub(crate) fn resume(&mut self, now: Time, wire: &mut impl Transmit) {
        self.retransmit_lost(now, wire);
        self.push(now, wire);
    }

    /// Sends a burst. Where it ends in the peer's window or with a block, its last segment is short
    /// (Linux `tcp_mss_split_point`). A burst of several segments ends with PSH, so that the peer
    /// merges nothing more with it (Linux `__tcp_transmit_skb`).
    #[inline]
    fn send_burst<const MODEL: bool>(&mut self, now: Time, bytes: u64, wire: &mut impl Transmit) {
        debug_assert!(bytes > 0, "a burst has a segment");
        let mss = u64::from(self.send.mss);
        let mut left = bytes;
        loop {
            let payload = left.min(mss);
            left -= payload;
            let is_pushed = left == 0 && bytes > mss;
            self.send_segment::<MODEL>(now, payload as u32, is_pushed, wire);
            if left == 0 {
                break;
            }
        }
        self.send.last_burst = bytes as u32;
        if MODEL {
            self.charge_pace(now, bytes);
        }
    }

    /// Sends one new segment past the congestion window (tail loss probe). Returns whether there
    /// was one.
    pub(crate) fn send_one_more(&mut self, now: Time, wire: &mut impl Transmit) -> bool {
        let is_possible = self.send.has_sendable();
        if is_possible {
            let (block, _) = self.send.next_block(self.send.sendable());
            let payload = block.min(u64::from(self.send.mss));
            self.send.cut(payload);
            self.send_segment::<true>(now, payload as u32, false, wire);
            self.charge_pace(now, payload);
            self.recovery.sent += 1;
            self.turn_with_recovery(now);
        }
        is_possible
    }

    /// Without `MODEL` the window does not follow a model; with it, it may.
    #[inline(always)]
    pub(crate) fn send_segment<const MODEL: bool>(
        &mut self,
        now: Time,
        payload: u32,
        is_pushed: bool,
        wire: &mut impl Transmit,
    ) {
        let seq = self.send.nxt;
        let end = seq + u64::from(payload);
        let mut flags = if is_pushed || end == self.send.written {
            Flags::ACK.with(Flags::PSH)
        } else {
            Flags::ACK
        };
        if self.send.is_cwr_due {
            flags = flags.with(Flags::CWR);
            self.send.is_cwr_due = false;
        }
        let mut packet = self.header(seq, payload, flags);
        if self.send.has_ecn {
            packet.ecn = Ecn::Ect0;
        }
        self.send.advance(payload);
        if MODEL && self.congestion.is_model() {
            self.note_sample_sent(now, self.board.ring.tail);
        }
        self.board.ring.push(now, end);
        self.dispatch(now, packet, wire);
    }

    /// Sends segment `number` again, with its old boundaries.
    pub(crate) fn retransmit(&mut self, now: Time, number: u64, wire: &mut impl Transmit) {
        let seq = self.board.ring.start_of(number);
        let end = self.board.ring.get(number).end();
        let flags = if end == self.send.written { Flags::ACK.with(Flags::PSH) } else { Flags::ACK };
        let mut packet = self.header(seq, (end - seq) as u32, flags);
        if self.send.has_ecn && self.congestion.is_dctcp() {
            // others do not mark retransmissions capable (RFC 3168 section 6.1.5)
            packet.ecn = Ecn::Ect0;
        }
        if self.congestion.is_model() {
            self.note_sample_sent(now, number);
        }
        self.board.mark_retransmitted(number, now);
        self.stats.retransmits += 1;
        self.recovery.undo_retransmissions = self.recovery.undo_retransmissions.max(0) + 1;
        self.dispatch(now, packet, wire);
        self.charge_pace(now, end - seq);
    }

    /// Sends lost segments again as far as the window allows (Linux `tcp_xmit_retransmit_queue`).
    #[cold]
    #[inline(never)]
    pub(crate) fn retransmit_lost(&mut self, now: Time, wire: &mut impl Transmit) {
        while let Some(number) = self.board.next_lost() {
            if self.is_held_by_pace(now)
                || self.board.in_flight() >= self.congestion.cwnd
                || self.is_small_queue_full(now, 2 * self.send.mss)
            {
                break;
            }
            let is_head = number == self.board.ring.head;
            self.retransmit(now, number, wire);
            self.recovery.sent += 1;
            if is_head && self.timers.pending != Pending::Reordering {
                self.timers.arm(now, Pending::Timeout, now + self.rtt.timeout());
            }
        }
    }

    /// Hands a segment with payload to the NIC.
    #[inline(always)]
    fn dispatch(&mut self, now: Time, packet: Packet, wire: &mut impl Transmit) {
        self.stats.segments_sent += 1;
        self.send.last_sent = now;
        self.receive.note_data_sent(now);
        self.note_ack_sent();
        if let Some(departs) = wire.send(packet)
            && self.small_queue.span() != Span::ZERO
        {
            self.small_queue.add(now, departs, u32::from(packet.frame_bytes));
        }
    }

    /// Sends an acknowledgement without payload.
    pub(crate) fn send_ack(&mut self, wire: &mut impl Transmit) {
        let mut packet = self.header(self.next_sequence(), 0, Flags::ACK);
        if self.send.has_sack && self.receive.has_reports() {
            let blocks = self.receive.report(&mut packet);
            packet.frame_bytes += (TCP_SACK_OPTION_BYTES + blocks * TCP_SACK_BLOCK_BYTES) as u16;
        }
        if self.send.has_ecn && self.congestion.is_dctcp() {
            packet.ecn = Ecn::Ect0;
        }
        self.stats.acks_sent += 1;
        self.note_ack_sent();
        wire.send(packet);
    }

    /// The acknowledgement is out: nothing is owed.
    #[inline]
    fn note_ack_sent(&mut self) {
        self.receive.note_ack_sent();
        self.timers.ack_at = Time::NEVER;
    }

    /// The echo of a mark, and the window of an application that reads late.
    #[cold]
    fn say_more(&mut self, flags: Flags) -> Flags {
        if self.receive.is_read_late {
            self.receive.announce(self.send.mss);
        }
        if self.receive.echoes_mark() { flags.with(Flags::ECE) } else { flags }
    }

    /// Everything but the payload's meaning.
    #[inline]
    pub(crate) fn header(&mut self, seq: u64, payload: u32, flags: Flags) -> Packet {
        let flags = if self.receive.has_more_to_say { self.say_more(flags) } else { flags };
        Packet {
            seq,
            ack: self.receive.next,
            window: self.receive.window(),
            flow_hash: self.identity.flow_hash,
            to_endpoint: self.identity.to_endpoint,
            to_host: self.identity.to_host,
            frame_bytes: self.send.header_bytes + payload as u16,
            payload_bytes: payload as u16,
            flags,
            ecn: Ecn::NotEct,
            tag: self.identity.tag,
            dscp: self.identity.dscp,
            sack: Default::default(),
        }
    }
}
