//! The graph of the network: nodes, their ports, and the shortest paths between them.

use crate::PlanError;
use std::collections::BTreeMap;
use tailrace_units::{BitRate, Span};

/// Index of a host or a switch: hosts first, in the order of the plan, then switches.
pub type NodeId = usize;

/// Index of a switch among the switches of the plan.
pub type SwitchIndex = usize;

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
    /// By node, in order: its neighbours and the ports that lead to them.
    by_peer: Vec<Vec<(NodeId, usize)>>,
    /// By link: its port at `a` and its port at `b`.
    ports_of_link: Vec<(usize, usize)>,
    /// By node: the rate of its fastest link.
    fastest: Vec<Option<BitRate>>,
}

impl Graph {
    /// # Errors
    /// When two nodes share a name.
    pub fn new(hosts: Vec<String>, switches: Vec<String>) -> Result<Graph, PlanError> {
        let host_count = hosts.len();
        let names: Vec<String> = hosts.into_iter().chain(switches).collect();
        let mut by_name = BTreeMap::new();
        for (node, name) in names.iter().enumerate() {
            if by_name.insert(name.clone(), node).is_some() {
                return Err(PlanError::nonsense(
                    "hosts and switches",
                    format!("two nodes have the name {name:?}"),
                ));
            }
        }
        let nodes = names.len();
        Ok(Graph {
            names,
            hosts: host_count,
            links: Vec::new(),
            ports: vec![Vec::new(); nodes],
            by_name,
            by_peer: vec![Vec::new(); nodes],
            ports_of_link: Vec::new(),
            fastest: vec![None; nodes],
        })
    }

    /// # Errors
    /// When no node has this name.
    pub fn node(&self, name: &str, used_by: &str) -> Result<NodeId, PlanError> {
        self.by_name.get(name).copied().ok_or_else(|| PlanError::UnknownNode {
            used_by: used_by.to_owned(),
            name: name.to_owned(),
        })
    }

    /// # Errors
    /// When no host has this name.
    pub fn host(&self, name: &str, used_by: &str) -> Result<usize, PlanError> {
        let node = self.node(name, used_by)?;
        if node < self.hosts {
            Ok(node)
        } else {
            Err(PlanError::nonsense(used_by, format!("{name:?} is a switch, not a host")))
        }
    }

    pub(crate) fn connect(&mut self, link: Link) {
        let ports =
            (self.add_port(link.a, link.b, link.rate), self.add_port(link.b, link.a, link.rate));
        self.ports_of_link.push(ports);
        self.links.push(link);
    }

    /// The end of the next link at `node`. Returns its number.
    fn add_port(&mut self, node: NodeId, peer: NodeId, rate: BitRate) -> usize {
        let port = self.ports[node].len();
        self.ports[node].push(PortEnd { link: self.links.len(), peer });
        let location = self.by_peer[node].partition_point(|&known| known < (peer, port));
        self.by_peer[node].insert(location, (peer, port));
        self.fastest[node] = self.fastest[node].max(Some(rate));
        port
    }

    /// Port of `node` that leads to `peer` over the first such link.
    pub fn port_towards(&self, node: NodeId, peer: NodeId) -> Option<usize> {
        let location = self.by_peer[node].partition_point(|&(other, _)| other < peer);
        self.by_peer[node].get(location).filter(|found| found.0 == peer).map(|found| found.1)
    }

    /// Port of `node` at which `link` ends; `node` is one of its ends.
    pub fn port_of_link(&self, link: usize, node: NodeId) -> usize {
        let (at_a, at_b) = self.ports_of_link[link];
        if self.links[link].a == node { at_a } else { at_b }
    }

    /// Rate of the fastest link of a node; none without links.
    pub fn fastest_link(&self, node: NodeId) -> Option<BitRate> {
        self.fastest[node]
    }

    /// Whether a link joins two switches.
    pub fn is_between_switches(&self, link: usize) -> bool {
        self.links[link].a >= self.hosts && self.links[link].b >= self.hosts
    }

