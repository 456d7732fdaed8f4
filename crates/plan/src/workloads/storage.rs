//! Requests of storage: initiators that read and write block devices.

mod device;
mod protocol;

pub use device::{RawDevice, RawDeviceCache, RawDeviceHead, RawDeviceLimits};
pub use protocol::{RawIscsi, RawNbd, RawNvmeTcp, RawStorageProtocol};

use super::requests::{distinct, hosts};
use super::{Body, NetworkFacts, RawDistribution, RawHeader, Side, Workload, distribution};
use crate::error::require;
use crate::{COUNT_MAX, PlanError};
use serde::{Deserialize, Serialize};
use tailrace_units::{BitRate, Distribution};

/// Jobs of initiators that keep requests to a block device under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawStorage {
    /// Hosts with jobs.
    pub initiators: Vec<String>,
    /// The host with the device; none where each initiator has one itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Name of the device.
    pub device: String,
    /// How requests reach it.
    pub protocol: RawStorageProtocol,
    /// Jobs of each initiator.
    pub jobs: u32,
    /// Requests that a job has under way at most.
    pub depth: u32,
    /// Requests that read, in parts per billion.
    pub read_ppb: u32,
    /// Where requests begin.
    pub access: RawAccess,
    /// Bytes of a request.
    pub block: RawDistribution,
    /// Where the area of the jobs begins on the device.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset_bytes: u64,
    /// Bytes of that area, which all jobs of an initiator share out.
    pub size_bytes: u64,
    /// Gap between requests of an initiator that begin by themselves (picoseconds); none where each
    /// follows one that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<RawDistribution>,
    /// Pause between the end of a request and the one that follows it (picoseconds).
    pub think: RawDistribution,
    /// A job flushes after so many writes; 0 for never.
    pub flush_every: u64,
    /// Time of a processor of the initiator for a request that reads (picoseconds).
    pub read_cost_ps: u64,
    /// The same for one that writes.
    pub write_cost_ps: u64,
    /// Requests of each job; 0 for no such end.
    pub requests: u64,
    /// Bytes of each job; 0 for no such end.
    pub bytes: u64,
}

/// Where requests begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawAccess {
    /// Each behind the one before.
    Sequential,
    /// This share of them anywhere, in parts per billion; the others in order.
    Random(u32),
    /// Anywhere, ranked by Zipf's law with theta in thousandths.
    Zipf(u32),
}

/// Requests of storage.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Hosts with jobs.
    pub initiators: Vec<usize>,
    /// The host with the device, if that is another.
    pub target: Option<usize>,
    /// What it is made of.
    pub device: BlockDevice,
    /// Bytes of a request.
    pub block: Distribution,
    /// Picoseconds.
    pub arrivals: Option<Distribution>,
    /// Picoseconds.
    pub think: Distribution,
    /// What was read.
    pub raw: RawStorage,
}

/// A block device.
#[derive(Clone, Debug)]
pub struct BlockDevice {
    /// Picoseconds.
    pub read_latency: Distribution,
    /// Picoseconds.
    pub write_latency: Distribution,
    /// Of data that is read, and of data that is written.
    pub rates: [BitRate; 2],
    /// What was read.
    pub raw: RawDevice,
}

/// Most servers, and most pieces in a device: 64 queues of 1024, far more than any device has.
const PIECES_MAX: u32 = 1 << 16;
/// Most jobs of an initiator, and most requests of a job.
const JOBS_MAX: u32 = 1_024;
/// Sectors of devices.
const SECTORS: [u32; 2] = [512, 4_096];
/// The most that a request of the block layer holds: 4 GiB (`bi_size` of Linux has 32 bits).
const REQUEST_BYTES_MAX: u64 = u32::MAX as u64;
/// All, in parts per billion.
const ONE_PPB: u32 = 1_000_000_000;
/// Largest theta of Zipf's law, in thousandths: beyond, nearly all requests go to one place.
const THETA_MILLI_MAX: u32 = 10_000;
/// Most pieces and units of the requests that an initiator has under way: all of them can begin in
/// one event, which then takes up to a second, and each takes memory.
pub(crate) const UNDER_WAY_MAX: u64 = 1 << 22;
/// Bytes of the largest device: 2^60.
const DEVICE_BYTES_MAX: u64 = 1 << 60;

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawStorage,
    network: &NetworkFacts<'_>,
) -> Result<Workload, PlanError> {
    let name = &header.name;
    let initiators = hosts(network, &raw.initiators, name)?;
    distinct(&initiators, name)?;
    let target = raw.target.as_ref().map(|target| network.graph.host(target, name)).transpose()?;
    let is_local = matches!(raw.protocol, RawStorageProtocol::Local);
    require(
        is_local == target.is_none(),
        name,
        "a target is named where the device is not in the initiator, and only there",
    )?;
    require(
        target.is_none_or(|target| !initiators.contains(&target)),
        name,
        "the target must not be an initiator",
    )?;
    let of_name = network.devices.iter().find(|device| device.name == raw.device);
    let device = of_name.ok_or_else(|| {
        PlanError::nonsense(name, format!("the plan has no device {}", raw.device))
    })?;
    let device = resolve_device(device)?;
    check(raw, &device.raw, name)?;
    protocol::check(&raw.protocol, name)?;
    let [block, think] = [distribution(&raw.block, name)?, distribution(&raw.think, name)?];
    let arrivals =
        raw.arrivals.as_ref().map(|arrivals| distribution(arrivals, name)).transpose()?;
    require(
        arrivals.as_ref().is_none_or(|gap| gap.mean() >= 1.0),
        name,
        "arrivals must be above 0",
    )?;
    let area = raw.size_bytes / u64::from(raw.jobs);
    require(
        super::datagrams::largest(&block) <= area.min(REQUEST_BYTES_MAX),
        name,
        "a request must fit the area of its job",
    )?;
    let requests = u64::from(raw.jobs) * u64::from(raw.depth);
    let pieces = super::datagrams::largest(&block).div_ceil(least_piece(raw, &device.raw));
    require(
        requests * pieces <= UNDER_WAY_MAX,
        name,
        "jobs must have at most 4 194 304 pieces of requests under way",
    )?;
    let programs = initiators.len() as u64 + u64::from(target.is_some());
    let peers = target.into_iter().collect();
    let header =
        header.resolved("storage", [initiators.clone(), peers], Side::Openers, programs)?;
    let body = Storage { initiators, target, device, block, arrivals, think, raw: raw.clone() };
    Ok(Workload { header, body: Body::Storage(Box::new(body)) })
}

