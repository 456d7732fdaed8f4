//! Opening a connection (RFC 9293 section 3.5), with the options that both ends must agree on.

use tailrace_units::{Span, Time};
use tailrace_wire::{Ecn, Flags, Packet, SackBlock};

use super::closing::Closing;
use super::phase::{Failure, Phase};
use super::recovery::State;
use super::rtt::INITIAL_TIMEOUT;
use super::sender::FIRST_BYTE;
use super::timer::Pending;
use super::{Segment, SegmentEffect, Tcp, Transmit};

/// Options of a SYN beyond the timestamps that every segment carries: segment size 4, SACK
/// permitted and padding 4 less 4, window scale 4 (Linux: 20 bytes of options, 12 of them counted
/// in the configured header).
const SYN_OPTION_BYTES: u32 = 8;
/// A SYN is repeated this often (Linux `tcp_syn_retries`).
const SYN_RETRIES: u8 = 6;
/// A SYN-ACK is repeated this often (Linux `tcp_synack_retries`).
const SYN_ACK_RETRIES: u8 = 5;

/// The opening segment in flight, and the state of closing: together, because an end of a
/// connection has no room to waste.
pub(super) struct Handshake {
    /// When the opening segment was sent; afterwards, when the first of those retransmissions was
    /// that have had no answer.
    pub(super) sent: Time,
    /// The low bits of the end of the peer's stream: a window is smaller than their range.
    pub(super) peer_end: u32,
    pub(super) phase: Phase,
    pub(super) closing: Closing,
    pub(super) retries: u8,
    /// Probes of a closed window since the last answer.
    pub(super) probes: u8,
}

impl Handshake {
    pub(super) fn new() -> Handshake {
        Handshake {
            sent: Time::ZERO,
            peer_end: 0,
            phase: Phase::Listen,
            closing: Closing::NOTHING,
            retries: 0,
            probes: 0,
        }
    }
}

impl Tcp {
    /// Opens the connection actively. The peer's [`Tcp`] answers from [`Tcp::handle_segment`].
    pub fn connect(&mut self, now: Time, wire: &mut impl Transmit) {
        if self.handshake.phase == Phase::Listen {
            self.handshake.phase = Phase::SynSent;
            self.send_opening(now, wire);
        }
    }

    /// The peer's endpoint has become known.
    pub fn set_peer_endpoint(&mut self, endpoint: u32) {
        self.identity.to_endpoint = endpoint;
    }

    /// Whether data can flow.
    #[inline]
    pub fn is_established(&self) -> bool {
        self.handshake.phase == Phase::Established
    }

    /// Whether the connection was opened and this end has not ended it.
    pub(super) fn can_send(&self) -> bool {
        matches!(self.handshake.phase, Phase::Established | Phase::Closing)
    }

    /// Whether the peer has opened the connection and not yet acknowledged the answer.
    pub fn is_half_open(&self) -> bool {
        self.handshake.phase == Phase::SynReceived
    }

    fn send_opening(&mut self, now: Time, wire: &mut impl Transmit) {
        self.handshake.sent = now;
        let packet = self.opening();
        wire.send_opening(packet);
        self.timers.arm(now, Pending::Handshake, now + self.rtt.timeout());
    }

