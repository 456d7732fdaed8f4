//! The state of one end of a connection, from the segments that it sent.

/// One end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    /// Time at which the segment with the highest number came, and the last segment with an
    /// acknowledgement.
    pub(super) next_at_ns: u64,
    /// See `next_at_ns`.
    pub(super) ack_at_ns: u64,
    /// Time of the segment whose acknowledgement is timed.
    pub(super) timed_at_ns: u64,
    /// Shortest time to an acknowledgement by the other end, 4.29 s at most; 0 before the first.
    pub(super) rtt_min_ns: u32,
    /// Number after the last byte seen.
    pub(super) next: u32,
    /// Number of its SYN.
    pub(super) first: u32,
    /// The last acknowledgement number.
    pub(super) ack: u32,
    /// End of the segment whose acknowledgement is timed.
    pub(super) timed: u32,
    /// Segments with data that was sent before.
    pub(super) retransmissions: u32,
    /// Duplicates of the last acknowledgement in a row.
    pub(super) duplicates: u16,
    /// The last window, not scaled.
    pub(super) window: u16,
    /// Its maximum segment size; 0 unknown.
    pub(super) mss: u16,
    /// Its window scale; none without its SYN or without the option.
    pub(super) scale: Option<u8>,
    /// Is `next` known, `first`, and a segment timed?
    pub(super) has_next: bool,
    /// See `has_next`.
    pub(super) has_first: bool,
    /// See `has_next`.
    pub(super) has_timed: bool,
    /// The last segment was a keep-alive, or a probe of a zero window.
    pub(super) was_keep_alive: bool,
    /// See `was_keep_alive`.
    pub(super) was_probe: bool,
    /// It has sent data.
    pub(super) has_data: bool,
    /// It has announced the end of its data.
    pub(super) has_finished: bool,
}

impl Side {
    /// Segments with data that was sent before.
    pub fn retransmissions(&self) -> u32 {
        self.retransmissions
    }

    /// Its maximum segment size, if its SYN has named one.
    pub fn mss_bytes(&self) -> u16 {
        self.mss
    }

    /// The other end has acknowledged a segment, of data or of the handshake, after this time.
    pub(super) fn note_rtt(&mut self, rtt_ns: u64) {
        let rtt_ns = u32::try_from(rtt_ns).unwrap_or(u32::MAX).max(1);
        self.rtt_min_ns = if self.rtt_min_ns == 0 { rtt_ns } else { self.rtt_min_ns.min(rtt_ns) };
    }

    /// The shortest time from a segment of this end to its acknowledgement, 0 if there was none.
    pub fn rtt_min_ns(&self) -> u64 {
        u64::from(self.rtt_min_ns)
    }
}
