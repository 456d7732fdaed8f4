//! Programs of a lab: started in the namespace and the control group of their host, and reaped.

use super::hosts::Host;
use super::mounts;
use super::protocol::Spawn;
use crate::cgroup::{self, Groups};
use crate::sys::bpf;
use crate::sys::process::{ChildSetup, Ending, Reaped, core_set, spawn};
use nix::sched::CpuSet;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, getgrouplist};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Instant;

/// Prefix of the name of a group of one program: no host has it.
const OWN_GROUP: &str = "own-";

/// A running program.
#[derive(Debug)]
pub struct Programs {
    /// None where this machine or this user has no control groups.
    groups: Option<Groups>,
    /// Inside a user namespace root is the only user.
    is_nested: bool,
    /// The lab itself is in the group of programs without a host: processes that it starts are
    /// there without joining.
    is_member: bool,
    running: BTreeMap<i32, Running>,
    /// Groups for priorities and code points that exist.
    prioritised: BTreeSet<String>,
    /// Groups of single programs that exist.
    own: BTreeSet<String>,
}

#[derive(Debug)]
struct Running {
    name: String,
    since: Instant,
}

impl Programs {
    /// None run.
    pub fn new(groups: Option<Groups>, is_nested: bool, is_member: bool) -> Programs {
        Programs {
            groups,
            is_nested,
            is_member,
            running: BTreeMap::new(),
            prioritised: BTreeSet::new(),
            own: BTreeSet::new(),
        }
    }

