//! Limits of the connections of a workload: times of both ends, as engines count them. The lab
//! interprets both together.

use tailrace_outcome as outcome;
use tailrace_transport::tcp::{Limit, Limits};

/// Connections of a workload that are reported one by one.
pub const CONNECTIONS_REPORTED_MAX: usize = 256;

/// One connection, or several together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LimitCounts {
    /// Of both ends together.
    pub limits: Limits,
    /// How busy the core was that received for it, in thousandths; the mean of several.
    pub receive_core_permille: u64,
    /// The same of the core that received the acknowledgements.
    pub ack_core_permille: u64,
}

impl LimitCounts {
    /// As outcomes have it.
    fn summary(&self) -> outcome::Limits {
        let of = |limit| Some(self.limits.of(limit).ps());
        outcome::Limits {
            // Both ends are open for the same time.
            open_ps: self.limits.total().ps() / 2,
            send_buffer_ps: of(Limit::SendBuffer),
            receive_window_ps: of(Limit::ReceiveWindow),
            congestion_ps: of(Limit::Congestion),
            recovery_ps: of(Limit::Recovery),
            pacing_ps: of(Limit::Pacing),
            interface_ps: of(Limit::Interface),
            sender_processor_ps: of(Limit::Processor),
            queued_ps: Some(self.limits.queued.ps()),
            reader_late_ps: Some(self.limits.reader_late.ps()),
            receive_core_permille: Some(self.receive_core_permille),
            ack_core_permille: Some(self.ack_core_permille),
            sender_busy_permille: None,
            connections: None,
        }
    }
}

/// The limits of a workload, and of its first connections if they last.
pub fn limits_summary(together: &LimitCounts, connections: &[LimitCounts]) -> outcome::Limits {
    let summaries = || {
        connections.iter().take(CONNECTIONS_REPORTED_MAX).map(|one| Some(one.summary())).collect()
    };
    outcome::Limits { connections: (!connections.is_empty()).then(summaries), ..together.summary() }
}
