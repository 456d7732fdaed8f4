//! The nodes of a plan and the wires between them, at time zero.

use crate::build::switches;
use crate::flight::flight;
use crate::{End, NetworkFrame, Origin, PortRecord, SwitchNode, Wire};
use tailrace_dataplane::{Frame, Switch};
use tailrace_plan::Plan;

/// Switches and wires. Two wires for each link, in the order of the plan.
#[derive(Debug)]
pub struct Topology<F: NetworkFrame> {
    /// In the order of the plan.
    pub switches: Vec<SwitchNode<F>>,
    /// By number.
    pub wires: Vec<Wire<F>>,
    /// By host: its first link.
    pub hosts: Vec<HostLink>,
    /// By host: all links of one that has several.
    pub bonds: Vec<Vec<HostLink>>,
}

/// The link of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostLink {
    /// The wire to its switch.
    pub out: u32,
    /// The wire from it.
    pub into: u32,
}

impl<F: NetworkFrame> Topology<F> {
    /// The network of a plan, whose traffic comes from so many sources.
    pub fn new(plan: &Plan, sources: usize) -> Topology<F> {
        let graph = &plan.graph;
        let switches = switches(plan);
        let (wires, wire_of) = wires(plan, &switches);
        let link_of = |host: usize, port: usize| {
            let end = graph.ports[host][port];
            HostLink {
                out: wire_of[host][port],
                into: wire_of[end.peer][graph.port_of_link(end.link, end.peer)],
            }
        };
        let hosts = (0..graph.hosts).map(|host| link_of(host, 0)).collect();
        let bond_of = |host: usize| match graph.ports[host].len() {
            1 => Vec::new(),
            links => (0..links).map(|port| link_of(host, port)).collect(),
        };
        let bonds = (0..graph.hosts).map(bond_of).collect();
        let node = |(index, switch): (usize, Switch<F>)| {
            let id = graph.hosts + index;
            let record = |port| {
                plan.record_of(id, port).map(|_| PortRecord::new(&plan.raw.observe, sources))
            };
            SwitchNode::new(
                switch,
                wire_of[id].iter().enumerate().map(|(port, &wire)| (wire, record(port))),
            )
        };
        Topology {
            switches: switches.into_iter().enumerate().map(node).collect(),
            wires,
            hosts,
            bonds,
        }
    }
}

/// The wires, and for each node the wire out of each of its ports.
fn wires<F: NetworkFrame>(plan: &Plan, switches: &[Switch<F>]) -> (Vec<Wire<F>>, Vec<Vec<u32>>) {
    let graph = &plan.graph;
    let mut wire_of: Vec<Vec<u32>> = graph.ports.iter().map(|ports| vec![0; ports.len()]).collect();
    let mut wires = Vec::with_capacity(2 * graph.links.len());
    for (index, link) in graph.links.iter().enumerate() {
        for (from, to) in [(link.a, link.b), (link.b, link.a)] {
            let port = graph.port_of_link(index, from);
            wire_of[from][port] = wires.len() as u32;
            let origin = origin(plan, switches, from, port);
            wires.push(Wire::new(origin, end(plan, index, to), flight(plan, index, from, to)));
        }
    }
    (wires, wire_of)
}

fn origin<F: Frame>(plan: &Plan, switches: &[Switch<F>], from: usize, port: usize) -> Origin {
    match from.checked_sub(plan.graph.hosts) {
        Some(switch) if switches[switch].chooses_late(port) => {
            Origin::LatePort { switch: switch as u32, port: port as u16 }
        }
        Some(_) | None => Origin::Settled,
    }
}

fn end(plan: &Plan, link: usize, to: usize) -> End {
    match to.checked_sub(plan.graph.hosts) {
        Some(switch) => {
            End::Switch { switch: switch as u32, port: plan.graph.port_of_link(link, to) as u16 }
        }
        None if plan.graph.ports[to].len() > 1 => End::Bonded(to as u32),
        None => End::Host(to as u32),
    }
}
