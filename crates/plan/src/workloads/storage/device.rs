//! Block devices in the format of a plan.

use crate::workloads::RawDistribution;
use serde::{Deserialize, Serialize};

/// A block device, as a host has it: workloads of storage name it, and each host that they name has
/// one of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawDevice {
    /// Unique among devices.
    pub name: String,
    /// Pieces of requests that the medium serves at the same time.
    pub servers: u32,
    /// Time of a server to read a piece (picoseconds).
    pub read_latency: RawDistribution,
    /// Time of a server to write a piece (picoseconds).
    pub write_latency: RawDistribution,
    /// Most data that is read, in bits per second.
    pub read_bps: u64,
    /// Most data that is written, in bits per second.
    pub write_bps: u64,
    /// Both ways are used at the same time.
    pub is_duplex: bool,
    /// Pieces that the device takes at the same time; others wait in the block layer.
    pub queue_depth: u32,
    /// Least unit of requests: 512 or 4096 bytes.
    pub sector_bytes: u32,
    /// How the block layer splits requests.
    pub limits: RawDeviceLimits,
    /// Write-back cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<RawDeviceCache>,
    /// The head of a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<RawDeviceHead>,
}

/// Largest pieces of requests (Linux `queue/max_sectors_kb`, `queue/max_segments`; NVMe MDTS).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawDeviceLimits {
    /// `max_sectors_kb`, in bytes.
    pub max_sectors_bytes: u64,
    /// Segments of a piece.
    pub max_segments: u32,
    /// Bytes of a segment.
    pub segment_bytes: u64,
    /// The device's own limit; 0 for none.
    pub transfer_bytes: u64,
}

/// Write-back cache of a device.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawDeviceCache {
    /// What is written and not yet on the medium.
    pub bytes: u64,
    /// From the last byte of a piece to the completion of its write (picoseconds).
    pub latency_ps: u64,
}

/// The head of a disk.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawDeviceHead {
    /// One turn of the disk (picoseconds).
    pub turn_ps: u64,
    /// Shortest seek (picoseconds).
    pub seek_track_ps: u64,
    /// Seek over the whole disk (picoseconds).
    pub seek_full_ps: u64,
    /// Bytes of the whole disk.
    pub capacity_bytes: u64,
}
