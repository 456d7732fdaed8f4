//! Datagrams at a rate, whatever the network does.

use super::{Place, SimulatedKind};
use crate::build::{Ends, flow_key};
use crate::generate::{Generator, Kind};
use crate::observe::WorkloadRecord;
use tailrace_endpoint::host::FIRST_EPHEMERAL_PORT;
use tailrace_plan::{Datagrams, RawObserve};
use tailrace_wire::Protocol;

/// Source ports of workloads of datagrams, counted by their places in the plan.
const SOURCE_PORTS: u32 = 1000;

impl SimulatedKind for Datagrams {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        WorkloadRecord::new(observe, 0, 0, 0)
    }

    fn generator(&self, place: &Place<'_>) -> Option<Generator> {
        let ends = Ends { client: self.source as u32, server: self.destination as u32 };
        let source_port = FIRST_EPHEMERAL_PORT + (place.number % SOURCE_PORTS) as u16;
        let key = flow_key(ends, source_port, Protocol::Udp);
        let kind = Kind::Datagrams { ends, key, flow_hash: key.hash(), payload_max: self.payload_max };
        Some(place.generator(kind, &self.sizes, &self.interarrival, self.raw.count))
    }
}
