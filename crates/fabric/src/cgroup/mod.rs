//! Control groups of a lab: one for each host, with its share of the processor, so that all
//! processes of a program can be found and ended.
//!
//! Version 1 (a hierarchy for each controller), version 2, and both side by side are found in
//! /proc/self/mountinfo. A lab's groups stand directly below the root of their hierarchy, where
//! version 2 allows controllers. Their name identifies their owner.

mod disk;
mod hierarchies;
mod owner;
mod stale;

pub use disk::IoLimits;
pub use hierarchies::Hierarchies;
pub use stale::{Cleared, clear};

use crate::sys::process::start_ticks;
use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The group of programs that belong to no host.
pub const NO_HOST: &str = "no-host";

/// The group of a host, by its index in the plan: names of hosts may have any letters.
pub fn member(host: usize) -> String {
    format!("host-{host}")
}

/// Period of the quota: the kernel's default, 100 ms.
const PERIOD_US: u64 = 100_000;
/// Smallest quota that the kernel takes.
const QUOTA_US_MIN: u64 = 1_000;
/// A lab's programs together weigh this many times what one ordinary program weighs (or one
/// service, in version 2): without it, forty databases would get as much of a core as one neighbour
/// that computes.
const WEIGHT: u64 = 100;
/// Weight of an ordinary program in version 1 (`cpu.shares`, see sched(7)).
const ORDINARY_SHARES: u64 = 1_024;
/// Weight of an ordinary group in version 2 (`cpu.weight`, 1 to 10 000; the kernel's cgroup-v2
/// page).
const ORDINARY_WEIGHT: u64 = 100;
/// How long to wait for a group to become empty after its processes were killed.
const EMPTY_WAIT: Duration = Duration::from_secs(10);
const EMPTY_POLL: Duration = Duration::from_millis(5);

/// The groups of one lab. They stay until [`Groups::remove`].
#[derive(Clone, Debug)]
pub struct Groups {
    hierarchies: Hierarchies,
    /// Name of the lab's group in every hierarchy.
    pub name: String,
}

impl Groups {
    /// The groups of the calling process, which are not there yet.
    ///
    /// # Errors
    /// When this process cannot be inspected.
    pub fn own(hierarchies: Hierarchies) -> io::Result<Groups> {
        let start = start_ticks("self").ok_or_else(|| io::Error::other("/proc is not mounted"))?;
        Ok(Groups {
            hierarchies,
            name: owner::name(std::process::id(), start, owner::observer().as_deref()),
        })
    }

    /// The groups of a lab that runs.
    pub fn named(hierarchies: Hierarchies, name: &str) -> Groups {
        Groups { hierarchies, name: name.to_owned() }
    }

    /// Makes them.
    ///
    /// # Errors
    /// When this machine has none or this user may not make groups.
    pub fn create(&self) -> io::Result<()> {
        if self.hierarchies.kind() == "none" {
            return Err(io::Error::other("none are mounted"));
        }
        self.hierarchies.roots().try_for_each(|root| fs::create_dir(root.join(&self.name)))?;
        if self.hierarchies.cpu.is_none()
            && let Some(root) = &self.hierarchies.unified
        {
            // Already on where something else uses it; where it cannot be had, a quota will be
            // refused later.
            let enable =
                |path: PathBuf| fs::write(path.join("cgroup.subtree_control"), "+cpu").is_ok();
            let _ = enable(root.clone()) && enable(root.join(&self.name));
        }
        self.weigh(WEIGHT);
        Ok(())
    }

    /// Lets the lab's programs go before neighbours that compute. A lab that may not is a lab all
    /// the same: its trials say how much of the machine was idle.
    fn weigh(&self, times: u64) {
        let (group, file, weight) = match (&self.hierarchies.cpu, &self.hierarchies.unified) {
            (Some(root), _) => (root, "cpu.shares", ORDINARY_SHARES * times),
            (None, Some(root)) => (root, "cpu.weight", ORDINARY_WEIGHT * times),
            (None, None) => return,
        };
        let _ = fs::write(group.join(&self.name).join(file), weight.to_string());
    }

    /// Does something in which a process joins a group. The kernel lets it in after an RCU grace
    /// period (`cgroup_procs_write_start`), which its own threads have to bring about: they would
    /// starve beside groups of the lab that always compute and weigh a hundred times as much. Until
    /// the process has joined, the lab weighs what one ordinary program does.
    pub fn while_joining<T>(&self, join: impl FnOnce() -> T) -> T {
        self.weigh(1);
        let done = join();
        self.weigh(WEIGHT);
        done
    }

