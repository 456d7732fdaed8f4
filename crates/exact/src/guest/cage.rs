//! The keeper of a guest: a process that ends with the engine, and with which every process of the
//! guest ends.
//!
//! User-Mode Linux runs the programs of a guest in processes of the machine, stopped at each system
//! call. If its kernel were killed alone, they would go on, and their system calls would be the
//! machine's. So the kernel is the first process of a process namespace: whatever ends it ends the
//! rest.

use super::seccomp::deny_randomness;
use nix::sched::{CloneFlags, unshare};
use nix::sys::personality::{self, Persona};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{Uid, getegid, geteuid};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Runs a kernel with its arguments until it ends.
///
/// # Errors
/// When there is no process namespace, or the kernel cannot be started.
pub fn cage(kernel: &str, arguments: &[String]) -> Result<ExitCode, String> {
    let say = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    set_pdeathsig(Signal::SIGKILL).map_err(io::Error::from).map_err(say("asking for a signal"))?;
    enter_namespace()
        .map_err(say("making a process namespace (hint: as root, or allow user namespaces)"))?;
    // Addresses would differ from run to run, and with them the order of data that is kept by
    // address.
    let persona = personality::get().map(|persona| persona | Persona::ADDR_NO_RANDOMIZE);
    persona
        .and_then(personality::set)
        .map_err(io::Error::from)
        .map_err(say("setting the personality"))?;
    let mut command = Command::new(kernel);
    command.args(arguments);
    let mut child = spawn(&mut command).map_err(say("starting the kernel"))?;
    let status = child.wait().map_err(say("waiting for the kernel"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The next child is the first of a process namespace.
fn enter_namespace() -> io::Result<()> {
    if Uid::effective().is_root() && unshare(CloneFlags::CLONE_NEWPID).is_ok() {
        return Ok(());
    }
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWPID)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

#[expect(unsafe_code, reason = "pre_exec runs in the child between fork and exec")]
fn spawn(command: &mut Command) -> io::Result<std::process::Child> {
    let enter = || {
        set_pdeathsig(Signal::SIGKILL)?;
        deny_randomness()
    };
    // SAFETY: the closure makes system calls on its own stack, and allocates nothing.
    unsafe { command.pre_exec(enter) };
    command.spawn()
}
