//! Interfaces, addresses, routes and neighbours of one network namespace.

use super::message::{Netlink, Request, find_attribute};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use tailrace_outcome::Interface;
use tailrace_wire::PRIORITIES;

const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const RTM_NEWNEIGH: u16 = 28;
const NLM_F_REPLACE_OR_CREATE: u16 = 0x100 | 0x400;
const NLM_F_CREATE_NEW: u16 = 0x200 | 0x400;

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINK: u16 = 5;
const IFLA_MASTER: u16 = 10;
const IFLA_TXQLEN: u16 = 13;
const IFLA_OPERSTATE: u16 = 16;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFLA_VLAN_ID: u16 = 1;
const IFLA_VLAN_EGRESS_QOS: u16 = 3;
const IFLA_VLAN_QOS_MAPPING: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_FLAGS: u16 = 8;
const IFA_F_NOPREFIXROUTE: u32 = 0x200;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
/// A mask of metrics that hold whatever the kernel would choose itself.
const RTAX_LOCK: u16 = 1;
const RTAX_INITCWND: u16 = 11;
const RTAX_RTO_MIN: u16 = 13;
const RTAX_CC_ALGO: u16 = 16;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;

const AF_INET: u8 = libc::AF_INET as u8;
const AF_BRIDGE: u8 = libc::AF_BRIDGE as u8;
/// The entry is the bridge's, not the port's own.
const NTF_MASTER: u8 = 0x04;
/// In a bridge: told and not learned. (A permanent entry would be the bridge's own address.)
const NUD_NOARP: u16 = 0x40;
/// RFC 2863.
const IF_OPER_UP: u8 = 6;
const IFF_UP: u32 = libc::IFF_UP as u32;
const NUD_PERMANENT: u16 = 0x80;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;
const IFINFO_BYTES: usize = 16;

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
        let request = Request::new(RTM_NEWLINK, 0, &ifinfo(link, IFF_UP));
        let request = request
            .attribute(IFLA_ADDRESS, &mac)
            .number(IFLA_MTU, mtu)
            .number(IFLA_TXQLEN, queue_frames);
        self.request(request).map(drop)
    }

    /// Lets senders make frames of one segment each, as they are on a wire.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn segment(&mut self, link: Link) -> io::Result<()> {
        self.request(Request::new(RTM_NEWLINK, 0, &ifinfo(link, 0)).number(IFLA_GSO_MAX_SEGS, 1))
            .map(drop)
    }

    /// Makes a pair of interfaces that are joined by a wire: one here, and one here or in another
    /// network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_pair(&mut self, one: &str, other: &str, namespace: Option<&File>) -> io::Result<()> {
        let request =
            Request::new(RTM_NEWLINK, NLM_F_CREATE_NEW, &ifinfo(Link(0), 0)).text(IFLA_IFNAME, one);
        let request = request
            .begin(IFLA_LINKINFO)
            .text(IFLA_INFO_KIND, "veth")
            .begin(IFLA_INFO_DATA)
            .begin(VETH_INFO_PEER);
        let request = request.raw(&ifinfo(Link(0), 0)).text(IFLA_IFNAME, other);
        let request = match namespace {
            Some(namespace) => request.number(IFLA_NET_NS_FD, namespace.as_raw_fd() as u32),
            None => request,
        };
        self.request(request.end().end().end()).map(drop)
    }

    /// Makes an interface on top of another, whose frames carry the priority of their socket (0 to
    /// 7) in a tag without a VLAN (802.1Q clause 9.6: VLAN 0 is none).
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_priority_tags(&mut self, name: &str, below: Link) -> io::Result<()> {
        let request = Request::new(RTM_NEWLINK, NLM_F_CREATE_NEW, &ifinfo(Link(0), 0))
            .text(IFLA_IFNAME, name);
        let request = request
            .number(IFLA_LINK, below.0)
            .begin(IFLA_LINKINFO)
            .text(IFLA_INFO_KIND, "vlan")
            .begin(IFLA_INFO_DATA);
        let request =
            request.attribute(IFLA_VLAN_ID, &0_u16.to_ne_bytes()).begin(IFLA_VLAN_EGRESS_QOS);
        // struct ifla_vlan_qos_mapping: the priority of a frame, and that of its tag.
        let mapping = |priority: u32| [priority.to_ne_bytes(); 2].concat();
        let mapped = |request: Request, priority| {
            request.attribute(IFLA_VLAN_QOS_MAPPING, &mapping(priority))
        };
        let request = (1..PRIORITIES as u32).fold(request, mapped);
        self.request(request.end().end().end()).map(drop)
    }

    /// Makes a bridge.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_bridge(&mut self, name: &str) -> io::Result<()> {
        let request = Request::new(RTM_NEWLINK, NLM_F_CREATE_NEW, &ifinfo(Link(0), 0))
            .text(IFLA_IFNAME, name);
        self.request(request.begin(IFLA_LINKINFO).text(IFLA_INFO_KIND, "bridge").end()).map(drop)
    }

    /// Makes an interface a port of a bridge.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn enslave(&mut self, port: Link, bridge: Link) -> io::Result<()> {
        self.request(Request::new(RTM_NEWLINK, 0, &ifinfo(port, 0)).number(IFLA_MASTER, bridge.0))
            .map(drop)
    }

    /// Tells a bridge by which of its ports an address is reached, so that no frame goes to all of
    /// them.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_forwarding(&mut self, port: Link, mac: [u8; 6]) -> io::Result<()> {
        let [state_0, state_1] = NUD_NOARP.to_ne_bytes();
        let header =
            [&[AF_BRIDGE, 0, 0, 0][..], &port.0.to_ne_bytes(), &[state_0, state_1, NTF_MASTER, 0]]
                .concat();
        let request = Request::new(RTM_NEWNEIGH, NLM_F_REPLACE_OR_CREATE, &header);
        self.request(request.attribute(NDA_LLADDR, &mac)).map(drop)
    }

    /// Sets the MTU of an interface.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn set_mtu(&mut self, link: Link, mtu: u32) -> io::Result<()> {
        self.request(Request::new(RTM_NEWLINK, 0, &ifinfo(link, 0)).number(IFLA_MTU, mtu)).map(drop)
    }

    /// Brings an interface up as it is.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn up(&mut self, link: Link) -> io::Result<()> {
        self.request(Request::new(RTM_NEWLINK, 0, &ifinfo(link, IFF_UP))).map(drop)
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
        let header = [&[AF_INET, prefix_bits, 0, 0][..], &link.0.to_ne_bytes()].concat();
        let request = Request::new(RTM_NEWADDR, NLM_F_REPLACE_OR_CREATE, &header);
        let request = request
            .attribute(IFA_LOCAL, &address.octets())
            .attribute(IFA_ADDRESS, &address.octets());
        self.request(request.number(IFA_FLAGS, IFA_F_NOPREFIXROUTE)).map(drop)
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
        let header = [
            AF_INET,
            network.1,
            0,
            0,
            RT_TABLE_MAIN,
            RTPROT_STATIC,
            RT_SCOPE_LINK,
            RTN_UNICAST,
            0,
            0,
            0,
            0,
        ];
        let request = Request::new(RTM_NEWROUTE, NLM_F_REPLACE_OR_CREATE, &header)
            .attribute(RTA_DST, &network.0.octets())
            .attribute(RTA_PREFSRC, &source.octets())
            .number(RTA_OIF, link.0)
            .begin(RTA_METRICS)
            .text(RTAX_CC_ALGO, &metrics.congestion_control)
            .number(RTAX_INITCWND, metrics.initial_window_segments)
            .number(RTAX_RTO_MIN, metrics.rto_min_ms)
            // Linux reads a route's smallest timeout only where it is locked (`tcp_rto_min`), as
            // `ip route` does by itself.
            .number(RTAX_LOCK, 1 << RTAX_RTO_MIN)
            .end();
        self.request(request).map(drop)
    }

    /// Adds a neighbour that is never asked for.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_neighbour(&mut self, link: Link, address: Ipv4Addr, mac: [u8; 6]) -> io::Result<()> {
        let [state_0, state_1] = NUD_PERMANENT.to_ne_bytes();
        let header =
            [&[AF_INET, 0, 0, 0][..], &link.0.to_ne_bytes(), &[state_0, state_1, 0, 0]].concat();
        let request = Request::new(RTM_NEWNEIGH, NLM_F_REPLACE_OR_CREATE, &header);
        self.request(request.attribute(NDA_DST, &address.octets()).attribute(NDA_LLADDR, &mac))
            .map(drop)
    }

    /// Whether an interface carries frames: it is up, and so is what it is joined to.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn is_running(&mut self, link: Link) -> io::Result<bool> {
        let answer = self.request(Request::new(RTM_GETLINK, 0, &ifinfo(link, 0)))?;
        let state = find_attribute(answer.get(IFINFO_BYTES..).unwrap_or_default(), IFLA_OPERSTATE);
        Ok(state == Some(&[IF_OPER_UP]))
    }

    /// How an interface is set up.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn state(&mut self, link: Link) -> io::Result<LinkState> {
        let answer = self.request(Request::new(RTM_GETLINK, 0, &ifinfo(link, 0)))?;
        let number = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_ne_bytes);
        let mtu = find_attribute(answer.get(IFINFO_BYTES..).unwrap_or_default(), IFLA_MTU)
            .and_then(number);
        let mtu_bytes = mtu.ok_or_else(|| io::Error::other("the interface has no MTU"))?;
        let flags = answer.get(8..12).and_then(number).unwrap_or(0);
        Ok(LinkState { mtu_bytes, flags: flag_letters(flags) })
    }

    /// What an interface has counted.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn counters(&mut self, link: Link) -> io::Result<LinkCounters> {
        let answer = self.request(Request::new(RTM_GETLINK, 0, &ifinfo(link, 0)))?;
        let attributes = answer.get(IFINFO_BYTES..).unwrap_or_default();
        let stats = find_attribute(attributes, IFLA_STATS64)
            .ok_or_else(|| io::Error::other("the interface has no counters"))?;
        // struct rtnl_link_stats64: rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors,
        // tx_errors, rx_dropped, tx_dropped.
        let field = |index: usize| {
            stats.get(8 * index..8 * index + 8).and_then(|bytes| bytes.try_into().ok())
        };
        let field = |index: usize| field(index).map_or(0, u64::from_ne_bytes);
        Ok(LinkCounters {
            rx_packets: field(0),
            tx_packets: field(1),
            rx_bytes: field(2),
            tx_bytes: field(3),
            rx_errors: field(4),
            tx_errors: field(5),
            rx_dropped: field(6),
            tx_dropped: field(7),
        })
    }
}

/// struct ifinfomsg with these flags to be set.
fn ifinfo(link: Link, flags: u32) -> [u8; IFINFO_BYTES] {
    let mut header = [0; IFINFO_BYTES];
    header[4..8].copy_from_slice(&link.0.to_ne_bytes());
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    header[12..16].copy_from_slice(&flags.to_ne_bytes());
    header
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
