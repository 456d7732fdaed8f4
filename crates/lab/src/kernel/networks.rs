//! An interface for each network of a host, for programs that choose their address by the interface
//! that has it, as Open MPI does: of several addresses at one interface it takes the first for
//! itself and any of them for its peer.

use crate::address;
use crate::netlink::{Netlink, find};
use crate::vlans::Vlans;
use nix::errno::Errno;
use std::io;
use tailrace_plan::{Plan, Workload};

/// Interfaces are named after the VLAN; the network without one has the number 0.
const PREFIX: &str = "vlan";

/// Gives each network of a host an interface, if the plan has VLANs and a workload of this host
/// asks for it: a bridge without ports, which has the address that `eth0` has as well. No route
/// leads to it, so that all frames still pass `eth0`. A kernel without bridges has none of them.
///
/// # Errors
/// The kernel's error.
pub fn name_networks(netlink: &mut Netlink, plan: &Plan, host: usize) -> io::Result<()> {
    for (vlan, number) in named(plan, host)? {
        let name = format!("{PREFIX}{vlan}");
        match netlink.add_bridge(&name) {
            Err(error) if error.raw_os_error() == Some(Errno::EOPNOTSUPP as i32) => return Ok(()),
            made => made?,
        }
        let link = find(&name)?;
        netlink.set_mtu(link, plan.raw.hosts[host].mtu_bytes)?;
        netlink.add_address(link, address::ipv4_in(number, host), address::PREFIX_BITS)?;
        netlink.up(link)?;
    }
    Ok(())
}

/// VLANs of a host that have an interface, each with the number of its network.
fn named(plan: &Plan, host: usize) -> io::Result<Vec<(u16, usize)>> {
    let asks = |workload: &Workload| {
        workload.chooses_interface() && workload.header.hosts().any(|each| each == host)
    };
    let vlans = Vlans::new(plan).map_err(io::Error::other)?;
    if vlans.is_empty() || !plan.workloads.iter().any(asks) {
        return Ok(Vec::new());
    }
    Ok([(0, 0)].into_iter().chain(vlans.of_host(host)).collect())
}
