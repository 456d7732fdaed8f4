//! What a system tells of a connection: numbers with names, in one order. A later version adds names at the end.

/// Names, which are Linux's without `tcpi_` where it has them.
pub const COUNTERS: [&str; 23] = [
    "snd_cwnd",
    "snd_ssthresh",
    "rtt_us",
    "rttvar_us",
    "min_rtt_us",
    "unacked",
    "lost",
    "segs_out",
    "segs_in",
    "data_segs_out",
    "data_segs_in",
    "total_retrans",
    "dsack_dups",
    "reord_seen",
    "rcv_ooopack",
    "delivered",
    "delivered_ce",
    "bytes_acked",
    "bytes_received",
    "busy_time_us",
    "rwnd_limited_us",
    "sndbuf_limited_us",
    "total_rto",
];

/// A value for each of [`COUNTERS`]; `None` where the system does not tell it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters(pub [Option<u64>; COUNTERS.len()]);

impl Counters {
    /// The counter of this name, if there is one and the system tells it.
    pub fn named(&self, name: &str) -> Option<u64> {
        let place = COUNTERS.iter().position(|known| *known == name)?;
        self.0[place]
    }
}
