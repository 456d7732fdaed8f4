//! The spanning trees of a plan as results show them.

use super::Plan;
use crate::tree::{PortRole, SpanningTree};
use tailrace_outcome::{BlockedPort, Bridge, Tree};

impl Plan {
    /// Every tree with its roots, what each switch has settled on, and what is blocked; empty
    /// without spanning trees.
    pub fn trees_summary(&self) -> Vec<Tree> {
        self.trees.iter().map(|tree| self.tree_summary(tree)).collect()
    }

    fn tree_summary(&self, tree: &SpanningTree) -> Tree {
        let is_root = |&switch: &usize| tree.bridges[switch].root == switch;
        Tree {
            instance: tree.settings.instance,
            vlans: tree.settings.vlans.clone(),
            roots: (0..tree.bridges.len())
                .filter(is_root)
                .map(|switch| self.switch_name(switch))
                .collect(),
            bridges: (0..tree.bridges.len())
                .map(|switch| self.bridge_summary(tree, switch))
                .collect(),
            blocked: self.blocked(tree),
            forwards: tree.forwards.clone(),
            path_costs: tree.settings.path_cost.clone(),
        }
    }

    fn switch_name(&self, switch: usize) -> String {
        self.graph.names[self.graph.hosts + switch].clone()
    }

    fn bridge_summary(&self, tree: &SpanningTree, switch: usize) -> Bridge {
        let (graph, bridge) = (&self.graph, &tree.bridges[switch]);
        let towards =
            |port: usize| graph.names[graph.ports[graph.hosts + switch][port].peer].clone();
        Bridge {
            name: self.switch_name(switch),
            priority: tree.settings.bridge_priority[switch],
            root: self.switch_name(bridge.root),
            root_path_cost: bridge.root_path_cost,
            root_port_towards: bridge.root_port.map(towards),
            root_port: bridge.root_port.map(|port| port as u64 + 1),
        }
    }

    /// The alternate ports.
    fn blocked(&self, tree: &SpanningTree) -> Vec<BlockedPort> {
        let graph = &self.graph;
        let of = |(switch, roles): (usize, &Vec<PortRole>)| {
            let node = graph.hosts + switch;
            let blocked =
                roles.iter().enumerate().filter(|(_, role)| **role == PortRole::Alternate);
            let shown = blocked.map(|(port, _)| {
                let end = &graph.ports[node][port];
                let (node, towards) = (graph.names[node].clone(), graph.names[end.peer].clone());
                BlockedPort { node, towards, port: port as u64 + 1, link: end.link as u64 }
            });
            shown.collect::<Vec<BlockedPort>>()
        };
        tree.bridges.iter().map(|bridge| &bridge.roles).enumerate().flat_map(of).collect()
    }
}
