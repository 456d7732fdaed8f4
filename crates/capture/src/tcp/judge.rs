//! The kind of a segment. The rules are those of Wireshark's TCP analysis (User's Guide, section
//! 7.5 "TCP Analysis"), so that counts can be compared; where a rule needs all unacknowledged
//! segments, the last one and the highest number stand for them.

use super::is_before;
use super::side::Side;
use crate::decode::{Tcp, flags};

/// A segment below the highest number within this time of it is out of order if the handshake was
/// not seen.
const DISORDER_NS: u64 = 3_000_000;
/// A retransmission within this time of the duplicates is a fast one.
const FAST_NS: u64 = 20_000_000;
/// A longer gap is no loss that a later segment fills, but another position of the stream. Receive
/// buffers of Linux have 6 MiB at most by default (`tcp_rmem`).
const GAP_BYTES_MAX: u32 = 16 << 20;
/// Duplicates that a fast retransmission follows at least.
const DUPLICATES_MIN: u16 = 2;

/// The kind of a segment, beyond new data or an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Its data were sent before, for whatever reason.
    pub is_retransmission: bool,
    /// A retransmission after duplicate acknowledgements.
    pub is_fast: bool,
    /// A retransmission of acknowledged data.
    pub is_spurious: bool,
    /// It was overtaken.
    pub is_out_of_order: bool,
    /// It repeats the last acknowledgement.
    pub is_duplicate_ack: bool,
    /// It closes the window.
    pub is_zero_window: bool,
    /// It probes a closed window.
    pub is_window_probe: bool,
    /// It only changes the window.
    pub is_window_update: bool,
    /// It asks whether the other end is there.
    pub is_keep_alive: bool,
    /// Bytes before it were not captured.
    pub is_after_gap: bool,
    /// Bytes by which it advances the stream, SYN and FIN apart; with those before it that were not
    /// captured yet, unless they are too many.
    pub new_bytes: u32,
}

impl Verdict {
    /// Does it only repeat or ask?
    fn has_no_new_data(self) -> bool {
        self.is_keep_alive || self.is_window_probe
    }
}

/// The kind of this segment of `own`, and the state after it. `handshake_ns` is the duration of the
/// handshake, 0 if unknown.
#[inline]
pub fn judge(
    own: &mut Side,
    peer: &mut Side,
    tcp: &Tcp,
    now_ns: u64,
    handshake_ns: u64,
) -> Verdict {
    let mut verdict = Verdict::default();
    let is_plain = tcp.flags & (flags::SYN | flags::FIN | flags::RST) == 0;
    let length = tcp.payload_bytes;
    let is_expected = own.has_next && tcp.seq == own.next;
    let is_same_ack = tcp.ack == own.ack;

    verdict.is_window_probe = length == 1 && is_expected && peer.window == 0 && peer.ack_at_ns > 0;
    if !verdict.is_window_probe {
        verdict.is_zero_window = is_plain && tcp.window == 0;
        verdict.is_after_gap = own.has_next && is_before(own.next, tcp.seq) && !tcp.has(flags::RST);
        verdict.is_keep_alive =
            is_plain && length <= 1 && own.has_next && tcp.seq == own.next.wrapping_sub(1);
        let is_bare = is_plain && length == 0 && is_expected && is_same_ack;
        verdict.is_window_update = is_bare && tcp.window != 0 && tcp.window != own.window;
        let is_answer = peer.was_keep_alive || (peer.was_probe && tcp.window == 0);
        verdict.is_duplicate_ack =
            is_bare && tcp.window != 0 && tcp.window == own.window && !is_answer;
    }
    if verdict.is_duplicate_ack {
        own.duplicates = own.duplicates.saturating_add(1);
    }
    if !is_same_ack {
        own.duplicates = 0;
    }
    if (length > 0 || tcp.flags & (flags::SYN | flags::FIN) != 0) && !verdict.has_no_new_data() {
        repeated(own, peer, tcp, now_ns, handshake_ns, &mut verdict);
    }
    advance(own, tcp, now_ns, &mut verdict);
    own.retransmissions += u32::from(verdict.is_retransmission);
    (own.was_keep_alive, own.was_probe) = (verdict.is_keep_alive, verdict.is_window_probe);
    verdict
}

