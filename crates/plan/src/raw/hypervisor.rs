//! Hypervisors in the format of a plan.

use serde::{Deserialize, Serialize};

/// Real cores behind a switch of the plan: they switch its frames, and run the hosts that are
/// linked to it, its virtual machines.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawHypervisor {
    /// The virtual switch: a switch of the plan.
    pub switch: String,
    /// Number of cores, 1 to 256.
    pub cores: u32,
    /// How long a task runs before others of its core are looked at (picoseconds).
    pub slice_ps: u64,
    /// Clock tick (picoseconds).
    pub tick_ps: u64,
    /// What passes frames.
    pub switching: RawVirtualSwitching,
    /// Costs.
    pub costs: RawHypervisorCosts,
    /// Payload of a super-frame at most; 0 without offloads.
    pub merge_bytes: u32,
    /// Its virtual machines: the hosts that are linked to the switch.
    pub machines: Vec<RawMachine>,
    /// The core of each receive queue of an uplink.
    pub irq_cores: Vec<u32>,
    /// The core of each polling thread.
    pub polling_cores: Vec<u32>,
    /// Frames that wait for the soft interrupt of a core.
    pub backlog_frames: u32,
    /// Frames that wait for a vhost thread.
    pub tap_frames: u32,
    /// Frames that a machine has sent and its host has not taken.
    pub sent_frames: u32,
    /// Frames in the ring of received frames of a machine.
    pub guest_ring_frames: u32,
    /// Frames in each receive ring of an uplink.
    pub uplink_ring_frames: u32,
    /// From the first frame after a quiet time to the interrupt of an uplink (picoseconds).
    pub coalesce_ps: u64,
    /// How long a halted virtual core is watched before its task sleeps (picoseconds).
    pub halt_poll_ps: u64,
    /// Others on its cores.
    #[serde(default)]
    pub neighbours: Vec<RawNeighbour>,
}

/// What passes frames between virtual machines and the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RawVirtualSwitching {
    /// Soft interrupts and vhost threads.
    Kernel,
    /// Threads that poll.
    Polling,
}

/// Costs of a hypervisor (picoseconds).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawHypervisorCosts {
    /// Per frame or super-frame that is switched.
    pub switch_ps: u64,
    /// Per further frame of a super-frame that comes from the network.
    pub merge_ps: u64,
    /// Per byte that is copied between a machine and its host, in femtoseconds.
    pub copy_byte_fs: u64,
    /// Per frame or super-frame that a vhost thread passes on.
    pub vhost_ps: u64,
    /// Per interrupt of an uplink or a disk.
    pub interrupt_ps: u64,
    /// Per exit of a virtual core.
    pub exit_ps: u64,
    /// Per entry into a virtual core that did not run.
    pub entry_ps: u64,
    /// Per task that is woken.
    pub wake_up_ps: u64,
    /// Per switch to another task.
    pub context_switch_ps: u64,
    /// Per interrupt that is sent to a machine.
    pub signal_ps: u64,
    /// Per round of a polling thread that finds nothing.
    pub poll_ps: u64,
}

/// A virtual machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawMachine {
    /// The host of the plan that it is.
    pub host: String,
    /// For each core of the host's processor, the cores of the hypervisor where it may run.
    pub cores: Vec<Vec<u32>>,
    /// Cores where its vhost thread may run.
    pub vhost_cores: Vec<u32>,
}

/// Others on the cores of a hypervisor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawNeighbour {
    /// Its name.
    pub name: String,
    /// Number of tasks.
    pub tasks: u32,
    /// Cores where they may run.
    pub cores: Vec<u32>,
    /// Nice value, -20 to 19.
    pub nice: i32,
    /// Work until a task waits for its disk (picoseconds); missing for work without end.
    #[serde(default)]
    pub work_ps: Option<u64>,
    /// How long it waits (picoseconds).
    #[serde(default)]
    pub wait_ps: u64,
}
