//! Hypervisors of the world: the wires of their frames.

use crate::agenda::Source;
use tailrace_host::hypervisor::Hypervisor;
use tailrace_network::{End, HostLink, Wire};
use tailrace_plan::Plan;
use tailrace_wire::Packet;

/// A hypervisor in the world.
#[derive(Debug)]
pub(crate) struct HypervisorNode {
    pub(crate) model: Hypervisor,
    /// Its virtual switch.
    pub(crate) switch: u32,
    /// By port of the switch: the machine behind it.
    pub(crate) machines: Vec<Option<Machine>>,
}

/// A virtual machine of a hypervisor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    pub(crate) host: u32,
    /// The wire from which it receives: its ring of received frames.
    pub(crate) ring: u32,
    /// The wire to the port of the switch, for the digest.
    pub(crate) wire: u32,
}

/// By host, the hypervisor that runs it.
pub(crate) fn hypervisor_of(plan: &Plan) -> Vec<Option<u32>> {
    let mut of = vec![None; plan.graph.hosts];
    for (number, raw) in (0_u32..).zip(&plan.raw.hypervisors) {
        for machine in &raw.machines {
            let host = plan.graph.node(&machine.host, "machine").expect("the plan is sound");
            of[host] = Some(number);
        }
    }
    of
}

/// Puts the hypervisors of a plan around their switches: wires that ended at a switch, or at a
/// machine, end at the hypervisor, and each machine receives from a wire of its own.
pub(crate) fn attach(
    plan: &Plan,
    wires: &mut Vec<Wire<Packet>>,
    links: &mut [HostLink],
) -> Vec<(u32, Vec<Option<Machine>>)> {
    let mut nodes = Vec::with_capacity(plan.raw.hypervisors.len());
    for (hypervisor, raw) in (0_u32..).zip(&plan.raw.hypervisors) {
        let node = plan.graph.node(&raw.switch, "hypervisor").expect("the plan is sound");
        let mut machines = Vec::new();
        for (port, end) in (0_u16..).zip(&plan.graph.ports[node]) {
            let inwards = wire_to(plan, end.link, node);
            wires[inwards].end = End::Stage { hypervisor, port, is_switched: false };
            let outwards = wire_to(plan, end.link, end.peer);
            machines.push((end.peer < plan.graph.hosts).then(|| {
                let ring = wires.len() as u32;
                wires.push(wires[outwards].clone());
                wires[outwards].end = End::Stage { hypervisor, port, is_switched: true };
                links[end.peer].into = ring;
                Machine { host: end.peer as u32, ring, wire: inwards as u32 }
            }));
        }
        nodes.push(((node - plan.graph.hosts) as u32, machines));
    }
    nodes
}

/// The wire of a link that ends at this node: each link has two, from its first end to its second
/// and back.
fn wire_to(plan: &Plan, link: usize, node: usize) -> usize {
    2 * link + usize::from(plan.graph.links[link].a == node)
}

/// Sources of hypervisors in the agenda, behind processors.
pub(crate) fn source_of_hypervisor(first: Source, hypervisor: u32) -> Source {
    first + hypervisor
}
