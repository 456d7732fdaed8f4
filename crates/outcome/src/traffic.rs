//! What the traffic programs of all hosts did together.

use crate::host::Failure;
use crate::tables::Tables;
use crate::workload::Workload;
use serde::{Deserialize, Serialize};

/// The part of an outcome that the traffic programs know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TrafficOutcome {
    /// When counting began, from the start of the trial.
    pub counted_from_ps: u64,
    /// When the trial ended, from its start.
    pub end_ps: u64,
    /// Whether everything that has an end was complete.
    pub finished: bool,
    /// Of every host that takes part.
    pub hosts: Vec<TrafficHost>,
    /// Of the plan.
    pub name: String,
    /// Of the plan.
    pub seed: u64,
    /// Transactions and more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Tables>,
    /// In the order of the plan.
    pub workloads: Vec<Workload>,
}

/// What the traffic program of a host tells of itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TrafficHost {
    /// How often it was called.
    pub calls: u64,
    /// When it ended, from the start of the trial.
    pub ended_ps: u64,
    /// What went wrong with its connections.
    pub failures: Vec<Failure>,
    /// The most by which it was late.
    pub late_max_ps: u64,
    /// By how much it was late in the mean of all calls.
    pub late_mean_ps: u64,
    /// Name of the host.
    pub name: String,
    /// For how long it was busy.
    pub program_busy_ps: u64,
    /// Datagrams that the system did not take.
    pub unsent_datagrams: u64,
}
