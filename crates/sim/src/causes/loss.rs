//! Lost frames, and the components that dropped them.

use tailrace_dataplane::DropCause;
use tailrace_units::Time;

/// The component that dropped a frame, or the datagram that it completed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DroppedBy {
    /// The interface of its sender had no room.
    Interface,
    /// The receive ring of its host had no room.
    ReceiveRing,
    /// A hypervisor had no room.
    Hypervisor,
    /// The memory in which its host puts fragments together had no room.
    Reassembly,
    /// The receive buffer of its socket had no room.
    SocketBuffer,
    /// A switch, or the line behind it, for this cause.
    Switch(DropCause),
}

impl DroppedBy {
    /// Of those that are no switch, in the order of their numbers.
    pub const NAMES: [&str; 5] =
        ["interface", "receive_ring", "hypervisor", "reassembly", "socket_buffer"];

    /// Its number in tables: causes of switches follow the others.
    pub fn number(self) -> u32 {
        match self {
            DroppedBy::Interface => 0,
            DroppedBy::ReceiveRing => 1,
            DroppedBy::Hypervisor => 2,
            DroppedBy::Reassembly => 3,
            DroppedBy::SocketBuffer => 4,
            DroppedBy::Switch(cause) => DroppedBy::NAMES.len() as u32 + cause as u32,
        }
    }

    /// The names of all, in the order of their numbers.
    pub fn names() -> Vec<&'static str> {
        DroppedBy::NAMES.into_iter().chain(DropCause::ALL.map(DropCause::name)).collect()
    }
}

/// A frame of a transaction that was dropped, on the critical path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// When.
    pub at: Time,
    /// The wire before which it was lost: two for each link of the plan, in order, from its end `a`
    /// first. A frame that a receiving host or hypervisor dropped was lost at the end of that wire.
    pub wire: u32,
    /// The component that dropped it.
    pub by: DroppedBy,
}
