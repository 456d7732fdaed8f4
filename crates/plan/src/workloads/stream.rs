//! Bulk TCP connections.

use super::{Body, NetworkFacts, RawHeader, Side, Workload, ends};
use crate::COUNT_MAX;
use crate::PlanError;
use crate::error::require;
use crate::graph::Graph;
use serde::{Deserialize, Serialize};

/// Bulk TCP connections.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawStream {
    /// Sending host.
    pub source: String,
    /// Receiving host.
    pub destination: String,
    /// Parallel connections.
    pub connections: u32,
    /// Bytes per connection; 0 means until `stop_at_ps`.
    pub bytes: u64,
    /// Connection i starts at `start_ps + i * stagger_ps`.
    pub stagger_ps: u64,
    /// The programs together offer bytes no faster than this, each connection an equal part; 0,
    /// also when missing, for no limit.
    #[serde(default)]
    pub rate_bps: u64,
    /// With a rate: bytes that a program writes at a time.
    #[serde(default)]
    pub write_bytes: u64,
    /// Names of the switches on the way out and on the way back, to pin the path; empty for ECMP.
    pub pin_forward: Vec<String>,
    /// See `pin_forward`.
    pub pin_backward: Vec<String>,
}

/// Lowest rate of one connection: at a bit per second the next write could lie beyond the end of
/// time.
pub(crate) const CONNECTION_BPS_MIN: u64 = 1_000;
/// Most bytes of one write.
const WRITE_BYTES_MAX: u64 = 1 << 30;

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

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawStream,
    network: &NetworkFacts<'_>,
) -> Result<Workload, PlanError> {
    let (name, graph) = (&header.name, network.graph);
    let (source, destination) = ends(graph, &raw.source, &raw.destination, name)?;
    require(
        (1..=COUNT_MAX as u32).contains(&raw.connections),
        name,
        "connections must be 1 to a million",
    )?;
    check_pace(raw, name)?;
    let pin = |names: &[String]| {
        names.iter().map(|name| graph.node(name, name)).collect::<Result<Vec<_>, _>>()
    };
    let pins = [pin(&raw.pin_forward)?, pin(&raw.pin_backward)?];
    let is_pinned = !raw.pin_forward.is_empty() || !raw.pin_backward.is_empty();
    require(
        !(is_pinned && network.has_spanning_trees),
        name,
        "a path cannot be pinned in a network with spanning trees",
    )?;
    check_pin(graph, source, &pins[0], destination, name)?;
    check_pin(graph, destination, &pins[1], source, name)?;
    let header = header.resolved(
        "stream",
        [vec![source], vec![destination]],
        Side::Peers,
        2 * u64::from(raw.connections),
    )?;
    Ok(Workload {
        header,
        body: Body::Stream(Stream { source, destination, pins, raw: raw.clone() }),
    })
}

/// A rate comes with the size of its writes, and neither is beyond what a connection can use.
fn check_pace(raw: &RawStream, name: &str) -> Result<(), PlanError> {
    require(
        (raw.rate_bps > 0) == (raw.write_bytes > 0),
        name,
        "rate_bps and write_bytes must be stated together",
    )?;
    require(raw.write_bytes <= WRITE_BYTES_MAX, name, "write_bytes must be at most 1 GiB")?;
    let is_fast_enough =
        raw.rate_bps == 0 || raw.rate_bps / u64::from(raw.connections) >= CONNECTION_BPS_MIN;
    require(is_fast_enough, name, "rate_bps must be at least 1000 for each connection")
}

/// A pinned path must be a chain of links from end to end.
fn check_pin(
    graph: &Graph,
    from: usize,
    through: &[usize],
    to: usize,
    location: &str,
) -> Result<(), PlanError> {
    if through.is_empty() {
        return Ok(());
    }
    let path: Vec<usize> = [from].into_iter().chain(through.iter().copied()).chain([to]).collect();
    let joined = path.windows(2).all(|w| graph.port_towards(w[0], w[1]).is_some());
    require(joined, location, "a pinned path must follow links from end to end")
}
