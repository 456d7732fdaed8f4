//! Addresses of hosts that have real ones: a number for each, in the order of the plan, from one
//! on.

use std::net::Ipv4Addr;

/// The network of every lab: 10.77.0.0/16.
pub const NETWORK: [u8; 2] = [10, 77];
/// Networks of VLANs, which follow on that one: 10.78.0.0/16, 10.79.0.0/16 ...
pub const VLANS_MAX: usize = 255 - NETWORK[1] as usize;
/// Length of its prefix.
pub const PREFIX_BITS: u8 = 16;
/// Most hosts of a lab: each knows the link-layer address of every other, which is a table of this
/// number squared.
pub const HOSTS_MAX: usize = 256;

/// The address of a host, by its index in the plan.
pub fn ipv4(host: usize) -> Ipv4Addr {
    ipv4_in(0, host)
}

/// The address of a host in a network of the lab: 0 is that of frames without a VLAN.
pub fn ipv4_in(network: usize, host: usize) -> Ipv4Addr {
    let [high, low] = number(host);
    Ipv4Addr::new(NETWORK[0], second_octet(network), high, low)
}

/// A network of the lab.
pub fn network(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(NETWORK[0], second_octet(number), 0, 0)
}

fn second_octet(network: usize) -> u8 {
    u8::try_from(usize::from(NETWORK[1]) + network).expect("a lab cannot have more networks")
}

/// The link-layer address of a host: locally administered.
pub fn mac(host: usize) -> [u8; 6] {
    let [high, low] = number(host);
    [2, 0, 0, 0, high, low]
}

/// The host that has this link-layer address, if it is one of ours.
#[inline]
pub fn host_of_mac(mac: &[u8]) -> Option<usize> {
    match mac {
        [2, 0, 0, 0, high, low] => usize::from(u16::from_be_bytes([*high, *low])).checked_sub(1),
        _ => None,
    }
}

/// The number of the network and the host that have this address, if it is one of ours.
#[inline]
pub fn host_of_ipv4(address: [u8; 4]) -> Option<(usize, usize)> {
    let [first, second, high, low] = address;
    let network = second.checked_sub(NETWORK[1]).filter(|_| first == NETWORK[0])?;
    let host = usize::from(u16::from_be_bytes([high, low])).checked_sub(1)?;
    Some((usize::from(network), host))
}

/// Link-layer address as people write it.
pub fn mac_text(host: usize) -> String {
    mac(host).map(|byte| format!("{byte:02x}")).join(":")
}

fn number(host: usize) -> [u8; 2] {
    u16::try_from(host + 1).expect("a lab has fewer than 65 536 hosts").to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_by_its_addresses() {
        for host in [0, 1, 254, 255, 300] {
            assert_eq!(host_of_mac(&mac(host)), Some(host));
            assert_eq!(host_of_ipv4(ipv4(host).octets()), Some((0, host)));
            assert_eq!(host_of_ipv4(ipv4_in(VLANS_MAX, host).octets()), Some((VLANS_MAX, host)));
        }
        assert_eq!(ipv4(255), Ipv4Addr::new(10, 77, 1, 0));
        assert_eq!(ipv4_in(1, 0), Ipv4Addr::new(10, 78, 0, 1));
        assert_eq!(host_of_ipv4([10, 76, 0, 1]), None);
        assert_eq!(host_of_ipv4([11, 77, 0, 1]), None);
        assert_eq!(host_of_mac(&[0xFF; 6]), None);
        assert_eq!(host_of_mac(&[2, 0, 0, 0, 0, 0]), None);
    }
}
