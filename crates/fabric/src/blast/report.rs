//! The report of one round.

use super::thread::Counts;
use crate::interface_counters::Counters;
use serde_json::{Value, json};

/// One round.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) frames: Vec<Vec<u8>>,
    /// Of each thread.
    pub(super) counts: Vec<Counts>,
    /// Counters of the interface, which include frames of other senders.
    pub(super) interface: Counters,
}

impl Report {
    /// For the lab.
    pub(crate) fn json(&self) -> Value {
        let bytes: usize = self.frames.iter().map(Vec::len).sum();
        let sum = |of: fn(&Counts) -> u64| self.counts.iter().map(of).sum::<u64>();
        let (sent, refused) = (sum(|counts| counts.sent), sum(|counts| counts.refused));
        let longest = self.counts.iter().map(|counts| counts.length).max().unwrap_or_default();
        let length_ns = u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX);
        json!({
            "frame_bytes_mean": bytes as f64 / self.frames.len() as f64,
            "sent": sent,
            "refused": refused,
            "length_ns": length_ns,
            "gaps": sum(|counts| counts.gaps),
            "threads": self.counts.iter().map(|counts| json!({
                "sent": counts.sent, "refused": counts.refused,
                "length_ns": u64::try_from(counts.length.as_nanos()).unwrap_or(u64::MAX),
            })).collect::<Vec<_>>(),
            "interface_sent": self.interface.frames,
            "interface_dropped": self.interface.dropped,
        })
    }
}
