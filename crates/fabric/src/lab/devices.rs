//! The interfaces of a foreign switch, with the kernel's counters of each: the ports that `netstat
//! -i` would show.

use super::line::Passed;
use super::star::Star;
use std::io;
use tailrace_lab::netlink::{Link, LinkCounters, LinkState, Netlink, find};
use tailrace_outcome::Interface;

/// The switch's ends of all lines, in the order of the hosts.
#[derive(Debug, Default)]
pub(super) struct Devices {
    all: Vec<(String, Link)>,
}

/// A device at one moment.
pub(super) type Reading = (LinkState, LinkCounters);

impl Devices {
    /// The devices of these names. The calling thread is in the lab's own namespace.
    pub(super) fn find(names: &[String]) -> io::Result<Devices> {
        Ok(Devices {
            all: names
                .iter()
                .map(|name| Ok((name.clone(), find(name)?)))
                .collect::<io::Result<_>>()?,
        })
    }

    /// Their counters and settings.
    pub(super) fn read(&self, netlink: &mut Netlink) -> io::Result<Vec<Reading>> {
        self.all
            .iter()
            .map(|&(_, link)| Ok((netlink.state(link)?, netlink.counters(link)?)))
            .collect()
    }

    /// The ports of the switch. Frames that wait in front of a host, and are dropped there, count
    /// for the port.
    pub(super) fn rows(
        &self,
        star: &Star,
        readings: &[Reading],
        passed: &[Passed],
    ) -> Vec<Interface> {
        let row = |index: usize| {
            let ((state, counted), line) = (&readings[index], &passed[index]);
            Interface {
                tx_frames: Some(line.queue.tx_frames),
                tx_dropped: Some(counted.tx_dropped + line.queue.drop_frames),
                ..counted.in_row(state.row(
                    &star.switch,
                    Some(&star.lines[index].host),
                    &self.all[index].0,
                ))
            }
        };
        (0..self.all.len()).map(row).collect()
    }
}

/// Counts between two readings.
pub(super) fn since(now: Vec<Reading>, then: &[Reading]) -> Vec<Reading> {
    now.into_iter().zip(then).map(|((state, now), (_, then))| (state, now.since(*then))).collect()
}
