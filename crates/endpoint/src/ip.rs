//! The Internet layer: what every packet of a flow carries, and to which transport a packet goes. Datagrams are whole for now: nothing
//! is cut into fragments.

use tailrace_wire::{Flags, Packet, Protocol, Tag};

/// The endpoint of a segment that is for a port of its host, not for a socket; and of a peer whose socket is not known.
pub(crate) const TO_PORT: u32 = u32::MAX;

/// What stands in the header of every packet that an endpoint sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Hash of the flow key in this direction.
    pub flow_hash: u32,
    /// The peer's endpoint.
    pub to_endpoint: u32,
    /// The peer's host.
    pub to_host: u16,
    /// Priority, and the VLAN if the flow has one.
    pub tag: Tag,
    /// Code point, 0 to 63.
    pub dscp: u8,
}

impl Identity {
    /// A packet with these headers, which count `header_bytes`, and this payload; the transport fills in the rest.
    #[inline]
    pub fn packet(&self, header_bytes: u32, payload_bytes: u32) -> Packet {
        Packet {
            flow_hash: self.flow_hash,
            to_endpoint: self.to_endpoint,
            to_host: self.to_host,
            frame_bytes: (header_bytes + payload_bytes) as u16,
            payload_bytes: payload_bytes as u16,
            tag: self.tag,
            dscp: self.dscp,
            ..Packet::default()
        }
    }
}

/// The transport that a packet is for.
#[inline]
pub fn protocol(packet: &Packet) -> Protocol {
    if packet.flags.contains(Flags::UDP) { Protocol::Udp } else { Protocol::Tcp }
}
