//! Link layers, by their numbers in the list of tcpdump.org, and tags of VLANs.

use super::{Decoded, Network};

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
/// Raw IP has this number in files, and the other two on some systems.
const RAW: [u16; 3] = [101, 12, 14];
const LOOP: u16 = 108;
const LINUX_SLL: u16 = 113;
const IPV4: u16 = 228;
const IPV6: u16 = 229;
const LINUX_SLL2: u16 = 276;

/// Types of Ethernet (IEEE registration authority).
pub(super) const TYPE_IPV4: u16 = 0x0800;
pub(super) const TYPE_IPV6: u16 = 0x86DD;
/// 802.1Q, 802.1ad, and the type that switches had for outer tags before.
const TYPES_TAG: [u16; 3] = [0x8100, 0x88A8, 0x9100];
/// Tags that are passed; the first two are reported.
const TAGS_MAX: usize = 4;
/// Below, the number is a length (IEEE 802.3 clause 3.2.6).
const TYPE_MIN: u16 = 0x0600;
/// `sll_pkttype` of a frame that the capturing host sends.
const SLL_OUTGOING: u16 = 4;
/// 802.2 with SNAP: the type follows after these bytes and three more.
const SNAP: [u8; 3] = [0xAA, 0xAA, 0x03];

/// A tag of a VLAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Number of the VLAN, 0 to 4095.
    pub vlan: u16,
    /// Priority code point.
    pub priority: u8,
}

/// The payload of the link layer.
pub(super) enum Payload {
    /// IP at this offset, of the version that the link layer names.
    Ip(usize, Option<u8>),
    /// Another protocol, which is not decoded.
    Network(Network),
}

/// Do frames of this link occupy an Ethernet, with preamble, check sequence and gap?
pub fn is_ethernet(link: u16) -> bool {
    link == ETHERNET
}

/// The payload behind the link layer of this type; tags and directions go into `decoded`.
#[inline]
pub(super) fn payload(link: u16, bytes: &[u8], decoded: &mut Decoded) -> Payload {
    match link {
        ETHERNET => {
            number(bytes, 12).map_or(CUT, |ether_type| typed(ether_type, bytes, 14, decoded))
        }
        LINUX_SLL => {
            decoded.is_outbound = number(bytes, 0).map(|kind| kind == SLL_OUTGOING);
            number(bytes, 14).map_or(CUT, |ether_type| typed(ether_type, bytes, 16, decoded))
        }
        LINUX_SLL2 => {
            decoded.is_outbound = bytes.get(10).map(|&kind| u16::from(kind) == SLL_OUTGOING);
            if bytes.len() < 20 {
                CUT
            } else {
                number(bytes, 0).map_or(CUT, |ether_type| typed(ether_type, bytes, 20, decoded))
            }
        }
        // The family is in the byte order of the capturing system, and IPv6's number differs: the
        // version is read instead.
        NULL | LOOP => {
            if bytes.len() <= 4 {
                CUT
            } else {
                family(&bytes[..4])
                    .map_or(Payload::Network(Network::Other(0)), |()| Payload::Ip(4, None))
            }
        }
        IPV4 => Payload::Ip(0, Some(4)),
        IPV6 => Payload::Ip(0, Some(6)),
        _ if RAW.contains(&link) => Payload::Ip(0, None),
        _ => Payload::Network(Network::UnknownLink),
    }
}

const CUT: Payload = Payload::Network(Network::Cut);

/// Is this family IP? `AF_INET` is 2 everywhere; `AF_INET6` is 24, 28 or 30 on the systems that
/// write such captures, and 10 on Linux.
fn family(bytes: &[u8]) -> Option<()> {
    let four = [bytes[0], bytes[1], bytes[2], bytes[3]];
    let family = u32::from_le_bytes(four).min(u32::from_be_bytes(four));
    matches!(family, 2 | 10 | 24 | 28 | 30).then_some(())
}

#[inline]
fn typed(ether_type: u16, bytes: &[u8], at: usize, decoded: &mut Decoded) -> Payload {
    let (mut ether_type, mut at) = (ether_type, at);
    for place in 0..=TAGS_MAX {
        match ether_type {
            TYPE_IPV4 | TYPE_IPV6 => {
                return if at < bytes.len() { Payload::Ip(at, version(ether_type)) } else { CUT };
            }
            _ if TYPES_TAG.contains(&ether_type) => {
                let (Some(control), Some(inner)) = (number(bytes, at), number(bytes, at + 2))
                else {
                    return CUT;
                };
                if let Some(tag) = decoded.tags.get_mut(place) {
                    *tag = Some(Tag { vlan: control & 0xFFF, priority: (control >> 13) as u8 });
                }
                (ether_type, at) = (inner, at + 4);
            }
            _ if ether_type < TYPE_MIN => return llc(bytes, at),
            _ => return Payload::Network(Network::Other(ether_type)),
        }
    }
    Payload::Network(Network::Other(ether_type))
}

/// The version of IP with this type.
#[inline]
fn version(ether_type: u16) -> Option<u8> {
    Some(if ether_type == TYPE_IPV4 { 4 } else { 6 })
}

/// IEEE 802.2, which carries IP with SNAP only (RFC 1042).
fn llc(bytes: &[u8], at: usize) -> Payload {
    let header =
        bytes.get(at..at + 8).filter(|header| header.starts_with(&SNAP) && header[3..6] == [0; 3]);
    match header.and_then(|header| number(header, 6)) {
        Some(of @ (TYPE_IPV4 | TYPE_IPV6)) if at + 8 < bytes.len() => {
            Payload::Ip(at + 8, version(of))
        }
        _ => Payload::Network(Network::Llc),
    }
}

/// The number of two bytes at this offset, if it was captured.
#[inline]
fn number(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|two| u16::from_be_bytes([two[0], two[1]]))
}
