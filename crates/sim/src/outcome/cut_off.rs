//! What the end of a trial cut off: transactions and flows that were running, and how long they had waited by then.
//!
//! Their latencies are known to be longer than that (censored on the right). To leave them out would make latencies look
//! short, the more so the more congested a network is.

use crate::observe::Row;
use crate::world::World;
use serde_json::{Value, json};
use tailrace_record::Latency;
use tailrace_units::Span;

/// Of one workload.
#[derive(Debug, Default)]
pub(super) struct CutOff {
    waited: Latency,
    longest: Span,
    /// The first so many.
    pub(super) rows: Vec<Row>,
}

/// By workload.
pub(super) fn cut_off(world: &World) -> Vec<CutOff> {
    let now = world.now;
    let mut found: Vec<CutOff> = world.links.observe.workloads.iter().map(|_| CutOff::default()).collect();
    for socket in world.all_sockets() {
        let index = socket.owner() as usize;
        let rows_max = world.links.observe.workloads[index].rows_max;
        let own = &mut found[index];
        socket.app().running(now, |user, start| {
            let latency = now.since(start);
            own.waited.record(latency);
            own.longest = own.longest.max(latency);
            if own.rows.len() < rows_max {
                own.rows.push(Row { user, start, latency });
            }
        });
    }
    found
}

impl CutOff {
    pub(super) fn summary(&self) -> Value {
        json!({
            "count": self.waited.count(),
            "longest_ps": self.longest.ps(),
            "buckets": self.waited.buckets(),
        })
    }
}
