//! The simulator's packet: the header fields that affect its treatment, in 64 bytes, without the
//! payload.

use crate::Tag;

/// Blocks of selective acknowledgement in one header: three fit beside the timestamp option (RFC
/// 2018).
pub const MAX_SACK_BLOCKS: usize = 3;

/// The two bits of the IP header (RFC 3168).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not understand marks: drop instead.
    #[default]
    NotEct = 0,
    /// Capable.
    Ect0 = 2,
    /// Congestion was experienced.
    Ce = 3,
}

/// TCP header bits, or `UDP`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// Nothing set.
    pub const NONE: Flags = Flags(0);
    /// Opens a connection.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgement number counts.
    pub const ACK: Flags = Flags(2);
    /// Ends the sender's half.
    pub const FIN: Flags = Flags(4);
    /// End of an application write.
    pub const PSH: Flags = Flags(8);
    /// Echo of a congestion mark.
    pub const ECE: Flags = Flags(16);
    /// The sender has reduced its window.
    pub const CWR: Flags = Flags(32);
    /// The first block of the selective acknowledgement reports a duplicate (RFC 2883).
    pub const DSACK: Flags = Flags(64);
    /// A datagram, not a segment.
    pub const UDP: Flags = Flags(128);
    /// A pause frame (802.1Qbb), not a segment.
    pub const PAUSE: Flags = Flags(256);
    /// Together with `PAUSE`: it stops the whole link (802.3x).
    pub const LINK_PAUSE: Flags = Flags(512);
    /// A congestion notification message (802.1Qau), not a segment.
    pub const CNM: Flags = Flags(1024);
    /// Ends the connection at once.
    pub const RST: Flags = Flags(2048);

    /// Together with `UDP`: a fragment of a datagram ([`crate::Fragment`]).
    pub const FRAGMENT: Flags = Flags(4096);

    /// In a [`crate::PacketHead`] only: the packet has a rest.
    pub(crate) const HAS_REST: Flags = Flags(1 << 15);

    /// Whether every bit of `other` is set.
    #[inline]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether any bit of `other` is set.
    #[inline]
    pub const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
    /// Both sets together.
    #[inline]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// Without these.
    #[inline]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
    /// The raw bits.
    pub const fn bits(self) -> u16 {
        self.0
    }
}

impl std::fmt::Debug for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = [
            "SYN",
            "ACK",
            "FIN",
            "PSH",
            "ECE",
            "CWR",
            "DSACK",
            "UDP",
            "PAUSE",
            "LINK_PAUSE",
            "CNM",
            "RST",
            "FRAGMENT",
        ];
        let set: Vec<&str> = names
            .iter()
            .enumerate()
            .filter(|(i, _)| self.0 >> i & 1 == 1)
            .map(|(_, n)| *n)
            .collect();
        write!(f, "{}", set.join("|"))
    }
}

/// Bytes received out of order, relative to the acknowledgement number of the same packet. `bytes
/// == 0` is no block. With [`Flags::DSACK`] the first block may lie below the acknowledgement
/// number: `offset` is then negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// Bytes from the acknowledgement number to the first byte of the block.
    pub offset: i32,
    /// Length of the block in bytes.
    pub bytes: u32,
}

/// A frame in the simulator. Byte offsets are 64 bits wide where the wire has 32 (sequence numbers
/// never wrap here).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Packet {
    /// First payload byte's offset in the stream (the opening SYN has offset 0, the first byte of
    /// data offset 1); for datagrams the datagram's number.
    pub seq: u64,
    /// The next byte that the sender of this packet expects; for datagrams the time of sending, in
    /// picoseconds.
    pub ack: u64,
    /// Receive window in bytes, already scaled.
    pub window: u32,
    /// Hash of the flow key ([`crate::FlowKey::hash`]).
    pub flow_hash: u32,
    /// The endpoint (socket) that this packet is for: an index in the tables of its host, which has
    /// one for each protocol.
    pub to_endpoint: u32,
    /// The host that this packet is for: an index in the world's table.
    pub to_host: u16,
    /// Priority and VLAN.
    pub tag: Tag,
    /// Length of the frame from the Ethernet header to the end of the payload, without check
    /// sequence. Up to 9234.
    pub frame_bytes: u16,
    /// Payload bytes.
    pub payload_bytes: u16,
    /// TCP flags.
    pub flags: Flags,
    /// IP's congestion bits.
    pub ecn: Ecn,
    /// Code point of the IP header, 0..=63.
    pub dscp: u8,
    /// Selective acknowledgement. In a SYN the first block carries the options: segment size, and
    /// whether SACK is permitted.
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
}

const _: () = assert!(size_of::<Packet>() == 64, "a packet is as large as a cache line");
