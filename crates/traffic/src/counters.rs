//! Counters that a system reports for a connection: numbers with names, in one order. A later
//! version adds names at the end.

/// Names, which are Linux's without `tcpi_` where it has them.
pub const COUNTERS: [&str; 38] = [
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
    "notsent_bytes",
    "ca_state",
    "snd_mss",
    "rmem_bytes",
    "rcvbuf_bytes",
    "wmem_bytes",
    "sndbuf_bytes",
    "wmem_queued_bytes",
    "open_us",
    "congestion_limited_us",
    "recovery_limited_us",
    "interface_limited_us",
    "buffer_limited_us",
    "queued_us",
    "reader_late_us",
];

/// Number of counters that come from `struct tcp_info`; then five from the socket's memory, and
/// those that the host has sampled ([`crate::limits`]).
pub const OF_TCP_INFO: usize = 26;

/// A value for each of [`COUNTERS`]; `None` where the system does not report it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counters(pub [Option<u64>; COUNTERS.len()]);

impl Default for Counters {
    /// No value is known.
    fn default() -> Counters {
        Counters([None; COUNTERS.len()])
    }
}

impl Counters {
    /// Sets the counter of this name.
    pub fn set(&mut self, name: &str, value: u64) {
        if let Some(place) = COUNTERS.iter().position(|known| *known == name) {
            self.0[place] = Some(value);
        }
    }

    /// The counter of this name, if there is one and the system reports it.
    pub fn named(&self, name: &str) -> Option<u64> {
        let place = COUNTERS.iter().position(|known| *known == name)?;
        self.0[place]
    }
}
