//! What a hypervisor counts.

/// What a hypervisor has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HypervisorCounters {
    /// Exits of virtual cores.
    pub exits: u64,
    /// Exits by which machines notified their vhost threads.
    pub notifications: u64,
    /// Interrupts that machines were sent.
    pub signals: u64,
    /// Times that a virtual core lost its core while it had work.
    pub preemptions: u64,
    /// Interrupts of uplinks.
    pub interrupts: u64,
    /// Soft interrupts that ended with work left.
    pub squeezes: u64,
    /// Times that `ksoftirqd` was woken.
    pub handed_over: u64,
    /// Frames that found the backlog of a core full.
    pub backlog_overruns: u64,
}

/// Frames that found a queue of a port full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Overruns {
    /// Of an uplink: its receive rings. Of a machine: the queue or ring towards it.
    pub received: u64,
    /// Of a machine: the ring in which it sends.
    pub sent: u64,
}
