//! Interfaces, addresses, routes and neighbours of one network namespace.

use super::message::Netlink;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, InfoVlan, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, State,
    VlanQosMapping,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsRawFd;
use tailrace_outcome::Interface;
use tailrace_wire::PRIORITIES;

/// Adds an entry, or replaces the one that there is.
const REPLACE: u16 = NLM_F_REPLACE | NLM_F_CREATE;
/// Makes an interface; one of this name is an error.
const CREATE_NEW: u16 = NLM_F_EXCL | NLM_F_CREATE;
/// The metric of the smallest retransmission timeout (linux/rtnetlink.h, `RTAX_RTO_MIN`).
const RTAX_RTO_MIN: u32 = 13;

/// An interface, by its number in its namespace.
#[derive(Clone, Copy, Debug)]
pub struct Link(pub u32);

/// The interface of this name in the network namespace of the calling thread.
///
/// # Errors
/// When there is none.
pub fn find(name: &str) -> io::Result<Link> {
    Ok(nix::net::if_::if_nametoindex(name).map(Link)?)
}

/// What a route prescribes to the connections that use it.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Name of the congestion control.
    pub congestion_control: String,
    /// Initial window in segments.
    pub initial_window_segments: u32,
    /// Smallest retransmission timeout.
    pub rto_min_ms: u32,
}

/// Counters of an interface, as its host sees them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct LinkCounters {
    /// Frames received.
    pub rx_packets: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Frames that were received damaged.
    pub rx_errors: u64,
    /// Frames that could not be sent.
    pub tx_errors: u64,
    /// Frames that the host did not take.
    pub rx_dropped: u64,
    /// Frames that did not fit the queue towards the fabric.
    pub tx_dropped: u64,
}

/// How an interface is set up now; programs of the user may have changed it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkState {
    /// MTU.
    pub mtu_bytes: u32,
    /// Flags in the letters of netstat(8).
    pub flags: String,
}

/// Letters of netstat(8) by flag (linux/if.h), in the order in which it prints them.
const FLAG_LETTERS: [(libc::c_int, char); 8] = [
    (libc::IFF_ALLMULTI, 'A'),
    (libc::IFF_BROADCAST, 'B'),
    (libc::IFF_LOOPBACK, 'L'),
    (libc::IFF_MULTICAST, 'M'),
    (libc::IFF_NOARP, 'O'),
    (libc::IFF_PROMISC, 'P'),
    (libc::IFF_RUNNING, 'R'),
    (libc::IFF_UP, 'U'),
];

impl LinkState {
    /// A row of `netstat -i`, of which nothing is counted.
    pub fn row(&self, node: &str, towards: Option<&str>, name: &str) -> Interface {
        Interface {
            flags: self.flags.clone(),
            ..Interface::up(node, towards, name, Some(self.mtu_bytes))
        }
    }
}

fn flag_letters(flags: u32) -> String {
    FLAG_LETTERS
        .iter()
        .filter(|&&(flag, _)| flags & flag as u32 != 0)
        .map(|&(_, letter)| letter)
        .collect()
}

impl LinkCounters {
    /// What was counted after an earlier reading.
    pub fn since(self, then: LinkCounters) -> LinkCounters {
        LinkCounters {
            rx_packets: self.rx_packets - then.rx_packets,
            tx_packets: self.tx_packets - then.tx_packets,
            rx_bytes: self.rx_bytes - then.rx_bytes,
            tx_bytes: self.tx_bytes - then.tx_bytes,
            rx_errors: self.rx_errors - then.rx_errors,
            tx_errors: self.tx_errors - then.tx_errors,
            rx_dropped: self.rx_dropped - then.rx_dropped,
            tx_dropped: self.tx_dropped - then.tx_dropped,
        }
    }

    /// In a row of `netstat -i`. Neither pairs of interfaces (veth) nor TAPs have a ring of their
    /// own that could overrun: Linux never counts `rx_fifo_errors` and `tx_fifo_errors` for them.
    pub fn in_row(self, row: Interface) -> Interface {
        Interface {
            rx_frames: Some(self.rx_packets),
            rx_errors: Some(self.rx_errors),
            rx_dropped: Some(self.rx_dropped),
            rx_overruns: None,
            tx_frames: Some(self.tx_packets),
            tx_errors: Some(self.tx_errors),
            tx_dropped: Some(self.tx_dropped),
            tx_overruns: None,
            ..row
        }
    }
}

