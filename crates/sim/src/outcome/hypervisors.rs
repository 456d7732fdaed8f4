//! Time of the cores of hypervisors by activity, and full queues that frames found.

use super::processors::times;
use crate::hypervisors::{HypervisorNode, Machine};
use crate::world::World;
use tailrace_host::cpu::{Kind, OwnerCounters};
use tailrace_outcome::{Hypervisor, HypervisorPort, HypervisorTask, TaskKind};
use tailrace_plan::{Plan, RawHypervisor};

/// By hypervisor; nothing where the plan has none.
pub(super) fn hypervisor_summaries(plan: &Plan, world: &World) -> Vec<Hypervisor> {
    plan.raw
        .hypervisors
        .iter()
        .zip(&world.hypervisors)
        .map(|(raw, node)| summary(plan, raw, node))
        .collect()
}

fn summary(plan: &Plan, raw: &RawHypervisor, node: &HypervisorNode) -> Hypervisor {
    let (processor, counted) = (node.model.processor(), node.model.counters());
    let switches = processor.switches();
    Hypervisor {
        name: raw.switch.clone(),
        cores: (0..processor.cores()).map(|core| times(processor.busy(core))).collect(),
        voluntary_switches: switches.voluntary,
        involuntary_switches: switches.involuntary,
        migrations: processor.migrations(),
        exits: counted.exits,
        notifications: counted.notifications,
        signals: counted.signals,
        preemptions: counted.preemptions,
        interrupts: counted.interrupts,
        time_squeezes: counted.squeezes,
        ksoftirqd_wakeups: counted.handed_over,
        backlog_overruns: counted.backlog_overruns,
        polled_for_frames_ps: node.model.polled_for_frames().ps(),
        tasks: tasks(plan, raw, node),
        ports: ports(plan, raw, node),
    }
}

/// Tasks by owner, in the order of the owners of the model.
fn tasks(plan: &Plan, raw: &RawHypervisor, node: &HypervisorNode) -> Vec<HypervisorTask> {
    let machines = || node.machines.iter().flatten().map(|machine| name_of(plan, machine));
    let cores = machines().map(|name| (format!("{name} cores"), TaskKind::VirtualCores));
    let vhosts = machines().map(|name| (format!("{name} vhost"), TaskKind::Vhost));
    let polling = std::iter::once(("polling".to_owned(), TaskKind::Polling));
    let neighbours =
        raw.neighbours.iter().map(|neighbour| (neighbour.name.clone(), TaskKind::Neighbour));
    let outcome_of = |(owner, (name, kind)): (usize, (String, TaskKind))| {
        let OwnerCounters { busy, switches } = node.model.processor().owner(owner);
        HypervisorTask {
            name,
            kind,
            user_ps: busy.of(Kind::User).ps(),
            system_ps: busy.of(Kind::System).ps(),
            voluntary_switches: switches.voluntary,
            involuntary_switches: switches.involuntary,
        }
    };
    cores.chain(vhosts).chain(polling).chain(neighbours).enumerate().map(outcome_of).collect()
}

fn ports(plan: &Plan, raw: &RawHypervisor, node: &HypervisorNode) -> Vec<HypervisorPort> {
    let id = plan.graph.node(&raw.switch, "hypervisor").expect("the plan is sound");
    let outcome_of = |(port, machine): (usize, &Option<Machine>)| {
        let overruns = node.model.overruns(port);
        HypervisorPort {
            towards: plan.graph.names[plan.graph.ports[id][port].peer].clone(),
            is_uplink: machine.is_none(),
            receive_overruns: overruns.received,
            send_overruns: overruns.sent,
        }
    };
    node.machines.iter().enumerate().map(outcome_of).collect()
}

fn name_of(plan: &Plan, machine: &Machine) -> String {
    plan.raw.hosts[machine.host as usize].name.clone()
}
