//! Workloads with hosts and distributions resolved.

use super::{COUNT_MAX, require};
use crate::graph::Graph;
use crate::{PlanError, RawDatagrams, RawDistribution, RawFlows, RawOltp, RawPlan, RawRoundTrip, RawStream, RawWorkload};
use tailrace_units::Distribution;

/// IPv4 (20) and UDP (8) headers of a datagram (RFC 791, RFC 768).
const DATAGRAM_HEADERS_BYTES: u32 = 28;
/// Number of priorities (IEEE 802.1Q).
const PRIORITIES: u8 = 8;
/// Lowest rate of one connection of a stream: at a bit per second the next write could lie beyond the end of time.
const CONNECTION_BPS_MIN: u64 = 1_000;
/// Most bytes of one write of a stream.
const WRITE_BYTES_MAX: u64 = 1 << 30;
/// Most exponentials of one Erlang draw: each costs a random number.
const ERLANG_SHAPE_MAX: u32 = 1000;

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
        raw: RawStream,
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
        raw: RawFlows,
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
        raw: RawDatagrams,
    },
}

impl Workload {
    /// Its name in results.
    pub fn name(&self) -> &str {
        match self {
            Workload::Oltp(oltp) => &oltp.raw.name,
            Workload::Stream { raw, .. } => &raw.name,
            Workload::Flows { raw, .. } => &raw.name,
            Workload::Datagrams { raw, .. } => &raw.name,
        }
    }
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

pub(super) fn resolve_workload(raw: &RawWorkload, graph: &Graph, plan: &RawPlan) -> Result<Workload, PlanError> {
    match raw {
        RawWorkload::Oltp(raw) => resolve_oltp(raw, graph).map(Workload::Oltp),
        RawWorkload::Stream(raw) => {
            let (source, destination) = ends(graph, &raw.source, &raw.destination, &raw.name)?;
            require((1..=COUNT_MAX as u32).contains(&raw.connections), &raw.name, "connections is 1 to a million")?;
            check_priority(raw.priority, &raw.name)?;
            check_pace(raw)?;
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
            let most = u64::from(plan.hosts[source].mtu_bytes - DATAGRAM_HEADERS_BYTES);
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
    require(priority < PRIORITIES, place, "priority is 0 to 7")
}

/// A rate comes with the size of its writes, and neither is beyond what a connection can use.
fn check_pace(raw: &RawStream) -> Result<(), PlanError> {
    require((raw.rate_bps > 0) == (raw.write_bytes > 0), &raw.name, "rate_bps and write_bytes come together")?;
    require(raw.write_bytes <= WRITE_BYTES_MAX, &raw.name, "write_bytes is at most 1 GiB")?;
    let is_fast_enough = raw.rate_bps == 0 || raw.rate_bps / u64::from(raw.connections) >= CONNECTION_BPS_MIN;
    require(is_fast_enough, &raw.name, "rate_bps is at least 1000 for each connection")
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

pub(super) fn distribution(raw: &RawDistribution, place: &str) -> Result<Distribution, PlanError> {
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
            require((1..=ERLANG_SHAPE_MAX).contains(&shape), place, "erlang: shape is 1 to 1000")?;
            Distribution::Erlang { mean, shape }
        }
        RawDistribution::Cumulative(ref points) => Distribution::from_points(points.clone())
            .map_err(|error| PlanError::nonsense(place, format!("cumulative distribution: {error:?}")))?,
    })
}