    /// The SYN or SYN-ACK. The first block carries its options: the segment size, and whether SACK
    /// is permitted.
    fn opening(&mut self) -> Packet {
        let is_answer = self.handshake.phase == Phase::SynReceived;
        let mut flags = if is_answer { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
        if self.send.has_ecn {
            flags = flags.with(Flags::ECE);
            if !is_answer {
                flags = flags.with(Flags::CWR); // RFC 3168 section 6.1.1
            }
        }
        let mut packet = self.header(0, 0, flags);
        packet.ack = if is_answer { self.receive.next } else { 0 };
        // the window of a SYN is never scaled
        packet.window = packet.window.min(u32::from(u16::MAX));
        packet.frame_bytes += SYN_OPTION_BYTES as u16;
        // A SYN of DCTCP is marked and not dropped (Linux `tcp_ecn_send_syn`); a SYN-ACK is not
        // capable.
        if self.send.has_ecn && self.congestion.is_dctcp() && !is_answer {
            packet.ecn = Ecn::Ect0;
        }
        packet.sack[0] =
            SackBlock { offset: self.send.mss as i32, bytes: u32::from(self.send.has_sack) };
        packet
    }

    pub(super) fn retry_handshake(&mut self, now: Time, wire: &mut impl Transmit) {
        let limit =
            if self.handshake.phase == Phase::SynReceived { SYN_ACK_RETRIES } else { SYN_RETRIES };
        if self.handshake.retries >= limit {
            return self.fail(Failure::TimedOut);
        }
        self.handshake.retries += 1;
        self.stats.timeouts += 1;
        self.rtt.back_off();
        self.send_opening(now, wire);
    }

    /// A segment before the connection is established.
    #[cold]
    pub(super) fn handle_opening(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        wire: &mut impl Transmit,
    ) -> SegmentEffect {
        let packet = segment.packet;
        if packet.flags.contains(Flags::RST) {
            self.handle_reset(now, packet, wire);
            return SegmentEffect::default();
        }
        let is_syn = packet.flags.contains(Flags::SYN);
        let is_ack = packet.flags.contains(Flags::ACK);
        match self.handshake.phase {
            Phase::Listen if is_syn && !is_ack => {
                self.take_options(packet);
                self.handshake.phase = Phase::SynReceived;
                self.send_opening(now, wire);
            }
            Phase::SynReceived if is_syn && !is_ack => self.send_opening(now, wire),
            Phase::SynReceived if is_ack && packet.ack >= FIRST_BYTE => {
                self.establish(now);
                let mut progress = self.handle_segment(now, segment, wire);
                progress.connected = true;
                return progress;
            }
            Phase::SynSent if is_syn && is_ack => {
                self.take_options(packet);
                self.establish(now);
                self.send.window_end = FIRST_BYTE + u64::from(packet.window);
                self.send_ack(wire);
                self.push(now, wire);
                return SegmentEffect { connected: true, ..SegmentEffect::default() };
            }
            // The peer has not forgotten an earlier connection between the same ports: a reset ends
            // that one, and the SYN is sent again.
            Phase::SynSent if is_ack => self.disown(now, segment, wire),
            Phase::Closing => return self.handle_unusual(now, segment, wire),
            Phase::Listen
            | Phase::SynReceived
            | Phase::SynSent
            | Phase::Established
            | Phase::Closed
            | Phase::Failed(_) => {}
        }
        SegmentEffect::default()
    }

    /// The smaller segment, and what both ends can.
    fn take_options(&mut self, packet: &Packet) {
        let mss = packet.sack[0].offset.max(1) as u32;
        if mss < self.send.mss {
            self.set_mss(mss);
        }
        self.send.has_sack &= packet.sack[0].bytes != 0;
        self.send.probes_tail &= self.send.has_sack;
        self.send.has_ecn &= packet.flags.contains(Flags::ECE);
        self.send.window_end = FIRST_BYTE + u64::from(packet.window);
    }

    fn establish(&mut self, now: Time) {
        self.handshake.phase =
            if self.is_close_requested() { Phase::Closing } else { Phase::Established };
        self.start_limits(now);
        self.recovery.state = State::Open;
        self.timers.disarm();
        let sample = now.since(self.handshake.sent).max(Span::from_ps(1));
        self.receive.window.start(now, sample);
        if self.handshake.retries == 0 {
            self.rtt.measure(now, sample, sample, FIRST_BYTE, FIRST_BYTE);
        } else {
            // RFC 6298 section 5.7: after a lost SYN the timeout starts again from the safe value.
            self.rtt.restart(INITIAL_TIMEOUT.times(3));
            self.congestion.cwnd = 1; // Linux `tcp_init_transfer`: one segment after a repeated SYN
        }
        self.start_model(now);
    }

    /// A SYN in an established connection: the last acknowledgement of the opening was lost. Or an
    /// end of it closes, or resets it.
    #[cold]
    pub(super) fn handle_unusual(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        wire: &mut impl Transmit,
    ) -> SegmentEffect {
        if segment.packet.flags.contains(Flags::RST) {
            self.handle_reset(now, segment.packet, wire);
        } else if segment.packet.flags.contains(Flags::SYN) {
            self.send_ack(wire);
        } else {
            return self.handle_closing(now, segment, wire);
        }
        SegmentEffect::default()
    }
}
