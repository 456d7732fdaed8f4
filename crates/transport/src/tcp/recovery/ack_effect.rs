//! The effect of one acknowledgement on the sender, collected while the scoreboard is brought up to
//! date.

use tailrace_units::Time;

use super::segment_ring::Record;

/// The effect of one acknowledgement.
#[derive(Default)]
pub(crate) struct AckEffect {
    /// Segments delivered by the cumulative acknowledgement that had not been reported before.
    pub(crate) acked: u32,
    /// Segments newly reported as held out of order.
    pub(crate) sacked: u32,
    /// The cumulative acknowledgement moved.
    pub(crate) advanced: bool,
    /// A segment of the last window that was sent only once was delivered (F-RTO's evidence).
    pub(crate) original_delivered: bool,
    /// The cumulative acknowledgement covered a segment that was sent more than once.
    pub(crate) retransmitted_acked: bool,
    /// The lowest segment that overtook nothing but was overtaken: reordering, not loss.
    pub(crate) overtaken: Option<u64>,
    /// When the oldest and newest segments sent only once and acknowledged cumulatively were sent.
    pub(crate) oldest_sent: Option<Time>,
    pub(crate) newest_sent: Time,
    /// When the first newly reported segment that was sent only once was sent.
    pub(crate) sacked_sent: Option<Time>,
    /// The most recently sent of all delivered segments (RACK): when, and where it ends.
    pub(crate) latest: Option<(Time, u64)>,
    /// When the segment was sent whose round trip RACK takes: the last one acknowledged
    /// cumulatively, else the last one reported. It can be older than the most recently sent one;
    /// RACK is then the more patient (as Linux).
    pub(crate) sample_sent: Time,
    /// The sample is of a cumulatively acknowledged segment.
    pub(crate) is_sample_final: bool,
    /// Retransmissions sent after this are too young to be the acknowledged ones.
    pub(crate) ambiguous_after: Time,
    /// One more than the number of the newest segment that is newly reported as held; 0 for none.
    pub(crate) newest_held: u64,
    /// Segments up to here belong to the window that F-RTO asks about.
    pub(crate) window_end: u64,
}

impl AckEffect {
    /// Segments delivered.
    #[inline]
    pub(crate) fn delivered(&self) -> u32 {
        self.acked + self.sacked
    }

    #[inline]
    pub(crate) fn note_latest(&mut self, record: Record) {
        if !self.is_sample_final {
            self.sample_sent = record.sent;
        }
        let sent = (record.sent, record.end());
        if self.latest.is_none_or(|latest| latest < sent) {
            self.latest = Some(sent);
        }
    }

    /// RACK cannot decide whether the original or a young retransmission arrived: it then learns
    /// nothing (RFC 8985 6.2 step 2).
    pub(crate) fn note_retransmitted(&mut self, record: Record) {
        if record.sent <= self.ambiguous_after {
            self.note_latest(record);
        }
    }
}
