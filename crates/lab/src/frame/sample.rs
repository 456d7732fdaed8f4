//! Frames as hosts of a lab send them, for the tests of their readers.

use super::{Foreign, FrameOrigin, LiveFrame, parse};
use crate::address;
use crate::vlans::Vlans;

/// As [`parse`], without VLANs.
///
/// # Errors
/// When the frame cannot occur in a lab.
pub fn parse_plain(
    bytes: &[u8],
    host: usize,
    hosts: usize,
    number: u64,
    priority: Option<u8>,
) -> Result<LiveFrame, Foreign> {
    parse(bytes, FrameOrigin { host, hosts, priority, vlans: &Vlans::default() }, number)
}

/// A TCP or UDP frame between two hosts, of the shortest size.
pub fn bytes(
    from: usize,
    to: usize,
    protocol: u8,
    ports: (u16, u16),
    type_of_service: u8,
) -> Vec<u8> {
    let mut frame = [&address::mac(to)[..], &address::mac(from), &[8, 0]].concat();
    frame.extend([0x45, type_of_service, 0, 40, 0, 1, 0x40, 0, 64, protocol, 0, 0]);
    frame.extend(address::ipv4(from).octets());
    frame.extend(address::ipv4(to).octets());
    let sum = checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame.extend(ports.0.to_be_bytes());
    frame.extend(ports.1.to_be_bytes());
    frame.resize(60, 0);
    frame
}

/// The checksum of a header whose checksum field is zero (RFC 1071).
pub fn checksum(header: &[u8]) -> u16 {
    let sum: u32 =
        header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    !((folded & 0xFFFF) + (folded >> 16)) as u16
}
