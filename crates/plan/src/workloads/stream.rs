//! Bulk TCP connections.

use super::{Body, Side, Stated, Workload, ends};
use crate::graph::Graph;
use crate::resolve::{COUNT_MAX, require};
use crate::{PlanError, RawPlan, RawStream};

/// Nodes of pinned paths, forward and backward; empty for ECMP.
pub type Pins = [Vec<usize>; 2];

/// Bulk TCP.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Sending host.
    pub source: usize,
    /// Receiving host.
    pub destination: usize,
    /// Paths, where they are pinned.
    pub pins: Pins,
    /// What was read.
    pub raw: RawStream,
}

pub(super) fn resolve(raw: &RawStream, graph: &Graph, plan: &RawPlan) -> Result<Workload, PlanError> {
    let (source, destination) = ends(graph, &raw.source, &raw.destination, &raw.name)?;
    require((1..=COUNT_MAX as u32).contains(&raw.connections), &raw.name, "connections is 1 to a million")?;
    let pin = |names: &[String]| names.iter().map(|name| graph.node(name, &raw.name)).collect::<Result<Vec<_>, _>>();
    let pins = [pin(&raw.pin_forward)?, pin(&raw.pin_backward)?];
    let is_pinned = !raw.pin_forward.is_empty() || !raw.pin_backward.is_empty();
    require(!is_pinned || plan.spanning_tree.is_none(), &raw.name, "with spanning trees no path is pinned")?;
    check_pin(graph, source, &pins[0], destination, &raw.name)?;
    check_pin(graph, destination, &pins[1], source, &raw.name)?;
    let stated = Stated { name: &raw.name, priority: raw.priority, dscp: raw.dscp, vlan: raw.vlan, start_ps: raw.start_ps };
    let header = stated.header("stream", [vec![source], vec![destination]], Side::Peers, 2 * u64::from(raw.connections))?;
    Ok(Workload { header, body: Body::Stream(Stream { source, destination, pins, raw: raw.clone() }) })
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
