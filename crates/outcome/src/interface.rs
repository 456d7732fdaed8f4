//! Interfaces of hosts, and ports of switches as `netstat -i` has them.

use crate::port::Pause;
use serde::{Deserialize, Serialize};

/// Flags of an interface that is up, in the letters of netstat(8): broadcast, multicast, running,
/// up.
const FLAGS_UP: &str = "BMRU";

/// The counters of an interface, as `netstat -i` has them. A null is what an engine cannot count,
/// which is not zero.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// In the letters of netstat(8).
    pub flags: String,
    /// Largest packet; null where the port has no limit.
    pub mtu_bytes: Option<u32>,
    /// Name of the interface at its node.
    pub name: String,
    /// Name of its host or switch.
    pub node: String,
    /// Frames that were received and not taken.
    pub rx_dropped: Option<u64>,
    /// Frames that were received damaged, or too long.
    pub rx_errors: Option<u64>,
    /// Frames that were received.
    pub rx_frames: Option<u64>,
    /// Frames that found the receive ring full.
    pub rx_overruns: Option<u64>,
    /// Name of the node at the other end of the port of a switch; null for the interface of a host.
    pub towards: Option<String>,
    /// Frames that did not fit the queue.
    pub tx_dropped: Option<u64>,
    /// Frames that could not be sent.
    pub tx_errors: Option<u64>,
    /// Frames that were sent.
    pub tx_frames: Option<u64>,
    /// Frames that the device did not take in time.
    pub tx_overruns: Option<u64>,
}

impl Interface {
    /// One that is up, of which nothing is counted: the one of a host, or the port of a switch
    /// towards a node.
    pub fn up(
        node: &str,
        towards: Option<&str>,
        name: impl Into<String>,
        mtu_bytes: Option<u32>,
    ) -> Interface {
        Interface {
            flags: FLAGS_UP.to_owned(),
            mtu_bytes,
            name: name.into(),
            node: node.to_owned(),
            towards: towards.map(str::to_owned),
            ..Interface::default()
        }
    }
}

/// An interface of a host that takes part in data-centre bridging.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LosslessInterface {
    /// Rates to which congestion notifications hold its flows, in bits per second.
    pub limiters: Vec<u64>,
    /// Congestion notifications that arrived.
    pub notifications: u64,
    /// Pauses that it has obeyed.
    pub pause: Pause,
    /// Frames that did not fit its queues.
    pub queue_drops: u64,
    /// Notifications for which there was no limiter left.
    pub unlimited_notifications: u64,
}
