//! Parsing: resolves names to indices, converts numbers to quantities, and rejects invalid values.

pub(crate) mod bridging;
pub(crate) mod hosts;
pub(crate) mod hypervisors;
pub(crate) mod policies;
pub(crate) mod processors;
mod trees;
mod vlans;

use crate::error::require;
use crate::graph::{Graph, Link, SwitchIndex};
use crate::tree::{self, SpanningTree};
use crate::workloads::storage::check_devices;
use crate::workloads::{Header, NetworkFacts, Workload, distribution, resolve_workload};
use crate::{COUNT_MAX, PlanError, RawPlan, RawPolicy};
use hosts::check_host;
use hypervisors::check_hypervisors;
use policies::{PoliciesOfPorts, check_switch};
use std::collections::BTreeMap;
use tailrace_units::{BitRate, Distribution, Span};
use vlans::tagged_links;

/// The version of the format that this program reads.
const VERSION: u32 = 2;
/// Largest clock offset: ten times what IEEE 802.3 allows.
pub(crate) const CLOCK_OFFSET_PPB_MAX: u32 = 1_000_000;
/// Most links of one switch: ports are numbered in 16 bits.
const PORTS_MAX: usize = 1 << 16;
/// Most interfaces of a bond (802.3ad: eight active ones).
const BOND_LINKS_MAX: usize = 8;
/// Most hosts: a packet names its destination in 16 bits.
const HOSTS_MAX: usize = 1 << 16;
/// Most sources of events: two for each link and each lasting connection, one for each workload
/// whose traffic arrives by itself. The agenda numbers them in 20 bits.
const SOURCES_MAX: u64 = 1 << 20;
/// All, in parts per billion.
const ONE_PPB: u32 = 1_000_000_000;
/// Port numbers of TCP and UDP.
const PORTS: u32 = 1 << 16;
/// Most looks at windows.
const WINDOW_SAMPLES_MAX: u64 = 100_000;

/// A valid plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The plan as read.
    pub raw: RawPlan,
    /// Nodes and links.
    pub graph: Graph,
    /// Workloads with hosts and distributions resolved, in the order of the plan.
    pub workloads: Vec<Workload>,
    /// Extra delay of each receive poll, by host.
    pub rx_jitter: Vec<Distribution>,
    /// Observed ports as (node, port of that node).
    pub observed: Vec<(usize, usize)>,
    /// Spanning trees, the one for frames of no VLAN first; empty where frames take all shortest
    /// paths.
    pub trees: Vec<SpanningTree>,
    /// By link: whether frames of VLANs carry their tag on it.
    pub tagged_links: Vec<bool>,
    /// Whether any workload has a VLAN.
    pub has_vlans: bool,
    /// By observed port: its place in `observed`, the first where it is named twice.
    records: BTreeMap<(usize, usize), usize>,
    /// By switch and port.
    policies: PoliciesOfPorts,
}

impl Plan {
    /// Reads a plan from JSON.
    ///
    /// # Errors When it is not a plan, names unknown nodes, or has invalid values.
    pub fn parse(json: &str) -> Result<Plan, PlanError> {
        let raw: RawPlan =
            serde_json::from_str(json).map_err(|error| PlanError::Syntax(error.to_string()))?;
        Plan::from_raw(raw)
    }

