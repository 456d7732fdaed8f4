//! What a network did, without its workloads and hosts.

use crate::fabric::Fabric;
use crate::interface::{Interface, LosslessInterface};
use crate::port::Port;
use crate::switch::Switch;
use crate::tables::Tables;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The part of an outcome that the network knows: what a fabric tells of a measured interval.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NetworkOutcome {
    /// Where all frames are; absent where an engine cannot look into the switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conservation: Option<Conservation>,
    /// When counting began, from the start of the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_from_ps: Option<u64>,
    /// Of everything that happened, in hexadecimal; null where it is not known.
    pub digest: Option<String>,
    /// Length of the interval.
    pub end_ps: u64,
    /// How the fabric ran; absent in virtual time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<Fabric>,
    /// By host, the interfaces that take part in data-centre bridging.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<BTreeMap<String, LosslessInterface>>,
    /// Of the plan.
    pub name: String,
    /// Interfaces of hosts, then ports of switches.
    pub netstat: Vec<Interface>,
    /// By switch, in the order of the plan.
    pub ports: Vec<Port>,
    /// Of the plan.
    pub seed: u64,
    /// In the order of the plan.
    pub switches: Vec<Switch>,
    /// Observed ports over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Tables>,
}

/// Where all frames are that hosts have sent: delivered, dropped, or in the network.
#[derive(Clone, PartialEq, Debug, Eq, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Conservation {
    /// Given to hosts.
    pub delivered: u64,
    /// Dropped by the network.
    pub dropped: u64,
    /// On their way at the end.
    pub in_network: u64,
    /// By hosts.
    pub sent: u64,
}
