//! Requests of storage.

use crate::latency::Latency;
use serde::{Deserialize, Serialize};

/// Requests of storage that are complete, by what they asked for, and what devices did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StorageRequests {
    /// What the devices did; null where they are real ones.
    pub devices: Option<StorageDevices>,
    /// Requests that flush.
    pub flush: StorageOp,
    /// Requests that read.
    pub read: StorageOp,
    /// Requests that write.
    pub write: StorageOp,
}

/// What an initiator did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StorageInitiator {
    /// Name of its host.
    pub name: String,
    /// Its requests.
    pub requests: StorageRequests,
}

/// Requests that ask for the same.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StorageOp {
    /// What they read or wrote.
    pub bytes: u64,
    /// How many.
    pub count: u64,
    /// From the intended start; null where there are none.
    pub latency: Option<Latency>,
    /// What they waited for.
    pub waits_s: StorageWaits,
}

/// What requests waited for, in seconds, added up over all. Absent where a program does not tell.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StorageWaits {
    /// The medium and the link of the device, while they serve it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<f64>,
    /// An entry of the protocol's queue of commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<f64>,
    /// The network, and what is before and behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<f64>,
    /// The processor of the initiator, and that processor's work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<f64>,
    /// The block layer and the device, for what came before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<f64>,
    /// The target's permission to send data (ready to transfer).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r2t: Option<f64>,
    /// Their turn: their job had as many requests under way as it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<f64>,
}

/// What devices did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StorageDevices {
    /// For how long they had something to do, added up over all.
    pub busy_s: f64,
    /// How many there are.
    pub count: u64,
    /// Pieces of requests that they completed.
    pub pieces: u64,
    /// From submission to completion of each piece, added up.
    pub pieces_wait_s: f64,
}

/// A disk of the machine that stood for a device, held to what the device does.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BackingDisk {
    /// Name of the device.
    pub device: String,
    /// Major and minor number of the disk.
    pub disk: String,
    /// What it was held to.
    pub envelope: DiskLimits,
    /// Name of the host.
    pub host: String,
    /// What it does without limits.
    pub measured: DiskRates,
}

/// Most of reads and of writes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DiskLimits {
    /// Bytes read per second.
    pub read_bps: u64,
    /// Requests to read per second.
    pub read_iops: u64,
    /// Bytes written per second.
    pub write_bps: u64,
    /// Requests to write per second.
    pub write_iops: u64,
}

/// What a disk does.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DiskRates {
    /// Bytes read per second.
    pub read_bps: f64,
    /// Requests to read per second.
    pub read_iops: f64,
    /// Bytes written per second.
    pub write_bps: f64,
    /// Requests to write per second.
    pub write_iops: f64,
}
