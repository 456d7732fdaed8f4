//! Finite flows that arrive by themselves.

use super::{Body, Side, Stated, Workload, distribution};
use crate::graph::Graph;
use crate::resolve::require;
use crate::{PlanError, RawFlows};
use tailrace_units::Distribution;

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
