//! What is around a hypervisor: the virtual switch, and the virtual machines.

use tailrace_units::Time;
use tailrace_wire::Packet;

/// What a hypervisor does to what is around it, and asks. Machines are known by their ports.
pub trait HypervisorOutputs {
    /// A frame that came in at a port has been switched: it leaves by the port that the virtual switch chooses.
    fn forward(&mut self, now: Time, port: usize, packet: &Packet);
    /// A frame is in the ring of received frames of a machine.
    fn deliver(&mut self, now: Time, port: usize, packet: &Packet);
    /// A frame found a queue at a port full.
    fn dropped(&mut self, now: Time, port: usize, packet: &Packet);

    /// Frames in the ring of received frames of a machine.
    fn received(&self, port: usize) -> usize;
    /// Whether a virtual core has something to do.
    fn has_work(&self, port: usize, core: usize) -> bool;
    /// Whether an interrupt has come to a virtual core since this was asked last.
    fn take_interrupt(&mut self, port: usize, core: usize) -> bool;
    /// The virtual core that sends.
    fn sender(&self, port: usize) -> Option<usize>;
}