/// Was the data sent before, or overtaken?
#[inline]
fn repeated(
    own: &Side,
    peer: &Side,
    tcp: &Tcp,
    now_ns: u64,
    handshake_ns: u64,
    verdict: &mut Verdict,
) {
    let end = tcp.seq.wrapping_add(tcp.payload_bytes);
    // A probe's byte that was not accepted comes again with more data.
    if !own.has_next
        || (tcp.payload_bytes > 1 && own.was_probe && tcp.seq == own.next.wrapping_sub(1))
    {
        return;
    }
    // Also where the data themselves were not captured before.
    if tcp.payload_bytes > 0 && peer.ack_at_ns > 0 && !is_before(peer.ack, end) {
        (verdict.is_retransmission, verdict.is_spurious) = (true, true);
        return;
    }
    if !is_before(tcp.seq, own.next) {
        return;
    }
    let is_fast = peer.duplicates >= DUPLICATES_MIN
        && peer.ack == tcp.seq
        && is_within(peer.ack_at_ns, now_ns, FAST_NS);
    let disorder_ns = if handshake_ns == 0 { DISORDER_NS } else { handshake_ns };
    let is_overtaken = is_within(own.next_at_ns, now_ns, disorder_ns) && after(tcp) != own.next;
    match (is_fast, is_overtaken) {
        (true, _) => (verdict.is_retransmission, verdict.is_fast) = (true, true),
        (false, true) => verdict.is_out_of_order = true,
        (false, false) => verdict.is_retransmission = true,
    }
}

/// Is the time since then less than this? It is not when time has gone backwards.
#[inline]
fn is_within(then_ns: u64, now_ns: u64, less_than_ns: u64) -> bool {
    now_ns.checked_sub(then_ns).is_some_and(|since_ns| since_ns < less_than_ns)
}

/// The number that follows a segment: SYN and FIN have one each.
#[inline]
fn after(tcp: &Tcp) -> u32 {
    let flags = u32::from(tcp.has(flags::SYN)) + u32::from(tcp.has(flags::FIN));
    tcp.seq.wrapping_add(tcp.payload_bytes).wrapping_add(flags)
}

/// Goes on in the stream, and keeps what later segments are compared with.
#[inline]
fn advance(own: &mut Side, tcp: &Tcp, now_ns: u64, verdict: &mut Verdict) {
    let end = tcp.seq.wrapping_add(tcp.payload_bytes);
    let next = after(tcp);
    own.has_data |= tcp.payload_bytes > 0;
    // The number of a reset may be that of another connection, whose segment it answers (RFC 9293,
    // section 3.10.7.1).
    let is_of_stream = !tcp.has(flags::RST) && !verdict.is_window_probe;
    if !own.has_next || (is_before(own.next, next) && is_of_stream) {
        let before = if own.has_next { own.next } else { tcp.seq };
        let advanced =
            end.wrapping_sub(before).wrapping_sub(u32::from(tcp.has(flags::SYN) && own.has_next));
        let is_gap_counted = advanced.saturating_sub(tcp.payload_bytes) <= GAP_BYTES_MAX;
        verdict.new_bytes = if tcp.payload_bytes == 0 {
            0
        } else if is_gap_counted {
            advanced
        } else {
            tcp.payload_bytes
        };
        (own.next, own.next_at_ns, own.has_next) = (next, now_ns, true);
    }
    own.window = tcp.window;
    if tcp.has(flags::ACK) {
        (own.ack, own.ack_at_ns) = (tcp.ack, now_ns.max(1));
    }
    own.has_finished |= tcp.has(flags::FIN);
}