    /// Resolves a plan built by a program.
    ///
    /// # Errors
    /// As [`Plan::parse`].
    pub fn from_raw(raw: RawPlan) -> Result<Plan, PlanError> {
        require(
            raw.version == VERSION,
            "version",
            "only version 2 is supported: create the plan again from its scenario",
        )?;
        require(raw.stop_at_ps > 0, "stop_at_ps", "must be above 0")?;
        require(
            raw.observe.warm_up_ps < raw.stop_at_ps,
            "observe.warm_up_ps",
            "must be less than the duration",
        )?;
        require(
            raw.observe.interfaces_ps == 0
                || raw.stop_at_ps / raw.observe.interfaces_ps <= WINDOW_SAMPLES_MAX,
            "observe.interfaces_ps",
            "must be at least a hundred thousandth of the duration",
        )?;
        require(
            raw.observe.windows_ps == 0
                || raw.stop_at_ps / raw.observe.windows_ps <= WINDOW_SAMPLES_MAX,
            "observe.windows_ps",
            "must be at least a hundred thousandth of the duration",
        )?;
        require(
            raw.clock_offset_ppb <= CLOCK_OFFSET_PPB_MAX,
            "clock_offset_ppb",
            "must be at most 1 000 000 (1000 ppm)",
        )?;
        let graph = resolve_graph(&raw)?;
        raw.hosts.iter().try_for_each(check_host)?;
        check_hypervisors(&raw, &graph)?;
        let policies = PoliciesOfPorts::new(&raw.switches, &graph);
        raw.switches
            .iter()
            .enumerate()
            .try_for_each(|(index, _)| check_switch(&raw.switches, index, &policies, &graph))?;
        let rx_jitter = raw
            .hosts
            .iter()
            .map(|host| distribution(&host.nic.rx_jitter, &host.name))
            .collect::<Result<_, _>>()?;
        let network = NetworkFacts {
            graph: &graph,
            has_spanning_trees: raw.spanning_tree.is_some(),
            devices: &raw.devices,
        };
        let workloads = raw
            .workloads
            .iter()
            .map(|w| resolve_workload(w, &network))
            .collect::<Result<Vec<_>, _>>()?;
        require(!workloads.is_empty(), "workloads", "the plan has no workloads")?;
        check_devices(&raw.devices)?;
        check_size(&raw, &graph, &workloads)?;
        let observed = raw
            .observe
            .ports
            .iter()
            .map(|pair| resolve_port(pair, &graph))
            .collect::<Result<Vec<_>, _>>()?;
        let records =
            observed.iter().enumerate().rev().map(|(record, &port)| (port, record)).collect();
        let trees =
            raw.spanning_tree.as_ref().map_or(Ok(Vec::new()), |raw| tree::trees(raw, &graph))?;
        let tagged_links = tagged_links(&graph, &workloads);
        let has_vlans = workloads.iter().any(|workload| workload.header.vlan > 0);
        Ok(Plan {
            raw,
            graph,
            workloads,
            rx_jitter,
            observed,
            trees,
            tagged_links,
            has_vlans,
            records,
            policies,
        })
    }

    /// The place of a port of a node in `observed`, if it is observed.
    pub fn record_of(&self, node: usize, port: usize) -> Option<usize> {
        self.records.get(&(node, port)).copied()
    }

    /// The policy of a port of a switch: its own, or the switch's.
    pub fn policy(&self, switch: SwitchIndex, port: usize) -> &RawPolicy {
        self.policies.of(&self.raw.switches, switch, port)
    }

    /// The IP MTU of a port of a switch, if it has one: its own, or the switch's.
    pub fn port_mtu(&self, switch: SwitchIndex, port: usize) -> Option<u32> {
        let raw = &self.raw.switches[switch];
        let towards = &self.graph.names[self.graph.ports[self.graph.hosts + switch][port].peer];
        let own = raw.port_mtus.iter().find(|own| own.towards == *towards);
        own.map(|own| own.mtu_bytes).or(raw.mtu_bytes)
    }

    /// The tree of a VLAN, or of frames of none (0), as an index into `trees`.
    pub fn tree_of(&self, vlan: u16) -> usize {
        tree::tree_of(self.trees.iter().map(|tree| tree.settings.vlans.as_slice()), vlan)
    }
}

fn resolve_graph(raw: &RawPlan) -> Result<Graph, PlanError> {
    let names = |n: Vec<&String>| n.into_iter().cloned().collect::<Vec<_>>();
    let mut graph = Graph::new(
        names(raw.hosts.iter().map(|h| &h.name).collect()),
        names(raw.switches.iter().map(|s| &s.name).collect()),
    )?;
    require(
        graph.names.len() <= COUNT_MAX && raw.links.len() <= COUNT_MAX,
        "links",
        "must be at most a million nodes and links",
    )?;
    for (i, link) in raw.links.iter().enumerate() {
        let location = format!("links[{i}]");
        let a = graph.node(&link.a, &location)?;
        let b = graph.node(&link.b, &location)?;
        require(a != b, &location, "a link must join two different nodes")?;
        let rate = BitRate::from_bps(link.rate_bps)
            .ok_or_else(|| PlanError::nonsense(&location, "the rate must be above 0"))?;
        require(link.loss_ppb <= ONE_PPB, &location, "loss_ppb must be at most 1 000 000 000")?;
        let is_seen = link.loss_ppb == 0 || a >= graph.hosts || b >= graph.hosts;
        require(
            is_seen,
            &location,
            "a link that loses frames must lead to a switch, which counts them",
        )?;
        graph.connect(Link { a, b, rate, delay: Span::from_ps(link.delay_ps) });
    }
    for host in 0..graph.hosts {
        check_links(&graph, host, raw.hosts[host].nic.bond.is_some())?;
    }
    Ok(graph)
}

