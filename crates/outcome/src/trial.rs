//! The outcome of a trial as a whole.

use crate::exact::Exact;
use crate::fabric::Fabric;
use crate::host::Host;
use crate::hypervisor::Hypervisor;
use crate::interface::{Interface, LosslessInterface};
use crate::live::Live;
use crate::network::Conservation;
use crate::port::Port;
use crate::switch::Switch;
use crate::tree::Tree;
use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a trial gave.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Whether it was ended before its time, and is no result.
    pub cancelled: bool,
    /// Where all frames are; absent where an engine cannot look into the switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conservation: Option<Conservation>,
    /// When counting began, from the start of the trial; absent where it is the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_from_ps: Option<u64>,
    /// Links of a cycle of pauses that never ends, such as `sw1>sw2`; only simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock: Option<Vec<String>>,
    /// Of everything that happened, in hexadecimal; null where it is not known.
    pub digest: Option<String>,
    /// When it ended, from its start.
    pub end_ps: u64,
    /// Events that were handled; only simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// What only trials of real kernels in virtual time have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<Exact>,
    /// How a fabric in real time ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<Fabric>,
    /// Whether everything that has an end was complete.
    pub finished: bool,
    /// In the order of the plan.
    pub hosts: Vec<Host>,
    /// In the order of the plan; only simulated, and absent where the plan has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisors: Option<Vec<Hypervisor>>,
    /// By host, the interfaces of a fabric that take part in data-centre bridging; those of
    /// simulated hosts are at the hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<BTreeMap<String, LosslessInterface>>,
    /// What only trials with real programs have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
    /// Of the plan.
    pub name: String,
    /// Interfaces of hosts, then ports of switches, in the order of the plan.
    pub netstat: Vec<Interface>,
    /// Frames sent over a link; only simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_hops: Option<u64>,
    /// Frames given to hosts; only simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_delivered: Option<u64>,
    /// By switch, in the order of the plan.
    pub ports: Vec<Port>,
    /// Of the plan.
    pub seed: u64,
    /// Only simulated; empty without spanning trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spanning_trees: Option<Vec<Tree>>,
    /// In the order of the plan.
    pub switches: Vec<Switch>,
    /// Wall-clock time that the trial took.
    pub wall_s: f64,
    /// In the order of the plan.
    pub workloads: Vec<Workload>,
}

/// What is known of a simulated trial that did not run to its end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CancelledOutcome {
    /// Always true.
    pub cancelled: bool,
    /// When it was ended, from its start.
    pub end_ps: u64,
    /// Events that were handled.
    pub events: u64,
    /// Always false.
    pub finished: bool,
    /// Of the plan.
    pub name: String,
    /// Of the plan.
    pub seed: u64,
    /// Wall-clock time that the trial took.
    pub wall_s: f64,
}
