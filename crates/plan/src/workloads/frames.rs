//! Frames that the threads of a program send as fast as their host can, or at a rate, whatever the
//! network does.

use super::{
    Body, NetworkFacts, RawDistribution, RawHeader, Side, Workload, datagrams, distribution, ends,
};
use crate::PlanError;
use crate::error::require;
use serde::{Deserialize, Serialize};
use tailrace_units::Distribution;

/// Frames.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFrames {
    /// Sending host.
    pub source: String,
    /// Receiving host.
    pub destination: String,
    /// Payload of a frame behind its headers of Ethernet, IP and UDP (bytes).
    pub payload_bytes: u32,
    /// Threads that send.
    pub threads: u32,
    /// Pause of a thread after each of its frames (picoseconds).
    pub delay_ps: u64,
    /// From one frame of a thread to its next, at the least (picoseconds); 0 for none.
    pub interval_ps: u64,
    /// Time of a core for a frame, before the lock (picoseconds).
    pub cost: RawDistribution,
    /// Time for a frame under the lock of the transmit queue, which one thread has at a time
    /// (picoseconds).
    pub locked: RawDistribution,
    /// Frames of all threads; 0 means until `stop_at_ps`.
    pub count: u64,
}

/// Frames.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Sending host.
    pub source: usize,
    /// Receiving host.
    pub destination: usize,
    /// Picoseconds.
    pub cost: Distribution,
    /// Picoseconds.
    pub locked: Distribution,
    /// What was read.
    pub raw: RawFrames,
}

/// Most threads.
const THREADS_MAX: u32 = 64;
/// The time at which a frame was sent stands in its payload.
const PAYLOAD_MIN: u32 = 8;
/// What sends, and what receives.
const PROGRAMS: u64 = 2;

pub(super) fn resolve(
    header: &RawHeader,
    raw: &RawFrames,
    network: &NetworkFacts<'_>,
) -> Result<Workload, PlanError> {
    let name = &header.name;
    let (source, destination) = ends(network.graph, &raw.source, &raw.destination, name)?;
    let header =
        header.resolved("frames", [vec![source], vec![destination]], Side::Peers, PROGRAMS)?;
    require((1..=THREADS_MAX).contains(&raw.threads), name, "frames must have 1 to 64 threads")?;
    let has_room = (PAYLOAD_MIN..=datagrams::PAYLOAD_MAX).contains(&raw.payload_bytes);
    require(has_room, name, "a frame must carry 8 to 65507 bytes")?;
    let (cost, locked) = (distribution(&raw.cost, name)?, distribution(&raw.locked, name)?);
    // A thread that needs no time would send without end at one moment.
    let needs_time = raw.delay_ps > 0 || raw.interval_ps > 0 || cost.mean() + locked.mean() >= 1.0;
    require(needs_time, name, "a thread must need time for a frame, or pause after it")?;
    Ok(Workload {
        header,
        body: Body::Frames(Frames { source, destination, cost, locked, raw: raw.clone() }),
    })
}
