//! The Internet layer: the header of every packet of a flow, the transport to which a packet goes,
//! and the fragments of datagrams that are longer than the MTU.

mod cut;
mod incomplete;
mod reassembly;
mod store;

pub use reassembly::ReassemblyPolicy;
pub use reassembly::Ticks;

use crate::transmit::Transmit;
use cut::Sender;
use reassembly::Reassembly;
use tailrace_units::Time;
use tailrace_wire::{Flags, Packet, Protocol, Tag};

/// The endpoint of a segment that is for a port of its host, not for a socket; and of a peer whose
/// socket is not known.
pub const TO_PORT: u32 = u32::MAX;

/// The header of every packet that an endpoint sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Hash of the flow key in this direction.
    pub flow_hash: u32,
    /// The peer's endpoint.
    pub to_endpoint: u32,
    /// The peer's host.
    pub to_host: u16,
    /// Priority, and the VLAN if the flow has one.
    pub tag: Tag,
    /// Code point, 0 to 63.
    pub dscp: u8,
}

impl Identity {
    /// A packet with these headers, which count `header_bytes`, and this payload; the transport
    /// fills in the rest.
    #[inline]
    pub fn packet(&self, header_bytes: u32, payload_bytes: u32) -> Packet {
        Packet {
            flow_hash: self.flow_hash,
            to_endpoint: self.to_endpoint,
            to_host: self.to_host,
            frame_bytes: (header_bytes + payload_bytes) as u16,
            payload_bytes: payload_bytes as u16,
            tag: self.tag,
            dscp: self.dscp,
            ..Packet::default()
        }
    }
}

/// The transport that a packet is for.
#[inline]
pub fn protocol(packet: &Packet) -> Protocol {
    if packet.flags.contains(Flags::UDP) { Protocol::Udp } else { Protocol::Tcp }
}

/// Counters of fragmentation and reassembly of a host (RFC 4293; Linux `/proc/net/snmp`, whose
/// names these are).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IpCounters {
    /// `FragOKs`: datagrams that were cut.
    pub frag_oks: u64,
    /// `FragFails`: those of which a fragment did not fit the queue of the interface.
    pub frag_fails: u64,
    /// `FragCreates`: fragments that were sent.
    pub frag_creates: u64,
    /// `ReasmReqds`: fragments that came.
    pub reasm_reqds: u64,
    /// `ReasmOKs`: datagrams that were put together.
    pub reasm_oks: u64,
    /// `ReasmFails`: fragments that were refused, and datagrams that were given up.
    pub reasm_fails: u64,
    /// `ReasmTimeout`: datagrams that were given up because their time was over.
    pub reasm_timeout: u64,
}

/// The Internet layer of a host.
#[derive(Clone, Debug)]
pub struct Ip {
    sender: Sender,
    reassembly: Reassembly,
}

impl Ip {
    /// The layer of the host with this number. `mtu_bytes` includes the IP header.
    pub fn new(mtu_bytes: u32, host: u16, policy: ReassemblyPolicy, clock: Ticks) -> Ip {
        Ip { sender: Sender::new(mtu_bytes, host), reassembly: Reassembly::new(policy, clock) }
    }

    /// Sends a datagram of a socket, in fragments if it must be. Returns how many packets were
    /// handed to the interface.
    #[inline]
    pub fn send(&mut self, packet: Packet, header_bytes: u32, down: &mut impl Transmit) -> u32 {
        self.sender.send(packet, header_bytes, down)
    }

    /// The datagram that a packet completes which is no whole datagram of its socket.
    #[cold]
    #[inline(never)]
    pub fn put_together(&mut self, now: Time, packet: &Packet) -> Option<Packet> {
        self.reassembly.put(now, packet)
    }

    /// Whether the latest packet was refused because incomplete datagrams take too much memory.
    pub fn has_refused(&self) -> bool {
        self.reassembly.has_refused
    }

    /// Accounts for the time of waiting datagrams up to `now`.
    pub fn settle(&mut self, now: Time) {
        self.reassembly.expire(now);
    }

    /// Counters begin at zero.
    pub fn begin_counting(&mut self, now: Time) {
        self.reassembly.expire(now);
        self.reassembly.begin_counting();
        self.sender.counted = IpCounters::default();
    }

    /// The counters of /proc/net/snmp that there are here.
    pub fn counters(&self) -> IpCounters {
        let IpCounters { frag_oks, frag_fails, frag_creates, .. } = self.sender.counted;
        IpCounters { frag_oks, frag_fails, frag_creates, ..self.reassembly.counted }
    }

    /// Memory of incomplete datagrams, and the most that there was.
    pub fn memory(&self) -> (u64, u64) {
        self.reassembly.memory()
    }
}
