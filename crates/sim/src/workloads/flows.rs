//! Finite flows that arrive by themselves.

use super::{Place, SimulatedKind};
use crate::generate::{Generator, Kind};
use crate::observe::WorkloadRecord;
use tailrace_plan::{Flows, RawObserve};

impl SimulatedKind for Flows {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        WorkloadRecord::new(observe, 0, self.raw.flows, self.raw.flows)
    }

    fn generator(&self, place: &Place<'_>) -> Option<Generator> {
        let narrow = |hosts: &[usize]| hosts.iter().map(|&host| host as u32).collect();
        let kind = Kind::Flows { sources: narrow(&place.header.openers), destinations: narrow(&place.header.peers) };
        Some(place.generator(kind, &self.sizes, &self.interarrival, self.raw.flows))
    }
}
