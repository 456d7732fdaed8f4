//! The report of one trial.

use super::order::TrialSpec;
use super::pace::Gaps;
use super::tally::Tally;
use serde_json::{Value, json};
use std::time::Duration;

/// The result of a trial.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) order: TrialSpec,
    pub(super) sent: u64,
    /// How long the sender was at work.
    pub(super) sending: Duration,
    /// Share of the calls in which the switch had room for fewer frames than were due.
    pub(super) blocked_share: f64,
    pub(super) gaps: Gaps,
    /// Share of the time of all cores that the hypervisor below this machine gave to others.
    pub(super) stolen_share: f64,
    /// Frames that the switch delivered and the generator had no room for.
    pub(super) overruns: u64,
    pub(super) tally: Tally,
}

impl Report {
    /// Frames that were sent and did not arrive.
    pub(super) fn lost(&self) -> u64 {
        self.sent - self.tally.received
    }

    /// For the lab.
    pub(crate) fn json(&self) -> Value {
        let delays = &self.tally.delays_ns;
        let at = |percent: f64| delays.value_at_percentile(percent);
        json!({
            "frame_bytes": self.order.frame_bytes,
            "intended": self.order.frames,
            "sent": self.sent,
            "sending_ns": ns(self.sending),
            "received": self.tally.received,
            "lost": self.lost(),
            "duplicates": self.tally.duplicates,
            "reordered": self.tally.reordered,
            "foreign": self.tally.foreign,
            "overruns": self.overruns,
            "blocked_share": self.blocked_share,
            "gaps": self.gaps.count,
            "longest_gap_ns": ns(self.gaps.longest),
            "gaps_ns": ns(self.gaps.total),
            "stolen_share": self.stolen_share,
            "latency_ns": (!delays.is_empty()).then(|| json!({
                "min": delays.min(), "mean": delays.mean(), "p50": at(50.0), "p90": at(90.0), "p99": at(99.0),
                "p99_9": at(99.9), "max": delays.max(),
            })),
        })
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
