//! The queue of a host in front of its line.
//!
//! A TAP takes every frame at once and lets go of the socket that sent it: for TCP its window, for
//! a datagram's sender nothing limits what waits there. An interface with a wire takes few frames,
//! the kernel keeps the others in a queue of its own, and sockets whose frames wait in it send no
//! more (tcp_small_queues; SO_SNDBUF). A token bucket with the rate of the line is such a queue.

use super::star::shape_of;
use std::io;
use tailrace_lab::netlink::{Link, Netlink};
use tailrace_plan::Plan;

/// Frames that wait between a host and the fabric. A full queue would drop inside the host, where
/// no model counts it.
pub(super) const QUEUE_FRAMES: u32 = 100_000;
/// Said where the kernel has no such queues.
pub(super) const MISSING: &str = "this kernel has no token buckets (sch_tbf): a sender whose own link is the bottleneck queues its whole window at its interface";

/// Gives the interface of a host the queue of its line. Returns whether the kernel has such queues;
/// without them the TAP holds everything.
///
/// # Errors
/// The kernel's error.
pub(super) fn shape(
    netlink: &mut Netlink,
    link: Link,
    plan: &Plan,
    host: usize,
) -> io::Result<bool> {
    match netlink
        .shape(link, &shape_of(plan, host, |frame_bytes| u64::from(QUEUE_FRAMES) * frame_bytes))
    {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        result => result.map(|()| true),
    }
}
