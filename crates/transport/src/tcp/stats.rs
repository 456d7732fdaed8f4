//! Counters of a connection.

/// Counters of one connection end since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpStats {
    /// Segments with payload, first transmissions and retransmissions.
    pub segments_sent: u64,
    /// Segments without payload that only acknowledge.
    pub acks_sent: u64,
    /// Segments sent again, for whatever reason.
    pub retransmits: u64,
    /// Expiries of the retransmission timer, of the handshake's too.
    pub timeouts: u64,
    /// Tail loss probes.
    pub tail_loss_probes: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Times that fast recovery was entered.
    pub fast_recoveries: u64,
    /// Segments that the peer reported to have received twice (RFC 2883).
    pub spurious_retransmits: u64,
    /// Window reductions that were taken back because the retransmissions turned out to be
    /// needless.
    pub undone_reductions: u64,
    /// Window reductions because of congestion marks.
    pub ecn_reductions: u64,
    /// Aggregates that arrived out of order.
    pub out_of_order: u64,
    /// Aggregates that brought nothing new.
    pub duplicates: u64,
}

/// Segments that a connection has handed to the interface: those with payload, and acknowledgements
/// without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handed {
    /// Segments with payload.
    pub segments: u64,
    /// Acknowledgements without.
    pub acks: u64,
}

impl TcpStats {
    /// Adds another connection's counters.
    pub fn add(&mut self, other: &TcpStats) {
        *self = self.with(other, |own, others| own + others);
    }

    /// Counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &TcpStats) -> TcpStats {
        self.with(earlier, |now, before| now - before)
    }

    /// Each counter with its counterpart.
    fn with(&self, other: &TcpStats, each: impl Fn(u64, u64) -> u64) -> TcpStats {
        TcpStats {
            segments_sent: each(self.segments_sent, other.segments_sent),
            acks_sent: each(self.acks_sent, other.acks_sent),
            retransmits: each(self.retransmits, other.retransmits),
            timeouts: each(self.timeouts, other.timeouts),
            tail_loss_probes: each(self.tail_loss_probes, other.tail_loss_probes),
            window_probes: each(self.window_probes, other.window_probes),
            fast_recoveries: each(self.fast_recoveries, other.fast_recoveries),
            spurious_retransmits: each(self.spurious_retransmits, other.spurious_retransmits),
            undone_reductions: each(self.undone_reductions, other.undone_reductions),
            ecn_reductions: each(self.ecn_reductions, other.ecn_reductions),
            out_of_order: each(self.out_of_order, other.out_of_order),
            duplicates: each(self.duplicates, other.duplicates),
        }
    }
}