impl Netlink {
    /// Sets link-layer address, MTU and queue length, and brings the interface up.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn bring_up(
        &mut self,
        link: Link,
        mac: [u8; 6],
        mtu: u32,
        queue_frames: u32,
    ) -> io::Result<()> {
        let attributes = vec![
            LinkAttribute::Address(mac.to_vec()),
            LinkAttribute::Mtu(mtu),
            LinkAttribute::TxQueueLen(queue_frames),
        ];
        self.set(RouteNetlinkMessage::NewLink(link_up(link, attributes)), 0)
    }

    /// Lets senders make frames of one segment each, as they are on a wire.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn segment(&mut self, link: Link) -> io::Result<()> {
        self.change(link, LinkAttribute::GsoMaxSegs(1))
    }

    /// Makes a pair of interfaces that are joined by a wire: one here, and one here or in another
    /// network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_pair(&mut self, one: &str, other: &str, namespace: Option<&File>) -> io::Result<()> {
        let mut peer = LinkMessage::default();
        peer.attributes.push(LinkAttribute::IfName(other.to_owned()));
        let namespace = namespace.map(|file| LinkAttribute::NetNsFd(file.as_raw_fd()));
        peer.attributes.extend(namespace);
        self.add_link(one, None, InfoKind::Veth, Some(InfoData::Veth(InfoVeth::Peer(peer))))
    }

    /// Makes an interface on top of another, whose frames carry the priority of their socket (0 to
    /// 7) in a tag without a VLAN (802.1Q clause 9.6: VLAN 0 is none).
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_priority_tags(&mut self, name: &str, below: Link) -> io::Result<()> {
        let priorities = 1..PRIORITIES as u32;
        let mapping = priorities.map(|priority| VlanQosMapping::Mapping(priority, priority));
        let data = vec![InfoVlan::Id(0), InfoVlan::EgressQos(mapping.collect())];
        self.add_link(name, Some(below), InfoKind::Vlan, Some(InfoData::Vlan(data)))
    }

    /// Makes a bridge.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_bridge(&mut self, name: &str) -> io::Result<()> {
        self.add_link(name, None, InfoKind::Bridge, None)
    }

    fn add_link(
        &mut self,
        name: &str,
        below: Option<Link>,
        kind: InfoKind,
        data: Option<InfoData>,
    ) -> io::Result<()> {
        let info = [LinkInfo::Kind(kind)].into_iter().chain(data.map(LinkInfo::Data)).collect();
        let mut message = LinkMessage::default();
        message.attributes.push(LinkAttribute::IfName(name.to_owned()));
        message.attributes.extend(below.map(|below| LinkAttribute::Link(below.0)));
        message.attributes.push(LinkAttribute::LinkInfo(info));
        self.set(RouteNetlinkMessage::NewLink(message), CREATE_NEW)
    }

    /// Makes an interface a port of a bridge.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn enslave(&mut self, port: Link, bridge: Link) -> io::Result<()> {
        self.change(port, LinkAttribute::Controller(bridge.0))
    }

    /// Sets the port of a bridge by which an address is reached, so that no frame goes to all of
    /// them. The entry is the bridge's, is not learned, and does not age. (A permanent entry would be
    /// the bridge's own address.)
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_forwarding(&mut self, port: Link, mac: [u8; 6]) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Bridge;
        message.header.ifindex = port.0;
        message.header.state = NeighbourState::Noarp;
        message.header.flags = NeighbourFlags::Controller;
        message.attributes.push(NeighbourAttribute::LinkLayerAddress(mac.to_vec()));
        self.set(RouteNetlinkMessage::NewNeighbour(message), REPLACE)
    }

    /// Sets the MTU of an interface.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn set_mtu(&mut self, link: Link, mtu: u32) -> io::Result<()> {
        self.change(link, LinkAttribute::Mtu(mtu))
    }

    fn change(&mut self, link: Link, attribute: LinkAttribute) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = link.0;
        message.attributes.push(attribute);
        self.set(RouteNetlinkMessage::NewLink(message), 0)
    }

    /// Brings an interface up as it is.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn up(&mut self, link: Link) -> io::Result<()> {
        self.set(RouteNetlinkMessage::NewLink(link_up(link, Vec::new())), 0)
    }

    /// Gives an interface its address, without a route.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_address(
        &mut self,
        link: Link,
        address: Ipv4Addr,
        prefix_bits: u8,
    ) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix_bits;
        message.header.index = link.0;
        let address = IpAddr::V4(address);
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
            AddressAttribute::Flags(AddressFlags::Noprefixroute),
        ];
        self.set(RouteNetlinkMessage::NewAddress(message), REPLACE)
    }

    /// Adds the route to a network that lies behind an interface.
    ///
    /// # Errors
    /// What the kernel says; `InvalidInput` when it has no such congestion control.
    pub fn add_route(
        &mut self,
        link: Link,
        network: (Ipv4Addr, u8),
        source: Ipv4Addr,
        metrics: &Metrics,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: AddressFamily::Inet,
            destination_prefix_length: network.1,
            table: RouteHeader::RT_TABLE_MAIN,
            protocol: RouteProtocol::Static,
            scope: RouteScope::Link,
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        message.attributes = vec![
            RouteAttribute::Destination(RouteAddress::Inet(network.0)),
            RouteAttribute::PrefSource(RouteAddress::Inet(source)),
            RouteAttribute::Oif(link.0),
            RouteAttribute::Metrics(vec![
                RouteMetric::CcAlgo(metrics.congestion_control.clone()),
                RouteMetric::InitCwnd(metrics.initial_window_segments),
                RouteMetric::RtoMin(metrics.rto_min_ms),
                // Linux reads a route's smallest timeout only where it is locked (`tcp_rto_min`), as
                // `ip route` does by itself.
                RouteMetric::Lock(1 << RTAX_RTO_MIN),
            ]),
        ];
        self.set(RouteNetlinkMessage::NewRoute(message), REPLACE)
    }

    /// Adds a neighbour that is never asked for.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_neighbour(&mut self, link: Link, address: Ipv4Addr, mac: [u8; 6]) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.ifindex = link.0;
        message.header.state = NeighbourState::Permanent;
        message.attributes = vec![
            NeighbourAttribute::Destination(NeighbourAddress::Inet(address)),
            NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
        ];
        self.set(RouteNetlinkMessage::NewNeighbour(message), REPLACE)
    }

    /// Whether an interface carries frames: it is up, and so is what it is joined to (RFC 2863).
    ///
    /// # Errors
    /// The kernel's error.
    pub fn is_running(&mut self, link: Link) -> io::Result<bool> {
        Ok(self.get(link)?.attributes.contains(&LinkAttribute::OperState(State::Up)))
    }

    /// How an interface is set up.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn state(&mut self, link: Link) -> io::Result<LinkState> {
        let message = self.get(link)?;
        let mtu = |attribute: &LinkAttribute| match attribute {
            LinkAttribute::Mtu(bytes) => Some(*bytes),
            _ => None,
        };
        let mtu_bytes = message.attributes.iter().find_map(mtu);
        let mtu_bytes = mtu_bytes.ok_or_else(|| io::Error::other("the interface has no MTU"))?;
        Ok(LinkState { mtu_bytes, flags: flag_letters(message.header.flags.bits()) })
    }

    /// What an interface has counted.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn counters(&mut self, link: Link) -> io::Result<LinkCounters> {
        let message = self.get(link)?;
        let stats = |attribute: &LinkAttribute| match attribute {
            LinkAttribute::Stats64(stats) => Some(*stats),
            _ => None,
        };
        let stats = message.attributes.iter().find_map(stats);
        let stats = stats.ok_or_else(|| io::Error::other("the interface has no counters"))?;
        Ok(LinkCounters {
            rx_packets: stats.rx_packets,
            tx_packets: stats.tx_packets,
            rx_bytes: stats.rx_bytes,
            tx_bytes: stats.tx_bytes,
            rx_errors: stats.rx_errors,
            tx_errors: stats.tx_errors,
            rx_dropped: stats.rx_dropped,
            tx_dropped: stats.tx_dropped,
        })
    }

    fn get(&mut self, link: Link) -> io::Result<LinkMessage> {
        let mut message = LinkMessage::default();
        message.header.index = link.0;
        match self.request(RouteNetlinkMessage::GetLink(message), 0)? {
            Some(RouteNetlinkMessage::NewLink(answer)) => Ok(answer),
            _ => Err(io::Error::other("the kernel did not describe the interface")),
        }
    }
}

/// A request that sets attributes of an interface and brings it up.
fn link_up(link: Link, attributes: Vec<LinkAttribute>) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = link.0;
    message.header.flags = LinkFlags::Up;
    message.header.change_mask = LinkFlags::Up;
    message.attributes = attributes;
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_flags_and_the_mtu_that_the_kernel_has_told() {
        let state = LinkState {
            mtu_bytes: 9_000,
            flags: flag_letters((libc::IFF_UP | libc::IFF_BROADCAST) as u32),
        };
        let row = state.row("h", None, "eth0");
        assert_eq!((row.flags.as_str(), row.mtu_bytes), ("BU", Some(9_000)));
    }
}
