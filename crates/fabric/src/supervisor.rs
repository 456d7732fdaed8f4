//! The supervisor, the process between the client and a lab: it creates the control groups, which
//! outlive the lab, starts the lab as the first process of a process namespace, and cleans up when
//! the lab ends or its input is closed.

use crate::cgroup::{self, Groups, Hierarchies};
use crate::cleanup::{self, CleanupHandle};
use crate::failure::report_failure;
use crate::lab::{self, Setup};
use crate::sys::process::{Ending, Reaped, die_with_parent, fork, reap};
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{ForkResult, Pid, getgid, getuid, pipe2};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// How long a lab may take to end by itself after its input is closed.
const END_GRACE: Duration = Duration::from_secs(2);
/// Restarts of a killed cleanup process, at most.
const CLEANUP_RESTARTS_MAX: u32 = 16;
/// CAP_NET_ADMIN and CAP_SYS_ADMIN (linux/capability.h).
pub const CAPABILITIES_NEEDED: u64 = 1 << 12 | 1 << 21;

/// Runs a lab and cleans up after it.
///
/// # Errors
/// For the user: why the lab could not start, how it failed, and what remains of it.
pub fn run(mut setup: Setup) -> Result<(), String> {
    let is_held = setup.control.is_none();
    let signals = watch_signals().map_err(|error| error.to_string())?;
    setup.is_nested = become_root()?;
    if is_held {
        die_with_parent(Signal::SIGTERM).map_err(|error| error.to_string())?;
    }
    let groups = Groups::own(Hierarchies::find()).map_err(|error| error.to_string())?;
    let mut cleanup = GroupCleanup::prepare(groups)
        .map_err(|error| format!("starting the undertaker: {error}"))?;
    let ending = with_groups(&mut cleanup, setup, is_held, &signals);
    let left = (!cleanup.groups.remove()).then_some(cleanup.groups.name.as_str());
    tell(ending, left)
}

/// How a lab ended, and its remaining control groups.
fn tell(ending: Result<Ending, String>, left: Option<&str>) -> Result<(), String> {
    let ending = match ending {
        Ok(Ending::Exit(0)) => None,
        Ok(Ending::Exit(code)) => Some(format!("the lab ended with code {code}")),
        Ok(Ending::Signal(signal)) => Some(format!("the lab was ended by signal {signal}")),
        Err(error) => Some(error),
    };
    let left = left.map(|name| {
        format!(
            "the control groups {name} could not be removed (hint: run `tailrace-fabric clean`)"
        )
    });
    let all: Vec<String> = ending.into_iter().chain(left).collect();
    if all.is_empty() { Ok(()) } else { Err(all.join("; ")) }
}

/// The control groups, and the process that removes them when this process is killed.
struct GroupCleanup {
    groups: Groups,
    process: CleanupHandle,
    /// Restarts of a killed cleanup process that are still allowed.
    restarts_left: u32,
}

impl GroupCleanup {
    fn prepare(groups: Groups) -> io::Result<GroupCleanup> {
        let process = cleanup::start(|| groups.remove())?;
        Ok(GroupCleanup { groups, process, restarts_left: CLEANUP_RESTARTS_MAX })
    }

    /// Starts another cleanup process if the present one is among the children that have ended.
    fn restart_if_ended(&mut self, ended: &[Reaped]) -> io::Result<()> {
        if self.restarts_left > 0 && ended.iter().any(|reaped| reaped.pid == self.process.pid) {
            self.restarts_left -= 1;
            self.process = cleanup::start(|| self.groups.remove())?;
        }
        Ok(())
    }
}

fn with_groups(
    cleanup: &mut GroupCleanup,
    mut setup: Setup,
    is_held: bool,
    signals: &SignalFd,
) -> Result<Ending, String> {
    match make_groups(&cleanup.groups, &setup) {
        Ok(()) => setup.groups = Some(cleanup.groups.clone()),
        Err(error) => {
            setup.warnings.push(format!("no control groups ({error}): CPU limits cannot be set"))
        }
    }
    let own_space = File::open("/proc/self/ns/pid").map_err(|error| format!("/proc: {error}"))?;
    unshare(CloneFlags::CLONE_NEWPID)
        .map_err(|error| format!("creating a process namespace: {error}"))?;
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC).map_err(|error| error.to_string())?;
    match fork().map_err(|error| error.to_string())? {
        ForkResult::Child => {
            drop((writer, own_space));
            let code = match follow(&reader).and_then(|()| lab::run(setup)) {
                Ok(()) => 0,
                Err(error) => {
                    report_failure(&error);
                    1
                }
            };
            std::process::exit(code)
        }
        ForkResult::Parent { child } => {
            // A restarted cleanup process must not be in the lab's namespace, with which it would
            // end. Without the rights of root the namespace cannot be left, and there are no
            // control groups either.
            if setns(own_space, CloneFlags::CLONE_NEWPID).is_err() {
                cleanup.restarts_left = 0;
            }
            let ending = guard(child, cleanup, is_held, signals)
                .map_err(|error| format!("waiting for the lab: {error}"));
            drop(writer); // until here it says that the supervisor lives
            ending
        }
    }
}