    /// Whether programs can have priorities and code points: control groups of version 2, and
    /// programs for the kernel in them.
    pub fn can_prioritise(&self) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.unified_path(cgroup::NO_HOST).is_some())
            && bpf::are_allowed()
    }

    /// Starts a program. Returns its number.
    ///
    /// # Errors
    /// The fault, for the user.
    pub fn start(&mut self, order: &Spawn, host: Option<&Host>) -> Result<Pid, String> {
        if self.running.values().any(|running| running.name == order.name) {
            return Err(format!("a program named {:?} is already running", order.name));
        }
        let [program, arguments @ ..] = order.argv.as_slice() else {
            return Err("argv is empty".into());
        };
        let member = self.member(order, host)?;
        let member = member.as_str();
        if let Some(cpus) = order.cpus {
            self.limit(member, cpus)?;
        }
        let mut command = Command::new(program);
        command.args(arguments).env_clear();
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path))).envs(&order.env);
        if let Some(cwd) = &order.cwd {
            command.current_dir(cwd);
        }
        let output = create(&order.stdout)?;
        let errors = if order.stderr == order.stdout {
            output.try_clone().map_err(|e| e.to_string())?
        } else {
            create(&order.stderr)?
        };
        command.stdin(input(order.stdin.as_deref())?).stdout(output).stderr(errors);
        let entry = ChildSetup {
            network: host.map(|host| host.namespace.as_raw_fd()),
            groups: self.groups_of(order, member)?,
            cores: order.cores.as_deref().map(cores).transpose()?,
            hostname: host.map(|host| host.name.clone()),
            user: if self.is_nested {
                None
            } else {
                order.user.as_deref().map(user).transpose()?
            },
            nests: self.is_nested && order.user.is_some(),
        };
        let joins = self.groups.as_ref().filter(|_| !entry.groups.is_empty());
        let started = match joins {
            Some(groups) => groups.while_joining(|| spawn(&mut command, entry)),
            None => spawn(&mut command, entry),
        };
        let pid = started.map_err(|error| format!("starting {program:?}: {error}"))?;
        self.running
            .insert(pid.as_raw(), Running { name: order.name.clone(), since: Instant::now() });
        Ok(pid)
    }

    /// The control group of a program: its host's, or one of its own, as a hypervisor has one for
    /// each machine.
    fn member(&mut self, order: &Spawn, host: Option<&Host>) -> Result<String, String> {
        let Some(own) = &order.group else {
            return Ok(host.map_or(cgroup::NO_HOST, |host| &host.group).to_owned());
        };
        if own.is_empty()
            || !own.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
        {
            return Err(format!("group {own:?}: a name has letters, digits, - and _"));
        }
        let member = format!("{OWN_GROUP}{own}");
        if let Some(groups) = &self.groups
            && self.own.insert(own.clone())
        {
            groups.add(&member).map_err(|error| format!("group {own:?}: {error}"))?;
        }
        Ok(member)
    }

    /// The groups that a program joins: none where it is in the right one from its start.
    fn groups_of(&mut self, order: &Spawn, member: &str) -> Result<Vec<CString>, String> {
        let is_there = order.observes || member == cgroup::NO_HOST;
        let is_marked = order.priority.is_some() || order.dscp.is_some();
        let mut files = match self.is_member && is_there && !is_marked {
            true => vec![],
            false => self.join_files(member, order.priority, order.dscp)?,
        };
        if let Some(limits) = &order.io {
            let groups =
                self.groups.as_ref().ok_or("io: this machine or user has no control groups")?;
            files.extend(groups.limit_io(member, limits).map_err(|error| format!("io: {error}"))?);
        }
        Ok(files)
    }

    fn limit(&self, member: &str, cpus: f64) -> Result<(), String> {
        if !(cpus > 0.0 && cpus.is_finite()) {
            return Err(format!("cpus is {cpus}: it must be a number of cores above zero"));
        }
        let groups =
            self.groups.as_ref().ok_or("cpus: this machine or user has no control groups")?;
        groups.limit_cpus(member, cpus).map_err(|error| format!("cpus: {error}"))
    }

    /// Where a program is put. A priority or a code point needs a group of its own, to which the
    /// kernel's programs are attached.
    fn join_files(
        &mut self,
        member: &str,
        priority: Option<u8>,
        dscp: Option<u8>,
    ) -> Result<Vec<CString>, String> {
        let wanted = priority.is_some() || dscp.is_some();
        let Some(groups) = &self.groups else {
            return if wanted {
                Err("priority and dscp: there are no control groups".into())
            } else {
                Ok(vec![])
            };
        };
        if !wanted {
            return Ok(groups.join_files(member));
        }
        let (priority, dscp) = (priority.unwrap_or(0), dscp.unwrap_or(0));
        if priority > 7 || dscp > 63 {
            return Err(format!(
                "priority is {priority} and dscp is {dscp}: they must be 0 to 7 and 0 to 63"
            ));
        }
        let inner = format!("{member}/priority-{priority}-dscp-{dscp}");
        if self.prioritised.insert(inner.clone()) {
            let explain = |error: std::io::Error| format!("priority or dscp: {error}");
            groups.add(&inner).map_err(explain)?;
            let path = groups
                .unified_path(&inner)
                .ok_or("priority and dscp: control groups of version 2 are required")?;
            let folder: OwnedFd = File::open(path).map_err(explain)?.into();
            bpf::prioritise_sockets(&folder, priority).map_err(explain)?;
            bpf::mark_connections(&folder, dscp, priority).map_err(explain)?;
        }
        Ok(groups.join_files(&inner))
    }

    /// Sends a signal to a program, or to its process group.
    ///
    /// # Errors
    /// The fault, for the user.
    pub fn signal(&self, name: &str, signal: &str, group: bool) -> Result<(), String> {
        let full =
            if signal.starts_with("SIG") { signal.to_owned() } else { format!("SIG{signal}") };
        let signal =
            Signal::from_str(&full).map_err(|_| format!("there is no signal {signal:?}"))?;
        let found = self.running.iter().find(|(_, running)| running.name == name);
        let (&pid, _) = found.ok_or_else(|| format!("no program named {name:?} is running"))?;
        let pid = if group { -pid } else { pid };
        kill(Pid::from_raw(pid), signal)
            .map_err(|error| format!("sending {full} to {name:?}: {error}"))
    }

    /// A child has ended. Returns the event, when it was a program of ours and not a stray
    /// descendant of one.
    pub fn ended(&mut self, reaped: &Reaped) -> Option<Value> {
        let running = self.running.remove(&reaped.pid.as_raw())?;
        let status = match reaped.ending {
            Ending::Exit(code) => json!({ "exit": code }),
            Ending::Signal(signal) => json!({ "signal": signal }),
        };
        Some(json!({
            "event": "exited",
            "name": running.name,
            "status": status,
            "user_s": reaped.user.as_secs_f64(),
            "system_s": reaped.system.as_secs_f64(),
            "max_rss_bytes": reaped.max_rss_bytes,
            "voluntary_switches": reaped.voluntary_switches,
            "involuntary_switches": reaped.involuntary_switches,
            "wall_s": running.since.elapsed().as_secs_f64(),
        }))
    }
}

