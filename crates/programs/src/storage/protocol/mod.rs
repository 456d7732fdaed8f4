//! Messages of initiators and targets: protocols that carry reads, writes and flushes of a block
//! device over connections.
//!
//! iSCSI, NVMe over TCP and NBD have one course: a set-up, commands that may carry data, data that
//! a target asks for before it is sent (R2T), data of reads, and a status. They differ in sizes,
//! and in how much may be sent without being asked for: [`Rules`]. Sessions are state machines of
//! requests and protocol data units, without sockets: [`InitiatorSession`], [`TargetSession`].
//!
//! Packets carry no payload. Both ends of a connection therefore read arriving units from a
//! description that the sender writes: [`Conduit`].

mod conduit;
mod initiator;
pub mod iscsi;
pub mod nbd;
pub mod nvme_tcp;
mod pdu;
mod rules;
mod target;
#[cfg(test)]
mod tests;

pub use conduit::{Conduit, Reader};
pub use initiator::{Completion, InitiatorSession};
pub use pdu::{Pdu, PduKind, Served};
pub use rules::{Headers, Immediate, Rules, SetupMessage};
pub use target::{Arrival, TargetSession};
