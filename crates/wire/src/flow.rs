//! The key of a flow and its hash.

use tailrace_units::mix64;

/// Hosts are numbered from 10.0.0.1 on.
const FIRST_ADDRESS: u32 = 0x0A00_0001;

/// The IPv4 address of a host in flow keys, in any engine: classification names hosts by it.
pub fn address_of(host: u32) -> u32 {
    FIRST_ADDRESS + host
}

/// Transport protocol numbers (IANA).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Protocol {
    /// Transmission Control Protocol.
    Tcp = 6,
    /// User Datagram Protocol.
    Udp = 17,
}

/// Source and destination of a flow. Addresses are IPv4 in host byte order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowKey {
    /// Source address.
    pub source: u32,
    /// Destination address.
    pub destination: u32,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Protocol.
    pub protocol: Protocol,
}

impl FlowKey {
    /// The key of the packets that travel the other way.
    pub fn reversed(self) -> FlowKey {
        FlowKey {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            protocol: self.protocol,
        }
    }

    /// 32 well-mixed bits of the five-tuple: the same for every packet of one direction of a flow.
    pub fn hash(self) -> u32 {
        let addresses = u64::from(self.source) << 32 | u64::from(self.destination);
        let ports = u64::from(self.source_port) << 32
            | u64::from(self.destination_port) << 8
            | self.protocol as u64;
        (mix64(mix64(addresses) ^ ports) >> 32) as u32
    }
}
