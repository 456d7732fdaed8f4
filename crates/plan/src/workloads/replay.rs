//! Requests of a recording: connections with the sizes and times of each request.

use super::{Body, RawHeader, Side, Workload, ends};
use crate::error::require;
use crate::graph::Graph;
use crate::{COUNT_MAX, PlanError};
use serde::{Deserialize, Serialize};

/// Connections whose requests, responses and times are those of a recording.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawReplay {
    /// Host that asks.
    pub client: String,
    /// Host that answers.
    pub server: String,
    /// What `begin_ps` refers to.
    pub pace: RawReplayPace,
    /// Connections, at least one.
    pub connections: Vec<RawRecorded>,
}

/// The time from which the beginning of a request is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawReplayPace {
    /// The first of a connection from the start of the trial, every other from the end of the
    /// response before it.
    Think,
    /// From the start of the trial.
    Time,
}

/// One connection. The lists are equally long, with an entry for each request in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRecorded {
    /// When the client opens it (picoseconds).
    pub connect_ps: u64,
    /// When requests begin (picoseconds).
    pub begin_ps: Vec<u64>,
    /// Payload bytes of requests.
    pub request_bytes: Vec<u64>,
    /// From the end of a request to its response, at the server (picoseconds).
    pub server_ps: Vec<u64>,
    /// Payload bytes of responses.
    pub response_bytes: Vec<u64>,
}

/// Requests of a recording.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Host that asks.
    pub client: usize,
    /// Host that answers.
    pub server: usize,
    /// What was read.
    pub raw: RawReplay,
}

impl Replay {
    /// Requests of all connections.
    pub fn requests(&self) -> u64 {
        self.raw.connections.iter().map(|one| one.begin_ps.len() as u64).sum()
    }
}

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawReplay,
    graph: &Graph,
) -> Result<Workload, PlanError> {
    let name = &header.name;
    require(header.start_ps == 0, name, "start_ps must be 0: the recording has the times")?;
    let (client, server) = ends(graph, &raw.client, &raw.server, name)?;
    let count = raw.connections.len();
    require(
        (1..=COUNT_MAX).contains(&count),
        name,
        "a recording must have 1 to a million connections",
    )?;
    for one in &raw.connections {
        let requests = one.begin_ps.len();
        let is_even = [&one.request_bytes, &one.server_ps, &one.response_bytes]
            .iter()
            .all(|list| list.len() == requests);
        require(
            requests > 0 && is_even,
            name,
            "each connection must have equally many entries in all lists, at least one",
        )?;
        let is_sized = one.request_bytes.iter().chain(&one.response_bytes).all(|&bytes| bytes > 0);
        require(is_sized, name, "requests and responses must have at least one byte")?;
        let is_ordered = raw.pace == RawReplayPace::Think || one.begin_ps.is_sorted();
        require(
            is_ordered,
            name,
            "the requests of a connection must be in the order of their times",
        )?;
    }
    let header =
        header.resolved("replay", [vec![client], vec![server]], Side::Openers, 2 * count as u64)?;
    Ok(Workload {
        header,
        body: Body::Replay(Box::new(Replay { client, server, raw: raw.clone() })),
    })
}
