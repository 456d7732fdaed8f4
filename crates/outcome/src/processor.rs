//! Processors of hosts.

use serde::{Deserialize, Serialize};

/// What the processor of a host spent its time on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// By core.
    pub cores: Vec<CoreTimes>,
    /// Datagrams that did not fit the buffer of their socket.
    pub datagram_drops: u64,
    /// Control groups with a quota.
    pub groups: Vec<ControlGroup>,
    /// Interrupts that were taken.
    pub interrupts: u64,
    /// Switches to another task while the first could have gone on.
    pub involuntary_switches: u64,
    /// How often the kernel thread for software interrupts was woken.
    pub ksoftirqd_wakeups: u64,
    /// Tasks that went on at another core.
    pub migrations: u64,
    /// Polls of the receive queues.
    pub polls: u64,
    /// Tasks that ran or waited, times picoseconds, as a decimal number: it may not fit 64 bits.
    pub runnable_area_ps: String,
    /// The most tasks that ran or waited at once.
    pub runnable_max: u64,
    /// Polls that ended with frames left.
    pub time_squeezes: u64,
    /// Switches from a task that had nothing to do.
    pub voluntary_switches: u64,
    /// Those whose programs ran here.
    pub workloads: Vec<ProcessorWorkload>,
}

/// How a core spent its time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CoreTimes {
    /// On nothing.
    pub idle_ps: u64,
    /// On the network stack, in software interrupts.
    pub softirq_ps: u64,
    /// Taken by a hypervisor.
    pub steal_ps: u64,
    /// On system calls.
    pub system_ps: u64,
    /// On programs.
    pub user_ps: u64,
}

/// A control group with a quota.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ControlGroup {
    /// As in the plan.
    pub name: String,
    /// Periods in which one of its tasks was ready.
    pub periods: u64,
    /// Periods in which the quota was used up.
    pub throttled: u64,
    /// For how long it was held.
    pub throttled_ps: u64,
}

/// What the programs of a workload used of a processor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProcessorWorkload {
    /// Switches to another task while they could have gone on.
    pub involuntary_switches: u64,
    /// Name of the workload.
    pub name: String,
    /// On system calls.
    pub system_ps: u64,
    /// On the programs.
    pub user_ps: u64,
    /// Switches because they had nothing to do.
    pub voluntary_switches: u64,
}
