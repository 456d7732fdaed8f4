//! Datagrams at a rate, whatever the network does.

use super::{Body, RawDistribution, Side, Stated, Workload, distribution, ends};
use crate::graph::Graph;
use crate::resolve::require;
use crate::{PlanError, RawPlan};
use serde::{Deserialize, Serialize};
use tailrace_units::Distribution;
use tailrace_wire::{IPV4_HEADER_BYTES, UDP_HEADER_BYTES};

/// IPv4 and UDP headers of a datagram (RFC 791, RFC 768).
pub(crate) const HEADERS_BYTES: u32 = IPV4_HEADER_BYTES + UDP_HEADER_BYTES;

/// Datagrams.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawDatagrams {
    /// Name in results.
    pub name: String,
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
    /// First datagram is drawn after this.
    pub start_ps: u64,
    /// Class.
    pub priority: u8,
    /// Code point of the IP header.
    #[serde(default)]
    pub dscp: u8,
    /// VLAN, 1 to 4094; 0 for none.
    #[serde(default)]
    pub vlan: u16,
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

pub(super) fn resolve(raw: &RawDatagrams, graph: &Graph, plan: &RawPlan) -> Result<Workload, PlanError> {
    let (source, destination) = ends(graph, &raw.source, &raw.destination, &raw.name)?;
    let stated = Stated { name: &raw.name, priority: raw.priority, dscp: raw.dscp, vlan: raw.vlan, start_ps: raw.start_ps };
    let header = stated.header("datagrams", [vec![source], vec![destination]], Side::Peers, 1)?;
    let sizes = distribution(&raw.sizes, &raw.name)?;
    let interarrival = distribution(&raw.interarrival, &raw.name)?;
    require(interarrival.mean() >= 1.0, &raw.name, "interarrival is above zero")?;
    let payload_max = plan.hosts[source].mtu_bytes - HEADERS_BYTES;
    let fits = largest(&sizes) <= u64::from(payload_max);
    require(fits, &raw.name, &format!("a datagram of this host carries at most {payload_max} bytes"))?;
    let body = Datagrams { source, destination, sizes, interarrival, payload_max, raw: raw.clone() };
    Ok(Workload { header, body: Body::Datagrams(body) })
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