fn cores(wanted: &[usize]) -> Result<CpuSet, String> {
    if wanted.is_empty() {
        return Err("cores: the list is empty".into());
    }
    core_set(wanted).map_err(|core| format!("cores: no machine has a core {core}"))
}

fn input(path: Option<&Path>) -> Result<Stdio, String> {
    let Some(path) = path else { return Ok(Stdio::null()) };
    File::open(path)
        .map(Stdio::from)
        .map_err(|error| format!("opening {}: {error}", path.display()))
}

fn create(path: &Path) -> Result<File, String> {
    if mounts::is_private(path) {
        return Err(format!(
            "{} would be removed with the lab: choose another folder",
            path.display()
        ));
    }
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(path);
    file.map_err(|error| format!("creating {}: {error}", path.display()))
}

/// Number, group and further groups of a user.
fn user(name: &str) -> Result<(u32, u32, Vec<u32>), String> {
    let user =
        User::from_name(name).map_err(|error| format!("looking up the user {name:?}: {error}"))?;
    let user = user.ok_or_else(|| format!("this machine has no user {name:?}"))?;
    let text = CString::new(name).map_err(|_| "a user's name has no zero byte")?;
    let groups =
        getgrouplist(&text, user.gid).map_err(|error| format!("groups of {name:?}: {error}"))?;
    Ok((
        user.uid.as_raw(),
        user.gid.as_raw(),
        groups.into_iter().map(|group| group.as_raw()).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_its_own_has_a_plain_name_and_no_hosts() {
        let order = |group: Option<&str>| Spawn {
            name: "p".into(),
            host: None,
            argv: vec!["true".into()],
            env: BTreeMap::new(),
            cwd: None,
            user: None,
            stdin: None,
            stdout: "/o".into(),
            stderr: "/e".into(),
            cpus: None,
            cores: None,
            group: group.map(str::to_owned),
            priority: None,
            dscp: None,
            observes: false,
            io: None,
        };
        let mut programs = Programs::new(None, false, false);
        assert_eq!(programs.member(&order(Some("noise")), None).as_deref(), Ok("own-noise"));
        assert_eq!(programs.member(&order(None), None).as_deref(), Ok(cgroup::NO_HOST));
        assert!(
            programs.member(&order(Some("../host-0")), None).is_err()
                && programs.member(&order(Some("")), None).is_err()
        );
        assert!(cores(&[]).is_err_and(|error| error.contains("empty")));
    }

    #[test]
    fn an_observer_joins_no_group_where_the_lab_has_one() {
        let text =
            r#"{"name": "ss", "argv": ["ss"], "stdout": "/o", "stderr": "/e", "observes": true}"#;
        let observer: Spawn = serde_json::from_str(text).expect("it is an order");
        let order =
            Spawn { observes: false, ..serde_json::from_str(text).expect("it is an order") };
        let hierarchies =
            cgroup::Hierarchies { cpu: Some("/cpu".into()), ..cgroup::Hierarchies::default() };
        let joined = |is_member: bool, order: &Spawn, member: &str| {
            let mut programs =
                Programs::new(Some(Groups::named(hierarchies.clone(), "lab")), false, is_member);
            programs.groups_of(order, member).map(|files| files.len())
        };
        assert_eq!(joined(true, &observer, "host-0"), Ok(0));
        assert_eq!(joined(true, &order, "host-0"), Ok(1), "a program of a host is in its group");
        assert_eq!(joined(true, &order, cgroup::NO_HOST), Ok(0), "it is there");
        assert_eq!(
            joined(false, &observer, "host-0"),
            Ok(1),
            "the lab is in no group that ends with it"
        );
    }
}
