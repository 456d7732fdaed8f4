//! Builds the world of a plan.

mod host;
mod hypervisor;
mod processor;

use crate::agenda::{Agenda, Source};
use crate::attachment::Attachment;
use crate::bridging::Bridging;
use crate::huge_pages::HugePages;
use crate::hypervisors::{attach, hypervisor_of};
use crate::interfaces::InterfaceSeries;
use crate::links::Links;
use crate::observe::Observe;
use crate::windows::Windows;
use crate::workloads::open_workloads;
use crate::world::{HostedProgram, SourceCounts, Sources, World};

use host::{AgendaSources, host_of, moderation};
use hypervisor::{hands_over_whole, hypervisors};
use std::collections::BTreeMap;
use tailrace_host::Host;
use tailrace_host::nic::LosslessNic;
use tailrace_network::{HostLink, OnWires, Topology, lossless_nics, notifies};
use tailrace_plan::Plan;
use tailrace_units::Time;
use tailrace_workloads::{WorkloadRecord, arriving, hosted_programs, record_for};

/// The world at time zero.
pub(crate) fn build(plan: &Plan) -> World {
    build_with(plan, Vec::new())
}

/// The same with programs beside those of the plan.
pub(crate) fn build_with(plan: &Plan, programs: Vec<HostedProgram>) -> World {
    let mut world = assemble(plan, programs.len());
    let generators = (world.sources.members - world.sources.generators) as usize;
    open_workloads(plan, &mut world);
    assert_eq!(world.generators.len(), generators, "each has its number in the agenda");
    programs.into_iter().for_each(|program| world.start(plan, program));
    arm(&mut world);
    world
}

/// The network and the hosts without programs; there will be so many besides those of the plan.
fn assemble(plan: &Plan, programs: usize) -> World {
    let raw = &plan.raw;
    let hosts = plan.graph.hosts;
    let Topology { switches, mut wires, hosts: mut links, bonds } =
        Topology::new(plan, plan.workloads.len());
    let attached = attach(plan, &mut wires, &mut links);
    let lossless: BTreeMap<u32, _> = lossless_nics(plan).into_iter().collect();
    let processors = hosts_with_processor(plan);
    let generators = arriving(plan);
    let callers = switches.iter().map(|node| node.switch.needs_wakeups());
    let first_member = (wires.len() + generators) as Source;
    let interfaces = lossless.keys().copied();
    let bridging = Bridging::new(first_member, hosts, interfaces, callers, notifies(plan));
    let hosted = programs + hosted_programs(plan);
    let sources = Sources::number(SourceCounts {
        wires: wires.len(),
        generators,
        members: bridging.members.len(),
        processors: processors.len(),
        hypervisors: attached.len(),
        programs: hosted,
    });
    let records: Vec<WorkloadRecord> =
        plan.workloads.iter().map(|workload| record_for(plan, workload)).collect();
    World {
        now: Time::ZERO,
        stop_at: Time::from_ps(raw.stop_at_ps),
        warm_up: (raw.observe.warm_up_ps > 0).then(|| Time::from_ps(raw.observe.warm_up_ps)),
        counted_from: Time::ZERO,
        on_wires: OnWires::default(),
        events: 0,
        wakeups: 0,
        is_cancelled: false,
        trigger: None,
        links: Links {
            agenda: Agenda::new(wires.len(), sources.sockets as usize),
            wires,
            controls_until: Vec::new(),
            moderations: (0..hosts).map(|host| moderation(plan, host)).collect(),
            observe: Observe::new(raw, hosts, records),
            bridging,
            bonds,
            boundary: None,
        },
        learners: (0..)
            .zip(&switches)
            .filter(|(_, node)| node.switch.learns_flows())
            .map(|(index, _)| index)
            .collect(),
        switches,
        hosts: models(plan, &links, lossless, &processors, sources),
        server_ports: plan.workloads.iter().map(|workload| workload.header.port).collect(),
        generators: Vec::with_capacity(generators),
        programs: Vec::with_capacity(hosted),
        sockets: Vec::new(),
        free_sockets: Vec::new(),
        processors,
        hypervisors: hypervisors(plan, attached),
        windows: Windows::of(plan),
        interface_series: InterfaceSeries::of(plan),
        sources,
        huge_pages: HugePages::default(),
    }
}

fn hosts_with_processor(plan: &Plan) -> Vec<u32> {
    let has_processor = |&host: &u32| plan.raw.hosts[host as usize].cpu.processor.is_some();
    (0..plan.graph.hosts as u32).filter(has_processor).collect()
}

/// The hosts, each with its numbers in the agenda.
fn models(
    plan: &Plan,
    links: &[HostLink],
    mut lossless: BTreeMap<u32, LosslessNic>,
    processors: &[u32],
    sources: Sources,
) -> Vec<Host<Attachment>> {
    let run_by = hypervisor_of(plan);
    let model = |host: u32| {
        let hypervisor = run_by[host as usize];
        let processor = processors.binary_search(&host).ok();
        let places = AgendaSources {
            processor: processor.map(|index| sources.processors + index as Source),
            hypervisor: hypervisor.map(|number| sources.hypervisors + number),
            receives_whole: hypervisor.is_some_and(|number| hands_over_whole(plan, number)),
        };
        host_of(plan, host as usize, links[host as usize], lossless.remove(&host), places)
    };
    (0..plan.graph.hosts as u32).map(model).collect()
}

/// Arms the first deadlines of interfaces, processors, hypervisors and generators.
fn arm(world: &mut World) {
    for node in &world.hosts {
        world.links.call_interface(node.attachment().index, node.poll_timeout());
        if let Some(source) = node.attachment().processor {
            world.links.agenda.arm(source, node.poll_processor());
        }
    }
    for (source, node) in (world.sources.hypervisors..).zip(&world.hypervisors) {
        world.links.agenda.arm(source, node.model.poll_timeout());
    }
    for (source, generator) in (world.sources.generators..).zip(&world.generators) {
        world.links.agenda.arm(source, generator.arrivals.next_at());
    }
}
