//! Sources of flows and datagrams, whose arrivals do not depend on the network.

use tailrace_units::{Distribution, RandomStream, Span};
use tailrace_wire::Tag;

/// One source of flows or datagrams; it has a place of its own in the agenda.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(crate) workload: u32,
    pub(crate) kind: GeneratorKind,
    pub(crate) sizes: Distribution,
    pub(crate) interarrival: Distribution,
    /// How many are still to come.
    pub(crate) left: u64,
    pub(crate) tag: Tag,
    pub(crate) dscp: u8,
    pub(crate) random: RandomStream,
}

#[derive(Debug)]
pub(crate) enum GeneratorKind {
    Flows { sources: Vec<u32>, destinations: Vec<u32> },
    Datagrams { host: u32, socket: u32, payload_max: u32 },
}

impl Generator {
    /// Time to the next arrival.
    pub(crate) fn gap(&mut self) -> Span {
        Span::from_ps(self.interarrival.draw(&mut self.random))
    }
}
