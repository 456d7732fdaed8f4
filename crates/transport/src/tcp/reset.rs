//! Reset segments (RFC 9293 sections 3.5.2 and 3.10.7, with the checks of RFC 5961): when they are
//! sent, and what they end.

use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet, TCP_TIMESTAMP_BYTES};

use super::closing::Close;
use super::phase::{Failure, Phase};
use super::sender::FIRST_BYTE;
use super::timer::Pending;
use super::{Segment, Tcp, Transmit};
use crate::ip::{Identity, TO_PORT};

/// The smallest timeout: after so long a SYN is sent again that found an earlier connection (Linux
/// `TCP_TIMEOUT_MIN`, two clock ticks; HZ = 1000 is assumed).
const RETRY_SYN_AFTER: Span = Span::from_ms(2);

/// The reset that answers a segment for which there is no connection (RFC 9293 section 3.10.7.1);
/// `None` for a reset, which is never answered. It has no timestamps (Linux `tcp_v4_send_reset`),
/// which `header_bytes` counts.
pub fn answer(segment: &Segment<'_>, identity: &Identity, header_bytes: u32) -> Option<Packet> {
    let of = segment.packet;
    if of.flags.contains(Flags::RST) {
        return None;
    }
    let mut reset = identity.packet(header_bytes - TCP_TIMESTAMP_BYTES, 0);
    if of.flags.contains(Flags::ACK) {
        (reset.seq, reset.flags) = (of.ack, Flags::RST);
    } else {
        let in_sequence = |flag| u64::from(of.flags.contains(flag));
        reset.ack = of.seq
            + u64::from(segment.payload_bytes)
            + in_sequence(Flags::SYN)
            + in_sequence(Flags::FIN);
        reset.flags = Flags::RST.with(Flags::ACK);
    }
    Some(reset)
}

impl Tcp {
    /// A reset has come. It counts if it has exactly the number that is expected next; one
    /// elsewhere in the window may be forged or late, so the peer is asked: if it means it, the
    /// next one has the number (RFC 5961 section 3.2, Linux `tcp_validate_incoming`).
    pub(super) fn handle_reset(&mut self, now: Time, packet: &Packet, wire: &mut impl Transmit) {
        match self.handshake.phase {
            Phase::SynSent if packet.flags.contains(Flags::ACK) && packet.ack == FIRST_BYTE => {
                self.fail(Failure::Refused)
            }
            Phase::SynReceived | Phase::Established | Phase::Closing
                if self.is_expected(packet) =>
            {
                self.fail(Failure::Reset)
            }
            Phase::Established | Phase::Closing => {
                if (self.receive.next..=self.receive.window.end).contains(&packet.seq) {
                    self.answer_probe(now, wire);
                }
            }
            Phase::Listen
            | Phase::SynSent
            | Phase::SynReceived
            | Phase::Closed
            | Phase::Failed(_) => {}
        }
    }

    /// Whether a reset has the next number, or that of the peer's FIN: the segment that the peer
    /// answered had not acknowledged the FIN (Linux `tcp_reset_check`).
    fn is_expected(&self, packet: &Packet) -> bool {
        let is_behind_fin =
            matches!(self.closing(), Close::CloseWait | Close::LastAck | Close::Closing);
        packet.seq == self.receive.next || (is_behind_fin && packet.seq + 1 == self.receive.next)
    }

    /// The answer to a SYN is none: it belongs to an earlier connection, which the peer has to
    /// forget. A real host sees that by the number that it acknowledges, because the numbers of
    /// connections begin anywhere; here all begin at 0.
    pub(super) fn disown(&mut self, now: Time, segment: &Segment<'_>, wire: &mut impl Transmit) {
        self.refuse_segment(segment, wire);
        if self.timers.pending == Pending::Handshake && self.handshake.retries == 0 {
            self.timers.arm(now, Pending::Handshake, now + RETRY_SYN_AFTER);
        }
    }

    /// Answers a segment that has no business here, if it is known whom.
    fn refuse_segment(&self, segment: &Segment<'_>, wire: &mut impl Transmit) {
        if self.identity.to_endpoint != TO_PORT
            && let Some(reset) = answer(segment, &self.identity, self.send.header_bytes.into())
        {
            wire.send(reset);
        }
    }

    /// New data have come for an orphan: a reset is sent, and the connection ends (RFC 9293 section
    /// 3.6.1, RFC 1122 section 4.2.2.13; Linux `tcp_rcv_state_process`). Returns whether they have.
    pub(super) fn refuses_data(&mut self, segment: &Segment<'_>, wire: &mut impl Transmit) -> bool {
        let end = segment.packet.seq + u64::from(segment.payload_bytes);
        let refuses = self.is_orphan() && segment.payload_bytes > 0 && end > self.receive.next;
        if refuses {
            self.refuse_segment(segment, wire);
            self.end();
        }
        refuses
    }

    /// Ends the connection at this end and sends a reset (Linux `tcp_send_active_reset`).
    pub(super) fn abort(&mut self, wire: &mut impl Transmit) {
        let reset = self.header(self.next_sequence(), 0, Flags::RST.with(Flags::ACK));
        wire.send(reset);
        self.end();
    }
}
