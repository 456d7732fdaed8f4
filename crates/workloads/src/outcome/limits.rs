//! What limited the connections of a workload: times of both ends, as engines count them. What they mean together is the lab's.

use serde_json::{Value, json};
use tailrace_endpoint::transport::{Limit, Limits};

/// Connections of a workload that are told one by one.
pub const CONNECTIONS_TOLD_MAX: usize = 256;

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
    /// As JSON.
    pub fn summary(&self) -> Value {
        let of = |limit| self.limits.of(limit).ps();
        json!({
            // Both ends are open for the same time.
            "open_ps": self.limits.total().ps() / 2,
            "send_buffer_ps": of(Limit::SendBuffer),
            "receive_window_ps": of(Limit::ReceiveWindow),
            "congestion_ps": of(Limit::Congestion),
            "recovery_ps": of(Limit::Recovery),
            "pacing_ps": of(Limit::Pacing),
            "interface_ps": of(Limit::Interface),
            "sender_processor_ps": of(Limit::Processor),
            "queued_ps": self.limits.queued.ps(),
            "reader_late_ps": self.limits.reader_late.ps(),
            "receive_core_permille": self.receive_core_permille,
            "ack_core_permille": self.ack_core_permille,
        })
    }
}

/// What limited a workload, and its first connections where they last.
pub fn limits_summary(together: &LimitCounts, connections: &[LimitCounts]) -> Value {
    let mut summary = together.summary();
    if !connections.is_empty() {
        let told = connections.iter().take(CONNECTIONS_TOLD_MAX).map(LimitCounts::summary);
        summary["connections"] = told.collect::<Vec<Value>>().into();
    }
    summary
}
