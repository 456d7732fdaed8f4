//! Checks of the hypervisors of a plan.

use super::processors::{CORES_MAX, NICE_RANGE, are_cores};
use crate::error::require;
use crate::graph::Graph;
use crate::{PlanError, RawHypervisor, RawMachine, RawNeighbour, RawPlan, RawVirtualSwitching};
use std::collections::BTreeSet;

/// Most tasks of the neighbours of one hypervisor.
pub(crate) const NEIGHBOUR_TASKS_MAX: u32 = 4_096;

/// Checks all of them.
pub(super) fn check_hypervisors(raw: &RawPlan, graph: &Graph) -> Result<(), PlanError> {
    let names: BTreeSet<&str> =
        raw.hypervisors.iter().map(|hypervisor| hypervisor.switch.as_str()).collect();
    require(
        names.len() == raw.hypervisors.len(),
        "hypervisors",
        "a switch belongs to one hypervisor",
    )?;
    raw.hypervisors.iter().try_for_each(|hypervisor| check_hypervisor(hypervisor, raw, graph))
}

fn check_hypervisor(
    hypervisor: &RawHypervisor,
    raw: &RawPlan,
    graph: &Graph,
) -> Result<(), PlanError> {
    let location = &format!("hypervisor {}", hypervisor.switch);
    let node = graph.node(&hypervisor.switch, location)?;
    require(node >= graph.hosts, location, "switch must name a switch")?;
    let cores = hypervisor.cores;
    require((1..=CORES_MAX).contains(&cores), location, "cores must be 1 to 256")?;
    require(hypervisor.slice_ps > 0, location, "slice_ps must be above 0")?;
    require(are_cores(&hypervisor.irq_cores, cores), location, "irq_cores must name cores")?;
    let polls = hypervisor.switching == RawVirtualSwitching::Polling;
    require(
        polls != hypervisor.polling_cores.is_empty(),
        location,
        "polling_cores are for polling, which needs one",
    )?;
    require(
        hypervisor.polling_cores.iter().all(|&core| core < cores),
        location,
        "polling_cores must name cores",
    )?;
    let queues = [
        hypervisor.backlog_frames,
        hypervisor.tap_frames,
        hypervisor.sent_frames,
        hypervisor.guest_ring_frames,
        hypervisor.uplink_ring_frames,
    ];
    require(
        queues.iter().all(|&frames| frames > 0),
        location,
        "queues must hold at least one frame",
    )?;
    hypervisor
        .machines
        .iter()
        .try_for_each(|machine| check_machine(machine, cores, raw, graph, node))?;
    let named: BTreeSet<&str> =
        hypervisor.machines.iter().map(|machine| machine.host.as_str()).collect();
    let linked = graph.ports[node].iter().filter(|port| port.peer < graph.hosts).count();
    require(
        named.len() == linked,
        location,
        "machines must name each host that is linked to the switch once",
    )?;
    hypervisor
        .neighbours
        .iter()
        .try_for_each(|neighbour| check_neighbour(neighbour, cores, location))?;
    let tasks =
        hypervisor.neighbours.iter().map(|neighbour| u64::from(neighbour.tasks)).sum::<u64>();
    require(
        tasks <= u64::from(NEIGHBOUR_TASKS_MAX),
        location,
        "neighbours must have at most 4096 tasks",
    )
}

fn check_machine(
    machine: &RawMachine,
    cores: u32,
    raw: &RawPlan,
    graph: &Graph,
    switch: usize,
) -> Result<(), PlanError> {
    let location = &format!("machine {}", machine.host);
    let host = graph.node(&machine.host, location)?;
    require(
        host < graph.hosts && graph.port_towards(switch, host).is_some(),
        location,
        "host must be linked to the switch",
    )?;
    require(raw.hosts[host].nic.bond.is_none(), location, "a machine has one interface")?;
    let own =
        raw.hosts[host].cpu.processor.as_ref().map_or(0, |processor| processor.cores as usize);
    require(
        machine.cores.len() == own,
        location,
        "cores must have an entry for each core of the host",
    )?;
    require(
        machine.cores.iter().all(|set| are_cores(set, cores)),
        location,
        "cores must name cores of the hypervisor",
    )?;
    require(
        are_cores(&machine.vhost_cores, cores),
        location,
        "vhost_cores must name cores of the hypervisor",
    )
}

fn check_neighbour(neighbour: &RawNeighbour, cores: u32, location: &str) -> Result<(), PlanError> {
    let location = &format!("{location}, neighbour {}", neighbour.name);
    require(
        are_cores(&neighbour.cores, cores),
        location,
        "cores must name cores of the hypervisor",
    )?;
    require(NICE_RANGE.contains(&neighbour.nice), location, "nice must be -20 to 19")?;
    let waits = neighbour.work_ps.is_none_or(|work| work > 0 && neighbour.wait_ps > 0);
    require(waits, location, "work_ps and wait_ps must be above 0")
}
