//! Headers of a frame: link, tags, IP, TCP and UDP. Lengths come from the headers, so that a frame
//! of which only the beginning was captured counts in full.

mod fragment;
mod ip;
mod link;
mod transport;

pub use fragment::Fragment;
pub use ip::Ip;
pub use link::{Tag, is_ethernet};
pub use transport::{Tcp, Transport, flags};

use link::Payload;

/// The decoded headers of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Outermost and inner tag of a VLAN.
    pub tags: [Option<Tag>; 2],
    /// Sent by the capturing host, where the link layer says so.
    pub is_outbound: Option<bool>,
    /// The network protocol.
    pub network: Network,
}

/// The payload of the link layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// IPv4 or IPv6.
    Ip(Ip),
    /// Another protocol, by its type of Ethernet.
    Other(u16),
    /// A frame of IEEE 802.2, with a length in the field of the type.
    Llc,
    /// Its header cannot be as it was sent.
    Malformed,
    /// The capture ends within its header.
    Cut,
    /// The link layer is not one of those that are read.
    UnknownLink,
}

/// Reads the headers of a frame of `wire_bytes`, of which `bytes` were captured on a link of this
/// type.
#[inline]
pub fn decode(link: u16, bytes: &[u8], wire_bytes: u32) -> Decoded {
    let mut decoded = Decoded { tags: [None; 2], is_outbound: None, network: Network::Cut };
    let payload = link::payload(link, bytes, &mut decoded);
    decoded.network = match payload {
        Payload::Ip(at, version) => {
            ip::decode(&bytes[at..], version, wire_bytes.saturating_sub(at as u32))
        }
        Payload::Network(network) => network,
    };
    decoded
}