/// The least that requests are cut into, by the block layer or by the protocol.
fn least_piece(raw: &RawStorage, device: &RawDevice) -> u64 {
    let limits = device.limits;
    let transfer = if limits.transfer_bytes == 0 { u64::MAX } else { limits.transfer_bytes };
    let segments = limits.segment_bytes.saturating_mul(u64::from(limits.max_segments));
    limits.max_sectors_bytes.min(segments).min(transfer).min(raw.protocol.unit_bytes())
}

fn check(raw: &RawStorage, device: &RawDevice, name: &str) -> Result<(), PlanError> {
    require((1..=JOBS_MAX).contains(&raw.jobs), name, "jobs must be 1 to 1024")?;
    require((1..=JOBS_MAX).contains(&raw.depth), name, "depth must be 1 to 1024")?;
    let users = raw.initiators.len() * raw.jobs as usize;
    require(users <= COUNT_MAX, name, "jobs must be at most a million")?;
    require(raw.read_ppb <= ONE_PPB, name, "read_ppb must be at most 1 000 000 000")?;
    match raw.access {
        RawAccess::Sequential => {}
        RawAccess::Random(share) => {
            require(share <= ONE_PPB, name, "random must be at most 1 000 000 000")?
        }
        RawAccess::Zipf(theta) => {
            require((1..=THETA_MILLI_MAX).contains(&theta), name, "zipf must be 1 to 10 000")?
        }
    }
    let sector = u64::from(device.sector_bytes);
    let area = raw.size_bytes / u64::from(raw.jobs);
    require(area >= sector, name, "each job must have an area of at least a sector")?;
    let capacity = device.head.map_or(DEVICE_BYTES_MAX, |head| head.capacity_bytes);
    let is_on_device =
        raw.offset_bytes.checked_add(raw.size_bytes).is_some_and(|end| end <= capacity);
    require(is_on_device, name, "the area must end within the device")?;
    require(
        raw.offset_bytes.is_multiple_of(sector),
        name,
        "offset_bytes must be a multiple of the sector",
    )?;
    if let RawDistribution::Constant(bytes) = raw.block {
        require(bytes > 0 && bytes % sector == 0, name, "block must be a multiple of the sector")?;
    }
    Ok(())
}

fn resolve_device(raw: &RawDevice) -> Result<BlockDevice, PlanError> {
    let name = &raw.name;
    require((1..=PIECES_MAX).contains(&raw.servers), name, "servers must be 1 to 65 536")?;
    require((1..=PIECES_MAX).contains(&raw.queue_depth), name, "queue_depth must be 1 to 65 536")?;
    require(SECTORS.contains(&raw.sector_bytes), name, "sector_bytes must be 512 or 4096")?;
    require(raw.head.is_none() || raw.servers == 1, name, "a disk must have one server")?;
    let limits = raw.limits;
    let least = u64::from(raw.sector_bytes);
    let are_large = limits.max_sectors_bytes >= least
        && limits.segment_bytes >= least
        && limits.max_segments > 0;
    require(are_large, name, "a piece must be at least a sector")?;
    require(
        limits.transfer_bytes == 0 || limits.transfer_bytes >= least,
        name,
        "transfer_bytes must be at least a sector, or 0",
    )?;
    if let Some(head) = raw.head {
        require(head.turn_ps > 0, name, "turn_ps must be above 0")?;
        require(
            head.seek_track_ps <= head.seek_full_ps,
            name,
            "the shortest seek must not be longer than the longest",
        )?;
        require(
            (least..=DEVICE_BYTES_MAX).contains(&head.capacity_bytes),
            name,
            "capacity_bytes must be a sector to 2^60",
        )?;
    }
    require(
        raw.cache.is_none_or(|cache| cache.bytes >= least),
        name,
        "a cache must hold at least a sector",
    )?;
    let rate = |bps| {
        BitRate::from_bps(bps).ok_or_else(|| PlanError::nonsense(name, "the rates must be above 0"))
    };
    Ok(BlockDevice {
        read_latency: distribution(&raw.read_latency, name)?,
        write_latency: distribution(&raw.write_latency, name)?,
        rates: [rate(raw.read_bps)?, rate(raw.write_bps)?],
        raw: raw.clone(),
    })
}

/// Names of devices tell them apart. Workloads that name the same device of the same host share it.
pub(crate) fn check_devices(devices: &[RawDevice]) -> Result<(), PlanError> {
    for (at, device) in devices.iter().enumerate() {
        require(
            devices[..at].iter().all(|other| other.name != device.name),
            &device.name,
            "two devices have this name",
        )?;
    }
    Ok(())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}
