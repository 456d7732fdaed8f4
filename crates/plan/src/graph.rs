//! The drawing: nodes, their ports, and the shortest paths between them.

use crate::PlanError;
use std::collections::{BTreeMap, VecDeque};
use tailrace_units::{BitRate, Span};

/// A host or a switch: hosts come first, in the order of the plan, then switches.
pub type NodeId = usize;

/// A full-duplex link.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Nominal rate of both directions.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
}

/// One end of a link.
#[derive(Clone, Copy, Debug)]
pub struct PortEnd {
    /// Index of the link.
    pub link: usize,
    /// Node at the other end.
    pub peer: NodeId,
}

/// Nodes and links, with the ports of each node in the order of the links.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Names by node.
    pub names: Vec<String>,
    /// How many of the nodes are hosts.
    pub hosts: usize,
    /// Links in the order of the plan.
    pub links: Vec<Link>,
    /// Ports by node.
    pub ports: Vec<Vec<PortEnd>>,
    by_name: BTreeMap<String, NodeId>,
}

/// For each switch (in order) and each host: the ports on a shortest path, none when unreachable.
pub type Routes = Vec<Vec<Vec<usize>>>;

impl Graph {
    /// # Errors
    /// When two nodes share a name.
    pub fn new(hosts: Vec<String>, switches: Vec<String>) -> Result<Graph, PlanError> {
        let host_count = hosts.len();
        let names: Vec<String> = hosts.into_iter().chain(switches).collect();
        let mut by_name = BTreeMap::new();
        for (node, name) in names.iter().enumerate() {
            if by_name.insert(name.clone(), node).is_some() {
                return Err(PlanError::nonsense("hosts and switches", format!("two nodes are named {name:?}")));
            }
        }
        let ports = vec![Vec::new(); names.len()];
        Ok(Graph { names, hosts: host_count, links: Vec::new(), ports, by_name })
    }

    /// # Errors
    /// When no node has this name.
    pub fn node(&self, name: &str, used_by: &str) -> Result<NodeId, PlanError> {
        self.by_name
            .get(name)
            .copied()
            .ok_or_else(|| PlanError::UnknownNode { used_by: used_by.to_owned(), name: name.to_owned() })
    }

    /// # Errors
    /// When no host has this name.
    pub fn host(&self, name: &str, used_by: &str) -> Result<usize, PlanError> {
        let node = self.node(name, used_by)?;
        if node < self.hosts { Ok(node) } else { Err(PlanError::nonsense(used_by, format!("{name:?} is a switch, not a host"))) }
    }

    pub(crate) fn connect(&mut self, link: Link) {
        let index = self.links.len();
        self.ports[link.a].push(PortEnd { link: index, peer: link.b });
        self.ports[link.b].push(PortEnd { link: index, peer: link.a });
        self.links.push(link);
    }

    /// Port of `node` that leads to `peer` over the first such link.
    pub fn port_towards(&self, node: NodeId, peer: NodeId) -> Option<usize> {
        self.ports[node].iter().position(|end| end.peer == peer)
    }

    /// Whether a link joins two switches.
    pub fn is_between_switches(&self, link: usize) -> bool {
        self.links[link].a >= self.hosts && self.links[link].b >= self.hosts
    }

    /// Shortest paths by number of links; all equally short ports are kept. Hosts do not forward.
    pub fn routes(&self) -> Routes {
        self.routes_over(|_| true)
    }

    /// The same over the links that forward alone.
    pub fn routes_over(&self, forwards: impl Fn(usize) -> bool) -> Routes {
        let mut routes = vec![vec![Vec::new(); self.hosts]; self.names.len() - self.hosts];
        for host in 0..self.hosts {
            let distance = self.distances_to(host, &forwards);
            for (at, table) in routes.iter_mut().enumerate() {
                let node = self.hosts + at;
                table[host] = (0..self.ports[node].len())
                    .filter(|&port| forwards(self.ports[node][port].link))
                    .filter(|&port| distance[self.ports[node][port].peer].is_some_and(|d| Some(d + 1) == distance[node]))
                    .collect();
            }
        }
        routes
    }

    fn distances_to(&self, host: NodeId, forwards: impl Fn(usize) -> bool) -> Vec<Option<u32>> {
        let mut distance = vec![None; self.names.len()];
        distance[host] = Some(0);
        let mut open = VecDeque::from([(host, 0)]);
        while let Some((node, so_far)) = open.pop_front() {
            for end in &self.ports[node] {
                if distance[end.peer].is_none() && forwards(end.link) {
                    distance[end.peer] = Some(so_far + 1);
                    if end.peer >= self.hosts {
                        open.push_back((end.peer, so_far + 1));
                    }
                }
            }
        }
        distance
    }
}
