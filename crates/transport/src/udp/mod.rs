//! UDP (RFC 768): datagrams that are sent at once and never again.

mod send_buffer;

pub use send_buffer::{Noting, SendBuffer};

use crate::ip::Identity;
use tailrace_units::Time;
use tailrace_wire::{Flags, Packet};

/// One end of a flow of datagrams.
#[derive(Clone, Copy, Debug)]
pub struct Udp {
    identity: Identity,
    /// Link, IP and UDP headers.
    header_bytes: u32,
    /// Datagrams that were sent, the number of the next.
    sent: u64,
}

/// A datagram that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Its number in its flow.
    pub number: u64,
    /// When its program sent it. A program that measures delays writes this into the payload.
    pub sent: Time,
    /// Bytes of payload.
    pub payload_bytes: u32,
}

impl Udp {
    /// An end whose datagrams carry `header_bytes` of link, IP and UDP headers, and four more where
    /// the VLAN stands in the frame.
    pub fn new(identity: Identity, header_bytes: u32) -> Udp {
        Udp { identity, header_bytes: header_bytes + u32::from(identity.tag.bytes()), sent: 0 }
    }

    /// Bytes of link, IP and UDP headers.
    pub fn header_bytes(&self) -> u32 {
        self.header_bytes
    }

    /// The next datagram, with so many bytes of payload: at most
    /// [`tailrace_wire::DATAGRAM_BYTES_MAX`].
    pub fn datagram(&mut self, now: Time, payload_bytes: u32) -> Packet {
        let number = self.sent;
        self.sent += 1;
        self.message(now, number, payload_bytes)
    }

    /// A datagram with a number that its program has chosen.
    pub fn message(&self, now: Time, number: u64, payload_bytes: u32) -> Packet {
        Packet {
            seq: number,
            ack: now.ps(),
            flags: Flags::UDP,
            ..self.identity.packet(self.header_bytes, payload_bytes)
        }
    }
}

impl Datagram {
    /// Reads a packet of this protocol.
    pub fn of(packet: &Packet) -> Datagram {
        let payload_bytes = u32::from(packet.payload_bytes);
        Datagram { number: packet.seq, sent: Time::from_ps(packet.ack), payload_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::Span;
    use tailrace_wire::Tag;

    #[test]
    fn datagrams_are_numbered_and_tell_when_they_were_sent() {
        let identity =
            Identity { flow_hash: 7, to_endpoint: 3, to_host: 1, tag: Tag::default(), dscp: 46 };
        let mut udp = Udp::new(identity, 42);
        for number in 0..3 {
            let sent = Time::ZERO + Span::from_us(10 * number);
            let packet = udp.datagram(sent, 1_000);
            assert_eq!(Datagram::of(&packet), Datagram { number, sent, payload_bytes: 1_000 });
            assert_eq!(
                (packet.frame_bytes, packet.flow_hash, packet.to_endpoint, packet.dscp),
                (1_042, 7, 3, 46)
            );
        }
    }

    #[test]
    fn the_tag_of_a_vlan_is_four_bytes_of_a_datagram_where_it_stands_in_the_frame() {
        let bytes = |tag: Tag| {
            let identity = Identity { flow_hash: 7, to_endpoint: 3, to_host: 1, tag, dscp: 0 };
            let packet = Udp::new(identity, 42).datagram(Time::ZERO, 100);
            assert_eq!(packet.tag, tag);
            packet.frame_bytes
        };
        assert_eq!([Tag::new(3, 20), Tag::new(3, 20).written(true)].map(bytes), [142, 146]);
    }
}
