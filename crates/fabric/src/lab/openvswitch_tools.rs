//! The short commands that configure and query Open vSwitch, each with a time limit.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Database, sockets and everything else, in memory of the lab's own.
pub(super) const HOME: &str = "/run/tailrace-ovs";
/// How long a daemon may take until it listens, and the switch until it has its ports; both were
/// seen to take 0.3 s.
const START_WAIT: Duration = Duration::from_secs(10);
/// The same for the tools that ask a daemon (ovs-vsctl(8), ovs-appctl(8)).
const TOOL_LIMIT: &str = "--timeout=10";
/// A tool that has not ended by then is ended. If it has a limit of its own, it reports before that
/// what it waits for.
const TOOL_WAIT: Duration = Duration::from_secs(15);
const START_POLL: Duration = Duration::from_millis(5);

/// A command of Open vSwitch.
pub(super) fn tool(program: &str) -> Command {
    let mut command = Command::new(program);
    environment(&mut command);
    command
}

/// The tool that changes and reads the database.
pub(super) fn control() -> Command {
    let mut command = tool("ovs-vsctl");
    command.arg(TOOL_LIMIT).arg(format!("--db=unix:{HOME}/db.sock"));
    command
}

/// The tool that talks to the daemon that switches.
pub(super) fn switch_control() -> Command {
    let mut command = tool("ovs-appctl");
    command.args([TOOL_LIMIT, "-t"]).arg(format!("{HOME}/switch.ctl"));
    command
}

/// No path of the machine's own Open vSwitch is used.
pub(super) fn environment(command: &mut Command) -> &mut Command {
    let places = ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"];
    command
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs(places.map(|place| (place, HOME)))
}

/// Runs a short command; returns its output.
pub(super) fn run(command: &mut Command) -> io::Result<String> {
    run_within(TOOL_WAIT, command)
}

fn run_within(limit: Duration, command: &mut Command) -> io::Result<String> {
    let program = command.get_program().to_owned();
    let explain =
        |error: io::Error| io::Error::new(error.kind(), format!("starting {program:?}: {error}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(explain)?;
    let deadline = Instant::now() + limit;
    // Its output fits the pipes: one line for a port.
    while child.try_wait()?.is_none() {
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other(format!(
                "{program:?} has not ended after {} s",
                limit.as_secs_f64()
            )));
        }
        std::thread::sleep(START_POLL);
    }
    let done = child.wait_with_output()?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().last().unwrap_or("no reason was reported");
    Err(io::Error::other(format!("{program:?}: {last}")))
}

pub(super) fn wait_for(socket: &str, dir: &Path) -> io::Result<()> {
    let (path, deadline) = (Path::new(HOME).join(socket), Instant::now() + START_WAIT);
    while !path.exists() {
        if Instant::now() >= deadline {
            return Err(io::Error::other(format!(
                "Open vSwitch does not answer: see {}/ovsdb-server.log",
                dir.display()
            )));
        }
        std::thread::sleep(START_POLL);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_does_not_end_is_ended() {
        let refused = run_within(Duration::from_millis(50), Command::new("sleep").arg("600"));
        assert!(refused.expect_err("it sleeps").to_string().contains("has not ended"));
        assert_eq!(run(Command::new("echo").arg("said")).expect("it ends by itself"), "said\n");
    }
}
