//! The spanning trees of a plan as results show them.

use super::Plan;
use crate::tree::{PortRole, SpanningTree};
use serde_json::{Value, json};

impl Plan {
    /// Every tree with its roots, what each switch has settled on, and what is blocked; empty without spanning trees.
    pub fn trees_summary(&self) -> Value {
        self.trees.iter().map(|tree| self.tree_summary(tree)).collect()
    }

    fn tree_summary(&self, tree: &SpanningTree) -> Value {
        let graph = &self.graph;
        let name = |switch: usize| &graph.names[graph.hosts + switch];
        let roots: Vec<&String> = (0..tree.bridges.len()).filter(|&at| tree.bridges[at].root == at).map(name).collect();
        let bridges: Vec<Value> = (0..tree.bridges.len())
            .map(|switch| {
                let bridge = &tree.bridges[switch];
                let towards = bridge.root_port.map(|port| &graph.names[graph.ports[graph.hosts + switch][port].peer]);
                json!({
                    "name": name(switch),
                    "priority": tree.settings.bridge_priority[switch],
                    "root": name(bridge.root),
                    "root_path_cost": bridge.root_path_cost,
                    "root_port_towards": towards,
                    "root_port": bridge.root_port.map(|port| port + 1),
                })
            })
            .collect();
        json!({
            "instance": tree.settings.instance,
            "vlans": tree.settings.vlans,
            "roots": roots,
            "bridges": bridges,
            "blocked": self.blocked(tree),
            "forwards": tree.forwards,
            "path_costs": tree.settings.path_cost,
        })
    }

    /// The alternate ports, as switch, neighbour and port number from 1.
    fn blocked(&self, tree: &SpanningTree) -> Vec<Value> {
        let graph = &self.graph;
        let of = |(switch, roles): (usize, &Vec<PortRole>)| {
            let node = graph.hosts + switch;
            let blocked = roles.iter().enumerate().filter(|(_, role)| **role == PortRole::Alternate);
            let shown = blocked.map(|(port, _)| {
                let end = graph.ports[node][port];
                json!({"node": graph.names[node], "towards": graph.names[end.peer], "port": port + 1, "link": end.link})
            });
            shown.collect::<Vec<Value>>()
        };
        tree.bridges.iter().map(|bridge| &bridge.roles).enumerate().flat_map(of).collect()
    }
}
