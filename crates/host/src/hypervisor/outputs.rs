//! The environment of a hypervisor: the virtual switch, and the virtual machines.

use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// How far frames have come inside a hypervisor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    /// A core begins to switch them, which is so much work.
    Switching(Span),
    /// The vhost thread of a machine begins to copy them from its ring, which is so much work.
    FromMachine(Span),
    /// The soft interrupt of its core has them.
    Handed,
    /// It begins to copy them into the ring of its machine, which is so much work.
    ToMachine(Span),
}

/// Outputs and queries of a hypervisor. Machines are known by their ports.
pub trait HypervisorOutputs {
    /// A frame that came in at a port has been switched: it leaves by the port that the virtual
    /// switch chooses.
    fn forward(&mut self, now: Time, port: usize, packet: &Packet);
    /// A frame is in the ring of received frames of a machine.
    fn deliver(&mut self, now: Time, port: usize, packet: &Packet);
    /// A frame found a queue at a port full.
    fn dropped(&mut self, now: Time, port: usize, packet: &Packet);

    /// Frames that came in at a port, or are for its machine, pass on inside. For a record; nothing
    /// follows from it.
    fn passed(&mut self, _now: Time, _frames: &[Packet], _passage: Passage) {}

    /// Frames in the ring of received frames of a machine.
    fn received(&self, port: usize) -> usize;
    /// Whether a virtual core has something to do.
    fn has_work(&self, port: usize, core: usize) -> bool;
    /// Whether an interrupt has come to a virtual core since this was asked last.
    fn take_interrupt(&mut self, port: usize, core: usize) -> bool;
    /// The virtual core that sends.
    fn sender(&self, port: usize) -> Option<usize>;
}
