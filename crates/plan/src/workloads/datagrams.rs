//! Datagrams at a rate that does not depend on the network.

use super::{Body, NetworkFacts, RawDistribution, RawHeader, Side, Workload, distribution, ends};
use crate::PlanError;
use crate::error::require;
use serde::{Deserialize, Serialize};
use tailrace_units::Distribution;
use tailrace_wire::DATAGRAM_BYTES_MAX;

/// Larger draws are truncated to this. Above the MTU a datagram is cut into fragments.
pub(crate) const PAYLOAD_MAX: u32 = DATAGRAM_BYTES_MAX;
pub(crate) const TOO_LARGE: &str = "a datagram must carry at most 65507 bytes";

/// Datagrams.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawDatagrams {
    /// Sending host.
    pub source: String,
    /// Receiving host.
    pub destination: String,
    /// Payload sizes in bytes; at most 65 507 each.
    pub sizes: RawDistribution,
    /// Gap between datagrams (picoseconds).
    pub interarrival: RawDistribution,
    /// Number of datagrams; 0 means until `stop_at_ps`.
    pub count: u64,
    /// Bytes of frames that may wait in the interface of the source before the program waits;
    /// without it any amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_buffer_bytes: Option<u64>,
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
    /// The largest payload.
    pub payload_max: u32,
    /// What was read.
    pub raw: RawDatagrams,
}

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawDatagrams,
    network: &NetworkFacts<'_>,
) -> Result<Workload, PlanError> {
    let name = &header.name;
    let (source, destination) = ends(network.graph, &raw.source, &raw.destination, name)?;
    let header = header.resolved("datagrams", [vec![source], vec![destination]], Side::Peers, 1)?;
    let sizes = distribution(&raw.sizes, name)?;
    let interarrival = distribution(&raw.interarrival, name)?;
    require(interarrival.mean() >= 1.0, name, "interarrival must be above 0")?;
    require(raw.send_buffer_bytes != Some(0), name, "send_buffer must be above 0")?;
    require(largest(&sizes) <= PAYLOAD_MAX.into(), name, TOO_LARGE)?;
    let body = Datagrams {
        source,
        destination,
        sizes,
        interarrival,
        payload_max: PAYLOAD_MAX,
        raw: raw.clone(),
    };
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
        | Distribution::Erlang { .. } => 0, // unbounded: truncated when drawn
    }
}
