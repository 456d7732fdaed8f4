//! Finite flows that arrive by themselves.

use super::{Body, RawDistribution, Side, Stated, Workload, distribution};
use crate::PlanError;
use crate::graph::Graph;
use crate::resolve::require;
use serde::{Deserialize, Serialize};
use tailrace_units::Distribution;

/// Finite flows that arrive by themselves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFlows {
    /// Name in results.
    pub name: String,
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
    /// First arrival is drawn after this.
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

pub(super) fn resolve(raw: &RawFlows, graph: &Graph) -> Result<Workload, PlanError> {
    let hosts = |names: &[String]| names.iter().map(|name| graph.host(name, &raw.name)).collect::<Result<Vec<_>, _>>();
    let (sources, destinations) = (hosts(&raw.sources)?, hosts(&raw.destinations)?);
    require(!sources.is_empty() && !destinations.is_empty(), &raw.name, "flows need sources and destinations")?;
    let apart = sources.iter().all(|source| destinations.iter().any(|destination| destination != source));
    require(apart, &raw.name, "every source needs a destination other than itself")?;
    let stated = Stated { name: &raw.name, priority: raw.priority, dscp: raw.dscp, vlan: raw.vlan, start_ps: raw.start_ps };
    let header = stated.header("flows", [sources, destinations], Side::Peers, 1)?;
    let sizes = distribution(&raw.sizes, &raw.name)?;
    let interarrival = distribution(&raw.interarrival, &raw.name)?;
    require(interarrival.mean() >= 1.0, &raw.name, "interarrival is above zero")?;
    Ok(Workload { header, body: Body::Flows(Flows { sizes, interarrival, raw: raw.clone() }) })
}
