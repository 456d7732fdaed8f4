//! Hosts: a network namespace each, with one interface `eth0` whose wire the fabric holds.

use super::back_pressure::{self, QUEUE_FRAMES};
use super::kind::FabricKind;
use super::networks::name_networks;
use super::star::Star;
use super::sysctls;
use crate::address;
use crate::cgroup;
use crate::netlink::{Link, LinkCounters, Metrics, Netlink, find};
use crate::sys::{bpf, offload, tap};
use crate::vlans::Vlans;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use tailrace_outcome::Interface;
use tailrace_plan::{Plan, RawCongestionControl, RawHost};

/// Name of the interface in every host.
const INTERFACE: &str = "eth0";
/// The network namespace of the calling thread.
const OWN_NAMESPACE: &str = "/proc/thread-self/ns/net";
/// Number of the loopback interface in every namespace.
const LOOPBACK: Link = Link(1);
/// Priorities, each with a queue where the host takes part in pausing.
const PRIORITIES: usize = 8;
/// Picoseconds in a millisecond.
const PS_PER_MS: u64 = 1_000_000_000;

/// A host of the lab.
#[derive(Debug)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its control group below the lab's.
    pub group: String,
    /// Its network namespace.
    pub namespace: File,
    netlink: Netlink,
    link: Link,
    /// Whether the kernel keeps the queue of its line.
    is_shaped: bool,
    /// Whether it should keep one and cannot.
    pub lacks_queue: bool,
    /// Keeps the program at work that stamps its frames; none where the kernel has no such
    /// programs.
    stamps: Option<OwnedFd>,
    /// MTU of its interface.
    pub mtu_bytes: u32,
    /// Congestion control of its connections.
    pub congestion_control: String,
    /// What it counted at the start of the measured interval.
    at_begin: LinkCounters,
}

/// A congestion control instead of the plan's: for one host, or for all.
pub type Override = (Option<String>, String);

impl Host {
    /// Makes the host. The calling thread ends in the host's namespace.
    fn create(
        plan: &Plan,
        index: usize,
        (kind, star): (FabricKind, Option<&Star>),
        overrides: &[Override],
        home: &File,
    ) -> io::Result<(Host, HostEnd)> {
        let raw = &plan.raw.hosts[index];
        unshare(CloneFlags::CLONE_NEWNET)?;
        let namespace = File::open(OWN_NAMESPACE)?;
        set_kernel(plan, index)?;
        let wire = if kind == FabricKind::Tap {
            HostEnd::Queues(open_queues(raw.nic.lossless.is_some() || uses_priorities(plan))?)
        } else {
            HostEnd::Port(open_port(index, raw.mtu_bytes, &namespace, home)?)
        };
        let mut netlink = Netlink::open()?;
        let link = find(INTERFACE)?;
        netlink.up(LOOPBACK)?;
        netlink.bring_up(link, address::mac(index), raw.mtu_bytes, QUEUE_FRAMES)?;
        if kind != FabricKind::Tap {
            offload::switch_off(INTERFACE)?;
        }
        let wants_queue = star.is_some() || wire.is_one_queue();
        let is_shaped = wants_queue && back_pressure::shape(&mut netlink, link, plan, index)?;
        let lacks_queue = wants_queue && !is_shaped;
        if kind != FabricKind::Tap || is_shaped {
            // A token bucket charges a row of frames that is still to be cut with the overhead of
            // one: at an MTU of 1500 it would be 1.5 % faster than the line, and what is too much
            // would wait in the TAP.
            netlink.segment(link)?;
        }
        let stamps = if kind == FabricKind::Tap { bpf::stamp_frames(link.0).ok() } else { None };
        let of_host = |over: &&Override| over.0.as_ref().is_none_or(|host| *host == raw.name);
        let congestion_control = overrides
            .iter()
            .rfind(of_host)
            .map_or_else(|| congestion_control(raw).to_owned(), |over| over.1.clone());
        join_networks(&mut netlink, link, (plan, index), &congestion_control)?;
        name_networks(&mut netlink, plan, index)?;
        let (name, group, mtu_bytes) = (raw.name.clone(), cgroup::member(index), raw.mtu_bytes);
        let at_begin = LinkCounters::default();
        let host = Host {
            name,
            group,
            namespace,
            netlink,
            link,
            is_shaped,
            lacks_queue,
            stamps,
            mtu_bytes,
            congestion_control,
            at_begin,
        };
        Ok((host, wire))
    }

    /// Whether its kernel tells when it sent each frame.
    pub fn is_stamping(&self) -> bool {
        self.stamps.is_some()
    }

