//! Addresses of hosts.

/// Hosts are numbered from 10.0.0.1 on.
const FIRST_ADDRESS: u32 = 0x0A00_0001;

/// The IPv4 address of a host in flow keys, in any engine: classification names hosts by it.
pub fn address_of(host: u32) -> u32 {
    FIRST_ADDRESS + host
}
