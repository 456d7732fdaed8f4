//! The line between a host and a comparison switch: a rate in both directions, and a queue in front
//! of the host.
//!
//! The frame of a socket belongs to it until it is received, also across namespaces. A sender would
//! therefore be held back by the queue at the other end of the switch, as no network does, and a
//! switch that is a program would be held back by the buffer of its own socket. So every line hands
//! over copies, which belong to no socket.

use super::star::LineOf;
use std::io;
use tailrace_lab::netlink::{Link, LinkCounters, Netlink, QdiscCounters, find};

/// A line in the lab's own namespace: host, `port-N`, `line-N`, `switch-N`, switch.
#[derive(Debug)]
pub(super) struct Line {
    /// The other end of the host's interface; its queue is the port of the switch.
    port: Link,
    /// The other end of the switch's interface.
    line: Link,
    /// Name of the interface that the switch gets.
    pub(super) switch_end: String,
}

/// Counts of the frames that have passed a line.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Passed {
    /// Frames and bytes that the host has given to the switch.
    pub(super) from_host: (u64, u64),
    /// Frames and bytes that the switch has given to the line.
    pub(super) from_switch: (u64, u64),
    /// The queue in front of the host.
    pub(super) queue: QdiscCounters,
}

impl Line {
    /// Makes the line behind the port of a host. The calling thread is in the lab's own namespace.
    pub(super) fn create(
        netlink: &mut Netlink,
        index: usize,
        port: Link,
        of: &LineOf,
        mtu_bytes: u32,
    ) -> io::Result<Line> {
        let (line_end, switch_end) = (format!("line-{index}"), format!("switch-{index}"));
        netlink.add_pair(&line_end, &switch_end, None)?;
        let line = find(&line_end)?;
        for end in [line, find(&switch_end)?] {
            netlink.set_mtu(end, mtu_bytes)?;
            netlink.up(end)?;
        }
        netlink.shape(port, &of.port)?;
        netlink.hand_over(port, line)?;
        netlink.hand_over(line, port)?;
        Ok(Line { port, line, switch_end })
    }

    /// Counts of an interval.
    pub(super) fn passed(now: Passed, then: Passed) -> Passed {
        let since = |now: (u64, u64), then: (u64, u64)| {
            (now.0.saturating_sub(then.0), now.1.saturating_sub(then.1))
        };
        Passed {
            from_host: since(now.from_host, then.from_host),
            from_switch: since(now.from_switch, then.from_switch),
            queue: QdiscCounters {
                tx_frames: now.queue.tx_frames.saturating_sub(then.queue.tx_frames),
                tx_bytes: now.queue.tx_bytes.saturating_sub(then.queue.tx_bytes),
                drop_frames: now.queue.drop_frames.saturating_sub(then.queue.drop_frames),
                depth_bytes: now.queue.depth_bytes,
            },
        }
    }

    /// Counts of all lines so far. Frames into the switch are read first: a frame that is on its
    /// way through it is then not taken for a lost one.
    pub(super) fn totals(lines: &[Line], netlink: &mut Netlink) -> io::Result<Vec<Passed>> {
        let into: Vec<_> =
            lines.iter().map(|line| netlink.counters(line.port)).collect::<io::Result<_>>()?;
        let total = |(line, port): (&Line, LinkCounters)| {
            let out = netlink.counters(line.line)?;
            Ok(Passed {
                from_host: (port.rx_packets, port.rx_bytes),
                from_switch: (out.rx_packets, out.rx_bytes),
                queue: netlink.queue(line.port)?,
            })
        };
        lines.iter().zip(into).map(total).collect()
    }
}
