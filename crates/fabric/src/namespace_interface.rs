//! An interface of a network namespace, for commands that send or receive frames there.

use crate::interface_counters::names;
use nix::sched::{CloneFlags, setns};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Enters the namespace, if there is one, and returns the number of the interface there. `refusal`:
/// why an interface of the machine must not be used, and a hint.
///
/// # Errors
/// For the user.
pub(crate) fn enter(
    namespace: Option<&Path>,
    name: &str,
    refusal: Option<&str>,
) -> Result<u32, String> {
    let began = namespace_of("thread-self");
    if let Some(path) = namespace {
        let file = File::open(path)
            .map_err(|error| format!("{}: {error} (hint: `ip netns list`)", path.display()))?;
        setns(file, CloneFlags::CLONE_NEWNET)
            .map_err(|error| format!("{}: {error} (root is needed)", path.display()))?;
    }
    if let Some(refusal) = refusal
        && is_of_machine(namespace_of("thread-self"), namespace_of("1"), began)
    {
        return Err(format!(
            "{name} is an interface of this machine, not of a namespace: {refusal}"
        ));
    }
    nix::net::if_::if_nametoindex(name).map_err(|_| {
        format!("there is no interface '{name}' (hint: interfaces: {})", names().join(", "))
    })
}

/// The network namespace of a process; none where that cannot be read.
fn namespace_of(process: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/ns/net")).ok()
}

/// Whether a namespace is that of the first process: interfaces of the machine, not of a lab. If
/// the first process cannot be inspected (in a container without CAP_SYS_PTRACE), a namespace that
/// this program has entered counts as another one, and the one in which it began as the machine's.
fn is_of_machine(own: Option<PathBuf>, first: Option<PathBuf>, began: Option<PathBuf>) -> bool {
    let machine = first.or(began);
    own.is_none() || machine.is_none() || own == machine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_the_machine_s_if_it_is_that_of_the_first_process_or_nothing_tells() {
        let [machine, lab, other] =
            ["net:[1]", "net:[2]", "net:[3]"].map(|name| Some(PathBuf::from(name)));
        assert!(is_of_machine(machine.clone(), machine.clone(), machine.clone()));
        assert!(is_of_machine(machine.clone(), machine.clone(), lab.clone()), "entered from a lab");
        assert!(!is_of_machine(lab.clone(), machine.clone(), lab.clone()), "began in a lab");
        assert!(
            !is_of_machine(lab.clone(), None, machine.clone()),
            "entered, and the first process is hidden"
        );
        assert!(
            is_of_machine(lab.clone(), None, lab.clone()),
            "began in it, and the first process is hidden"
        );
        assert!(is_of_machine(None, other, lab) && is_of_machine(None, None, None), "unknown");
        assert!(is_of_machine(machine, None, None), "unknown");
    }
}
