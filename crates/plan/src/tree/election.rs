//! What the protocol settles on: the root, the port of every switch towards it, and what is blocked.
//!
//! Every switch knows the best root of which it has heard, over which port it heard so, and tells its neighbours. All
//! of them do so in rounds until nobody changes its mind. That is the protocol's end for any order of messages: a
//! vector is only replaced by a better one, and the best is unique because no two ports are alike.

use crate::RawTree;
use crate::graph::{Graph, NodeId};

/// Identifier of a bridge: its priority, then its place among the switches of the plan, which stands for its MAC
/// address.
type BridgeId = (u16, usize);
/// Identifier of a port: its priority, then its number in the order of the links.
type PortId = (u8, usize);

/// IEEE 802.1Q-2018 clause 13.9: the priority vector. The lower is the better; components count in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Vector {
    root: BridgeId,
    root_path_cost: u64,
    designated_bridge: BridgeId,
    designated_port: PortId,
    /// The port at which it was received.
    port: PortId,
}

/// What a port does. There are no backup ports: they need a wire on which a switch has two ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortRole {
    /// Leads to the root: forwards.
    Root,
    /// Its switch is the way to the root for what is at the other end: forwards.
    Designated,
    /// Another way to the root: blocked.
    Alternate,
}

/// What one switch has settled on.
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

/// One tree; of a drawing in several pieces, one for each.
#[derive(Clone, Debug)]
pub struct SpanningTree {
    /// What decided its shape; costs are those that were chosen where the plan leaves the choice.
    pub settings: RawTree,
    /// By switch.
    pub bridges: Vec<Bridge>,
    /// By link: whether it forwards. Links to hosts always do.
    pub forwards: Vec<bool>,
}

/// The end of the protocol with these settings.
pub(super) fn elect(graph: &Graph, settings: RawTree) -> SpanningTree {
    let ballot = Ballot { graph, settings: &settings };
    let vectors = ballot.settled();
    let bridges: Vec<Bridge> = (0..vectors.len()).map(|switch| ballot.bridge(switch, &vectors)).collect();
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
    /// The root priority vector of every switch, when nothing changes any more.
    fn settled(&self) -> Vec<Vector> {
        let switches = self.graph.names.len() - self.graph.hosts;
        let mut vectors: Vec<Vector> = (0..switches).map(|switch| self.own(switch)).collect();
        // News of the root and of the cheapest way to it travel one link in a round.
        for _ in 0..=2 * switches {
            let next: Vec<Vector> = (0..switches).map(|switch| self.best(switch, &vectors)).collect();
            if next == vectors {
                return vectors;
            }
            vectors = next;
        }
        unreachable!("costs are above zero, so that paths to the root have no loop and the election terminates")
    }

    fn bridge_id(&self, switch: usize) -> BridgeId {
        (self.settings.bridge_priority[switch], switch)
    }

    fn port_id(&self, node: NodeId, port: usize) -> PortId {
        let link = self.graph.ports[node][port].link;
        let (at_a, at_b) = self.settings.port_priority[link];
        (if self.graph.links[link].a == node { at_a } else { at_b }, port)
    }

    /// What a switch says before it has heard of any other: it is the root.
    fn own(&self, switch: usize) -> Vector {
        let id = self.bridge_id(switch);
        Vector { root: id, root_path_cost: 0, designated_bridge: id, designated_port: (0, 0), port: (0, 0) }
    }

    /// The best of what a switch says of itself and of what its neighbours tell it.
    fn best(&self, switch: usize, vectors: &[Vector]) -> Vector {
        let heard = (0..self.graph.ports[self.graph.hosts + switch].len()).filter_map(|port| self.heard(switch, port, vectors));
        heard.fold(self.own(switch), Vector::min)
    }

    /// What the neighbour at a port says, with the cost of the port.
    fn heard(&self, switch: usize, port: usize, vectors: &[Vector]) -> Option<Vector> {
        let end = self.graph.ports[self.graph.hosts + switch][port];
        let said = self.said_at(end.peer.checked_sub(self.graph.hosts)?, end.link, vectors);
        let root_path_cost = said.root_path_cost + u64::from(self.settings.path_cost[end.link]);
        Some(Vector { root_path_cost, port: self.port_id(self.graph.hosts + switch, port), ..said })
    }

    /// What a switch says on a link.
    fn said_at(&self, switch: usize, link: usize, vectors: &[Vector]) -> Vector {
        let node = self.graph.hosts + switch;
        let port = self.graph.port_of_link(link, node);
        let Vector { root, root_path_cost, .. } = vectors[switch];
        let designated_port = self.port_id(node, port);
        Vector { root, root_path_cost, designated_bridge: self.bridge_id(switch), designated_port, port: (0, 0) }
    }

    fn bridge(&self, switch: usize, vectors: &[Vector]) -> Bridge {
        let Vector { root: (_, root), root_path_cost, port: (_, root_port), .. } = vectors[switch];
        let root_port = (root != switch).then_some(root_port);
        let ends = &self.graph.ports[self.graph.hosts + switch];
        let roles = (0..ends.len()).map(|port| {
            let Some(peer) = ends[port].peer.checked_sub(self.graph.hosts) else { return PortRole::Designated };
            let link = ends[port].link;
            match root_port == Some(port) {
                true => PortRole::Root,
                false if self.said_at(switch, link, vectors) < self.said_at(peer, link, vectors) => PortRole::Designated,
                false => PortRole::Alternate,
            }
        });
        Bridge { root, root_path_cost, root_port, roles: roles.collect() }
    }
}