    /// Shortest paths by number of links, over the links that forward; hosts do not. Calls `route`
    /// with a switch, hosts, and the ports of the switch that lie on the shortest paths to these
    /// hosts. A switch that it is not called with for a host has no path to it. Hosts at one switch
    /// share their paths to it, which are searched for once; those with several links are searched
    /// for one by one.
    pub fn each_route(
        &self,
        forwards: impl Fn(usize) -> bool,
        mut route: impl FnMut(SwitchIndex, &[usize], &[usize]),
    ) {
        let switches = self.names.len() - self.hosts;
        let mut search = Search { distance: Distances(vec![None; switches]), found: Vec::new() };
        let mut back = Vec::new();
        for last in 0..switches {
            let own = self.ports[self.hosts + last].iter().enumerate();
            let attached = own.filter(|(_, end)| {
                end.peer < self.hosts && forwards(end.link) && self.ports[end.peer].len() == 1
            });
            let (ports, hosts): (Vec<usize>, Vec<usize>) =
                attached.map(|(port, end)| (port, end.peer)).unzip();
            if hosts.is_empty() {
                continue;
            }
            ports.iter().zip(&hosts).for_each(|(&port, &host)| route(last, &[host], &[port]));
            search.from(self, &[last], &forwards);
            for &switch in &search.found[1..] {
                search.distance.ports_back(self, switch, &forwards, &mut back);
                route(switch, &hosts, &back);
            }
        }
        for host in (0..self.hosts).filter(|&host| self.ports[host].len() > 1) {
            self.each_route_to_bond(host, &forwards, &mut search, &mut route);
        }
    }

    /// The same for one host with several links: a switch at which it is attached uses its own
    /// links to it, others the nearest of these switches.
    fn each_route_to_bond(
        &self,
        host: usize,
        forwards: &impl Fn(usize) -> bool,
        search: &mut Search,
        route: &mut impl FnMut(SwitchIndex, &[usize], &[usize]),
    ) {
        let mut ports_at: BTreeMap<SwitchIndex, Vec<usize>> = BTreeMap::new();
        for end in self.ports[host].iter().filter(|end| forwards(end.link)) {
            ports_at
                .entry(end.peer - self.hosts)
                .or_default()
                .push(self.port_of_link(end.link, end.peer));
        }
        ports_at.iter().for_each(|(&switch, ports)| route(switch, &[host], ports));
        let first: Vec<SwitchIndex> = ports_at.into_keys().collect();
        search.from(self, &first, forwards);
        let mut back = Vec::new();
        for &switch in &search.found[first.len()..] {
            search.distance.ports_back(self, switch, forwards, &mut back);
            route(switch, &[host], &back);
        }
    }

    /// Ports of a switch that lead to switches over links that forward, with the index of the
    /// switch there.
    fn ports_between<'a>(
        &'a self,
        switch: SwitchIndex,
        forwards: &'a impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (usize, SwitchIndex)> + 'a {
        let ends = self.ports[self.hosts + switch].iter().enumerate();
        ends.filter_map(|(port, end)| Some((port, end.peer.checked_sub(self.hosts)?, end.link)))
            .filter(|&(.., link)| forwards(link))
            .map(|(port, peer, _)| (port, peer))
    }
}

/// A breadth-first search of the switches; its memory is reused.
struct Search {
    distance: Distances,
    /// Switches in the order in which they were found, the first one first.
    found: Vec<SwitchIndex>,
}

/// By switch: links to the switch where the search began, if it was found.
struct Distances(Vec<Option<u32>>);

impl Search {
    /// Finds all switches that have a path to one of these.
    fn from(&mut self, graph: &Graph, first: &[SwitchIndex], forwards: &impl Fn(usize) -> bool) {
        let Search { distance: Distances(distance), found } = self;
        distance.fill(None);
        found.clear();
        for &switch in first {
            distance[switch] = Some(0);
            found.push(switch);
        }
        let mut next = 0;
        while let Some(&switch) = found.get(next) {
            next += 1;
            let further = distance[switch].map(|so_far| so_far + 1);
            for (_, peer) in graph.ports_between(switch, forwards) {
                if distance[peer].is_none() {
                    distance[peer] = further;
                    found.push(peer);
                }
            }
        }
    }
}

