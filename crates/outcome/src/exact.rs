//! What only trials of real kernels in virtual time have.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the engine and its guests ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Exact {
    /// Captures that were asked for.
    pub captures: Vec<Capture>,
    /// In the order of the plan.
    pub hosts: Vec<ExactHost>,
    /// Real programs that were run; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<ExactPrograms>,
    /// Of the guests' processors; null without guests.
    pub registers: Option<Registers>,
    /// Wall-clock time of the trial itself.
    pub run_wall_s: f64,
    /// Length of the trial.
    pub span_ps: u64,
    /// Wall-clock time until all guests had started.
    pub start_wall_s: f64,
    /// How often guests ran.
    pub turns: Turns,
    /// What to look at before its figures are trusted; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
}

/// A capture at a port.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// Path of the file.
    pub file: String,
    /// In it.
    pub frames: u64,
    /// As it was asked for.
    pub port: String,
}

/// What the engine knows of a guest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExactHost {
    /// Frames that are no part of the plan.
    pub foreign_frames: u64,
    /// Name of the host.
    pub name: String,
    /// How its programs ended: exit status, null for those that were killed.
    pub programs: Vec<Option<i32>>,
    /// Frames that did not fit the queueing discipline.
    pub qdisc_drops: u64,
}

/// Room for the registers of a processor.
#[derive(Clone, PartialEq, Debug, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// That they take.
    pub bytes: u64,
    /// That there are.
    pub room_bytes: u64,
}

/// How often guests were let run, and why they stopped.
#[derive(Clone, PartialEq, Debug, Default, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Turns {
    /// Interrupts that were given to guests.
    pub interrupts: u64,
    /// Notices of guests that they have frames to send.
    pub kicks: u64,
    /// Runs of guests.
    pub runs: u64,
    /// Steps of virtual time.
    pub steps: u64,
}

/// Real programs of a trial.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExactPrograms {
    /// Command lines, by host and name of the program, such as `web/server`.
    pub commands: BTreeMap<String, Vec<String>>,
    /// Configuration files, by name.
    pub configurations: BTreeMap<String, String>,
    /// What programs reported themselves, by workload: the last characters.
    pub reports: BTreeMap<String, String>,
    /// By program; null where it does not tell.
    pub versions: BTreeMap<String, Option<String>>,
}
