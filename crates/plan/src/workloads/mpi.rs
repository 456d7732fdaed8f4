//! Ranks of an MPI job that run a benchmark.

use super::{Body, NetworkFacts, RawDistribution, RawHeader, Side, Workload, distribution};
use crate::PlanError;
use crate::error::require;
use serde::{Deserialize, Serialize};
use tailrace_units::{BitRate, Distribution};

/// Ranks of an MPI job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawMpi {
    /// What they do.
    pub pattern: MpiPattern,
    /// Hosts of the ranks, in order.
    pub ranks: Vec<String>,
    /// Sizes of messages, in order.
    pub sizes_bytes: Vec<u64>,
    /// Iterations of each size that count.
    pub iterations: Vec<u64>,
    /// Iterations of each size before them.
    pub warm_up_iterations: u64,
    /// What a rank computes before an iteration (picoseconds).
    pub compute: RawDistribution,
    /// How collectives are done; none for the choice of Open MPI.
    pub algorithm: Option<Algorithm>,
    /// A longer message is announced first.
    pub eager_limit_bytes: u64,
    /// Time of a rank for each thing that it hands to a connection.
    pub send_overhead_ps: u64,
    /// Time of a rank for each thing that it takes from a connection.
    pub receive_overhead_ps: u64,
    /// Copies of eager messages; 0 where they take no time.
    pub copy_bps: u64,
    /// Combining; 0 where it takes no time.
    pub combine_bps: u64,
    /// A message between ranks of one host.
    pub local_latency_ps: u64,
    /// Its bytes; 0 where they take no time.
    pub local_bps: u64,
}

/// What ranks do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MpiPattern {
    /// Two ranks send a message there and back.
    Pingpong,
    /// Each sends to the next rank.
    Ring,
    /// Each sends to both neighbours.
    Exchange,
    /// The sum of all, at all.
    Allreduce,
    /// A message from each to each.
    Alltoall,
    /// From rank 0 to all.
    Bcast,
    /// Each waits for all.
    Barrier,
}

/// How a collective is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names of the literature")]
pub enum Algorithm {
    RecursiveDoubling,
    Ring,
    Rabenseifner,
    Linear,
    Pairwise,
    Bruck,
    Chain,
    Binary,
    Binomial,
    Knomial,
    ScatterRing,
}

/// Ranks of an MPI job.
#[derive(Clone, Debug)]
pub struct Mpi {
    /// Host of each rank.
    pub ranks: Vec<usize>,
    /// Hosts with ranks, in the order of their first.
    pub hosts: Vec<usize>,
    /// Picoseconds.
    pub compute: Distribution,
    /// Copies of eager messages.
    pub copy: Option<BitRate>,
    /// Combining.
    pub combine: Option<BitRate>,
    /// Bytes between ranks of one host.
    pub local: Option<BitRate>,
    /// What was read.
    pub raw: RawMpi,
}

/// From 128 ranks on Open MPI chooses algorithms that are not modelled.
const RANKS_MAX: usize = 127;
/// Most sizes.
const SIZES_MAX: usize = 64;
/// Longest message.
const MESSAGE_MAX: u64 = 1 << 30;
/// Most iterations of a size.
const ITERATIONS_MAX: u64 = 1_000_000;
/// Bytes of an element that is reduced (`MPI_FLOAT`).
const ELEMENT: u64 = 4;

impl MpiPattern {
    fn allows(self, algorithm: Algorithm) -> bool {
        use Algorithm::{
            Binary, Binomial, Bruck, Chain, Knomial, Linear, Pairwise, Rabenseifner,
            RecursiveDoubling, Ring, ScatterRing,
        };
        match self {
            MpiPattern::Pingpong | MpiPattern::Ring | MpiPattern::Exchange => false,
            MpiPattern::Allreduce => matches!(algorithm, RecursiveDoubling | Ring | Rabenseifner),
            MpiPattern::Alltoall => matches!(algorithm, Linear | Pairwise | Bruck),
            MpiPattern::Bcast => {
                matches!(algorithm, Linear | Chain | Binary | Binomial | Knomial | ScatterRing)
            }
            MpiPattern::Barrier => matches!(algorithm, Linear | RecursiveDoubling | Bruck),
        }
    }
}

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawMpi,
    network: &NetworkFacts<'_>,
) -> Result<Workload, PlanError> {
    let name = &header.name;
    require((2..=RANKS_MAX).contains(&raw.ranks.len()), name, "a job must have 2 to 127 ranks")?;
    let ranks = raw
        .ranks
        .iter()
        .map(|host| network.graph.host(host, name))
        .collect::<Result<Vec<usize>, PlanError>>()?;
    let mut hosts: Vec<usize> = Vec::new();
    ranks.iter().for_each(|host| {
        if !hosts.contains(host) {
            hosts.push(*host);
        }
    });
    check(raw, name)?;
    let header =
        header.resolved("mpi", [hosts.clone(), hosts.clone()], Side::Peers, hosts.len() as u64)?;
    let compute = distribution(&raw.compute, name)?;
    let [copy, combine, local] =
        [raw.copy_bps, raw.combine_bps, raw.local_bps].map(BitRate::from_bps);
    let body = Mpi { ranks, hosts, compute, copy, combine, local, raw: raw.clone() };
    Ok(Workload { header, body: Body::Mpi(Box::new(body)) })
}

fn check(raw: &RawMpi, name: &str) -> Result<(), PlanError> {
    require(
        (1..=SIZES_MAX).contains(&raw.sizes_bytes.len()),
        name,
        "a job must have 1 to 64 sizes",
    )?;
    require(
        raw.iterations.len() == raw.sizes_bytes.len(),
        name,
        "each size must have its iterations",
    )?;
    let are_iterations = raw.iterations.iter().all(|count| (1..=ITERATIONS_MAX).contains(count));
    require(
        are_iterations && raw.warm_up_iterations <= ITERATIONS_MAX,
        name,
        "iterations must be 1 to a million",
    )?;
    require(
        raw.sizes_bytes.iter().all(|&size| size <= MESSAGE_MAX),
        name,
        "a message must have at most 1 GiB",
    )?;
    let is_whole = raw.pattern != MpiPattern::Allreduce
        || raw.sizes_bytes.iter().all(|size| size.is_multiple_of(ELEMENT));
    require(is_whole, name, "sizes of allreduce must be multiples of 4 bytes")?;
    let is_allowed = raw.algorithm.is_none_or(|algorithm| raw.pattern.allows(algorithm));
    require(is_allowed, name, "the pattern has no such algorithm")
}