impl Distances {
    /// Sets `ports` to those of a switch that lead to where the search began by a shortest path, in
    /// order.
    fn ports_back(
        &self,
        graph: &Graph,
        switch: SwitchIndex,
        forwards: &impl Fn(usize) -> bool,
        ports: &mut Vec<usize>,
    ) {
        let nearer = self.0[switch].and_then(|own| own.checked_sub(1));
        let between = graph.ports_between(switch, forwards);
        ports.clear();
        ports.extend(between.filter(|&(_, peer)| self.0[peer] == nearer).map(|(port, _)| port));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use tailrace_units::RandomStream;

    const GRAPHS: usize = 200;

    /// Hosts at any switches, links between any switches, some of them parallel; some switches have
    /// no path to others.
    fn any_graph(random: &mut RandomStream) -> Graph {
        let (hosts, switches) = (1 + random.below(12) as usize, 1 + random.below(9) as usize);
        let named =
            |kind: &str, count: usize| (0..count).map(|number| format!("{kind}{number}")).collect();
        let mut graph = Graph::new(named("h", hosts), named("s", switches)).expect("names differ");
        let rate = BitRate::from_bps(1).expect("above zero");
        let any_switch = |random: &mut RandomStream| hosts + random.below(switches as u64) as usize;
        for host in 0..hosts {
            for _ in 0..1 + random.below(4) / 3 * (1 + random.below(2)) {
                let b = any_switch(random);
                graph.connect(Link { a: host, b, rate, delay: Span::ZERO });
            }
        }
        for _ in 0..random.below(20) {
            let (a, b) = (any_switch(random), any_switch(random));
            if a != b {
                graph.connect(Link { a, b, rate, delay: Span::ZERO });
            }
        }
        graph
    }

    /// The same by a search for every host: for each switch and host the ports on a shortest path.
    fn by_searching_from_every_host(
        graph: &Graph,
        forwards: impl Fn(usize) -> bool,
    ) -> Vec<Vec<Vec<usize>>> {
        let mut routes = vec![vec![Vec::new(); graph.hosts]; graph.names.len() - graph.hosts];
        for host in 0..graph.hosts {
            let mut distance = vec![None; graph.names.len()];
            distance[host] = Some(0);
            let mut open = VecDeque::from([host]);
            while let Some(node) = open.pop_front() {
                for end in graph.ports[node].iter().filter(|end| forwards(end.link)) {
                    if distance[end.peer].is_none() {
                        distance[end.peer] = distance[node].map(|so_far: u32| so_far + 1);
                        open.extend((end.peer >= graph.hosts).then_some(end.peer));
                    }
                }
            }
            for (switch, ends) in graph.ports[graph.hosts..].iter().enumerate() {
                let is_nearer = |end: &PortEnd| {
                    distance[end.peer]
                        .is_some_and(|near| Some(near + 1) == distance[graph.hosts + switch])
                };
                // Paths do not cross another host.
                let leads_on = |end: &PortEnd| end.peer == host || end.peer >= graph.hosts;
                let may_be = |end: &PortEnd| forwards(end.link) && leads_on(end) && is_nearer(end);
                let ports = (0..ends.len()).filter(|&port| may_be(&ends[port]));
                routes[switch][host] = ports.collect();
            }
        }
        routes
    }

    #[test]
    fn routes_are_those_of_a_search_from_every_host() {
        let mut random = RandomStream::new(3, "routes");
        for _ in 0..GRAPHS {
            let graph = any_graph(&mut random);
            let open: Vec<bool> = graph.links.iter().map(|_| random.below(5) > 0).collect();
            let mut found = vec![vec![Vec::new(); graph.hosts]; graph.names.len() - graph.hosts];
            graph.each_route(
                |link| open[link],
                |switch, hosts, ports| {
                    hosts.iter().for_each(|&host| found[switch][host] = ports.to_vec());
                },
            );
            assert_eq!(found, by_searching_from_every_host(&graph, |link| open[link]));
        }
    }

    /// A table of a million entries is not filled in entry by entry where hosts share their switch.
    #[test]
    fn hosts_at_one_switch_are_routed_together() {
        let mut graph = Graph::new(
            (0..100).map(|n| format!("h{n}")).collect(),
            vec!["near".into(), "far".into()],
        )
        .expect("names differ");
        let rate = BitRate::from_bps(1).expect("above zero");
        (0..100).for_each(|host| graph.connect(Link { a: host, b: 100, rate, delay: Span::ZERO }));
        graph.connect(Link { a: 100, b: 101, rate, delay: Span::ZERO });
        let mut calls = [0, 0];
        graph.each_route(|_| true, |switch, _, _| calls[switch] += 1);
        assert_eq!(calls, [100, 1]);
    }

    #[test]
    fn ports_are_found_by_their_neighbour_and_by_their_link() {
        let mut random = RandomStream::new(4, "ports");
        for _ in 0..GRAPHS {
            let graph = any_graph(&mut random);
            for (node, ends) in graph.ports.iter().enumerate() {
                for (port, end) in ends.iter().enumerate() {
                    assert_eq!(
                        graph.port_towards(node, end.peer),
                        ends.iter().position(|other| other.peer == end.peer)
                    );
                    assert_eq!(graph.port_of_link(end.link, node), port);
                }
                assert_eq!(graph.port_towards(node, node), None);
            }
        }
    }
}
