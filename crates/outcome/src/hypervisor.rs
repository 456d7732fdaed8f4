//! Hypervisors.

use crate::processor::CoreTimes;
use serde::{Deserialize, Serialize};

/// What the cores of a hypervisor spent their time on, and where frames found queues full.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hypervisor {
    /// Frames that found the backlog full.
    pub backlog_overruns: u64,
    /// By core.
    pub cores: Vec<CoreTimes>,
    /// Exits of virtual cores.
    pub exits: u64,
    /// Interrupts that were taken.
    pub interrupts: u64,
    /// Switches to another task while the first could have gone on.
    pub involuntary_switches: u64,
    /// How often the kernel thread for software interrupts was woken.
    pub ksoftirqd_wakeups: u64,
    /// Tasks that went on at another core.
    pub migrations: u64,
    /// Name of its switch.
    pub name: String,
    /// By which guests told of frames (kicks).
    pub notifications: u64,
    /// For how long queues were polled for frames.
    pub polled_for_frames_ps: u64,
    /// By port of its switch.
    pub ports: Vec<HypervisorPort>,
    /// Tasks that were put off their core by another.
    pub preemptions: u64,
    /// By which guests were told of frames.
    pub signals: u64,
    /// Whose tasks ran.
    pub tasks: Vec<HypervisorTask>,
    /// Polls that ended with frames left.
    pub time_squeezes: u64,
    /// Switches from a task that had nothing to do.
    pub voluntary_switches: u64,
}

/// What tasks of one owner used.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HypervisorTask {
    /// Switches to another task while they could have gone on.
    pub involuntary_switches: u64,
    /// What they are.
    pub kind: TaskKind,
    /// Of the owner.
    pub name: String,
    /// On system calls.
    pub system_ps: u64,
    /// On the tasks themselves.
    pub user_ps: u64,
    /// Switches because they had nothing to do.
    pub voluntary_switches: u64,
}

/// What a task of a hypervisor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TaskKind {
    /// The cores of a guest.
    VirtualCores,
    /// The thread that carries a guest's frames.
    Vhost,
    /// A thread that polls for frames.
    Polling,
    /// Other work.
    Neighbour,
}

/// A port of the switch of a hypervisor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HypervisorPort {
    /// Whether it leads out of the machine.
    pub is_uplink: bool,
    /// Frames from its node that found a queue full.
    pub receive_overruns: u64,
    /// Frames to its node that found a queue full.
    pub send_overruns: u64,
    /// Name of the node at the other end.
    pub towards: String,
}
