//! From the plan to the world.

mod connection;
mod host;

pub use connection::SERVER_PORT;
pub(crate) use connection::{Connection, Ends, FIRST_EPHEMERAL_PORT, flow_key};

use crate::agenda::Agenda;
use crate::bridging::Bridging;
use crate::cores::Cores;
use crate::generate::Kind;
use crate::observe::{Observe, WorkloadRecord};
use crate::receive::ReceiveStage;
use crate::surroundings::Roads;
use crate::workloads::{build_generators, open_connections, record_for, start_of};
use crate::world::{HostNode, World};

use host::tcp_config;
use tailrace_endpoint::nic::Nic;
use tailrace_network::{Topology, lossless_nics, notifies, pace_of};
use tailrace_plan::Plan;
use tailrace_units::{Span, Stream, Time};

/// The world at time zero.
pub(crate) fn build(plan: &Plan) -> World {
    let raw = &plan.raw;
    let hosts = plan.graph.hosts;
    let Topology { switches, wires, hosts: host_links } = Topology::new(plan, plan.workloads.len());
    let host_nodes = (0..hosts).map(|host| HostNode {
        index: host as u32,
        nic: Nic::new(pace_of(plan, host, 0), raw.framing.overhead_bytes, raw.hosts[host].nic.queue_bytes),
        wire: host_links[host].out,
        is_tagged: plan.tagged_links[plan.graph.ports[host][0].link],
        cores: Cores::new(raw.hosts[host].cpu.program_cores, Span::from_ps(raw.hosts[host].cpu.time_slice_ps)),
    });
    let stages = (0..hosts).map(|host| {
        let jitter = plan.rx_jitter[host].clone();
        let luck = Stream::new(raw.seed, &format!("{}/rx-jitter", plan.graph.names[host]));
        ReceiveStage::new(&raw.hosts[host].nic, &raw.hosts[host].cpu, jitter, luck)
    });
    let generators = build_generators(plan);
    let first_generator_source = wires.len() as u32;
    let first_member_source = first_generator_source + generators.len() as u32;
    let callers = switches.iter().map(|node| node.switch.needs_wakeups());
    let bridging = Bridging::new(first_member_source, hosts, lossless_nics(plan), callers, notifies(plan));
    let first_socket_source = first_member_source + bridging.members.len() as u32;
    let records: Vec<WorkloadRecord> = plan.workloads.iter().map(|workload| record_for(plan, workload)).collect();
    let observe = Observe::new(&raw.observe, records);
    let mut world = World {
        now: Time::ZERO,
        stop_at: Time::from_ps(raw.stop_at_ps),
        warm_up: (raw.observe.warm_up_ps > 0).then(|| Time::from_ps(raw.observe.warm_up_ps)),
        counted_from: Time::ZERO,
        events: 0,
        is_cancelled: false,
        ends_when_done: observe.unfinished > 0,
        roads: Roads {
            agenda: Agenda::new(wires.len(), first_socket_source as usize),
            wires,
            stages: stages.collect(),
            observe,
            bridging,
        },
        learners: (0..).zip(&switches).filter(|(_, node)| node.switch.learns_flows()).map(|(index, _)| index).collect(),
        switches,
        hosts: host_nodes.collect(),
        generators,
        sockets: Vec::new(),
        merge_slots: Vec::new(),
        free_sockets: Vec::new(),
        tcp: (0..hosts).map(|host| tcp_config(plan, host)).collect(),
        next_port: vec![FIRST_EPHEMERAL_PORT; hosts],
        first_generator_source,
        first_member_source,
        first_socket_source,
        header_bytes: raw.framing.header_bytes,
    };
    open_connections(plan, &mut world);
    let Roads { bridging, agenda, .. } = &mut world.roads;
    for interface in &bridging.interfaces {
        let (source, due) = interface.due();
        agenda.arm(source, due);
    }
    for index in 0..world.generators.len() {
        if let Kind::Datagrams { key, .. } = world.generators[index].kind {
            world.tell_flow(key);
        }
        let first = start_of(plan, &world.generators[index]) + world.generators[index].gap();
        world.roads.agenda.arm(first_generator_source + index as u32, first);
    }
    world
}
