//! From the bytes of a frame to its header.

use super::LiveFrame;
use crate::address::{host_of_ipv4, host_of_mac};
use crate::vlans::Vlans;
use tailrace_network::address_of;
use tailrace_units::Time;
use tailrace_wire::{Ecn, Flags, FlowKey, Packet, Protocol};

const ETHERNET_BYTES: usize = 14;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
/// The fragment offset, and the bit that says that more fragments follow (RFC 791).
const FRAGMENT_BITS: u16 = 0x3FFF;
const OFFSET_BITS: u16 = 0x1FFF;
/// The upper three bits of a code point are the older IP precedence (RFC 2474), which stands in for
/// the priority where a host has no queues by priority.
const PRECEDENCE_SHIFT: u8 = 3;

/// The reason for which a frame is ignored: it would not exist between hosts with complete
/// neighbour tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Foreign {
    /// Not IPv4, or too short.
    NotIpv4,
    /// For a link-layer address that no host has: broadcast, multicast, or an unknown address.
    NoSuchHost,
}

/// Origin of a frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameOrigin<'a> {
    /// The host.
    pub host: usize,
    /// Hosts of the lab.
    pub hosts: usize,
    /// Of the queue, where a host has several.
    pub priority: Option<u8>,
    /// VLANs of the lab.
    pub vlans: &'a Vlans,
}

/// Reads the header of a frame that a host sends. `number` identifies it. A frame of a VLAN is as
/// long as it is on the host's link.
///
/// # Errors
/// When it is not for another host of the lab.
pub fn parse(bytes: &[u8], origin: FrameOrigin<'_>, number: u64) -> Result<LiveFrame, Foreign> {
    let to = bytes.get(..6).and_then(host_of_mac).filter(|&host| host < origin.hosts);
    let ip = bytes.get(ETHERNET_BYTES..).unwrap_or_default();
    if bytes.get(12..14) != Some(&ETHERTYPE_IPV4) || ip.len() < 20 {
        return Err(Foreign::NotIpv4);
    }
    let to = to.ok_or(Foreign::NoSuchHost)?;
    let key = flow_key(ip);
    let offset = fragment_offset(ip);
    let flow = key.unwrap_or_else(|| portless(ip));
    let flow = if offset.is_some() { flow.of_fragments() } else { flow };
    let dscp = ip[1] >> 2;
    let network = host_of_ipv4([ip[12], ip[13], ip[14], ip[15]]).map_or(0, |(network, _)| network);
    let tag =
        origin.vlans.tag(origin.host, network, origin.priority.unwrap_or(dscp >> PRECEDENCE_SHIFT));
    let mut packet = Packet {
        seq: number,
        flow_hash: flow.hash(),
        to_host: to as u16,
        dscp,
        frame_bytes: u16::try_from(bytes.len() + usize::from(tag.bytes())).unwrap_or(u16::MAX),
        ecn: ecn(ip[1]),
        tag,
        ..Packet::default()
    };
    if let Some(offset) = offset {
        (packet.flags, packet.sack[0].offset) = (packet.flags.with(Flags::FRAGMENT), offset);
    }
    Ok(LiveFrame { packet, key, from_host: origin.host as u16, slot: None, on_time: Time::ZERO })
}

/// The switch distinguishes capable from incapable senders; ECT(1) counts as capable like ECT(0)
/// (RFC 3168).
fn ecn(type_of_service: u8) -> Ecn {
    match type_of_service & 3 {
        0 => Ecn::NotEct,
        3 => Ecn::Ce,
        _ => Ecn::Ect0,
    }
}

/// Offset of a fragment in its datagram, in bytes; none for other packets.
fn fragment_offset(ip: &[u8]) -> Option<i32> {
    let bits = u16::from_be_bytes([ip[6], ip[7]]);
    (bits & FRAGMENT_BITS != 0).then(|| i32::from(bits & OFFSET_BITS) * 8)
}

/// Addresses and ports of a segment or datagram. Later fragments have no ports; the first has, and
/// takes the way of the others.
fn flow_key(ip: &[u8]) -> Option<FlowKey> {
    let protocol = match ip[9] {
        6 => Protocol::Tcp,
        17 => Protocol::Udp,
        _ => return None,
    };
    let header_bytes = usize::from(ip[0] & 15) * 4;
    let is_later = fragment_offset(ip).is_some_and(|offset| offset > 0);
    let ports = ip.get(header_bytes..header_bytes + 4).filter(|_| !is_later).unwrap_or(&[0; 4]);
    Some(FlowKey {
        source_port: u16::from_be_bytes([ports[0], ports[1]]),
        destination_port: u16::from_be_bytes([ports[2], ports[3]]),
        protocol,
        ..portless(ip)
    })
}

