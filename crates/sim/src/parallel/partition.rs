//! Assignment of the nodes of the network to parts.
//!
//! A host goes with its switches, so that only wires between switches lead from one part to
//! another: a host polls the wire that ends at it, and may have to query the port at the other end
//! for the frames that it has sent. Such hosts and switches together are a group.

use super::refusal::Refusal;
use crate::boundary::PartNo;
use crate::hypervisors::hypervisor_of;
use std::collections::BTreeMap;
use tailrace_plan::{Plan, Workload};
use tailrace_workloads::{flow_receivers, is_local, opening_hosts};

/// Most parts.
pub const PARTS_MAX: usize = 256;
/// Units of all load together.
const LOAD_PARTS: u64 = 1 << 30;
/// Weight of measured load beside the rates of ports.
const MEASURED_WEIGHT: u64 = 15;

/// A division of the nodes of a plan.
#[derive(Clone, Debug)]
pub struct Partition {
    /// By node: hosts, then switches.
    part_of: Vec<PartNo>,
    parts: usize,
}

impl Partition {
    /// Parts of about equal load, with few wires between them: at most so many, and no more than
    /// there are groups.
    ///
    /// # Errors
    /// When the plan cannot be run in several parts.
    pub fn balanced(plan: &Plan, parts: usize) -> Result<Partition, Refusal> {
        let groups = Groups::of(plan)?;
        let parts = parts.clamp(1, groups.count.min(PARTS_MAX));
        let assigned = groups.grow(plan, parts, &groups.rates(plan));
        Ok(groups.partition(parts, |group| assigned[group]))
    }

    /// As many parts of the same plan, of about equal measured load. `frames`: how many each node
    /// has handled, hosts before switches.
    pub fn by_load(&self, plan: &Plan, frames: &[u64]) -> Partition {
        let Ok(groups) = Groups::of(plan) else { unreachable!("the plan has been divided") };
        let assigned = groups.grow(plan, self.parts, &groups.measured(plan, frames));
        groups.partition(self.parts, |group| assigned[group])
    }

    /// Assigns each group to the part that this function returns for the number of the group.
    ///
    /// # Errors
    /// When the plan cannot be run in several parts.
    pub fn by_group(
        plan: &Plan,
        parts: usize,
        mut part_of: impl FnMut(usize) -> usize,
    ) -> Result<Partition, Refusal> {
        let groups = Groups::of(plan)?;
        let assigned: Vec<PartNo> =
            (0..groups.count).map(|group| (part_of(group) % parts) as PartNo).collect();
        Ok(groups.partition(parts, |group| assigned[group]))
    }

    /// How many parts there are, some of which may have no node.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The part of a node.
    pub(super) fn of_node(&self, node: usize) -> PartNo {
        self.part_of[node]
    }
}

/// Nodes that stay together.
struct Groups {
    /// By node.
    of: Vec<usize>,
    count: usize,
}

impl Groups {
    fn of(plan: &Plan) -> Result<Groups, Refusal> {
        if let Some(workload) = plan.workloads.iter().find(|workload| !is_local(workload)) {
            return Err(Refusal::Workload { name: workload.header.name.clone() });
        }
        for workload in &plan.workloads {
            refuse_receivers(plan, workload)?;
        }
        refuse_openings(plan)?;
        let graph = &plan.graph;
        let mut root: Vec<usize> = (0..graph.names.len()).collect();
        for link in graph.links.iter().filter(|link| link.a < graph.hosts || link.b < graph.hosts) {
            let (a, b) = (find(&mut root, link.a), find(&mut root, link.b));
            root[a.max(b)] = a.min(b);
        }
        let mut numbers = BTreeMap::new();
        // In the order of switches, each of which has a group.
        let of_switch: Vec<usize> =
            (graph.hosts..root.len()).map(|node| find(&mut root, node)).collect();
        for own in of_switch
            .into_iter()
            .chain((0..graph.hosts).map(|node| find(&mut root, node)).collect::<Vec<_>>())
        {
            let next = numbers.len();
            numbers.entry(own).or_insert(next);
        }
        let count = numbers.len();
        if count < 2 {
            return Err(Refusal::OneGroup);
        }
        let of: Vec<usize> = (0..root.len()).map(|node| numbers[&find(&mut root, node)]).collect();
        let is_cut = |link: &&tailrace_plan::Link| of[link.a] != of[link.b];
        if let Some(link) = graph.links.iter().filter(is_cut).find(|link| link.delay.ps() == 0) {
            return Err(Refusal::NoDelay {
                ends: [link.a, link.b].map(|node| graph.names[node].clone()),
            });
        }
        Ok(Groups { of, count })
    }

