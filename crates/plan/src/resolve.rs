//! Parsing: names become indices, numbers become quantities, and what makes no sense is refused.

use crate::graph::{Graph, Link};
use crate::{
    PlanError, RawDistribution, RawHost, RawLimit, RawOltp, RawPlan, RawPolicy, RawRoundTrip, RawService, RawSwitch, RawWorkload,
};
use tailrace_units::{BitRate, Distribution, Span};

/// The format that this program reads.
const VERSION: u32 = 1;
/// Largest clock offset: ten times what IEEE 802.3 allows.
const CLOCK_OFFSET_PPB_MAX: u32 = 1_000_000;
/// IPv4's smallest datagram that every host must accept, and the largest jumbo MTU of the switches we model.
const MTU_RANGE: std::ops::RangeInclusive<u32> = 576..=9216;
/// Most nodes, links, users or connections of one plan.
const COUNT_MAX: usize = 1_000_000;
/// Most queues of a port.
const QUEUES_MAX: usize = 8;

/// A sound plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What was read.
    pub raw: RawPlan,
    /// Nodes and links.
    pub graph: Graph,
    /// Workloads with hosts and distributions resolved, in the order of the plan.
    pub workloads: Vec<Workload>,
    /// Extra delay of each receive poll, by host.
    pub rx_jitter: Vec<Distribution>,
    /// Observed ports as (node, port of that node).
    pub observed: Vec<(usize, usize)>,
}

/// A workload.
#[derive(Clone, Debug)]
pub enum Workload {
    /// Closed-loop users.
    Oltp(Oltp),
    /// Bulk TCP.
    Stream {
        /// Sending host.
        source: usize,
        /// Receiving host.
        destination: usize,
        /// Nodes of pinned paths, forward and backward; empty for ECMP.
        pins: [Vec<usize>; 2],
        /// What was read.
        raw: crate::RawStream,
    },
    /// Finite flows.
    Flows {
        /// Sending hosts.
        sources: Vec<usize>,
        /// Receiving hosts.
        destinations: Vec<usize>,
        /// Bytes.
        sizes: Distribution,
        /// Picoseconds.
        interarrival: Distribution,
        /// What was read.
        raw: crate::RawFlows,
    },
    /// Datagrams.
    Datagrams {
        /// Sending host.
        source: usize,
        /// Receiving host.
        destination: usize,
        /// Bytes.
        sizes: Distribution,
        /// Picoseconds.
        interarrival: Distribution,
        /// What was read.
        raw: crate::RawDatagrams,
    },
}

/// Closed-loop users.
#[derive(Clone, Debug)]
pub struct Oltp {
    /// Host of the users.
    pub client: usize,
    /// Host of the database.
    pub server: usize,
    /// Pause between transactions.
    pub gap: Distribution,
    /// First transaction.
    pub start: Distribution,
    /// Statements.
    pub round_trips: Vec<RoundTrip>,
    /// What was read.
    pub raw: RawOltp,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct RoundTrip {
    /// Picoseconds from request to response.
    pub server_time: Distribution,
    /// What was read.
    pub raw: RawRoundTrip,
}

impl PlanError {
    pub(crate) fn nonsense(place: impl Into<String>, reason: impl Into<String>) -> PlanError {
        PlanError::Nonsense { place: place.into(), reason: reason.into() }
    }
}

fn require(ok: bool, place: &str, reason: &str) -> Result<(), PlanError> {
    if ok { Ok(()) } else { Err(PlanError::nonsense(place, reason)) }
}

impl Plan {
    /// Reads a plan from JSON.
    ///
    /// # Errors
    /// When it is not a plan, names unknown nodes, or makes no sense.
    pub fn parse(json: &str) -> Result<Plan, PlanError> {
        let raw: RawPlan = serde_json::from_str(json).map_err(|error| PlanError::Syntax(error.to_string()))?;
        Plan::from_raw(raw)
    }

