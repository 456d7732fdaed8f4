//! Builds the hypervisors of a plan.

use crate::hypervisors::{HypervisorNode, Machine};
use tailrace_host::cpu::{CoreSet, GroupConfig, ProcessorConfig, SchedulerConfig, weight_of};
use tailrace_host::hypervisor::{
    Hypervisor, HypervisorConfig, HypervisorCosts, Neighbour, PortConfig, Switching,
};
use tailrace_plan::{Plan, RawHypervisor, RawHypervisorCosts, RawVirtualSwitching};
use tailrace_units::Span;

const NICE_DEFAULT: i32 = 0;

/// Hypervisors around these switches, with the machines at their ports.
pub(super) fn hypervisors(
    plan: &Plan,
    attached: Vec<(u32, Vec<Option<Machine>>)>,
) -> Vec<HypervisorNode> {
    let build = |(raw, (switch, machines)): (&RawHypervisor, (u32, Vec<Option<Machine>>))| {
        HypervisorNode { model: Hypervisor::new(config_of(plan, raw, &machines)), switch, machines }
    };
    plan.raw.hypervisors.iter().zip(attached).map(build).collect()
}

/// Whether machines of this hypervisor receive super-frames: the kernel merges the frames of an
/// uplink.
pub(super) fn hands_over_whole(plan: &Plan, hypervisor: u32) -> bool {
    let raw = &plan.raw.hypervisors[hypervisor as usize];
    raw.merge_bytes > 0 && raw.switching == RawVirtualSwitching::Kernel
}

/// Control groups, each a set of cores and a weight.
#[derive(Default)]
struct Groups(Vec<GroupConfig>);

impl Groups {
    fn add(&mut self, cores: &[u32], nice: i32) -> u32 {
        let cores: CoreSet = cores.iter().copied().collect();
        self.0.push(GroupConfig { cores, weight: weight_of(nice), quota: None });
        self.0.len() as u32 - 1
    }
}

fn config_of(plan: &Plan, raw: &RawHypervisor, machines: &[Option<Machine>]) -> HypervisorConfig {
    let mut groups = Groups::default();
    let ports =
        machines.iter().map(|machine| port_of(plan, raw, machine.as_ref(), &mut groups)).collect();
    let polling = raw.polling_cores.iter().map(|&core| groups.add(&[core], NICE_DEFAULT)).collect();
    let neighbours = raw.neighbours.iter().map(|neighbour| Neighbour {
        tasks: neighbour.tasks,
        group: groups.add(&neighbour.cores, neighbour.nice),
        work: neighbour.work_ps.map(Span::from_ps),
        wait: Span::from_ps(neighbour.wait_ps),
    });
    let neighbours: Vec<Neighbour> = neighbours.collect();
    HypervisorConfig {
        costs: costs_of(&raw.costs),
        switching: match raw.switching {
            RawVirtualSwitching::Kernel => Switching::Kernel,
            RawVirtualSwitching::Polling => Switching::Polling,
        },
        merge_bytes: raw.merge_bytes,
        ports,
        irq_cores: raw.irq_cores.clone(),
        polling,
        backlog_frames: raw.backlog_frames as usize,
        tap_frames: raw.tap_frames as usize,
        sent_frames: raw.sent_frames as usize,
        guest_ring_frames: raw.guest_ring_frames as usize,
        uplink_ring_frames: raw.uplink_ring_frames as usize,
        coalesce: Span::from_ps(raw.coalesce_ps),
        halt_poll: Span::from_ps(raw.halt_poll_ps),
        processor: ProcessorConfig {
            cores: raw.cores as usize,
            scheduler: SchedulerConfig {
                slice: Span::from_ps(raw.slice_ps),
                tick: Span::from_ps(raw.tick_ps),
                context_switch: Span::from_ps(raw.costs.context_switch_ps),
            },
            steal: None,
            groups: groups.0,
            owners: 2 * raw.machines.len() + 1 + neighbours.len(),
            depth_bin: Span::ZERO,
            depth_bins: 0,
        },
        neighbours,
    }
}

fn port_of(
    plan: &Plan,
    raw: &RawHypervisor,
    machine: Option<&Machine>,
    groups: &mut Groups,
) -> PortConfig {
    let Some(machine) = machine else { return PortConfig::Uplink };
    let name = &plan.raw.hosts[machine.host as usize].name;
    let own =
        raw.machines.iter().find(|own| &own.host == name).expect("the plan names each machine");
    let cores = own.cores.iter().map(|set| groups.add(set, NICE_DEFAULT)).collect();
    PortConfig::Machine { cores, vhost: groups.add(&own.vhost_cores, NICE_DEFAULT) }
}

fn costs_of(raw: &RawHypervisorCosts) -> HypervisorCosts {
    HypervisorCosts {
        switch: Span::from_ps(raw.switch_ps),
        merge: Span::from_ps(raw.merge_ps),
        copy_byte_fs: raw.copy_byte_fs,
        vhost: Span::from_ps(raw.vhost_ps),
        interrupt: Span::from_ps(raw.interrupt_ps),
        exit: Span::from_ps(raw.exit_ps),
        entry: Span::from_ps(raw.entry_ps),
        wake_up: Span::from_ps(raw.wake_up_ps),
        signal: Span::from_ps(raw.signal_ps),
        poll: Span::from_ps(raw.poll_ps),
    }
}
