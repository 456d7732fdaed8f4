//! The way down from transports and IP to an interface.

use tailrace_units::Time;
use tailrace_wire::Packet;

/// The way down: the NIC.
pub trait Transmit {
    /// Takes a frame. Returns when its transmission will have ended, or `None` when the queue was
    /// full and the frame is lost.
    fn send(&mut self, packet: Packet) -> Option<Time>;

    /// The same for a SYN or SYN-ACK, to which a host may add where the answer is to go.
    fn send_opening(&mut self, packet: Packet) -> Option<Time> {
        self.send(packet)
    }
}
