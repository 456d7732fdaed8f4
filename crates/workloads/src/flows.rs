//! Finite flows that arrive by themselves.

use crate::{Arriving, Engine, Kind, WorkloadContext, WorkloadRecord};
use tailrace_plan::{Flows, RawObserve};

impl Kind for Flows {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        WorkloadRecord::new(observe, 0, self.raw.flows, self.raw.flows)
    }

    fn has_arrivals(&self) -> bool {
        true
    }

    fn has_flows(&self) -> bool {
        true
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let narrow = |hosts: &[usize]| hosts.iter().map(|&host| host as u32).collect();
        let what = Arriving::Flows {
            sources: narrow(&context.header.openers),
            destinations: narrow(&context.header.peers),
        };
        engine.arrive(context.arrivals(what, &self.sizes, &self.interarrival, self.raw.flows));
    }
}
