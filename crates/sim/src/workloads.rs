//! From the workloads of the plan to sockets, their programs and generators.

use crate::generator::Generator;
use crate::world::World;
use crate::world::connection::{DatagramFlow, NewConnection};
use tailrace_plan::{Header, Plan};
use tailrace_wire::{IPV4_HEADER_BYTES, Tag, UDP_HEADER_BYTES};
use tailrace_workloads::{Arrivals, Arriving, Engine};

/// The world, which opens what the plan's workloads ask for.
struct Opening<'a> {
    plan: &'a Plan,
    world: &'a mut World,
}

impl Opening<'_> {
    fn marks(&self, workload: u32) -> (Tag, u8) {
        let Header { priority, vlan, dscp, .. } = self.plan.workloads[workload as usize].header;
        (Tag::new(priority, vlan), dscp)
    }
}

impl Engine for Opening<'_> {
    fn connect(&mut self, connection: tailrace_workloads::LastingConnection<'_>) {
        let tailrace_workloads::LastingConnection { workload, ends, apps, goodput_at, pins, .. } = connection;
        let (tag, dscp) = self.marks(workload);
        let world = &mut *self.world;
        let (client, server) = world.connect(NewConnection { ends, workload, tag, dscp, apps, goodput_at, is_transient: false });
        world.pin(self.plan, client, pins[0]);
        world.pin(self.plan, server, pins[1]);
        let due = world.socket(client).app().poll_timeout();
        let source = world.socket_source(client);
        world.links.agenda.arm(source, due);
    }

    fn arrive(&mut self, arrivals: Arrivals) {
        let workload = arrivals.workload();
        let (tag, dscp) = self.marks(workload);
        let socket = match *arrivals.what() {
            Arriving::Flows { .. } => 0,
            Arriving::Datagrams { ends, .. } => {
                let header_bytes = self.plan.raw.framing.header_bytes + IPV4_HEADER_BYTES + UDP_HEADER_BYTES;
                self.world.open_datagrams(DatagramFlow { ends, workload, tag, dscp, header_bytes })
            }
        };
        self.world.generators.push(Generator { arrivals, socket, tag, dscp });
    }
}

pub(crate) fn open_workloads(plan: &Plan, world: &mut World) {
    tailrace_workloads::open_workloads(plan, &mut Opening { plan, world });
}