    /// What its interface has counted since the measured interval began.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn counters(&mut self) -> io::Result<LinkCounters> {
        Ok(self.total()?.since(self.at_begin))
    }

    /// Its interface as `netstat -i` has it; what cannot be read is not claimed.
    pub(super) fn row(&mut self) -> Interface {
        let row = self.netlink.state(self.link).map_or_else(
            |_| Interface::up(&self.name, None, INTERFACE, None),
            |state| state.row(&self.name, None, INTERFACE),
        );
        match self.counters() {
            Ok(counters) => counters.in_row(row),
            Err(_) => row,
        }
    }

    /// Counts from here on.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn begin_counting(&mut self) -> io::Result<()> {
        self.at_begin = self.total()?;
        Ok(())
    }

    /// Everything since it was made; what did not fit the queue of its line was not sent either.
    fn total(&mut self) -> io::Result<LinkCounters> {
        let mut total = self.netlink.counters(self.link)?;
        if self.is_shaped {
            total.tx_dropped += self.netlink.queue(self.link)?.drop_frames;
        }
        Ok(total)
    }
}

/// Sets the kernel of the calling thread's network namespace up as the plan says of a host.
///
/// # Errors
/// When the kernel lacks a setting.
pub fn set_kernel(plan: &Plan, index: usize) -> io::Result<()> {
    sysctls::set(&plan.raw.hosts[index], uses_code_points(plan))
}

/// Name of the congestion control that the plan gives a host.
pub fn congestion_control_of(plan: &Plan, index: usize) -> &'static str {
    congestion_control(&plan.raw.hosts[index])
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

/// The other end of a host's interface.
#[derive(Debug)]
pub(super) enum HostEnd {
    /// The queues of a TAP, one or eight.
    Queues(Vec<OwnedFd>),
    /// An interface in the lab's own namespace.
    Port(Link),
}

impl HostEnd {
    /// Whether it is a TAP whose frames all wait in one row.
    fn is_one_queue(&self) -> bool {
        matches!(self, HostEnd::Queues(queues) if queues.len() == 1)
    }

    /// The queues; none where there is a port.
    pub(super) fn into_queues(self) -> Vec<OwnedFd> {
        match self {
            HostEnd::Queues(queues) => queues,
            HostEnd::Port(_) => Vec::new(),
        }
    }

    /// The port, if there is one.
    pub(super) fn port(&self) -> Option<Link> {
        match self {
            HostEnd::Queues(_) => None,
            HostEnd::Port(port) => Some(*port),
        }
    }
}

/// Makes all hosts of a plan with the other ends of their interfaces. The calling thread is in the
/// namespace it came from again.
///
/// # Errors
/// The kernel's error, with the host.
pub(super) fn create_all(
    plan: &Plan,
    kind: (FabricKind, Option<&Star>),
    overrides: &[Override],
) -> io::Result<Vec<(Host, HostEnd)>> {
    let home = File::open(OWN_NAMESPACE)?;
    let of_host = |index: usize| {
        let place = |error: io::Error| {
            io::Error::new(error.kind(), format!("host {}: {error}", plan.raw.hosts[index].name))
        };
        Host::create(plan, index, kind, overrides, &home).map_err(place)
    };
    let hosts = (0..plan.raw.hosts.len()).map(of_host).collect();
    setns(home, CloneFlags::CLONE_NEWNET)?;
    hosts
}

/// Whether programs have priorities. The kernel of a live lab tells the fabric only by the queue
/// that it puts a frame into.
pub fn uses_priorities(plan: &Plan) -> bool {
    plan.workloads.iter().any(|workload| workload.header.priority > 0)
}

/// Whether programs mark their connections, and so their partners' answers.
fn uses_code_points(plan: &Plan) -> bool {
    plan.workloads.iter().any(|workload| workload.header.dscp > 0)
}

/// A TAP with one queue, or one for each priority.
fn open_queues(by_priority: bool) -> io::Result<Vec<OwnedFd>> {
    if !by_priority {
        return tap::open(INTERFACE, 1);
    }
    let queues = tap::open(INTERFACE, PRIORITIES)?;
    tap::steer(&queues[0], &bpf::queue_by_priority()?)?;
    Ok(queues)
}

/// A pair of interfaces: the host's, and one in the lab's own namespace. The calling thread ends in
/// the host's namespace.
fn open_port(index: usize, mtu_bytes: u32, namespace: &File, home: &File) -> io::Result<Link> {
    setns(home, CloneFlags::CLONE_NEWNET)?;
    let name = format!("port-{index}");
    let mut netlink = Netlink::open()?;
    netlink.add_pair(&name, INTERFACE, Some(namespace))?;
    let port = find(&name)?;
    netlink.set_mtu(port, mtu_bytes)?;
    setns(namespace, CloneFlags::CLONE_NEWNET)?;
    Ok(port)
}

fn congestion_control(raw: &RawHost) -> &'static str {
    match raw.tcp.congestion_control {
        RawCongestionControl::Cubic => "cubic",
        RawCongestionControl::NewReno => "reno",
        RawCongestionControl::Dctcp => "dctcp",
        RawCongestionControl::Bbr => "bbr",
    }
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
