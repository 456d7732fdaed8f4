//! The converged state of the protocol: the root, the port of every switch towards it, and the
//! blocked ports.
//!
//! Every switch keeps the best priority vector that it has received, with the port, and sends its
//! own to its neighbours. The computation proceeds in rounds until no vector changes. The protocol
//! converges to the same state for any order of messages: a vector is only replaced by a better
//! one, and the best is unique because no two ports have equal identifiers.

use crate::RawTree;
use crate::graph::{Graph, NodeId};

/// Identifier of a bridge: its priority, then its place among the switches of the plan, which
/// stands for its MAC address.
type BridgeId = (u16, usize);
/// Identifier of a port: its priority, then its number in the order of the links.
type PortId = (u8, usize);

/// IEEE 802.1Q-2018 clause 13.9: the priority vector. The lower is the better; components count in
/// this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Vector {
    root: BridgeId,
    root_path_cost: u64,
    designated_bridge: BridgeId,
    designated_port: PortId,
    /// The port at which it was received.
    port: PortId,
}

/// Role of a port. There are no backup ports: they require a shared medium with two ports of one
/// switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortRole {
    /// Leads to the root: forwards.
    Root,
    /// Its switch is on the path to the root for the other end: forwards.
    Designated,
    /// Another path to the root: blocked.
    Alternate,
}

/// The converged state of one switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bridge {
    /// The root, as an index among the switches; the switch itself when it is the root.
    pub root: usize,
    /// Sum of the costs of the root ports on the way.
    pub root_path_cost: u64,
    /// The port towards the root; none at the root.
    pub root_port: Option<usize>,
    /// By port. Ports towards hosts are designated.
    pub roles: Vec<PortRole>,
}

/// One tree, or a forest in a network with several connected components.
#[derive(Clone, Debug)]
pub struct SpanningTree {
    /// Its parameters, with the chosen costs where the plan leaves the choice.
    pub settings: RawTree,
    /// By switch.
    pub bridges: Vec<Bridge>,
    /// By link: whether it forwards. Links to hosts always do.
    pub forwards: Vec<bool>,
}

/// The converged state with these settings.
pub(super) fn elect(graph: &Graph, settings: RawTree) -> SpanningTree {
    let ballot = Ballot { graph, settings: &settings };
    let vectors = ballot.settled();
    let bridges: Vec<Bridge> =
        (0..vectors.len()).map(|switch| ballot.bridge(switch, &vectors)).collect();
    let mut forwards = vec![true; graph.links.len()];
    for (switch, bridge) in bridges.iter().enumerate() {
        for (port, role) in bridge.roles.iter().enumerate() {
            if *role == PortRole::Alternate {
                forwards[graph.ports[graph.hosts + switch][port].link] = false;
            }
        }
    }
    SpanningTree { settings, bridges, forwards }
}

struct Ballot<'a> {
    graph: &'a Graph,
    settings: &'a RawTree,
}

impl Ballot<'_> {
    /// The root priority vector of every switch after convergence.
    fn settled(&self) -> Vec<Vector> {
        let switches = self.graph.names.len() - self.graph.hosts;
        let mut vectors: Vec<Vector> = (0..switches).map(|switch| self.own(switch)).collect();
        // The vector of the root and of the cheapest path to it propagates by one link in each
        // round.
        for _ in 0..=2 * switches {
            let next: Vec<Vector> =
                (0..switches).map(|switch| self.best(switch, &vectors)).collect();
            if next == vectors {
                return vectors;
            }
            vectors = next;
        }
        unreachable!(
            "costs are above zero, so that paths to the root have no loop and the election terminates"
        )
    }

    fn bridge_id(&self, switch: usize) -> BridgeId {
        (self.settings.bridge_priority[switch], switch)
    }

    fn port_id(&self, node: NodeId, port: usize) -> PortId {
        let link = self.graph.ports[node][port].link;
        let (at_a, at_b) = self.settings.port_priority[link];
        (if self.graph.links[link].a == node { at_a } else { at_b }, port)
    }

    /// The initial vector of a switch: it is the root itself.
    fn own(&self, switch: usize) -> Vector {
        let id = self.bridge_id(switch);
        Vector {
            root: id,
            root_path_cost: 0,
            designated_bridge: id,
            designated_port: (0, 0),
            port: (0, 0),
        }
    }

    /// The best of the switch's own vector and those of its neighbours.
    fn best(&self, switch: usize, vectors: &[Vector]) -> Vector {
        let heard = (0..self.graph.ports[self.graph.hosts + switch].len())
            .filter_map(|port| self.heard(switch, port, vectors));
        heard.fold(self.own(switch), Vector::min)
    }

    /// The vector of the neighbour at a port, with the cost of the port added.
    fn heard(&self, switch: usize, port: usize, vectors: &[Vector]) -> Option<Vector> {
        let end = self.graph.ports[self.graph.hosts + switch][port];
        let said = self.said_at(end.peer.checked_sub(self.graph.hosts)?, end.link, vectors);
        let root_path_cost = said.root_path_cost + u64::from(self.settings.path_cost[end.link]);
        Some(Vector { root_path_cost, port: self.port_id(self.graph.hosts + switch, port), ..said })
    }

    /// The vector that a switch sends on a link.
    fn said_at(&self, switch: usize, link: usize, vectors: &[Vector]) -> Vector {
        let node = self.graph.hosts + switch;
        let port = self.graph.port_of_link(link, node);
        let Vector { root, root_path_cost, .. } = vectors[switch];
        let designated_port = self.port_id(node, port);
        Vector {
            root,
            root_path_cost,
            designated_bridge: self.bridge_id(switch),
            designated_port,
            port: (0, 0),
        }
    }

    fn bridge(&self, switch: usize, vectors: &[Vector]) -> Bridge {
        let Vector { root: (_, root), root_path_cost, port: (_, root_port), .. } = vectors[switch];
        let root_port = (root != switch).then_some(root_port);
        let ends = &self.graph.ports[self.graph.hosts + switch];
        let roles = (0..ends.len()).map(|port| {
            let Some(peer) = ends[port].peer.checked_sub(self.graph.hosts) else {
                return PortRole::Designated;
            };
            let link = ends[port].link;
            match root_port == Some(port) {
                true => PortRole::Root,
                false
                    if self.said_at(switch, link, vectors) < self.said_at(peer, link, vectors) =>
                {
                    PortRole::Designated
                }
                false => PortRole::Alternate,
            }
        });
        Bridge { root, root_path_cost, root_port, roles: roles.collect() }
    }
}
