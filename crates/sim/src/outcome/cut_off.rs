//! Censored transactions and flows: those running at the end of a trial, with their times until then.
//!
//! Their latencies are known to be longer than that (right-censored). Omitting them would bias latencies downwards, the
//! more so the more congested the network is.

use crate::observe::Row;
use crate::world::World;
use serde_json::{Value, json};
use tailrace_record::Latency;
use tailrace_units::{Span, Time};

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
    let mut note = |owner: u32, user: u32, start: Time| {
        let (latency, own) = (now.since(start), &mut found[owner as usize]);
        own.waited.record(latency);
        own.longest = own.longest.max(latency);
        if own.rows.len() < world.links.observe.workloads[owner as usize].rows_max {
            own.rows.push(Row { user, start, latency });
        }
    };
    for socket in world.all_sockets() {
        socket.app().running(now, |user, start| note(socket.owner(), user, start));
    }
    for place in &world.programs {
        world.hosts[place.host as usize].running_of(place.number, &mut note);
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