fn check_links(graph: &Graph, host: usize, is_bonded: bool) -> Result<(), PlanError> {
    let (ports, location) = (&graph.ports[host], format!("host {}", graph.names[host]));
    let links = ports.len();
    if !is_bonded {
        return require(
            links == 1,
            &location,
            &format!("a host must have exactly one link, not {links}"),
        );
    }
    require(
        (2..=BOND_LINKS_MAX).contains(&links),
        &location,
        &format!("a bond must have 2 to 8 links, not {links}"),
    )?;
    let rate = |port: usize| graph.links[ports[port].link].rate;
    require(
        (1..links).all(|port| rate(port) == rate(0)),
        &location,
        "the links of a bond must have the same rate",
    )?;
    require(
        ports.iter().all(|end| end.peer >= graph.hosts),
        &location,
        "the links of a bond must lead to switches",
    )
}

/// Checks the limits of the simulator's numbering.
fn check_size(raw: &RawPlan, graph: &Graph, workloads: &[Workload]) -> Result<(), PlanError> {
    require(graph.hosts <= HOSTS_MAX, "hosts", "must be at most 65 536")?;
    let widest = graph.ports.iter().map(Vec::len).max().unwrap_or(0);
    require(widest <= PORTS_MAX, "links", "a switch must have at most 65 536")?;
    let of_workloads = workloads.iter().map(|workload| workload.header.event_sources).sum::<u64>();
    let processors = raw.hosts.iter().filter(|host| host.cpu.processor.is_some()).count() as u64;
    let machines =
        raw.hypervisors.iter().map(|hypervisor| 1 + hypervisor.machines.len() as u64).sum::<u64>();
    let sources = 2 * raw.links.len() as u64 + processors + machines + of_workloads;
    require(
        sources <= SOURCES_MAX,
        "workloads",
        "users, connections and links together must be at most 524 288",
    )?;
    workloads
        .iter()
        .map(|workload| &workload.header)
        .try_for_each(|header| check_ports(header, workloads))
}

/// Servers have ports, and clients of one host have the same range or ranges apart: each range
/// hands out its ports in order.
fn check_ports(header: &Header, workloads: &[Workload]) -> Result<(), PlanError> {
    require(
        header.ports().end <= PORTS,
        &header.name,
        "the ports of its servers must be at most 65535",
    )?;
    let Some(own) = header.client_ports else { return Ok(()) };
    let meets = |other: &&Header| other.hosts().any(|host| header.hosts().any(|own| own == host));
    let mut others = workloads
        .iter()
        .map(|workload| &workload.header)
        .filter(meets)
        .filter_map(|header| header.client_ports);
    let are_apart = others.all(|other| own == other || own.1 < other.0 || other.1 < own.0);
    require(
        are_apart,
        &header.name,
        "client_ports must be equal to, or apart from, those of other workloads of its hosts",
    )
}

fn resolve_port(
    (node, towards): &(String, String),
    graph: &Graph,
) -> Result<(usize, usize), PlanError> {
    let at = graph.node(node, "observe.ports")?;
    let peer = graph.node(towards, "observe.ports")?;
    require(at >= graph.hosts, "observe.ports", "only ports of switches can be observed")?;
    let port = graph.port_towards(at, peer);
    port.map(|port| (at, port)).ok_or_else(|| {
        PlanError::nonsense("observe.ports", format!("no link joins {node} and {towards}"))
    })
}
