//! Processors of hosts in the format of a plan.

use serde::{Deserialize, Serialize};

/// Cores that the kernel and the programs of a host share, and what the kernel's work costs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawProcessor {
    /// Number of cores, 1 to 256.
    pub cores: u32,
    /// How long a thread runs before others of its core are looked at (picoseconds).
    pub slice_ps: u64,
    /// Per received frame, before GRO (picoseconds).
    pub per_frame_ps: u64,
    /// Per NAPI poll (picoseconds).
    pub per_poll_ps: u64,
    /// Per receive interrupt (picoseconds).
    pub per_interrupt_ps: u64,
    /// Per burst or acknowledgement that is handed to the interface (picoseconds).
    pub per_send_ps: u64,
    /// Per system call (picoseconds).
    pub system_call_ps: u64,
    /// Per byte that a program reads, in femtoseconds.
    pub read_byte_fs: u64,
    /// Per byte that a program writes, in femtoseconds.
    pub write_byte_fs: u64,
    /// Per thread that is woken (picoseconds).
    pub wake_up_ps: u64,
    /// Each thread that is woken on a core with nothing to run.
    #[serde(default)]
    pub idle_exit_ps: u64,
    /// Per switch to another thread (picoseconds).
    pub context_switch_ps: u64,
    /// The core of each receive queue's interrupt; there are as many queues.
    pub irq_cores: Vec<u32>,
    /// Cores of programs that belong to no group.
    pub program_cores: Vec<u32>,
    /// Frames of one receive soft interrupt.
    pub budget_frames: u32,
    /// Longest receive soft interrupt (picoseconds).
    pub budget_ps: u64,
    /// A hypervisor that takes cores away.
    #[serde(default)]
    pub steal: Option<RawSteal>,
    /// Control groups.
    #[serde(default)]
    pub groups: Vec<RawControlGroup>,
}

/// A hypervisor takes every core for `slice_ps` once in `every_ps`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawSteal {
    /// How long a core is gone.
    pub slice_ps: u64,
    /// From one time to the next.
    pub every_ps: u64,
}

/// Programs of some workloads on one host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawControlGroup {
    /// Its name.
    pub name: String,
    /// Workloads whose programs belong to it; those that the plan does not have are left out.
    pub workloads: Vec<String>,
    /// Cores that they may use.
    pub cores: Vec<u32>,
    /// Nice value, -20 to 19.
    pub nice: i32,
    /// Time of all cores in each period; missing for no limit.
    #[serde(default)]
    pub quota_ps: Option<u64>,
    /// Period of the quota.
    #[serde(default)]
    pub period_ps: Option<u64>,
}
