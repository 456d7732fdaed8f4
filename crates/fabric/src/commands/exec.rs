//! `tailrace-fabric exec`: runs a user's program on a host of a running lab, with the terminal of
//! the caller.

use crate::cgroup::{Groups, Hierarchies, NO_HOST, member};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{SigHandler, Signal, signal};
use serde_json::Value;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use tailrace_lab::options::{Words, required, unknown};

/// Exit codes of a shell when a program is not there, when it cannot be run, and, above this, when
/// a signal ended it (POSIX, Shell Command Language, 2.8.2).
const NOT_FOUND: u8 = 127;
const NOT_TO_RUN: u8 = 126;
const BY_SIGNAL: i32 = 128;

pub(super) fn run(mut words: Words) -> Result<ExitCode, String> {
    let (mut dir, mut host) = (None, None);
    let argv = loop {
        match words.next().as_deref() {
            Some("--dir") => dir = Some(words.path()?),
            Some("--") => break words.rest(),
            Some(name) if host.is_none() && !name.starts_with('-') => host = Some(name.to_owned()),
            Some(other) => return unknown(other),
            None => return Err("`-- PROGRAM` is missing".into()),
        }
    };
    let (dir, host) = (required(dir, "--dir")?, required(host, "the name of a host")?);
    let [program, arguments @ ..] = argv.as_slice() else {
        return Err("the program after `--` is missing".into());
    };
    let cwd = std::env::current_dir().ok();
    join(&state(&dir)?, &host)?;
    let mut command = Command::new(program);
    command.args(arguments);
    // The lab's mount namespace has the same folders, apart from those that it keeps to itself.
    if let Some(cwd) = cwd.filter(|cwd| cwd.is_dir()) {
        command.current_dir(cwd);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            crate::failure::tell_people(&format!("starting {program:?} on {host:?}: {error}"));
            return Ok(ExitCode::from(if error.kind() == io::ErrorKind::NotFound {
                NOT_FOUND
            } else {
                NOT_TO_RUN
            }));
        }
    };
    ignore_interrupts().map_err(|error| error.to_string())?;
    let status = child.wait().map_err(|error| format!("waiting for {program:?}: {error}"))?;
    Ok(ExitCode::from(code_of(status)))
}

/// The exit code that a shell reports.
fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| BY_SIGNAL + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// The state file of a lab.
fn state(dir: &Path) -> Result<Value, String> {
    let path = dir.join("lab.json");
    let text = fs::read_to_string(&path).map_err(|error| {
        format!("{}: {error} (hint: choose the folder of a lab)", path.display())
    })?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The calling process joins the control groups and the namespaces of a host; its children join the
/// process namespace.
fn join(state: &Value, host: &str) -> Result<(), String> {
    let pid = state["lab_pid"].as_i64().ok_or("lab.json has no lab_pid")?;
    let file = state["network_files"][host]
        .as_i64()
        .ok_or_else(|| format!("the lab has no host named {host:?}"))?;
    let open = |path: String| {
        File::open(&path).map_err(|error| format!("{path}: {error} (hint: the lab may have ended)"))
    };
    let network = open(format!("/proc/{pid}/fd/{file}"))?;
    let spaces = ["ipc", "mnt", "pid"].map(|space| open(format!("/proc/{pid}/ns/{space}")));
    if let Some(name) = state["cgroup"].as_str() {
        let groups = Groups::named(Hierarchies::find(), name);
        let index =
            state["hosts"].as_array().into_iter().flatten().position(|found| found["name"] == host);
        for group in groups.join_files(&index.map_or(NO_HOST.to_owned(), member)) {
            let path = group.to_string_lossy().into_owned();
            fs::write(&path, "0").map_err(|error| format!("{path}: {error}"))?;
        }
    }
    let user = format!("/proc/{pid}/ns/user");
    let is_nested = fs::read_link(&user).ok() != fs::read_link("/proc/self/ns/user").ok();
    let user = is_nested.then(|| open(user)).transpose()?;
    let explain = |error: nix::Error| format!("joining {host:?}: {error} (root is needed)");
    if let Some(user) = user {
        setns(user, CloneFlags::CLONE_NEWUSER).map_err(explain)?;
    }
    setns(network, CloneFlags::CLONE_NEWNET).map_err(explain)?;
    for space in spaces {
        setns(space?, CloneFlags::empty()).map_err(explain)?;
    }
    unshare(CloneFlags::CLONE_NEWUTS).map_err(explain)?;
    nix::unistd::sethostname(host).map_err(explain)
}

/// The terminal's interrupt is for the program: we report how it ended.
#[expect(unsafe_code, reason = "a handler may run anywhere; ignoring runs nothing")]
fn ignore_interrupts() -> nix::Result<()> {
    for interrupt in [Signal::SIGINT, Signal::SIGQUIT] {
        // SAFETY: no code of ours runs on the signal.
        unsafe { signal(interrupt, SigHandler::SigIgn) }?;
    }
    Ok(())
}
