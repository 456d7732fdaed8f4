//! Where frames are sent: the namespace, the interface, and what the interface counts.

use super::Order;
use nix::sched::{CloneFlags, setns};
use std::fs::{self, File};
use std::path::PathBuf;

/// What an interface has sent and dropped by its own account (/proc/net/dev).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counters {
    pub(super) frames: u64,
    pub(super) dropped: u64,
}

impl Counters {
    /// What came after an earlier look.
    pub(super) fn since(&self, before: &Counters) -> Counters {
        let (frames, dropped) = (self.frames.saturating_sub(before.frames), self.dropped.saturating_sub(before.dropped));
        Counters { frames, dropped }
    }
}

/// Enters the namespace and returns the number of the interface.
pub(super) fn enter(order: &Order) -> Result<u32, String> {
    let started_in = own_namespace();
    if let Some(path) = &order.namespace {
        let file = File::open(path).map_err(|error| format!("{}: {error} (hint: `ip netns list`)", path.display()))?;
        setns(file, CloneFlags::CLONE_NEWNET).map_err(|error| format!("{}: {error} (root is needed)", path.display()))?;
    }
    let name = &order.interface;
    if !order.is_machine_allowed && is_of_machine(started_in) {
        return Err(format!(
            "{name} is an interface of this machine, not of a namespace: frames could leave it (hint: --yes sends all the same)"
        ));
    }
    nix::net::if_::if_nametoindex(name.as_str()).map_err(|_| {
        let known = fs::read_to_string(DEVICES).unwrap_or_default();
        let names: Vec<&str> = rows(&known).map(|(name, _)| name).collect();
        format!("there is no interface '{name}' (hint: interfaces: {})", names.join(", "))
    })
}

/// Whether this is the network namespace of the first process: interfaces of the machine, not of a lab.
/// Where the namespace of that process cannot be read, the one in which this program began stands for it.
fn is_of_machine(started_in: Option<PathBuf>) -> bool {
    let own = own_namespace();
    let machine = fs::read_link("/proc/1/ns/net").ok().or(started_in);
    own.is_none() || machine.is_none() || own == machine
}

fn own_namespace() -> Option<PathBuf> {
    fs::read_link("/proc/thread-self/ns/net").ok()
}

/// Of the thread's namespace.
const DEVICES: &str = "/proc/thread-self/net/dev";

/// What the interface has counted.
pub(super) fn counters(interface: &str) -> Result<Counters, String> {
    let text = fs::read_to_string(DEVICES).map_err(|error| format!("{DEVICES}: {error}"))?;
    let row = rows(&text).find(|(name, _)| *name == interface);
    row.map(|(_, counters)| counters).ok_or_else(|| format!("the interface {interface} has gone"))
}

/// Names with counters: sixteen columns, of which the tenth is frames sent and the twelfth frames dropped on sending.
fn rows(text: &str) -> impl Iterator<Item = (&str, Counters)> {
    text.lines().skip(2).filter_map(|line| {
        let (name, columns) = line.split_once(':')?;
        let columns: Vec<u64> = columns.split_whitespace().map_while(|column| column.parse().ok()).collect();
        Some((name.trim(), Counters { frames: *columns.get(9)?, dropped: *columns.get(11)? }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_of_an_interface_are_those_of_sending() {
        let text = "Inter-|   Receive\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        assert_eq!(rows(text).collect::<Vec<_>>(), [("lo", Counters { frames: 10, dropped: 12 })]);
        let later = Counters { frames: 15, dropped: 12 };
        assert_eq!(later.since(&Counters { frames: 10, dropped: 12 }), Counters { frames: 5, dropped: 0 });
    }
}
