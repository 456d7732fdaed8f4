//! Finite flows that arrive by themselves.

use super::{Place, SimulatedKind};
use crate::generator::GeneratorKind;
use crate::observe::WorkloadRecord;
use crate::world::World;
use tailrace_plan::{Flows, RawObserve};

impl SimulatedKind for Flows {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        WorkloadRecord::new(observe, 0, self.raw.flows, self.raw.flows)
    }

    fn has_generator(&self) -> bool {
        true
    }

    fn open(&self, place: &Place<'_>, world: &mut World) {
        let narrow = |hosts: &[usize]| hosts.iter().map(|&host| host as u32).collect();
        let kind = GeneratorKind::Flows { sources: narrow(&place.header.openers), destinations: narrow(&place.header.peers) };
        world.generators.push(place.generator(kind, &self.sizes, &self.interarrival, self.raw.flows));
    }
}
