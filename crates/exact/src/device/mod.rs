//! The network interface of a guest: a virtio device (Virtio 1.1, 5.1) over the vhost-user
//! protocol.

mod card;
mod connection;
mod header;
mod negotiation;
mod segments;
mod tag;

pub use card::{Card, Features, RECEIVE, Sent, TRANSMIT};
pub use connection::{Message, VhostConnection};
pub use header::{HEADER_BYTES, Header};
pub use negotiation::{Answer, Negotiation};
pub use segments::Segments;
pub use tag::take_tag;
