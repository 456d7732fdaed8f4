//! The parts of the time of a transaction: waits and work.

use tailrace_units::Span;

/// One kind of time on the critical path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// From the moment at which the transaction was meant to start to its first segment: the user,
    /// its core or its connection.
    Start,
    /// The client's work between a response and its next act.
    ClientWork,
    /// The server's work between a request and the first segment of its response, without waits for
    /// a worker or a core.
    ServerWork,
    /// A request waits until a worker of the server takes it up.
    WorkerWait,
    /// A program that has something to do waits for a core.
    CoreWait,
    /// A command of a storage protocol waits until the session has an entry for it in its queue.
    EntryWait,
    /// A block device, with its queue.
    Device,
    /// Bytes in the socket that the pace of the sender released.
    Pacing,
    /// Bytes in the socket that another timer of the sender released: the small queue, corking.
    SenderHold,
    /// Behind other frames in the host's interface.
    InterfaceQueue,
    /// In the queue of a port of a switch that could send.
    SwitchQueue,
    /// In such a queue while its priority was paused.
    Paused,
    /// On the wire, from the first bit to the last, or to the bit at which a cut-through switch
    /// forwards.
    Serialisation,
    /// Propagation, and the latency of the switch at the end of the link.
    Propagation,
    /// From a transmission to its repetition that an acknowledgement caused.
    FastRetransmission,
    /// The same, repeated by the reordering timer.
    ReorderingTimer,
    /// The same, repeated by a tail loss probe.
    Probe,
    /// The same, repeated by the retransmission timer.
    Timeout,
    /// The receiver's timer for acknowledgements.
    DelayedAck,
    /// From the arrival at a host to the hand-over to the transport: interrupt moderation, the
    /// ring, work on frames.
    Receive,
    /// From the arrival of the first fragment of a datagram to that of the last.
    Reassembly,
    /// In the ring of an uplink or the backlog of a core until the virtual switch takes it, or
    /// while its core does something else.
    VirtualSwitchWait,
    /// The work of the virtual switch on the frame, and on those that are switched together with
    /// it.
    VirtualSwitch,
    /// At the vhost thread of a virtual machine, in the queue of its TAP or its ring, until that
    /// takes it, or while its core does something else.
    VhostWait,
    /// The work of that thread on it.
    Vhost,
    /// It was in the ring of a virtual machine whose virtual core, which takes it out, did not run.
    VirtualCoreWait,
    /// Before the bounded record begins.
    Unknown,
}

impl Part {
    /// All, in the order of the type.
    pub const ALL: [Part; 27] = [
        Part::Start,
        Part::ClientWork,
        Part::ServerWork,
        Part::WorkerWait,
        Part::CoreWait,
        Part::EntryWait,
        Part::Device,
        Part::Pacing,
        Part::SenderHold,
        Part::InterfaceQueue,
        Part::SwitchQueue,
        Part::Paused,
        Part::Serialisation,
        Part::Propagation,
        Part::FastRetransmission,
        Part::ReorderingTimer,
        Part::Probe,
        Part::Timeout,
        Part::DelayedAck,
        Part::Receive,
        Part::Reassembly,
        Part::VirtualSwitchWait,
        Part::VirtualSwitch,
        Part::VhostWait,
        Part::Vhost,
        Part::VirtualCoreWait,
        Part::Unknown,
    ];

    /// Name of its column in a table of explanations.
    pub fn name(self) -> &'static str {
        match self {
            Part::Start => "wait_to_start_ps",
            Part::ClientWork => "client_work_ps",
            Part::ServerWork => "server_work_ps",
            Part::WorkerWait => "worker_wait_ps",
            Part::CoreWait => "core_wait_ps",
            Part::EntryWait => "entry_wait_ps",
            Part::Device => "device_ps",
            Part::Pacing => "pacing_ps",
            Part::SenderHold => "sender_hold_ps",
            Part::InterfaceQueue => "interface_queue_ps",
            Part::SwitchQueue => "switch_queue_ps",
            Part::Paused => "paused_ps",
            Part::Serialisation => "serialisation_ps",
            Part::Propagation => "propagation_ps",
            Part::FastRetransmission => "fast_retransmission_ps",
            Part::ReorderingTimer => "reordering_timer_ps",
            Part::Probe => "probe_ps",
            Part::Timeout => "timeout_ps",
            Part::DelayedAck => "delayed_ack_ps",
            Part::Receive => "receive_ps",
            Part::Reassembly => "reassembly_ps",
            Part::VirtualSwitchWait => "virtual_switch_wait_ps",
            Part::VirtualSwitch => "virtual_switch_ps",
            Part::VhostWait => "vhost_wait_ps",
            Part::Vhost => "vhost_ps",
            Part::VirtualCoreWait => "virtual_core_wait_ps",
            Part::Unknown => "unknown_ps",
        }
    }
}

/// Time by part.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Parts([Span; Part::ALL.len()]);

impl Parts {
    /// The time of one part.
    pub fn of(&self, part: Part) -> Span {
        self.0[part as usize]
    }

    /// All parts together.
    pub fn total(&self) -> Span {
        self.0.iter().fold(Span::ZERO, |sum, &part| sum + part)
    }

    pub(super) fn add(&mut self, part: Part, span: Span) {
        let own = &mut self.0[part as usize];
        *own += span;
    }

    /// Subtracts a span that was added.
    pub(super) fn take(&mut self, part: Part, span: Span) {
        let own = &mut self.0[part as usize];
        *own = Span::from_ps(own.ps() - span.ps());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_own_index() {
        for (index, &part) in Part::ALL.iter().enumerate() {
            assert_eq!(part as usize, index);
        }
    }
}
