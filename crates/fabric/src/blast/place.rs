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
    let began = namespace_of("thread-self");
    if let Some(path) = &order.namespace {
        let file = File::open(path).map_err(|error| format!("{}: {error} (hint: `ip netns list`)", path.display()))?;
        setns(file, CloneFlags::CLONE_NEWNET).map_err(|error| format!("{}: {error} (root is needed)", path.display()))?;
    }
    let name = &order.interface;
    if !order.is_machine_allowed && is_of_machine(namespace_of("thread-self"), namespace_of("1"), began) {
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

/// The network namespace of a process; none where that cannot be read.
fn namespace_of(process: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/ns/net")).ok()
}

/// Whether a namespace is that of the first process: interfaces of the machine, not of a lab. Where the first process cannot be
/// looked at (in a container without CAP_SYS_PTRACE), one that this program has entered is another, and one in which it began
/// counts as the machine's.
fn is_of_machine(own: Option<PathBuf>, first: Option<PathBuf>, began: Option<PathBuf>) -> bool {
    let machine = first.or(began);
    own.is_none() || machine.is_none() || own == machine
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
    fn a_namespace_is_the_machine_s_if_it_is_that_of_the_first_process_or_nothing_tells() {
        let [machine, lab, other] = ["net:[1]", "net:[2]", "net:[3]"].map(|name| Some(PathBuf::from(name)));
        assert!(is_of_machine(machine.clone(), machine.clone(), machine.clone()));
        assert!(is_of_machine(machine.clone(), machine.clone(), lab.clone()), "entered from a lab");
        assert!(!is_of_machine(lab.clone(), machine.clone(), lab.clone()), "began in a lab");
        assert!(!is_of_machine(lab.clone(), None, machine.clone()), "entered, and the first process is hidden");
        assert!(is_of_machine(lab.clone(), None, lab.clone()), "began in it, and the first process is hidden");
        assert!(is_of_machine(None, other, lab) && is_of_machine(None, None, None), "unknown");
        assert!(is_of_machine(machine, None, None), "unknown");
    }

    #[test]
    fn the_counters_of_an_interface_are_those_of_sending() {
        let text = "Inter-|   Receive\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        assert_eq!(rows(text).collect::<Vec<_>>(), [("lo", Counters { frames: 10, dropped: 12 })]);
        let later = Counters { frames: 15, dropped: 12 };
        assert_eq!(later.since(&Counters { frames: 10, dropped: 12 }), Counters { frames: 5, dropped: 0 });
    }
}
