//! Configuration of a hypervisor.

use crate::cpu::ProcessorConfig;
use tailrace_units::Span;

/// The component that passes frames between virtual machines and the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switching {
    /// The kernel, in soft interrupts, with a vhost thread for each virtual machine: a bridge, or
    /// Open vSwitch.
    Kernel,
    /// Threads that poll and never sleep: Open vSwitch with DPDK.
    Polling,
}

/// Cost of the hypervisor's work on a core.
#[derive(Clone, Copy, Debug, Default)]
pub struct HypervisorCosts {
    /// Each frame that is switched; of a super-frame, the first.
    pub switch: Span,
    /// Each further frame of a super-frame that comes from the network one by one (GRO).
    pub merge: Span,
    /// Femtoseconds for each byte that is copied between a virtual machine and its host.
    pub copy_byte_fs: u64,
    /// Each frame or super-frame that a vhost thread passes on.
    pub vhost: Span,
    /// Each interrupt of a network interface.
    pub interrupt: Span,
    /// Each exit of a virtual core: a notification, a halt, an interrupt that finds it running.
    pub exit: Span,
    /// Each entry into a virtual core that did not run.
    pub entry: Span,
    /// Each thread or virtual core that is woken.
    pub wake_up: Span,
    /// Each interrupt that is sent to a virtual machine.
    pub signal: Span,
    /// Each round of a polling thread that finds nothing.
    pub poll: Span,
}

/// A port of the virtual switch.
#[derive(Clone, Debug)]
pub enum PortConfig {
    /// The network.
    Uplink,
    /// A virtual machine.
    Machine {
        /// The control group of each virtual core; none for a machine that costs nothing.
        cores: Vec<u32>,
        /// The control group of its vhost thread.
        vhost: u32,
    },
}

/// Others that use the cores.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// Number of tasks.
    pub tasks: u32,
    /// Their control group.
    pub group: u32,
    /// Work until a task waits; `None` if it never does.
    pub work: Option<Span>,
    /// How long it waits then, for a disk.
    pub wait: Span,
}

/// A hypervisor.
#[derive(Clone, Debug)]
pub struct HypervisorConfig {
    /// Its cores. Owners are, in order: the virtual cores of each machine, the vhost thread of each
    /// machine, the polling threads, the neighbours, each of them one.
    pub processor: ProcessorConfig,
    /// Costs of its work.
    pub costs: HypervisorCosts,
    /// The component that passes frames.
    pub switching: Switching,
    /// Payload of a super-frame at most; 0 where each frame passes by itself.
    pub merge_bytes: u32,
    /// By port of the virtual switch.
    pub ports: Vec<PortConfig>,
    /// The core of each receive queue of an uplink.
    pub irq_cores: Vec<u32>,
    /// The control group of each polling thread, one core each.
    pub polling: Vec<u32>,
    /// Frames that wait for the soft interrupt of a core (Linux `netdev_max_backlog`).
    pub backlog_frames: usize,
    /// Frames that wait for a vhost thread (`txqueuelen` of the TAP).
    pub tap_frames: usize,
    /// Frames that a virtual machine has sent and its host has not taken: the ring and the queue
    /// before it.
    pub sent_frames: usize,
    /// Frames in the ring of received frames of a virtual machine.
    pub guest_ring_frames: usize,
    /// Frames in each receive ring of an uplink.
    pub uplink_ring_frames: usize,
    /// From the first frame after a quiet time to the interrupt of an uplink.
    pub coalesce: Span,
    /// How long a virtual core that has nothing to do is watched before its thread sleeps (KVM
    /// `halt_poll_ns`).
    pub halt_poll: Span,
    /// Others.
    pub neighbours: Vec<Neighbour>,
}
