//! Datagrams at a rate, whatever the network does.

use super::{Place, SimulatedKind};
use crate::generator::GeneratorKind;
use crate::observe::WorkloadRecord;
use crate::world::World;
use crate::world::connection::{DatagramFlow, Ends};
use tailrace_plan::{Datagrams, RawObserve};
use tailrace_wire::{IPV4_HEADER_BYTES, UDP_HEADER_BYTES};

impl SimulatedKind for Datagrams {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        WorkloadRecord::new(observe, 0, 0, 0)
    }

    fn has_generator(&self) -> bool {
        true
    }

    fn open(&self, place: &Place<'_>, world: &mut World) {
        let ends = Ends { client: self.source as u32, server: self.destination as u32 };
        let header_bytes = place.plan.raw.framing.header_bytes + IPV4_HEADER_BYTES + UDP_HEADER_BYTES;
        let (workload, tag, dscp) = (place.number, place.tag(), place.header.dscp);
        let socket = world.open_datagrams(DatagramFlow { ends, workload, tag, dscp, header_bytes });
        let kind = GeneratorKind::Datagrams { host: ends.client, socket, payload_max: self.payload_max };
        world.generators.push(place.generator(kind, &self.sizes, &self.interarrival, self.raw.count));
    }
}
