//! Hosts.

use crate::interface::LosslessInterface;
use crate::nullable::{Nullable, read_nullable};
use crate::processor::Processor;
use serde::{Deserialize, Serialize};

/// A host.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The interfaces of a bond, in the order of the links; null where the host has no bond, absent
    /// where only simulated hosts have one.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub bond: Nullable<Vec<BondedInterface>>,
    /// When counting began, from the start of the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_from_ps: Option<u64>,
    /// For how long its processor was busy with receiving.
    pub cpu_busy_ps: u64,
    /// What went wrong with its connections; absent where the host has no traffic program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Vec<Failure>>,
    /// Its interface, where it takes part in data-centre bridging; null where it does not.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub interface: Nullable<LosslessInterface>,
    /// What it has cut and put together; absent where that is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip: Option<Ip>,
    /// The most by which its traffic program was late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_max_ps: Option<u64>,
    /// Requests for connections that found the queue of a listener full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen_drops: Option<u64>,
    /// As in the plan.
    pub name: String,
    /// Frames that did not fit the queue of the interface.
    pub nic_queue_drops: u64,
    /// Its processor; null where it has none.
    #[serde(default, deserialize_with = "read_nullable", skip_serializing_if = "Option::is_none")]
    pub processor: Nullable<Processor>,
    /// For how long its processor was busy with programs.
    pub program_busy_ps: u64,
    /// Load generators on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<Vec<Program>>,
    /// Frames that arrived at the interface.
    pub rx_frames: u64,
    /// Frames that found the receive ring full.
    pub rx_ring_drops: u64,
    /// Frames that were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_frames: Option<u64>,
}

/// An interface of a bond.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BondedInterface {
    /// That it took.
    pub received_frames: u64,
    /// That it has sent.
    pub sent_bytes: u64,
    /// That it has sent.
    pub sent_frames: u64,
}

/// What a host has cut and put together, in the words of `/proc/net/snmp`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[serde(rename_all = "PascalCase")]
pub struct Ip {
    /// Fragments that were sent.
    pub frag_creates: u64,
    /// Datagrams of which a fragment did not fit the queue of the interface.
    pub frag_fails: u64,
    /// Datagrams that were cut.
    #[serde(rename = "FragOKs")]
    pub frag_oks: u64,
    /// Fragments that were refused, and datagrams that were given up.
    pub reasm_fails: u64,
    /// Datagrams that were put together.
    #[serde(rename = "ReasmOKs")]
    pub reasm_oks: u64,
    /// Fragments that came.
    pub reasm_reqds: u64,
    /// Datagrams that were given up because their time was over.
    pub reasm_timeout: u64,
    /// Memory of datagrams that are not whole, at the end.
    #[serde(rename = "reassembly_memory_bytes")]
    pub reassembly_memory_bytes: u64,
    /// The most of it.
    #[serde(rename = "reassembly_memory_max_bytes")]
    pub reassembly_memory_max_bytes: u64,
}

/// What went wrong with a connection of a traffic program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// From the start of the trial.
    pub at_ps: u64,
    /// In the words of the system.
    pub error: String,
    /// Of the connection.
    pub side: Side,
    /// Number of the user within the workload.
    pub user: u32,
    /// Number of the workload in the plan.
    pub workload: u32,
}

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// It has opened the connection.
    Client,
    /// It was asked.
    Server,
}

/// What a load generator used.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Switches to another task while it could have gone on.
    pub involuntary_switches: u64,
    /// Name of the workload.
    pub name: String,
    /// On system calls.
    pub system_ps: u64,
    /// On the program itself.
    pub user_ps: u64,
    /// Switches because it had nothing to do.
    pub voluntary_switches: u64,
}
