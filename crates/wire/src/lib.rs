//! The simulator's packet in one cache line, header sizes, and the flow key. The bytes that a link
//! adds to a packet (for Ethernet 14 that switches store, and 24 more on the wire) are in the plan.

mod flow;
mod fragment;
mod head;
mod packet;
mod pause;
mod tag;

pub use flow::{FlowKey, Protocol, address_of};
pub use fragment::{DATAGRAM_BYTES_MAX, FRAGMENT_UNIT_BYTES, Fragment, fragment_bytes};
pub use head::{PacketHead, PacketRest};
pub use packet::{Ecn, Flags, MAX_SACK_BLOCKS, Packet, SackBlock};
pub use pause::{PRIORITIES, Pause, PauseState, QUANTA_MAX, QUANTUM_BYTES, quanta_time};
pub use tag::{TAG_BYTES, Tag, VLAN_MAX};

/// IPv4 header without options (RFC 791).
pub const IPV4_HEADER_BYTES: u32 = 20;
/// TCP header without options (RFC 9293).
pub const TCP_HEADER_BYTES: u32 = 20;
/// The timestamp option with its padding (RFC 7323); Linux sends it in every segment.
pub const TCP_TIMESTAMP_BYTES: u32 = 12;
/// One block of a selective acknowledgement (RFC 2018).
pub const TCP_SACK_BLOCK_BYTES: u32 = 8;
/// The selective acknowledgement option before its blocks: two bytes and two of padding.
pub const TCP_SACK_OPTION_BYTES: u32 = 4;
/// UDP header (RFC 768).
pub const UDP_HEADER_BYTES: u32 = 8;

/// The largest TCP payload in one frame at this MTU (all in bytes), with timestamps: 1448 at 1500,
/// 8948 at 9000.
pub const fn tcp_mss(mtu_bytes: u32) -> u32 {
    mtu_bytes - IPV4_HEADER_BYTES - TCP_HEADER_BYTES - TCP_TIMESTAMP_BYTES
}