    fn partition(&self, parts: usize, part_of: impl Fn(usize) -> PartNo) -> Partition {
        Partition { part_of: self.of.iter().map(|&group| part_of(group)).collect(), parts }
    }

    /// By group, the rates of its ports, in Mbit/s.
    fn rates(&self, plan: &Plan) -> Vec<u64> {
        let mut load = vec![0_u64; self.count];
        for link in &plan.graph.links {
            load[self.of[link.a]] += link.rate.bps() / 1_000_000;
            load[self.of[link.b]] += link.rate.bps() / 1_000_000;
        }
        load
    }

    /// By group, the frames that its nodes have handled, and a little for their rates: load moves,
    /// and nodes that are idle now are divided too.
    fn measured(&self, plan: &Plan, frames: &[u64]) -> Vec<u64> {
        let mut handled = vec![0_u64; self.count];
        self.of.iter().zip(frames).for_each(|(&group, frames)| handled[group] += frames);
        let rates = self.rates(plan);
        let share = |load: u64, all: &[u64]| {
            load.saturating_mul(LOAD_PARTS) / all.iter().sum::<u64>().max(1)
        };
        (0..self.count)
            .map(|group| {
                MEASURED_WEIGHT * share(handled[group], &handled) + share(rates[group], &rates)
            })
            .collect()
    }

    /// Parts that grow one after the other: each takes the group that has most links to it until it
    /// has its share of the load.
    fn grow(&self, plan: &Plan, parts: usize, load: &[u64]) -> Vec<PartNo> {
        let mut neighbours: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); self.count];
        for link in &plan.graph.links {
            let ends = [self.of[link.a], self.of[link.b]];
            for (own, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                *neighbours[own].entry(other).or_default() += 1;
            }
        }
        let mut left: u64 = load.iter().sum();
        let mut part_of = vec![PartNo::MAX; self.count];
        for part in 0..parts {
            let share = left / (parts - part) as u64;
            let mut links = vec![0_u64; self.count];
            let mut own = 0;
            // The last part takes the rest.
            while part + 1 == parts || own < share {
                let free = (0..self.count).filter(|&group| part_of[group] == PartNo::MAX);
                let Some(next) = free.max_by_key(|&group| (links[group], std::cmp::Reverse(group)))
                else {
                    break;
                };
                // Half of a group that is too large is as good as none of it.
                if own > 0 && part + 1 < parts && own + load[next] / 2 > share {
                    break;
                }
                part_of[next] = part as PartNo;
                own += load[next];
                neighbours[next].iter().for_each(|(&other, &count)| links[other] += count);
            }
            left -= own;
        }
        part_of
    }
}

/// The end of a flow must be known some time before, from the wire to its host.
fn refuse_receivers(plan: &Plan, workload: &Workload) -> Result<(), Refusal> {
    let graph = &plan.graph;
    let is_virtual = hypervisor_of(plan);
    for &host in flow_receivers(workload) {
        let name = || graph.names[host].clone();
        if is_virtual[host].is_some() || plan.raw.hosts[host].cpu.processor.is_some() {
            return Err(Refusal::Receiver { name: workload.header.name.clone(), host: name() });
        }
        let links = graph.ports[host].iter().map(|port| &graph.links[port.link]);
        if let Some(link) = links.into_iter().find(|link| link.delay.ps() == 0) {
            return Err(Refusal::NoDelay {
                ends: [link.a, link.b].map(|node| graph.names[node].clone()),
            });
        }
    }
    Ok(())
}

/// Parts learn of connections that programs open after the window in which they do so: a
/// notification could go to the sender of the connection that had the number before.
fn refuse_openings(plan: &Plan) -> Result<(), Refusal> {
    let policies = plan.raw.switches.iter().flat_map(|switch| {
        switch.port_policies.iter().map(|port| &port.policy).chain([&switch.policy])
    });
    let notifies = policies.flat_map(|policy| &policy.queues).any(|queue| queue.qcn.is_some());
    match plan.workloads.iter().find(|workload| notifies && !opening_hosts(workload).is_empty()) {
        Some(workload) => Err(Refusal::Opening { name: workload.header.name.clone() }),
        None => Ok(()),
    }
}

fn find(root: &mut [usize], mut node: usize) -> usize {
    while root[node] != node {
        root[node] = root[root[node]];
        node = root[node];
    }
    node
}
