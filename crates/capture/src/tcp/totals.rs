//! Statistics of all TCP connections.

use super::connection::{Connection, Seen};
use crate::decode::{Tcp, flags};
use crate::distribution::{Distribution, Summary};
use serde::Serialize;
use std::collections::BTreeMap;

/// Sizes of segments that are counted apart; more are counted together.
const MSS_MAX: usize = 64;
/// Shifts above this count as this one (RFC 7323 section 2.3).
const SCALE_MAX: u8 = 14;

/// Counts of segments and times of acknowledgements.
#[derive(Clone, Debug, Default)]
pub struct TcpTotals {
    counts: Counts,
    mss: BTreeMap<u16, u64>,
    mss_other: u64,
    scale: BTreeMap<u8, u64>,
    without_scale: u64,
    handshake: Distribution,
    handshake_server: Distribution,
    handshake_client: Distribution,
    server: Distribution,
    client: Distribution,
}

/// Counts of segments and connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Segments whose header was captured.
    segments: u64,
    /// Data, each byte once.
    payload_bytes: u64,
    retransmissions: u64,
    fast_retransmissions: u64,
    spurious_retransmissions: u64,
    out_of_order: u64,
    duplicate_acks: u64,
    zero_windows: u64,
    zero_window_probes: u64,
    window_updates: u64,
    keep_alives: u64,
    /// Segments before which bytes are missing: lost before the point of capture, or by the
    /// capture.
    after_gaps: u64,
    /// Segments longer than the receiver's maximum: an interface of the capturing host cuts or
    /// joins them.
    beyond_mss: u64,
    syns: u64,
    syn_acks: u64,
    fins: u64,
    resets: u64,
    /// Segments with ECE or CWR, other than SYNs.
    ecn_echoes: u64,
    congestion_window_reduced: u64,
}

/// Results on TCP.
#[derive(Debug, PartialEq, Serialize)]
pub struct TcpSummary {
    #[serde(flatten)]
    counts: Counts,
    /// Maximum segment sizes of SYNs and how many had them.
    mss_bytes: Vec<(u16, u64)>,
    mss_other: u64,
    /// Window scales of SYNs and how many had them.
    window_scale: Vec<(u8, u64)>,
    window_scale_absent: u64,
    /// SYN to the last segment of the handshake.
    handshake_rtt_ns: Summary,
    /// SYN to its answer: the part of the path beyond the point of capture, as seen by clients.
    handshake_server_side_rtt_ns: Summary,
    /// Answer to the last segment.
    handshake_client_side_rtt_ns: Summary,
    /// Data of clients to the acknowledgement by servers.
    server_side_rtt_ns: Summary,
    /// Data of servers to the acknowledgement by clients.
    client_side_rtt_ns: Summary,
}

impl TcpTotals {
    /// Counts a segment; `is_client` if the client sent it.
    #[inline]
    pub fn add(&mut self, tcp: &Tcp, seen: &Seen, is_client: bool) {
        let (counts, verdict) = (&mut self.counts, seen.verdict);
        counts.segments += 1;
        counts.payload_bytes += u64::from(verdict.new_bytes);
        counts.retransmissions += u64::from(verdict.is_retransmission);
        counts.fast_retransmissions += u64::from(verdict.is_fast);
        counts.spurious_retransmissions += u64::from(verdict.is_spurious);
        counts.out_of_order += u64::from(verdict.is_out_of_order);
        counts.duplicate_acks += u64::from(verdict.is_duplicate_ack);
        counts.zero_windows += u64::from(verdict.is_zero_window);
        counts.zero_window_probes += u64::from(verdict.is_window_probe);
        counts.window_updates += u64::from(verdict.is_window_update);
        counts.keep_alives += u64::from(verdict.is_keep_alive);
        counts.after_gaps += u64::from(verdict.is_after_gap);
        counts.beyond_mss += u64::from(seen.is_beyond_mss);
        counts.fins += u64::from(tcp.has(flags::FIN));
        counts.resets += u64::from(tcp.has(flags::RST));
        if tcp.has(flags::SYN) {
            self.syn(tcp);
        } else {
            counts.ecn_echoes += u64::from(tcp.has(flags::ECE));
            counts.congestion_window_reduced += u64::from(tcp.has(flags::CWR));
        }
        if let Some(rtt_ns) = seen.rtt_ns {
            // An acknowledgement of the client ends a time of its side of the path.
            if is_client { &mut self.client } else { &mut self.server }.add(rtt_ns);
        }
        if let Some(part_ns) = seen.handshake_part_ns {
            if is_client { &mut self.handshake_client } else { &mut self.handshake_server }
                .add(part_ns);
        }
        if let Some(handshake_ns) = seen.handshake_ns {
            self.handshake.add(handshake_ns);
        }
    }

    #[cold]
    fn syn(&mut self, tcp: &Tcp) {
        if tcp.has(flags::ACK) {
            self.counts.syn_acks += 1;
        } else {
            self.counts.syns += 1;
        }
        match tcp.scale {
            Some(scale) => *self.scale.entry(scale.min(SCALE_MAX)).or_default() += 1,
            None => self.without_scale += 1,
        }
        if let Some(mss) = tcp.mss {
            if self.mss.len() < MSS_MAX || self.mss.contains_key(&mss) {
                *self.mss.entry(mss).or_default() += 1;
            } else {
                self.mss_other += 1;
            }
        }
    }

    /// For the results.
    pub fn summary(&self) -> TcpSummary {
        TcpSummary {
            counts: self.counts,
            mss_bytes: self.mss.iter().map(|(&mss, &count)| (mss, count)).collect(),
            mss_other: self.mss_other,
            window_scale: self.scale.iter().map(|(&scale, &count)| (scale, count)).collect(),
            window_scale_absent: self.without_scale,
            handshake_rtt_ns: self.handshake.summary(),
            handshake_server_side_rtt_ns: self.handshake_server.summary(),
            handshake_client_side_rtt_ns: self.handshake_client.summary(),
            server_side_rtt_ns: self.server.summary(),
            client_side_rtt_ns: self.client.summary(),
        }
    }
}

/// Kinds of connections, counted when they are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConnectionCounts {
    connections: u64,
    /// Their opening was captured.
    with_syn: u64,
    with_fin: u64,
    with_reset: u64,
    /// Both ends agreed on explicit congestion notification.
    with_ecn: u64,
    with_retransmissions: u64,
}

impl ConnectionCounts {
    /// Counts a connection that is over.
    pub fn add(&mut self, connection: &Connection) {
        self.connections += 1;
        self.with_syn += u64::from(connection.has_syn || connection.has_syn_ack);
        self.with_fin += u64::from(connection.has_fin);
        self.with_reset += u64::from(connection.has_rst);
        self.with_ecn += u64::from(connection.has_ecn);
        self.with_retransmissions +=
            u64::from(connection.sides.iter().any(|side| side.retransmissions() > 0));
    }
}
