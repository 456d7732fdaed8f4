//! Frames as they are on a wire.

pub const CLIENT: [u8; 4] = [10, 0, 0, 1];
pub const SERVER: [u8; 4] = [10, 0, 1, 9];
pub const FIN: u8 = 0x01;
pub const SYN: u8 = 0x02;
pub const RST: u8 = 0x04;
pub const ACK: u8 = 0x10;

/// A segment from one end to the other.
#[derive(Clone, Debug)]
pub struct Segment {
    pub from: ([u8; 4], u16),
    pub to: ([u8; 4], u16),
    pub flags: u8,
    pub seq: u32,
    pub ack: u32,
    pub window: u16,
    pub payload: usize,
    pub options: Vec<u8>,
    /// Traffic class: code point and congestion notification.
    pub class: u8,
}

impl Segment {
    /// From the client to the server, or back.
    pub fn new(is_client: bool, flags: u8, seq: u32, ack: u32, payload: usize) -> Segment {
        let (client, server) = ((CLIENT, 40_000), (SERVER, 5_432));
        let (from, to) = if is_client { (client, server) } else { (server, client) };
        Segment { from, to, flags, seq, ack, window: 1_000, payload, options: Vec::new(), class: 0 }
    }

    /// The IPv4 packet.
    pub fn packet(&self) -> Vec<u8> {
        let mut tcp = Vec::new();
        tcp.extend(self.from.1.to_be_bytes());
        tcp.extend(self.to.1.to_be_bytes());
        tcp.extend(self.seq.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        tcp.extend([((20 + self.options.len()) as u8 / 4) << 4, self.flags]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        tcp.extend(&self.options);
        tcp.extend(vec![0x55; self.payload]);
        ipv4(self.from.0, self.to.0, 6, self.class, 0, &tcp)
    }

    /// The frame of Ethernet.
    pub fn frame(&self) -> Vec<u8> {
        ethernet(&[], 0x0800, &self.packet())
    }
}

/// A packet; `place` is the flags and the offset of a fragment.
pub fn ipv4(
    from: [u8; 4],
    to: [u8; 4],
    protocol: u8,
    class: u8,
    place: u16,
    carried: &[u8],
) -> Vec<u8> {
    let mut packet = vec![0x45, class];
    packet.extend((20 + carried.len() as u16).to_be_bytes());
    packet.extend([0, 7]);
    packet.extend(place.to_be_bytes());
    packet.extend([64, protocol, 0, 0]);
    packet.extend(from);
    packet.extend(to);
    packet.extend(carried);
    packet
}

/// A packet of IPv6 with its extension headers as part of `carried`.
pub fn ipv6(next: u8, carried: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x6B, 0x80, 0, 0];
    packet.extend((carried.len() as u16).to_be_bytes());
    packet.extend([next, 64]);
    packet.extend([0xFD; 16]);
    packet.extend([0xFE; 16]);
    packet.extend(carried);
    packet
}

/// A datagram.
pub fn udp(ports: (u16, u16), payload: usize) -> Vec<u8> {
    let mut datagram = Vec::new();
    datagram.extend(ports.0.to_be_bytes());
    datagram.extend(ports.1.to_be_bytes());
    datagram.extend((8 + payload as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(vec![0xAA; payload]);
    datagram
}

/// A frame with tags (type and control), without padding.
pub fn ethernet(tags: &[(u16, u16)], ether_type: u16, carried: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    for (of, control) in tags {
        frame.extend(of.to_be_bytes());
        frame.extend(control.to_be_bytes());
    }
    frame.extend(ether_type.to_be_bytes());
    frame.extend(carried);
    frame
}
