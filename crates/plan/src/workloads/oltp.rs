//! Closed-loop users of a database.

use super::{Body, RawDistribution, RawHeader, Side, Workload, distribution, ends};
use crate::COUNT_MAX;
use crate::PlanError;
use crate::error::require;
use crate::graph::Graph;
use serde::{Deserialize, Serialize};
use tailrace_units::Distribution;

/// Closed-loop users: each has one connection and does one transaction after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawOltp {
    /// Host of the users.
    pub client: String,
    /// Host of the database.
    pub server: String,
    /// Users, each with its own connection.
    pub users: u32,
    /// Transactions per user; 0 means until `stop_at_ps`.
    pub transactions: u64,
    /// Number of first transactions of each user that are not recorded (they count towards
    /// completion).
    pub warmup_transactions: u64,
    /// Statements of one transaction, in order.
    pub round_trips: Vec<RawRoundTrip>,
    /// Pause between transactions (picoseconds).
    pub gap: RawDistribution,
    /// Reference of the pause.
    pub gap_from: RawGapFrom,
    /// First transaction of each user: a draw after time zero (picoseconds).
    pub start: RawDistribution,
    /// Users connect at time zero and wait for their first transaction; when missing they connect
    /// for it.
    #[serde(default)]
    pub connects_early: bool,
}

/// The time from which the pause between transactions is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawGapFrom {
    /// From the end of the last transaction (think time).
    End,
    /// From the intended start of the last transaction (pacing). A late transaction starts at once,
    /// and its latency counts from the intended start.
    Start,
}

/// One statement: a request, the server's work, a response.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRoundTrip {
    /// Payload bytes of the request.
    pub request_bytes: u64,
    /// Payload bytes of the response.
    pub response_bytes: u64,
    /// Work of a core of the server on the request, before `server_time` (picoseconds, 0, also when
    /// missing, for none).
    #[serde(default)]
    pub server_work_ps: u64,
    /// The server's time for the request, whatever the size of the response (picoseconds).
    pub server_time: RawDistribution,
    /// The server writes the response in pieces of this many bytes, each its own segment(s); 0 for
    /// one write.
    pub write_bytes: u32,
    /// The server then makes the whole response at this pace before it writes any of it
    /// (femtoseconds per byte, 0, also when missing, for no time).
    #[serde(default)]
    pub build_fs_per_byte: u64,
    /// The server produces the response at this pace (femtoseconds per byte, 0 for at once): a
    /// piece is written when it is produced.
    pub produce_fs_per_byte: u64,
    /// The client's core works this long on every byte that has arrived (femtoseconds per byte).
    pub consume_fs_per_byte: u64,
    /// It works on at most this many bytes at a time; 64 KiB when missing.
    #[serde(default = "default_chunk_bytes")]
    pub consume_chunk_bytes: u64,
    /// After the last byte the client's core works this long on the whole response (femtoseconds
    /// per byte; 0 when missing).
    #[serde(default)]
    pub unpack_fs_per_byte: u64,
}

/// Most pieces of a response: all of them can be written in one event, which then takes tens of
/// milliseconds.
pub(crate) const PIECES_MAX: u64 = 1 << 18;
/// Most statements of a transaction.
pub(crate) const STATEMENTS_MAX: usize = 10_000;

/// Bytes that a program works on at a time where a plan does not say: a usual size of read buffers
/// (assumed).
fn default_chunk_bytes() -> u64 {
    65_536
}

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

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawOltp,
    graph: &Graph,
) -> Result<Workload, PlanError> {
    let name = &header.name;
    require(
        header.start_ps == 0,
        name,
        "start_ps must be 0: the distribution `start` sets the start of users",
    )?;
    let (client, server) = ends(graph, &raw.client, &raw.server, name)?;
    require((1..=COUNT_MAX as u32).contains(&raw.users), name, "users must be 1 to a million")?;
    require(!raw.round_trips.is_empty(), name, "a transaction must have at least one round trip")?;
    require(
        raw.round_trips.len() <= STATEMENTS_MAX,
        name,
        "a transaction must have at most 10 000 round trips",
    )?;
    let header = header.resolved(
        "oltp",
        [vec![client], vec![server]],
        Side::Openers,
        2 * u64::from(raw.users),
    )?;
    let round_trips = raw
        .round_trips
        .iter()
        .map(|trip| {
            let sized = trip.request_bytes > 0 && trip.response_bytes > 0;
            require(sized, name, "requests and responses must have at least one byte")?;
            let pieces = trip.response_bytes.div_ceil(u64::from(trip.write_bytes).max(1));
            require(
                trip.write_bytes == 0 || pieces <= PIECES_MAX,
                name,
                "a response must have at most 262 144 pieces",
            )?;
            require(trip.consume_chunk_bytes > 0, name, "consume_chunk_bytes must be at least 1")?;
            Ok(RoundTrip { server_time: distribution(&trip.server_time, name)?, raw: trip.clone() })
        })
        .collect::<Result<_, PlanError>>()?;
    let gap = distribution(&raw.gap, name)?;
    let start = distribution(&raw.start, name)?;
    Ok(Workload {
        header,
        body: Body::Oltp(Oltp { client, server, gap, start, round_trips, raw: raw.clone() }),
    })
}
