//! The kernel of a host: its settings, its addresses, routes and neighbours, as the plan has them.

mod networks;
pub mod offload;
mod sysctls;

pub use networks::name_networks;
pub use offload::switch_off_joining;

use crate::address;
use crate::netlink::{Link, Metrics, Netlink};
use crate::vlans::Vlans;
use std::io;
use tailrace_plan::{Plan, RawCongestionControl};

/// Picoseconds in a millisecond.
const PS_PER_MS: u64 = 1_000_000_000;

/// Sets the kernel of the calling thread's network namespace up as the plan says of a host.
///
/// # Errors
/// When the kernel lacks a setting.
pub fn set_kernel(plan: &Plan, index: usize) -> io::Result<()> {
    sysctls::set(&plan.raw.hosts[index], uses_code_points(plan))
}

/// Name of the congestion control that the plan gives a host.
pub fn congestion_control_of(plan: &Plan, index: usize) -> &'static str {
    match plan.raw.hosts[index].tcp.congestion_control {
        RawCongestionControl::Cubic => "cubic",
        RawCongestionControl::NewReno => "reno",
        RawCongestionControl::Dctcp => "dctcp",
        RawCongestionControl::Bbr => "bbr",
    }
}

/// Gives the interface of a host its addresses, and with them routes and neighbours: all networks
/// that it has a part in.
///
/// # Errors
/// The kernel's error.
pub fn join_networks(
    netlink: &mut Netlink,
    link: Link,
    (plan, index): (&Plan, usize),
    congestion_control: &str,
) -> io::Result<()> {
    let raw = &plan.raw.hosts[index];
    let vlans = Vlans::new(plan).map_err(io::Error::other)?;
    let metrics = Metrics {
        congestion_control: congestion_control.to_owned(),
        initial_window_segments: raw.tcp.initial_window_segments,
        rto_min_ms: u32::try_from(raw.tcp.rto_min_ps / PS_PER_MS).unwrap_or(u32::MAX).max(1),
    };
    netlink.add_address(link, address::ipv4(index), address::PREFIX_BITS)?;
    join(netlink, link, (0, index), 0..plan.raw.hosts.len(), &metrics)?;
    for (vlan, number) in vlans.of_host(index) {
        netlink.add_address(link, address::ipv4_in(number, index), address::PREFIX_BITS)?;
        join(netlink, link, (number, index), vlans.hosts_of(vlan), &metrics)?;
    }
    Ok(())
}

/// Brings a host into a network of the lab: the route to it, and the hosts that are in it.
fn join(
    netlink: &mut Netlink,
    link: Link,
    (number, host): (usize, usize),
    members: impl Iterator<Item = usize>,
    metrics: &Metrics,
) -> io::Result<()> {
    let network = (address::network(number), address::PREFIX_BITS);
    let route = netlink.add_route(link, network, address::ipv4_in(number, host), metrics);
    route.map_err(|error| sysctls::explain(error, metrics))?;
    for peer in members.filter(|&peer| peer != host) {
        netlink.add_neighbour(link, address::ipv4_in(number, peer), address::mac(peer))?;
    }
    Ok(())
}

/// Whether programs have priorities. The kernel of a live lab reports them to the fabric only by
/// the queue that it puts a frame into.
pub fn uses_priorities(plan: &Plan) -> bool {
    plan.workloads.iter().any(|workload| workload.header.priority > 0)
}

/// Whether programs mark their connections, and so their partners' answers.
fn uses_code_points(plan: &Plan) -> bool {
    plan.workloads.iter().any(|workload| workload.header.dscp > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_says_whether_it_marks_connections() {
        let mut plan = crate::measured_plan::two_hosts(100_000_000, 1_500);
        let uses = |plan: &serde_json::Value| {
            uses_code_points(&Plan::parse(&plan.to_string()).expect("a sound plan"))
        };
        assert!(!uses(&plan));
        plan["workloads"][0]["header"]["dscp"] = 10.into();
        assert!(uses(&plan));
    }
}
