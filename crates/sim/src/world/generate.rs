//! Generators of arrivals that do not depend on the network: flows and datagrams.

use super::World;
use super::connection::NewConnection;
use tailrace_units::Time;
use tailrace_wire::Tag;
use tailrace_workloads::{Arrival, Arriving, Ends, flow_programs};

/// A flow to be opened.
struct NewFlow {
    workload: u32,
    tag: Tag,
    dscp: u8,
    ends: Ends,
}

impl World {
    /// A generator is due: makes one flow or datagram and asks when the next comes.
    #[inline(never)]
    pub(crate) fn generate(&mut self, now: Time, index: usize) {
        let generator = &mut self.generators[index];
        let source = self.first_generator_source + index as u32;
        if let &Arriving::Datagrams { ends, .. } = generator.arrivals.what() {
            let room_at = self.hosts[ends.client as usize].datagram_room_at(now, generator.socket);
            if room_at > now {
                return self.links.agenda.arm(source, room_at);
            }
        }
        let Arrival { ends, bytes, .. } = generator.arrivals.take();
        // A program that had to wait catches up: what was due meanwhile is sent at once.
        self.links.agenda.arm(source, generator.arrivals.next_at().max(now));
        match generator.arrivals.what() {
            Arriving::Flows { .. } => {
                let (tag, dscp) = (generator.tag, generator.dscp);
                let flow = NewFlow { workload: generator.arrivals.workload(), tag, dscp, ends };
                self.open_flow(now, flow, bytes);
            }
            Arriving::Datagrams { .. } => {
                let socket = generator.socket;
                let (host, out) = self.host_and_links(ends.client);
                host.send_datagram(now, socket, bytes as u32, out);
            }
        }
    }

    fn open_flow(&mut self, now: Time, flow: NewFlow, bytes: u64) {
        let NewFlow { workload, tag, dscp, ends } = flow;
        let apps = flow_programs(now, bytes);
        let connection = NewConnection { ends, workload, tag, dscp, apps, goodput_at: 1, is_transient: true };
        let (client, _) = self.connect(connection);
        if let Some(boundary) = &mut self.links.boundary {
            boundary.flows.opened(client, ends, bytes);
            if !boundary.flows.owns(ends.client) {
                return;
            }
        }
        self.wake_socket(now, client);
    }
}
