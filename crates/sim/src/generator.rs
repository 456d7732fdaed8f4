//! Sources of flows and datagrams, whose arrivals do not depend on the network.

use tailrace_wire::Tag;
use tailrace_workloads::{Arrivals, Arriving};

/// One source of flows or datagrams; it is a source of the agenda.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(crate) arrivals: Arrivals,
    /// Of datagrams: the socket that sends them.
    pub(crate) socket: u32,
    pub(crate) tag: Tag,
    pub(crate) dscp: u8,
}

impl Generator {
    /// The host that sends the arrivals; of flows one of these.
    pub(crate) fn host(&self) -> u32 {
        match self.arrivals.what() {
            Arriving::Datagrams { ends, .. } => ends.client,
            Arriving::Flows { sources, .. } => sources[0],
        }
    }
}