/// From here on the lab ends with the supervisor, also if that was killed since the fork.
fn follow(supervisor: &OwnedFd) -> Result<(), String> {
    die_with_parent(Signal::SIGKILL).map_err(|error| error.to_string())?;
    // reports only the end of its other side
    let mut files = [PollFd::new(supervisor.as_fd(), PollFlags::empty())];
    match poll(&mut files, PollTimeout::ZERO) {
        Ok(0) => Ok(()),
        Ok(_) => Err("the guardian has ended".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn make_groups(groups: &Groups, setup: &Setup) -> io::Result<()> {
    groups.create()?;
    groups.add(cgroup::NO_HOST)?;
    (0..setup.plan.raw.hosts.len()).try_for_each(|host| groups.add(&cgroup::member(host)))
}

/// Waits until the lab has ended, and ends it on a signal or when the input is closed.
fn guard(
    lab: Pid,
    cleanup: &mut GroupCleanup,
    is_held: bool,
    signals: &SignalFd,
) -> io::Result<Ending> {
    let mut deadline = None;
    loop {
        let ended: Vec<Reaped> = std::iter::from_fn(reap).collect();
        if let Some(reaped) = ended.iter().find(|reaped| reaped.pid == lab) {
            return Ok(reaped.ending);
        }
        cleanup.restart_if_ended(&ended)?;
        let left =
            deadline.map(|deadline: Instant| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            kill(lab, Signal::SIGKILL)?;
        }
        let input = io::stdin();
        let mut files = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        if is_held && deadline.is_none() {
            files.push(PollFd::new(input.as_fd(), PollFlags::empty())); // reports only its end
        }
        let limit = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut files, limit) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        if files.get(1).is_some_and(|input| input.any().unwrap_or(false)) {
            deadline = Some(Instant::now() + END_GRACE);
        }
        while let Ok(Some(signal)) = signals.read_signal() {
            if signal.ssi_signo != Signal::SIGCHLD as u32 {
                kill(lab, Signal::SIGKILL)?;
            }
        }
    }
}

/// Signals become readable. The lab and its programs set their own masks.
fn watch_signals() -> io::Result<SignalFd> {
    let mut signals = SigSet::empty();
    [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]
        .into_iter()
        .for_each(|signal| signals.add(signal));
    signals.thread_set_mask()?;
    Ok(SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}

/// Without the rights that a lab needs, becomes root in a user namespace. Returns whether root is
/// all the users that there are, as in such a namespace.
fn become_root() -> Result<bool, String> {
    if capabilities() & CAPABILITIES_NEEDED == CAPABILITIES_NEEDED {
        let users = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        return Ok(is_one_user(&users));
    }
    let (user, group) = (getuid(), getgid());
    let refused = |error: nix::Error| {
        format!(
            "a lab needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN, or user namespaces, which this machine does not permit: {error}"
        )
    };
    unshare(CloneFlags::CLONE_NEWUSER).map_err(refused)?;
    let write = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text)
            .map_err(|error| format!("/proc/self/{file}: {error}"))
    };
    write("setgroups", "deny".into())?;
    write("uid_map", format!("0 {user} 1"))?;
    write("gid_map", format!("0 {group} 1"))?;
    Ok(true)
}

/// Whether a map of users (user_namespaces(7): first inside, first outside, how many) has one user.
fn is_one_user(map: &str) -> bool {
    let counts: Vec<&str> = map.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    counts == ["1"]
}

/// Effective capabilities of this process, a bit each.
pub fn capabilities() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_does_not_hide_how_the_lab_ended() {
        assert_eq!(tell(Ok(Ending::Exit(0)), None), Ok(()));
        assert_eq!(tell(Ok(Ending::Signal(9)), None), Err("the lab was ended by signal 9".into()));
        let error = tell(Err("no process namespace".into()), Some("tailrace-1"))
            .expect_err("two things went wrong");
        assert!(
            error.starts_with("no process namespace; ") && error.contains("tailrace-1"),
            "{error}"
        );
    }

    #[test]
    fn one_user_and_many_are_distinguished() {
        assert!(is_one_user("         0       1000          1\n"));
        assert!(!is_one_user("         0          0 4294967295\n"));
        assert!(!is_one_user("0 1000 1\n1 100000 65536\n"));
        assert!(!is_one_user(""));
    }
}
