//! Datagrams at a rate that does not depend on the network.

use super::{Body, NetworkFacts, RawDistribution, RawHeader, Side, Workload, distribution, ends};
use crate::PlanError;
use crate::error::require;
use serde::{Deserialize, Serialize};
use tailrace_units::Distribution;
use tailrace_wire::{IPV4_HEADER_BYTES, UDP_HEADER_BYTES};

/// IPv4 and UDP headers of a datagram (RFC 791, RFC 768).
pub(crate) const HEADERS_BYTES: u32 = IPV4_HEADER_BYTES + UDP_HEADER_BYTES;

/// Datagrams.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawDatagrams {
    /// Sending host.
    pub source: String,
    /// Receiving host.
    pub destination: String,
    /// Payload sizes in bytes; each datagram must fit the MTU.
    pub sizes: RawDistribution,
    /// Gap between datagrams (picoseconds).
    pub interarrival: RawDistribution,
    /// Number of datagrams; 0 means until `stop_at_ps`.
    pub count: u64,
}

/// Datagrams.
#[derive(Clone, Debug)]
pub struct Datagrams {
    /// Sending host.
    pub source: usize,
    /// Receiving host.
    pub destination: usize,
    /// Bytes.
    pub sizes: Distribution,
    /// Picoseconds.
    pub interarrival: Distribution,
    /// The largest payload that the MTU of the source carries.
    pub payload_max: u32,
    /// What was read.
    pub raw: RawDatagrams,
}

pub(super) fn resolve(header: &RawHeader, raw: &RawDatagrams, network: &NetworkFacts<'_>) -> Result<Workload, PlanError> {
    let name = &header.name;
    let (source, destination) = ends(network.graph, &raw.source, &raw.destination, name)?;
    let header = header.resolved("datagrams", [vec![source], vec![destination]], Side::Peers, 1)?;
    let sizes = distribution(&raw.sizes, name)?;
    let interarrival = distribution(&raw.interarrival, name)?;
    require(interarrival.mean() >= 1.0, name, "interarrival must be above 0")?;
    let payload_max = network.host_mtu_bytes[source] - HEADERS_BYTES;
    let fits = largest(&sizes) <= u64::from(payload_max);
    require(fits, name, &format!("a datagram of this host must carry at most {payload_max} bytes"))?;
    let body = Datagrams { source, destination, sizes, interarrival, payload_max, raw: raw.clone() };
    Ok(Workload { header, body: Body::Datagrams(body) })
}

/// The largest draw; 0 where there is none.
pub(super) fn largest(distribution: &Distribution) -> u64 {
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
