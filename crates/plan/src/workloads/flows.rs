//! Finite flows that arrive by themselves.

use super::{Body, RawDistribution, RawHeader, Side, Workload, distribution};
use crate::PlanError;
use crate::error::require;
use crate::graph::Graph;
use serde::{Deserialize, Serialize};
use tailrace_units::Distribution;

/// Finite flows that arrive by themselves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFlows {
    /// Each flow's source is one of these.
    pub sources: Vec<String>,
    /// Each flow's destination is one of these, never the source.
    pub destinations: Vec<String>,
    /// Sizes in bytes.
    pub sizes: RawDistribution,
    /// Gap between arrivals over all sources together (picoseconds).
    pub interarrival: RawDistribution,
    /// Number of flows; 0 means until `stop_at_ps`.
    pub flows: u64,
}

/// Finite flows; their hosts stand in the header.
#[derive(Clone, Debug)]
pub struct Flows {
    /// Bytes.
    pub sizes: Distribution,
    /// Picoseconds.
    pub interarrival: Distribution,
    /// What was read.
    pub raw: RawFlows,
}

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawFlows,
    graph: &Graph,
) -> Result<Workload, PlanError> {
    let name = &header.name;
    let hosts = |names: &[String]| {
        names.iter().map(|name| graph.host(name, name)).collect::<Result<Vec<_>, _>>()
    };
    let (sources, destinations) = (hosts(&raw.sources)?, hosts(&raw.destinations)?);
    require(
        !sources.is_empty() && !destinations.is_empty(),
        name,
        "flows must have sources and destinations",
    )?;
    let apart =
        sources.iter().all(|source| destinations.iter().any(|destination| destination != source));
    require(apart, name, "every source must have a destination other than itself")?;
    let header = header.resolved("flows", [sources, destinations], Side::Peers, 1)?;
    let sizes = distribution(&raw.sizes, name)?;
    let interarrival = distribution(&raw.interarrival, name)?;
    require(interarrival.mean() >= 1.0, name, "interarrival must be above 0")?;
    Ok(Workload { header, body: Body::Flows(Flows { sizes, interarrival, raw: raw.clone() }) })
}