    /// Resolves a plan that was made by a program.
    ///
    /// # Errors
    /// As [`Plan::parse`].
    pub fn from_raw(raw: RawPlan) -> Result<Plan, PlanError> {
        require(raw.version == VERSION, "version", "only version 1 is known")?;
        require(raw.stop_at_ps > 0, "stop_at_ps", "the run must last")?;
        require(raw.clock_offset_ppb <= CLOCK_OFFSET_PPB_MAX, "clock_offset_ppb", "at most 1 000 000 (1000 ppm)")?;
        let graph = resolve_graph(&raw)?;
        raw.hosts.iter().try_for_each(check_host)?;
        raw.switches.iter().try_for_each(check_switch)?;
        let rx_jitter = raw.hosts.iter().map(|host| distribution(&host.nic.rx_jitter, &host.name)).collect::<Result<_, _>>()?;
        let workloads = raw.workloads.iter().map(|w| resolve_workload(w, &graph, &raw)).collect::<Result<Vec<_>, _>>()?;
        require(!workloads.is_empty(), "workloads", "nothing uses the network")?;
        let observed = raw.observe.ports.iter().map(|pair| resolve_port(pair, &graph)).collect::<Result<_, _>>()?;
        Ok(Plan { raw, graph, workloads, rx_jitter, observed })
    }
}

fn resolve_graph(raw: &RawPlan) -> Result<Graph, PlanError> {
    let names = |n: Vec<&String>| n.into_iter().cloned().collect::<Vec<_>>();
    let mut graph =
        Graph::new(names(raw.hosts.iter().map(|h| &h.name).collect()), names(raw.switches.iter().map(|s| &s.name).collect()))?;
    require(graph.names.len() <= COUNT_MAX && raw.links.len() <= COUNT_MAX, "links", "at most a million nodes and links")?;
    for (i, link) in raw.links.iter().enumerate() {
        let place = format!("links[{i}]");
        let a = graph.node(&link.a, &place)?;
        let b = graph.node(&link.b, &place)?;
        require(a != b, &place, "a link joins two different nodes")?;
        let rate = BitRate::from_bps(link.rate_bps).ok_or_else(|| PlanError::nonsense(&place, "the rate is zero"))?;
        graph.connect(Link { a, b, rate, delay: Span::from_ps(link.delay_ps) });
    }
    for host in 0..graph.hosts {
        let links = graph.ports[host].len();
        let place = format!("host {}", graph.names[host]);
        require(links == 1, &place, &format!("a host has exactly one link, this one has {links}"))?;
    }
    Ok(graph)
}

fn check_host(host: &RawHost) -> Result<(), PlanError> {
    let place = &format!("host {}", host.name);
    require(MTU_RANGE.contains(&host.mtu_bytes), place, "mtu_bytes is 576 to 9216")?;
    require(host.nic.queue_bytes > u64::from(host.mtu_bytes), place, "nic.queue_bytes holds at least one frame")?;
    require(host.nic.rx_ring_frames > 0, place, "nic.rx_ring_frames is at least 1")?;
    let tcp = &host.tcp;
    require(tcp.initial_window_segments > 0, place, "tcp.initial_window_segments is at least 1")?;
    require(tcp.rto_min_ps > 0 && tcp.rto_max_ps >= tcp.rto_min_ps, place, "tcp.rto_min_ps is above 0 and at most rto_max_ps")?;
    for buffer in [&tcp.send_buffer, &tcp.receive_buffer] {
        let sound = buffer.initial_bytes >= u64::from(host.mtu_bytes) && buffer.maximum_bytes >= buffer.initial_bytes;
        require(sound, place, "a socket buffer holds at least one packet, and its maximum is not below its start")?;
    }
    Ok(())
}

fn check_switch(switch: &RawSwitch) -> Result<(), PlanError> {
    let place = format!("switch {}", switch.name);
    require(switch.buffer_bytes > 0, &place, "buffer_bytes is above 0")?;
    check_policy(&switch.policy, switch.buffer_bytes, &format!("{place}.policy"))?;
    for port in &switch.port_policies {
        check_policy(&port.policy, switch.buffer_bytes, &format!("{place}.port_policies[{}]", port.towards))?;
    }
    Ok(())
}

fn check_policy(policy: &RawPolicy, buffer_bytes: u64, place: &str) -> Result<(), PlanError> {
    let queues = policy.queues.len();
    require((1..=QUEUES_MAX).contains(&queues), place, "a port has one to eight queues")?;
    let known = policy.queue_of_priority.iter().all(|&queue| usize::from(queue) < queues);
    require(known, place, "queue_of_priority names a queue that is not there")?;
    for queue in &policy.queues {
        let place = format!("{place}.{}", queue.name);
        match queue.limit {
            RawLimit::Bytes(bytes) => {
                require(bytes > 0 && bytes <= buffer_bytes, &place, "the limit is above 0 and at most the switch's buffer")?;
            }
            RawLimit::Frames(frames) => require(frames > 0, &place, "the limit is above 0")?,
            RawLimit::AlphaMilli(milli) => require(milli > 0, &place, "alpha is above 0")?,
        }
        if let RawService::Dwrr(weight) = queue.service {
            require((1..=1000).contains(&weight), &place, "a weight is 1 to 1000 thousandths")?;
        }
        if let crate::RawAqm::Red { minimum_bytes, maximum_bytes, probability_milli, weight_exponent, .. } = queue.aqm {
            let sound = minimum_bytes < maximum_bytes && probability_milli <= 1000 && weight_exponent <= 15;
            require(sound, &place, "red: minimum below maximum, probability at most 1000, weight exponent 0 to 15")?;
        }
    }
    let Some(dpp) = &policy.dpp else { return Ok(()) };
    // Served together with a class's queue, or after it, later packets of a flow would overtake its first ones.
    let level = |queue: &crate::RawQueue| match queue.service {
        RawService::Strict(level) => Some(level),
        RawService::Dwrr(_) => None,
    };
    let express = policy.queues.get(usize::from(dpp.express_queue)).and_then(level);
    let others = policy.queues.iter().enumerate().filter(|(i, _)| *i != usize::from(dpp.express_queue));
    let is_first = express.is_some_and(|own| others.filter_map(|(_, queue)| level(queue)).all(|other| own < other));
    require(is_first, place, "dpp.express_queue must be strict, and served before every other queue")?;
    let sound = dpp.table_entries.is_power_of_two() && dpp.table_entries >= 4 && dpp.max_packets > 0;
    require(sound, place, "dpp: max_packets above 0, table_entries a power of two of at least 4")
}

fn resolve_port((node, towards): &(String, String), graph: &Graph) -> Result<(usize, usize), PlanError> {
    let at = graph.node(node, "observe.ports")?;
    let peer = graph.node(towards, "observe.ports")?;
    require(at >= graph.hosts, "observe.ports", "ports of switches can be observed")?;
    let port = graph.port_towards(at, peer);
    port.map(|port| (at, port)).ok_or_else(|| PlanError::nonsense("observe.ports", format!("no link joins {node} and {towards}")))
}

fn resolve_workload(raw: &RawWorkload, graph: &Graph, plan: &RawPlan) -> Result<Workload, PlanError> {
    match raw {
        RawWorkload::Oltp(raw) => resolve_oltp(raw, graph).map(Workload::Oltp),
        RawWorkload::Stream(raw) => {
            let (source, destination) = ends(graph, &raw.source, &raw.destination, &raw.name)?;
            require((1..=COUNT_MAX as u32).contains(&raw.connections), &raw.name, "connections is 1 to a million")?;
            check_priority(raw.priority, &raw.name)?;
            let pin = |names: &[String]| names.iter().map(|name| graph.node(name, &raw.name)).collect::<Result<Vec<_>, _>>();
            let pins = [pin(&raw.pin_forward)?, pin(&raw.pin_backward)?];
            check_pin(graph, source, &pins[0], destination, &raw.name)?;
            check_pin(graph, destination, &pins[1], source, &raw.name)?;
            Ok(Workload::Stream { source, destination, pins, raw: raw.clone() })
        }
        RawWorkload::Flows(raw) => {
            let hosts = |names: &[String]| names.iter().map(|name| graph.host(name, &raw.name)).collect::<Result<Vec<_>, _>>();
            let (sources, destinations) = (hosts(&raw.sources)?, hosts(&raw.destinations)?);
            require(!sources.is_empty() && !destinations.is_empty(), &raw.name, "flows need sources and destinations")?;
            let apart = sources.iter().all(|source| destinations.iter().any(|destination| destination != source));
            require(apart, &raw.name, "every source needs a destination other than itself")?;
            check_priority(raw.priority, &raw.name)?;
            let sizes = distribution(&raw.sizes, &raw.name)?;
            let interarrival = distribution(&raw.interarrival, &raw.name)?;
            require(interarrival.mean() >= 1.0, &raw.name, "interarrival is above zero")?;
            Ok(Workload::Flows { sources, destinations, sizes, interarrival, raw: raw.clone() })
        }
        RawWorkload::Datagrams(raw) => {
            let (source, destination) = ends(graph, &raw.source, &raw.destination, &raw.name)?;
            check_priority(raw.priority, &raw.name)?;
            let sizes = distribution(&raw.sizes, &raw.name)?;
            let interarrival = distribution(&raw.interarrival, &raw.name)?;
            require(interarrival.mean() >= 1.0, &raw.name, "interarrival is above zero")?;
            let most = u64::from(plan.hosts[source].mtu_bytes - 28);
            require(largest(&sizes) <= most, &raw.name, &format!("a datagram of this host carries at most {most} bytes"))?;
            Ok(Workload::Datagrams { source, destination, sizes, interarrival, raw: raw.clone() })
        }
    }
}

fn resolve_oltp(raw: &RawOltp, graph: &Graph) -> Result<Oltp, PlanError> {
    let (client, server) = ends(graph, &raw.client, &raw.server, &raw.name)?;
    require((1..=COUNT_MAX as u32).contains(&raw.users), &raw.name, "users is 1 to a million")?;
    require(!raw.round_trips.is_empty(), &raw.name, "a transaction has at least one round trip")?;
    check_priority(raw.priority, &raw.name)?;
    let round_trips = raw
        .round_trips
        .iter()
        .map(|trip| {
            let sized = trip.request_bytes > 0 && trip.response_bytes > 0;
            require(sized, &raw.name, "requests and responses have at least one byte")?;
            require(trip.consume_chunk_bytes > 0, &raw.name, "consume_chunk_bytes is at least 1")?;
            Ok(RoundTrip { server_time: distribution(&trip.server_time, &raw.name)?, raw: trip.clone() })
        })
        .collect::<Result<_, PlanError>>()?;
    let gap = distribution(&raw.gap, &raw.name)?;
    let start = distribution(&raw.start, &raw.name)?;
    Ok(Oltp { client, server, gap, start, round_trips, raw: raw.clone() })
}

fn ends(graph: &Graph, from: &str, to: &str, used_by: &str) -> Result<(usize, usize), PlanError> {
    let pair = (graph.host(from, used_by)?, graph.host(to, used_by)?);
    require(pair.0 != pair.1, used_by, "the two ends are the same host")?;
    Ok(pair)
}

fn check_priority(priority: u8, place: &str) -> Result<(), PlanError> {
    require(priority < 8, place, "priority is 0 to 7")
}

/// A pinned path must be a chain of links from end to end.
fn check_pin(graph: &Graph, from: usize, through: &[usize], to: usize, place: &str) -> Result<(), PlanError> {
    if through.is_empty() {
        return Ok(());
    }
    let path: Vec<usize> = [from].into_iter().chain(through.iter().copied()).chain([to]).collect();
    let joined = path.windows(2).all(|w| graph.port_towards(w[0], w[1]).is_some());
    require(joined, place, "a pinned path follows links from end to end")
}

fn largest(distribution: &Distribution) -> u64 {
    match distribution {
        Distribution::Constant(value) => *value,
        Distribution::Uniform { high, .. } => *high,
        Distribution::Cumulative(points) => points.last().map_or(0, |point| point.0),
        Distribution::Exponential { .. }
        | Distribution::Normal { .. }
        | Distribution::LogNormal { .. }
        | Distribution::Erlang { .. } => 0, // unbounded: cut to the MTU when drawn
    }
}

fn distribution(raw: &RawDistribution, place: &str) -> Result<Distribution, PlanError> {
    Ok(match *raw {
        RawDistribution::Constant(value) => Distribution::Constant(value),
        RawDistribution::Uniform { low, high } => {
            require(low <= high && high < u64::MAX, place, "uniform: low is not above high")?;
            Distribution::Uniform { low, high }
        }
        RawDistribution::Exponential { mean } => Distribution::Exponential { mean },
        RawDistribution::Normal { mean, deviation } => Distribution::Normal { mean, deviation },
        RawDistribution::LogNormal { median, sigma_milli } => Distribution::LogNormal { median, sigma_milli },
        RawDistribution::Erlang { mean, shape } => {
            require((1..=1000).contains(&shape), place, "erlang: shape is 1 to 1000")?;
            Distribution::Erlang { mean, shape }
        }
        RawDistribution::Cumulative(ref points) => Distribution::from_points(points.clone())
            .map_err(|error| PlanError::nonsense(place, format!("cumulative distribution: {error:?}")))?,
    })
}
