//! From the workloads of the plan to sockets, their programs and generators.

use crate::generator::Generator;
use crate::world::connection::{DatagramFlow, NewConnection};
use crate::world::{HostedProgram, World};
use tailrace_plan::{Header, Plan};
use tailrace_wire::{IPV4_HEADER_BYTES, Tag, UDP_HEADER_BYTES};
use tailrace_workloads::{Arrivals, Arriving, DatagramPair, Engine, WorkloadProgram};

/// The world, which opens the connections and sources of the plan's workloads.
struct Opening<'a> {
    plan: &'a Plan,
    world: &'a mut World,
}

impl Opening<'_> {
    /// Link, IP and UDP headers of a datagram.
    fn udp_header_bytes(&self) -> u32 {
        self.plan.raw.framing.header_bytes + IPV4_HEADER_BYTES + UDP_HEADER_BYTES
    }

    fn marks(&self, workload: u32) -> (Tag, u8) {
        let Header { priority, vlan, dscp, .. } = self.plan.workloads[workload as usize].header;
        (Tag::new(priority, vlan), dscp)
    }
}

impl Engine for Opening<'_> {
    fn connect(&mut self, connection: tailrace_workloads::LastingConnection<'_>) {
        let tailrace_workloads::LastingConnection {
            workload, ends, apps, goodput_at, pins, ..
        } = connection;
        let (tag, dscp) = self.marks(workload);
        let world = &mut *self.world;
        let (client, server) = world.connect(NewConnection {
            ends,
            workload,
            tag,
            dscp,
            apps,
            goodput_at,
            is_transient: false,
        });
        world.pin(self.plan, client, pins[0]);
        world.pin(self.plan, server, pins[1]);
        let due = world.socket(client).app().poll_timeout();
        let source = world.socket_source(client);
        world.links.agenda.arm(source, due);
    }

    fn start(&mut self, program: WorkloadProgram) -> u32 {
        let WorkloadProgram { workload, host, program, counts_goodput, .. } = program;
        self.world.start(self.plan, HostedProgram { host, workload, program, counts_goodput });
        self.world.programs.len() as u32 - 1
    }

    fn pair(&mut self, pair: DatagramPair) {
        let DatagramPair { workload, ends, programs } = pair;
        let (tag, dscp) = self.marks(workload);
        let header_bytes = self.udp_header_bytes();
        self.world.open_datagrams(DatagramFlow {
            ends,
            workload,
            tag,
            dscp,
            header_bytes,
            programs: Some(programs),
        });
    }

    fn arrive(&mut self, arrivals: Arrivals) {
        let workload = arrivals.workload();
        let (tag, dscp) = self.marks(workload);
        let socket = match *arrivals.what() {
            Arriving::Flows { .. } => 0,
            Arriving::Datagrams { ends, send_buffer_bytes, .. } => {
                let header_bytes = self.udp_header_bytes();
                let socket = self.world.open_datagrams(DatagramFlow {
                    ends,
                    workload,
                    tag,
                    dscp,
                    header_bytes,
                    programs: None,
                });
                if let Some(bytes) = send_buffer_bytes {
                    self.world.hosts[ends.client as usize].limit_datagrams(socket, bytes);
                }
                socket
            }
        };
        self.world.generators.push(Generator { arrivals, socket, tag, dscp });
    }
}

pub(crate) fn open_workloads(plan: &Plan, world: &mut World) {
    tailrace_workloads::open_workloads(plan, &mut Opening { plan, world });
}
