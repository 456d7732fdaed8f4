//! IPv4 (RFC 791) and IPv6 with extension headers (RFC 8200, RFC 4302).

use super::Network;
use super::fragment::Fragment;
use super::transport::{self, Transport};

/// Extension headers that are followed; a frame has a handful at most.
const EXTENSIONS_MAX: usize = 16;
const IPV4_HEADER_MIN: usize = 20;
const IPV6_HEADER: usize = 40;
/// Numbers of extension headers: hop-by-hop, routing, fragment, authentication, destination,
/// mobility, HIP, shim6.
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const EXTENSIONS: [u8; 6] = [0, 43, 60, 135, 139, 140];
/// An IPv4 address as an IPv6 one (RFC 4291 section 2.5.5.2).
const MAPPED: u128 = 0xFFFF << 32;

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// 4 or 6.
    pub version: u8,
    /// Source; of IPv4 in the lowest 32 bits, mapped.
    pub source: u128,
    /// Destination.
    pub destination: u128,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// 0 not capable, 1 and 2 capable, 3 congestion experienced.
    pub ecn: u8,
    /// Protocol after all extension headers.
    pub protocol: u8,
    /// Is it a part of a larger packet?
    pub fragment: Fragment,
    /// Identification, which fragments of one packet share.
    pub identification: u32,
    /// Length with its header.
    pub packet_bytes: u32,
    /// Its payload.
    pub transport: Transport,
}

/// The packet at the beginning of `bytes`, in a frame with room for `room` bytes; `version` is what
/// the link layer says.
#[inline]
pub(super) fn decode(bytes: &[u8], version: Option<u8>, room: u32) -> Network {
    match bytes.first().map(|first| first >> 4) {
        Some(other) if version.is_some_and(|version| version != other) => Network::Malformed,
        Some(4) => ipv4(bytes, room),
        Some(6) => ipv6(bytes, room),
        Some(_) => Network::Malformed,
        None => Network::Cut,
    }
}

#[inline]
fn ipv4(bytes: &[u8], room: u32) -> Network {
    if bytes.len() < IPV4_HEADER_MIN {
        return Network::Cut;
    }
    let header_bytes = usize::from(bytes[0] & 0xF) * 4;
    let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    // Packets that an interface will cut into segments have no length yet, and none is longer than
    // its frame.
    let packet_bytes = match u32::from(word(2)) {
        0 => room,
        stated => stated.min(room),
    };
    if header_bytes < IPV4_HEADER_MIN || (packet_bytes as usize) < header_bytes {
        return Network::Malformed;
    }
    let (is_more, offset) = (word(6) & 0x2000 != 0, word(6) & 0x1FFF);
    let fragment = match (is_more, offset) {
        (false, 0) => Fragment::Whole,
        (true, 0) => Fragment::First,
        _ => Fragment::Later,
    };
    let address = |at: usize| {
        MAPPED
            | u128::from(u32::from_be_bytes([
                bytes[at],
                bytes[at + 1],
                bytes[at + 2],
                bytes[at + 3],
            ]))
    };
    let protocol = bytes[9];
    let carried = bytes.get(header_bytes..).unwrap_or_default();
    Network::Ip(Ip {
        version: 4,
        source: address(12),
        destination: address(16),
        dscp: bytes[1] >> 2,
        ecn: bytes[1] & 3,
        protocol,
        fragment,
        identification: u32::from(word(4)),
        packet_bytes,
        transport: transport::decode(
            protocol,
            fragment,
            carried,
            packet_bytes - header_bytes as u32,
        ),
    })
}

#[inline]
fn ipv6(bytes: &[u8], room: u32) -> Network {
    if bytes.len() < IPV6_HEADER {
        return Network::Cut;
    }
    let address =
        |at: usize| u128::from_be_bytes(bytes[at..at + 16].try_into().expect("sixteen bytes"));
    let class = bytes[0] << 4 | bytes[1] >> 4;
    // Jumbograms (RFC 2675) and packets that an interface will cut into segments have no length
    // here.
    let payload_bytes = match u32::from(u16::from_be_bytes([bytes[4], bytes[5]])) {
        0 => room.saturating_sub(IPV6_HEADER as u32),
        stated => stated.min(room.saturating_sub(IPV6_HEADER as u32)),
    };
    let rest = after_extensions(bytes, bytes[6]);
    let carried = bytes.get(rest.at..).unwrap_or_default();
    let left = payload_bytes.saturating_sub((rest.at - IPV6_HEADER) as u32);
    Network::Ip(Ip {
        version: 6,
        source: address(8),
        destination: address(24),
        dscp: class >> 2,
        ecn: class & 3,
        protocol: rest.protocol,
        fragment: rest.fragment,
        identification: rest.identification,
        packet_bytes: payload_bytes + IPV6_HEADER as u32,
        transport: transport::decode(rest.protocol, rest.fragment, carried, left),
    })
}

/// The packet behind the extension headers.
struct Rest {
    at: usize,
    protocol: u8,
    fragment: Fragment,
    identification: u32,
}

fn after_extensions(bytes: &[u8], next: u8) -> Rest {
    let mut rest =
        Rest { at: IPV6_HEADER, protocol: next, fragment: Fragment::Whole, identification: 0 };
    for _ in 0..EXTENSIONS_MAX {
        let Some(header) = bytes.get(rest.at..rest.at + 8) else { break };
        let length = match rest.protocol {
            FRAGMENT => {
                let offset = u16::from_be_bytes([header[2], header[3]]);
                rest.fragment = match (offset & 1 != 0, offset >> 3) {
                    (false, 0) => Fragment::Whole,
                    (true, 0) => Fragment::First,
                    _ => Fragment::Later,
                };
                rest.identification =
                    u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
                8
            }
            AUTHENTICATION => (usize::from(header[1]) + 2) * 4,
            protocol if EXTENSIONS.contains(&protocol) => (usize::from(header[1]) + 1) * 8,
            _ => break,
        };
        (rest.protocol, rest.at) = (header[0], rest.at + length);
        if rest.fragment == Fragment::Later {
            break;
        }
    }
    rest
}
