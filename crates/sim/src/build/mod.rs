//! From the plan to the world.

mod connection;
mod host;
mod network;
mod switch;
mod workloads;

pub(crate) use connection::{Connection, Ends};
pub(crate) use switch::policy_towards;

use crate::agenda::Agenda;
use crate::bridging::Bridging;
use crate::cores::Cores;
use crate::generate::Kind;
use crate::observe::{Observe, WorkloadRecord};
use crate::receive::ReceiveStage;
use crate::world::World;
use connection::FIRST_EPHEMERAL_PORT;
use host::{lossless_nics, tcp_config};
use network::{build_wires, pace_of};
use switch::{build_switch, fill_routes};
use tailrace_endpoint::nic::Nic;
use tailrace_plan::{Plan, Workload};
use tailrace_units::{Stream, Time};
use workloads::{build_generators, open_connections, record_for};

/// The world at time zero.
pub(crate) fn build(plan: &Plan) -> World {
    let raw = &plan.raw;
    let hosts = plan.graph.hosts;
    let (wires, wire_of) = build_wires(plan);
    let mut switches: Vec<_> = (0..raw.switches.len()).map(|index| build_switch(plan, index, &wire_of)).collect();
    fill_routes(plan, &mut switches);
    let uplinks: Vec<u32> = (0..hosts).map(|host| wire_of[host][0]).collect();
    let nics = (0..hosts)
        .map(|host| Nic::new(pace_of(plan, host, 0), raw.framing.overhead_bytes, raw.hosts[host].nic.queue_bytes))
        .collect();
    let stages = (0..hosts).map(|host| {
        let jitter = plan.rx_jitter[host].clone();
        let luck = Stream::new(raw.seed, &format!("{}/rx-jitter", plan.graph.names[host]));
        ReceiveStage::new(&raw.hosts[host].nic, &raw.hosts[host].cpu, jitter, luck)
    });
    let stages = stages.collect();
    let generators = build_generators(plan);
    let first_generator_source = wires.len() as u32;
    let first_member_source = first_generator_source + generators.len() as u32;
    let callers = switches.iter().map(|node| node.switch.needs_wakeups());
    let bridging = Bridging::new(first_member_source, hosts, lossless_nics(plan), callers);
    let first_socket_source = first_member_source + bridging.members.len() as u32;
    let records: Vec<WorkloadRecord> = plan.workloads.iter().map(|workload| record_for(plan, workload)).collect();
    let observe = Observe::new(&raw.observe, plan.observed.len(), records);
    let mut world = World {
        now: Time::ZERO,
        stop_at: Time::from_ps(raw.stop_at_ps),
        events: 0,
        is_cancelled: false,
        agenda: Agenda::new(wires.len(), first_socket_source as usize),
        wires,
        switches,
        nics,
        stages,
        uplinks,
        generators,
        sockets: Vec::new(),
        merge_slots: Vec::new(),
        free_sockets: Vec::new(),
        tcp: (0..hosts).map(|host| tcp_config(plan, host)).collect(),
        cores: raw.hosts.iter().map(|host| Cores::new(host.cpu.program_cores)).collect(),
        next_port: vec![FIRST_EPHEMERAL_PORT; hosts],
        first_generator_source,
        first_member_source,
        first_socket_source,
        bridging,
        header_bytes: raw.framing.header_bytes,
        ends_when_done: observe.unfinished > 0,
        observe,
    };
    open_connections(plan, &mut world);
    for interface in &world.bridging.interfaces {
        let (source, due) = interface.due();
        world.agenda.arm(source, due);
    }
    for index in 0..world.generators.len() {
        let start = match &plan.workloads[world.generators[index].workload as usize] {
            Workload::Flows { raw, .. } => raw.start_ps,
            Workload::Datagrams { raw, .. } => raw.start_ps,
            Workload::Oltp(_) | Workload::Stream { .. } => unreachable!("these have no generator"),
        };
        if let Kind::Datagrams { key, .. } = world.generators[index].kind {
            world.switches.iter_mut().for_each(|node| node.switch.learn_flow(key));
        }
        let first = Time::from_ps(start) + world.generators[index].gap();
        world.agenda.arm(first_generator_source + index as u32, first);
    }
    world
}