    /// Makes the groups of one host.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add(&self, member: &str) -> io::Result<()> {
        self.paths(member).try_for_each(fs::create_dir)
    }

    /// The files by which a process joins the groups of a host.
    pub fn join_files(&self, member: &str) -> Vec<CString> {
        let file = |path: PathBuf| path.join("cgroup.procs").into_os_string().into_encoded_bytes();
        self.paths(member)
            .map(|path| CString::new(file(path)).expect("a name has no zero byte"))
            .collect()
    }

    /// The calling process joins the groups of a host. Programs of the lab weigh so much more than
    /// a process outside of its groups that it would hardly run beside some that always compute.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn join(&self, member: &str) -> io::Result<()> {
        self.paths(member).try_for_each(|path| fs::write(path.join("cgroup.procs"), "0"))
    }

    /// The folder of a host in version 2, if there is one.
    pub fn unified_path(&self, member: &str) -> Option<PathBuf> {
        Some(self.hierarchies.unified.as_ref()?.join(&self.name).join(member))
    }

    /// Whether the processor time of a host can be limited.
    pub fn can_limit_cpus(&self) -> bool {
        let offered = |root: &PathBuf| {
            fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default()
        };
        let has_cpu =
            |root: &PathBuf| offered(root).split_whitespace().any(|controller| controller == "cpu");
        self.hierarchies.cpu.is_some() || self.hierarchies.unified.as_ref().is_some_and(has_cpu)
    }

    /// Limits the processor time of a host (1.0 is one core).
    ///
    /// # Errors
    /// When the machine has no `cpu` controller or the kernel refuses the number.
    pub fn limit_cpus(&self, member: &str, cpus: f64) -> io::Result<()> {
        let quota_us = ((cpus * PERIOD_US as f64) as u64).max(QUOTA_US_MIN);
        if let Some(root) = &self.hierarchies.cpu {
            let path = root.join(&self.name).join(member);
            fs::write(path.join("cpu.cfs_period_us"), PERIOD_US.to_string())?;
            return fs::write(path.join("cpu.cfs_quota_us"), quota_us.to_string());
        }
        let path = self
            .unified_path(member)
            .ok_or_else(|| io::Error::other("this machine has no control groups"))?;
        fs::write(path.join("cpu.max"), format!("{quota_us} {PERIOD_US}"))
    }

    fn paths(&self, member: &str) -> impl Iterator<Item = PathBuf> {
        self.hierarchies.roots().map(move |root| root.join(&self.name).join(member))
    }

    /// Ends every process in the lab's groups and removes them. Returns whether nothing is left.
    pub fn remove(&self) -> bool {
        self.hierarchies.all_roots().filter(|root| !remove_tree(&root.join(&self.name))).count()
            == 0
    }
}

/// Kills the processes in a group and below it, and removes the folders, deepest first.
fn remove_tree(path: &Path) -> bool {
    let deadline = Instant::now() + EMPTY_WAIT;
    while path.exists() && Instant::now() < deadline {
        kill_all(path);
        remove_folders(path);
        if path.exists() {
            std::thread::sleep(EMPTY_POLL);
        }
    }
    !path.exists()
}

fn kill_all(path: &Path) {
    if OpenOptions::new()
        .write(true)
        .open(path.join("cgroup.kill"))
        .is_ok_and(|mut file| file.write_all(b"1").is_ok())
    {
        return; // version 2 since Linux 5.14 ends the whole tree
    }
    folders_in(path).iter().for_each(|folder| kill_all(folder));
    let processes = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    for pid in processes.lines().filter_map(|line| line.parse().ok()).filter(|&pid: &i32| pid > 0) {
        // It may have ended by itself; whether the group is empty is seen at its removal.
        let _ = nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(pid),
            nix::sys::signal::Signal::SIGKILL,
        );
    }
}

fn remove_folders(path: &Path) {
    folders_in(path).iter().for_each(|folder| remove_folders(folder));
    let _ = fs::remove_dir(path); // fails while a process ends; tried again until the deadline
}

fn folders_in(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_a_lab_weigh_more_than_a_neighbour() {
        for (version, file, weight) in [(1, "cpu.shares", "102400"), (2, "cpu.weight", "10000")] {
            let root = std::env::temp_dir()
                .join(format!("tailrace-weight-{}-{version}", std::process::id()));
            fs::create_dir_all(&root).expect("there is a place for scratch files");
            let (cpu, unified) =
                if version == 1 { (Some(root.clone()), None) } else { (None, Some(root.clone())) };
            let groups = Groups::named(Hierarchies { cpu, unified, blkio: None }, "tailrace-test");
            groups.create().expect("folders can be made");
            let read = || {
                fs::read_to_string(root.join("tailrace-test").join(file)).expect("it was written")
            };
            let (before, joining) = (read(), groups.while_joining(read));
            let after = read();
            fs::remove_dir_all(&root).expect("it is ours");
            assert_eq!(
                (before.as_str(), joining.as_str(), after.as_str()),
                (weight, &weight[..weight.len() - 2], weight)
            );
        }
    }

    #[test]
    fn version_2_limits_a_host_where_it_has_the_controller() {
        let root = std::env::temp_dir().join(format!("tailrace-limit-{}", std::process::id()));
        fs::create_dir_all(&root).expect("there is a place for scratch files");
        let groups = Groups::named(
            Hierarchies { cpu: None, unified: Some(root.clone()), blkio: None },
            "tailrace-test",
        );
        assert!(!groups.can_limit_cpus());
        fs::write(root.join("cgroup.controllers"), "cpuset cpu io\n").expect("it is ours");
        assert!(groups.can_limit_cpus());
        groups.create().and_then(|()| groups.add("host-0")).expect("folders can be made");
        groups.limit_cpus("host-0", 0.25).expect("a file can be written");
        let read = |name: &str| fs::read_to_string(root.join(name)).expect("it was written");
        let written = [
            "cgroup.subtree_control",
            "tailrace-test/cgroup.subtree_control",
            "tailrace-test/host-0/cpu.max",
        ]
        .map(read);
        fs::remove_dir_all(&root).expect("it is ours");
        assert_eq!(written, ["+cpu", "+cpu", "25000 100000"]);
    }
}
