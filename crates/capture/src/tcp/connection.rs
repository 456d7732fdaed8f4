//! A connection: its ends, its handshake, and its client.

use super::is_before;
use super::judge::{Verdict, judge};
use super::side::Side;
use crate::decode::{Tcp, flags};

/// A connection as far as it was seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connection {
    /// The ends in the order of the key.
    pub sides: [Side; 2],
    /// Time of the last SYN and of the SYN with an acknowledgement.
    syn_at_ns: u64,
    syn_ack_at_ns: u64,
    /// From the SYN to the last segment of the handshake; 0 if not seen.
    handshake_ns: u64,
    /// The end that opened it, as far as known.
    client: Option<u8>,
    /// SYN, SYN with acknowledgement, end of data, reset.
    pub has_syn: bool,
    /// See `has_syn`.
    pub has_syn_ack: bool,
    /// See `has_syn`.
    pub has_fin: bool,
    /// See `has_syn`.
    pub has_rst: bool,
    /// The SYN was sent more than once: its answer yields no time.
    is_syn_repeated: bool,
    /// Both ends have agreed on explicit congestion notification.
    pub has_ecn: bool,
    asks_ecn: bool,
    /// The last segment of the handshake was seen.
    is_open: bool,
    /// It counts among the open ones.
    pub is_counted: bool,
}

/// The findings of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Its verdict.
    pub verdict: Verdict,
    /// From a segment of the other end to this acknowledgement.
    pub rtt_ns: Option<u64>,
    /// This acknowledgement answers the SYN, or is the last of the handshake: times of either part.
    pub handshake_part_ns: Option<u64>,
    /// The handshake is complete: its whole time.
    pub handshake_ns: Option<u64>,
    /// It is beyond the maximum segment size of the receiver: an interface has cut or joined it.
    pub is_beyond_mss: bool,
}

impl Connection {
    /// Does a SYN open another connection between the same ports? It has another number than the
    /// first.
    #[inline]
    pub fn is_reopened_by(&self, way: usize, tcp: &Tcp) -> bool {
        let own = &self.sides[way];
        tcp.flags & (flags::SYN | flags::ACK) == flags::SYN
            && own.has_next
            && !(own.has_first && own.first == tcp.seq)
    }

    /// Takes a segment that goes this way.
    #[inline]
    pub fn segment(&mut self, way: usize, tcp: &Tcp, now_ns: u64) -> Seen {
        let mut seen = Seen::default();
        if tcp.has(flags::SYN) {
            self.syn(way, tcp, now_ns, &mut seen);
        } else if !self.is_open && tcp.has(flags::ACK) {
            self.opened(way, tcp, now_ns, &mut seen);
        }
        if let Some(rtt_ns) = seen.handshake_part_ns {
            self.sides[1 - way].note_rtt(rtt_ns);
        }
        self.has_fin |= tcp.has(flags::FIN);
        self.has_rst |= tcp.has(flags::RST);
        let handshake_ns = self.handshake_ns;
        let [low, high] = &mut self.sides;
        let (own, peer) = if way == 0 { (low, high) } else { (high, low) };
        seen.verdict = judge(own, peer, tcp, now_ns, handshake_ns);
        seen.is_beyond_mss = peer.mss > 0 && tcp.payload_bytes > u32::from(peer.mss);
        seen.rtt_ns = timed(own, peer, tcp, now_ns, seen.verdict);
        seen
    }

    fn syn(&mut self, way: usize, tcp: &Tcp, now_ns: u64, seen: &mut Seen) {
        let side = &mut self.sides[way];
        side.mss = tcp.mss.unwrap_or(0);
        side.scale = tcp.scale;
        if tcp.has(flags::ACK) {
            if self.has_syn && !self.has_syn_ack && !self.is_syn_repeated {
                seen.handshake_part_ns = now_ns.checked_sub(self.syn_at_ns);
            }
            self.client = self.client.filter(|_| self.has_syn).or(Some(1 - way as u8));
            (self.has_syn_ack, self.syn_ack_at_ns) = (true, now_ns);
            self.has_ecn = self.asks_ecn && tcp.flags & (flags::ECE | flags::CWR) == flags::ECE;
        } else {
            self.is_syn_repeated = self.has_syn;
            (self.has_syn, self.syn_at_ns, self.client) = (true, now_ns, Some(way as u8));
            self.asks_ecn = tcp.flags & (flags::ECE | flags::CWR) == flags::ECE | flags::CWR;
        }
        let side = &mut self.sides[way];
        let is_known = side.has_data || side.has_first && side.first == tcp.seq;
        if !is_known {
            // Earlier segments belong to another connection between these ports.
            (side.has_next, side.has_timed) = (false, false);
        }
        (side.first, side.has_first) = (tcp.seq, true);
    }

    fn opened(&mut self, way: usize, tcp: &Tcp, now_ns: u64, seen: &mut Seen) {
        self.is_open = true;
        let server = &self.sides[1 - way];
        let is_last =
            self.has_syn && self.has_syn_ack && self.client == Some(way as u8) && server.has_first;
        if is_last && tcp.ack == server.first.wrapping_add(1) {
            self.handshake_ns = now_ns.saturating_sub(self.syn_at_ns);
            seen.handshake_part_ns = now_ns.checked_sub(self.syn_ack_at_ns);
            seen.handshake_ns = now_ns.checked_sub(self.syn_at_ns);
        }
    }

    /// The end that opened it: the one that sent the SYN, else the one with the higher port, else
    /// the one that was seen first.
    pub fn client(&self, ports: [u16; 2], first_way: usize) -> usize {
        match self.client {
            Some(way) => usize::from(way),
            None if ports[0] != ports[1] => usize::from(ports[1] > ports[0]),
            None => first_way,
        }
    }

    /// The handshake has shown which end opened it.
    pub fn is_client_known(&self) -> bool {
        self.client.is_some()
    }

    /// Both ends have said that they are done, or one has reset it.
    pub fn is_over(&self) -> bool {
        self.has_rst || self.sides.iter().all(|side| side.has_finished)
    }
}

/// Times one segment after the other: from new data to the acknowledgement that covers it (RFC 6298
/// section 3 excludes retransmissions).
#[inline]
fn timed(own: &mut Side, peer: &mut Side, tcp: &Tcp, now_ns: u64, verdict: Verdict) -> Option<u64> {
    if verdict.new_bytes > 0 && !own.has_timed {
        (own.timed, own.timed_at_ns, own.has_timed) = (own.next, now_ns, true);
    } else if (verdict.is_retransmission || verdict.is_out_of_order)
        && is_before(tcp.seq, own.timed)
    {
        own.has_timed = false;
    }
    if !(peer.has_timed && tcp.has(flags::ACK) && !is_before(tcp.ack, peer.timed)) {
        return None;
    }
    peer.has_timed = false;
    let rtt_ns = now_ns.checked_sub(peer.timed_at_ns)?;
    peer.note_rtt(rtt_ns);
    Some(rtt_ns)
}
