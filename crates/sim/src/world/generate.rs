//! Generators of arrivals that do not depend on the network: flows and datagrams.

use super::World;
use super::connection::{EndNumbers, NewConnection};
use crate::agenda::Source;
use tailrace_units::Time;
use tailrace_wire::Tag;
use tailrace_workloads::{Arrival, Arriving, Ends, flow_programs};

/// A flow to be opened.
pub(crate) struct NewFlow {
    pub(crate) workload: u32,
    pub(crate) ends: Ends,
    tag: Tag,
    dscp: u8,
    bytes: u64,
}

impl World {
    /// A generator is due: makes one flow or datagram and asks when the next comes.
    #[inline(never)]
    pub(crate) fn generate(&mut self, now: Time, index: usize) {
        let source = self.sources.generators + index as u32;
        match *self.generators[index].arrivals.what() {
            Arriving::Flows { .. } => {
                let flow = self.next_flow(now, source);
                let numbers = self.give_both(flow.ends, flow.workload);
                self.open_flow(now, flow, numbers);
            }
            Arriving::Datagrams { ends, .. } => {
                let generator = &mut self.generators[index];
                let socket = generator.socket;
                let room_at = self.hosts[ends.client as usize].datagram_room_at(now, socket);
                if room_at > now {
                    return self.links.agenda.arm(source, room_at);
                }
                let Arrival { bytes, .. } = generator.arrivals.take();
                // A program that had to wait catches up: arrivals that were due meanwhile are sent
                // at once.
                self.links.agenda.arm(source, generator.arrivals.next_at().max(now));
                let (host, out) = self.host_and_links(ends.client);
                host.send_datagram(now, socket, bytes as u32, out);
            }
        }
    }

    /// The flow that a generator makes now; it is not opened yet.
    pub(crate) fn next_flow(&mut self, now: Time, source: Source) -> NewFlow {
        let generator = &mut self.generators[(source - self.sources.generators) as usize];
        let Arrival { ends, bytes, .. } = generator.arrivals.take();
        self.links.agenda.arm(source, generator.arrivals.next_at().max(now));
        NewFlow {
            workload: generator.arrivals.workload(),
            ends,
            tag: generator.tag,
            dscp: generator.dscp,
            bytes,
        }
    }

    /// Opens a flow with the numbers that its hosts have given.
    pub(crate) fn open_flow(&mut self, now: Time, flow: NewFlow, numbers: [EndNumbers; 2]) {
        let NewFlow { workload, ends, tag, dscp, bytes } = flow;
        let apps = flow_programs(now, bytes);
        let connection =
            NewConnection { ends, workload, tag, dscp, apps, goodput_at: 1, is_transient: true };
        let (client, _) = self.connect_as(connection, numbers);
        if let Some(boundary) = &mut self.links.boundary {
            boundary.flows.opened(client, ends, bytes);
            if !boundary.flows.owns(ends.client) {
                return;
            }
        }
        self.wake_socket(now, client);
    }
}
