//! Hosts: a network namespace each, with one interface `eth0` whose wire the fabric holds.

use super::back_pressure::{self, QUEUE_FRAMES};
use super::kind::FabricKind;
use super::star::Star;
use crate::cgroup;
use crate::sys::{bpf, tap};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use tailrace_lab::address;
use tailrace_lab::kernel::name_networks;
use tailrace_lab::kernel::{
    congestion_control_of, join_networks, offload, set_kernel, uses_priorities,
};
use tailrace_lab::netlink::{Link, LinkCounters, Netlink, find};
use tailrace_outcome::Interface;
use tailrace_plan::Plan;

/// Name of the interface in every host.
const INTERFACE: &str = "eth0";
/// The network namespace of the calling thread.
const OWN_NAMESPACE: &str = "/proc/thread-self/ns/net";
/// Number of the loopback interface in every namespace.
const LOOPBACK: Link = Link(1);
/// Priorities, each with a queue where the host takes part in pausing.
const PRIORITIES: usize = 8;

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
    /// Its counters at the start of the measured interval.
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
            // one: at an MTU of 1500 it would be 1.5 % faster than the line, and the excess would
            // wait in the TAP.
            netlink.segment(link)?;
        }
        let stamps = if kind == FabricKind::Tap { bpf::stamp_frames(link.0).ok() } else { None };
        let of_host = |over: &&Override| over.0.as_ref().is_none_or(|host| *host == raw.name);
        let congestion_control = overrides
            .iter()
            .rfind(of_host)
            .map_or_else(|| congestion_control_of(plan, index).to_owned(), |over| over.1.clone());
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

    /// Whether its kernel stamps when it sent each frame.
    pub fn is_stamping(&self) -> bool {
        self.stamps.is_some()
    }

    /// Counters of its interface since the measured interval began.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn counters(&mut self) -> io::Result<LinkCounters> {
        Ok(self.total()?.since(self.at_begin))
    }

    /// Its interface as `netstat -i` has it; counters that cannot be read are absent.
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

    /// Everything since it was made; frames that did not fit the queue of its line were not sent
    /// either.
    fn total(&mut self) -> io::Result<LinkCounters> {
        let mut total = self.netlink.counters(self.link)?;
        if self.is_shaped {
            total.tx_dropped += self.netlink.queue(self.link)?.drop_frames;
        }
        Ok(total)
    }
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
