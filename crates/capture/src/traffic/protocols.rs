//! Frames by protocol, and flows by the port of the server.

use super::Count;
use crate::decode::{Decoded, Ip, Network, Transport};
use serde::Serialize;
use std::collections::BTreeMap;

/// Types of Ethernet that are counted apart.
const TYPES_MAX: usize = 64;
/// Ports that results name, those with most bytes.
const PORTS_NAMED_MAX: usize = 50;
const ARP: u16 = 0x0806;

/// Frames and flows of each protocol.
pub struct Protocols {
    ipv4: Count,
    ipv6: Count,
    arp: Count,
    llc: Count,
    malformed: Count,
    cut: Count,
    unknown_link: Count,
    types: BTreeMap<u16, Count>,
    types_other: Count,
    by_number: Vec<Count>,
    transport_malformed: Count,
    transport_cut: Count,
    tcp_ports: BTreeMap<u16, PortCount>,
    udp_ports: BTreeMap<u16, PortCount>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct PortCount {
    conversations: u64,
    frames: u64,
    frame_bytes: u64,
}

/// Results on protocols.
#[derive(Debug, PartialEq, Serialize)]
pub struct ProtocolsSummary {
    ipv4: Count,
    ipv6: Count,
    arp: Count,
    /// Frames of IEEE 802.2.
    llc: Count,
    /// Other types of Ethernet.
    ether_types: Vec<TypeCount>,
    ether_types_other: Count,
    /// Frames whose IP header cannot be as it was sent, or was not captured.
    ip_malformed: Count,
    cut: Count,
    /// Frames of a link layer that is not read.
    unknown_link: Count,
    /// By the number of IANA; fragments count for the protocol that they carry.
    ip_protocols: Vec<NumberCount>,
    transport_malformed: Count,
    transport_cut: Count,
    /// By port of the server, those with most bytes first.
    tcp_ports: Vec<PortSummary>,
    udp_ports: Vec<PortSummary>,
}

/// Frames of one type of Ethernet.
#[derive(Debug, PartialEq, Serialize)]
pub struct TypeCount {
    /// In hexadecimal.
    ether_type: String,
    #[serde(flatten)]
    count: Count,
}

/// Frames of one protocol of IP.
#[derive(Debug, PartialEq, Serialize)]
pub struct NumberCount {
    number: u8,
    #[serde(flatten)]
    count: Count,
}

/// Conversations with one port.
#[derive(Debug, PartialEq, Serialize)]
pub struct PortSummary {
    port: u16,
    #[serde(flatten)]
    count: PortCount,
}

impl Default for Protocols {
    fn default() -> Protocols {
        let none = Count::default();
        Protocols {
            ipv4: none,
            ipv6: none,
            arp: none,
            llc: none,
            malformed: none,
            cut: none,
            unknown_link: none,
            types: BTreeMap::new(),
            types_other: none,
            by_number: vec![none; 256],
            transport_malformed: none,
            transport_cut: none,
            tcp_ports: BTreeMap::new(),
            udp_ports: BTreeMap::new(),
        }
    }
}

impl Protocols {
    /// Counts a frame.
    #[inline]
    pub fn frame(&mut self, decoded: &Decoded, frame_bytes: u32) {
        let count = match decoded.network {
            Network::Ip(ip) => {
                self.packet(&ip, frame_bytes);
                if ip.version == 4 { &mut self.ipv4 } else { &mut self.ipv6 }
            }
            Network::Other(ARP) => &mut self.arp,
            Network::Other(ether_type) => {
                if self.types.len() < TYPES_MAX || self.types.contains_key(&ether_type) {
                    self.types.entry(ether_type).or_default()
                } else {
                    &mut self.types_other
                }
            }
            Network::Llc => &mut self.llc,
            Network::Malformed => &mut self.malformed,
            Network::Cut => &mut self.cut,
            Network::UnknownLink => &mut self.unknown_link,
        };
        count.add(frame_bytes);
    }

    #[inline]
    fn packet(&mut self, ip: &Ip, frame_bytes: u32) {
        self.by_number[usize::from(ip.protocol)].add(frame_bytes);
        match ip.transport {
            Transport::Malformed => self.transport_malformed.add(frame_bytes),
            Transport::Cut => self.transport_cut.add(frame_bytes),
            Transport::Tcp(_) | Transport::Udp { .. } | Transport::Other | Transport::Fragment => {}
        }
    }

    /// Counts a conversation that is over, by the port of its server.
    pub fn conversation(&mut self, is_tcp: bool, port: u16, count: Count) {
        let ports = if is_tcp { &mut self.tcp_ports } else { &mut self.udp_ports };
        let place = ports.entry(port).or_default();
        place.conversations += 1;
        place.frames += count.frames;
        place.frame_bytes += count.frame_bytes;
    }

    /// For the results.
    pub fn summary(&self) -> ProtocolsSummary {
        let numbers = self.by_number.iter().enumerate().filter(|(_, count)| count.frames > 0);
        ProtocolsSummary {
            ipv4: self.ipv4,
            ipv6: self.ipv6,
            arp: self.arp,
            llc: self.llc,
            ether_types: self
                .types
                .iter()
                .map(|(of, &count)| TypeCount { ether_type: format!("0x{of:04x}"), count })
                .collect(),
            ether_types_other: self.types_other,
            ip_malformed: self.malformed,
            cut: self.cut,
            unknown_link: self.unknown_link,
            ip_protocols: numbers
                .map(|(number, &count)| NumberCount { number: number as u8, count })
                .collect(),
            transport_malformed: self.transport_malformed,
            transport_cut: self.transport_cut,
            tcp_ports: most(&self.tcp_ports),
            udp_ports: most(&self.udp_ports),
        }
    }
}

fn most(ports: &BTreeMap<u16, PortCount>) -> Vec<PortSummary> {
    let mut named: Vec<_> =
        ports.iter().map(|(&port, &count)| PortSummary { port, count }).collect();
    named.sort_by_key(|one| (u64::MAX - one.count.frame_bytes, one.port));
    named.truncate(PORTS_NAMED_MAX);
    named
}