/// Addresses alone, in the numbers by which rules of classification know hosts.
fn portless(ip: &[u8]) -> FlowKey {
    let address = |at: usize| {
        let octets = [ip[at], ip[at + 1], ip[at + 2], ip[at + 3]];
        host_of_ipv4(octets).map_or(u32::from_be_bytes(octets), |(_, host)| address_of(host as u32))
    };
    FlowKey {
        source: address(12),
        destination: address(16),
        source_port: 0,
        destination_port: 0,
        protocol: Protocol::Udp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::sample::{bytes, parse_plain};
    use tailrace_dataplane::Frame as _;
    use tailrace_wire::Tag;

    #[test]
    fn a_segment_has_the_key_and_hash_that_the_simulator_gives_it() {
        let frame =
            parse_plain(&bytes(2, 0, 6, (40_000, 5_432), 0xBA), 2, 3, 7, None).expect("for host 0");
        let key = FlowKey {
            source: address_of(2),
            destination: address_of(0),
            source_port: 40_000,
            destination_port: 5_432,
            protocol: Protocol::Tcp,
        };
        assert_eq!((frame.key, frame.packet.flow_hash), (Some(key), key.hash()));
        assert_eq!((frame.packet.to_host, frame.packet.frame_bytes, frame.packet.seq), (0, 60, 7));
        assert_eq!(
            (frame.packet.dscp, frame.packet.tag.priority(), frame.packet.ecn),
            (46, 5, Ecn::Ect0)
        );
        assert_eq!(
            parse_plain(&bytes(2, 0, 6, (1, 2), 0), 2, 3, 0, Some(3))
                .expect("one")
                .packet
                .tag
                .priority(),
            3
        );
    }

    #[test]
    fn the_vlan_of_a_frame_is_that_of_its_network_and_its_tag_counts_on_a_trunk() {
        let vlans = crate::vlans::tests::two();
        let read = |from: usize, network: u8| {
            let mut frame = bytes(from, 2 - from, 6, (40_000, 5_432), 0);
            [27, 31].iter().for_each(|&at| frame[at] += network);
            parse(&frame, FrameOrigin { host: from, hosts: 3, priority: Some(4), vlans: &vlans }, 0)
                .expect("for another host")
        };
        let plain = read(0, 0);
        let (access, trunk) = (read(0, 1), read(1, 2));
        assert_eq!((plain.packet.tag, plain.packet.frame_bytes), (Tag::new(4, 0), 60));
        assert_eq!(
            (access.packet.tag, access.packet.frame_bytes, access.memory_bytes()),
            (Tag::new(4, 10), 60, 60)
        );
        assert_eq!(
            (trunk.packet.tag, trunk.packet.frame_bytes),
            (Tag::new(4, 20).written(true), 64)
        );
        assert_eq!(trunk.memory_bytes(), 60);
        // Rules of classification know hosts by one address, whatever the VLAN.
        assert_eq!(access.key, plain.key);
    }

    #[test]
    fn fragments_of_a_datagram_go_the_same_way() {
        let (mut first, mut second) =
            (bytes(0, 1, 17, (1, 2), 0), bytes(0, 1, 17, (0xABCD, 0xEF), 0));
        first[20] = 0x20; // more fragments follow
        second[21] = 185; // its offset
        let hash =
            |bytes: &[u8]| parse_plain(bytes, 0, 2, 0, None).expect("for host 1").packet.flow_hash;
        let read = |bytes: &[u8]| parse_plain(bytes, 0, 2, 0, None).expect("for host 1");
        let ports =
            |frame: &LiveFrame| frame.key.map(|key| (key.source_port, key.destination_port));
        assert_eq!(
            [ports(&read(&first)), ports(&read(&second))],
            [Some((1, 2)), Some((0, 0))],
            "the first has ports"
        );
        assert_eq!(
            [read(&first).is_later_fragment(), read(&second).is_later_fragment()],
            [false, true]
        );
        assert_eq!(hash(&first), hash(&second));
        assert_ne!(hash(&first), hash(&bytes(0, 1, 17, (1, 2), 0)));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_frame_or_foreign(
            mut bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..120),
            to in 0_usize..3,
        ) {
            if bytes.len() >= 14 {
                bytes[..6].copy_from_slice(&crate::address::mac(to));
                bytes[12..14].copy_from_slice(&ETHERTYPE_IPV4);
            }
            let parsed = parse_plain(&bytes, 0, 3, 0, None);
            proptest::prop_assert_eq!(parsed.is_ok(), bytes.len() >= 34);
        }
    }

    #[test]
    fn a_frame_for_no_host_of_the_plan_is_foreign() {
        let mut arp = bytes(0, 1, 6, (1, 2), 0);
        arp[12..14].copy_from_slice(&[8, 6]);
        assert_eq!(parse_plain(&arp, 0, 2, 0, None).expect_err("ARP"), Foreign::NotIpv4);
        let mut broadcast = bytes(0, 1, 6, (1, 2), 0);
        broadcast[..6].fill(0xFF);
        assert_eq!(
            parse_plain(&broadcast, 0, 2, 0, None).expect_err("broadcast"),
            Foreign::NoSuchHost
        );
        assert_eq!(
            parse_plain(&bytes(0, 5, 6, (1, 2), 0), 0, 2, 0, None).expect_err("host 5"),
            Foreign::NoSuchHost
        );
        assert_eq!(parse_plain(&[2, 0, 0], 0, 2, 0, None).expect_err("short"), Foreign::NotIpv4);
    }
}
