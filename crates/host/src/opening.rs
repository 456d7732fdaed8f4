//! Additional content of the first segments of a connection that a program has asked for.
//!
//! Packets carry no addresses and no ports: the number of the peer's socket stands for them. An
//! opening segment cannot know that number yet, so it goes to a port, and carries the return
//! address in its SACK blocks, which it does not use otherwise.

use tailrace_transport::ip::TO_PORT;
use tailrace_wire::{Flags, FlowKey, Packet, Protocol, SackBlock, address_of};

/// Where a segment for a port comes from: the sending host, and its socket. `None` for all other
/// packets, which are for a socket.
#[inline]
pub fn sender_of(packet: &Packet) -> Option<(u16, u32)> {
    if packet.to_endpoint != TO_PORT {
        return None;
    }
    let Opener { host, socket, .. } = Opener::of(packet);
    Some((host, socket))
}

/// One end of a connection, as the other one must know it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Remote {
    pub(super) host: u16,
    pub(super) port: u16,
    /// The port at this end.
    pub(super) own_port: u16,
}

/// Where an opening segment comes from, and the port that it is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Opener {
    pub(super) socket: u32,
    pub(super) host: u16,
    pub(super) port: u16,
    pub(super) to_port: u16,
    /// The owner for which the program works: servers of several owners may share a port.
    pub(super) owner: u32,
}

impl Opener {
    /// Writes it into an opening segment; its first block carries TCP's options. A SYN is for a
    /// port.
    pub(super) fn write(&self, packet: &mut Packet) {
        if !packet.flags.contains(Flags::ACK) {
            packet.to_endpoint = TO_PORT;
        }
        let from = u32::from(self.host) << 16 | u32::from(self.port);
        packet.sack[1] = SackBlock { offset: self.socket as i32, bytes: from };
        packet.sack[2] = SackBlock { offset: i32::from(self.to_port), bytes: self.owner };
    }

    /// Reads it from an opening segment.
    pub(super) fn of(packet: &Packet) -> Opener {
        let [_, from, to] = packet.sack;
        let (socket, host, port) =
            (from.offset as u32, (from.bytes >> 16) as u16, from.bytes as u16);
        Opener { socket, host, port, to_port: to.offset as u16, owner: to.bytes }
    }

    /// Its sender, as the receiver knows it.
    pub(super) fn remote(&self) -> Remote {
        Remote { host: self.host, port: self.port, own_port: self.to_port }
    }
}

impl Remote {
    /// The key of the packets that `host` sends to this end.
    pub(super) fn key_from(&self, host: u16) -> FlowKey {
        FlowKey {
            source: address_of(u32::from(host)),
            destination: address_of(u32::from(self.host)),
            source_port: self.own_port,
            destination_port: self.port,
            protocol: Protocol::Tcp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_segment_carries_where_its_answer_goes() {
        let origin =
            Opener { socket: 70_000, host: 4_095, port: 65_535, to_port: 5_432, owner: 70_001 };
        let mut packet = Packet::default();
        packet.sack[0] = SackBlock { offset: 1_448, bytes: 1 };
        origin.write(&mut packet);
        assert_eq!((Opener::of(&packet), packet.sack[0].offset), (origin, 1_448));
        let there = origin.remote().key_from(7);
        let back = Remote { host: 7, port: 5_432, own_port: 65_535 }.key_from(4_095);
        assert_eq!(there, back.reversed());
    }
}
