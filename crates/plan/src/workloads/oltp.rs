//! Closed-loop users of a database.

use super::{Body, Side, Stated, Workload, distribution, ends};
use crate::graph::Graph;
use crate::resolve::{COUNT_MAX, require};
use crate::{PlanError, RawOltp, RawRoundTrip};
use tailrace_units::Distribution;

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

pub(super) fn resolve(raw: &RawOltp, graph: &Graph) -> Result<Workload, PlanError> {
    let (client, server) = ends(graph, &raw.client, &raw.server, &raw.name)?;
    require((1..=COUNT_MAX as u32).contains(&raw.users), &raw.name, "users is 1 to a million")?;
    require(!raw.round_trips.is_empty(), &raw.name, "a transaction has at least one round trip")?;
    let stated = Stated { name: &raw.name, priority: raw.priority, dscp: raw.dscp, vlan: raw.vlan, start_ps: 0 };
    let header = stated.header("oltp", [vec![client], vec![server]], Side::Openers, 2 * u64::from(raw.users))?;
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
    Ok(Workload { header, body: Body::Oltp(Oltp { client, server, gap, start, round_trips, raw: raw.clone() }) })
}
