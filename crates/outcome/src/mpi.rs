//! Times of MPI jobs.

use serde::{Deserialize, Serialize};

/// What the ranks of a job have measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MpiTimes {
    /// What they did, such as `allreduce`.
    pub pattern: String,
    /// That took part.
    pub ranks: u64,
    /// In the order of the plan.
    pub sizes: Vec<MpiSize>,
}

/// One size of message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MpiSize {
    /// How the operation was done; its rounds.
    pub algorithm: String,
    /// Of the message.
    pub bytes: u64,
    /// The longest of a rank; null where none is complete.
    pub max_ps: Option<u64>,
    /// Of each rank that has measured, in their order.
    pub mean_of_ranks_ps: Vec<f64>,
    /// The shortest of a rank; null where none is complete.
    pub min_ps: Option<u64>,
    /// Repetitions that were asked for.
    pub planned: u64,
    /// Ranks that have measured.
    pub ranks: u64,
    /// Repetitions that are complete.
    pub repetitions: u64,
}
