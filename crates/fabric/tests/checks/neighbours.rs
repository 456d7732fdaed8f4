//! Neighbours that compute beside a measurement: nothing but their end stops them, so they must not
//! outlive it.

use crate::common::program;
use crate::killing::is_running;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// They must be gone by then: many times the usual duration on a busy machine.
const GONE_WAIT: Duration = Duration::from_secs(20);

#[test]
fn a_neighbour_ends_with_a_killed_measurement() {
    let line = "exec 3<&0; \"$0\" compute <&3 & echo $!; exec 3<&-; wait";
    let mut command = Command::new("sh");
    command.args(["-c", line]).arg(program()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut starter = command.spawn().expect("there is a shell");
    let mut text = String::new();
    BufReader::new(starter.stdout.take().expect("it is piped"))
        .read_line(&mut text)
        .expect("it is a line");
    let neighbour: u32 = text.trim().parse().expect("the number of a process");
    // It computes by now, and what ends it is the death of the shell that has started it. If not,
    // it sees its input end.
    sleep(Duration::from_millis(200));
    starter.kill().expect("it is ours");
    drop(starter.stdin.take());
    starter.wait().expect("it is ours");
    let deadline = Instant::now() + GONE_WAIT;
    while is_running(neighbour) && Instant::now() < deadline {
        sleep(Duration::from_millis(10));
    }
    let is_left = is_running(neighbour);
    if is_left {
        kill(Pid::from_raw(neighbour as i32), Signal::SIGKILL).expect("it is ours");
    }
    assert!(!is_left, "it computes on");
}

#[test]
fn a_neighbour_without_a_holder_does_not_begin() {
    let (input, other) = UnixStream::pair().expect("there is room for files");
    drop(other);
    let mut command = Command::new(program());
    let mut neighbour =
        command.arg("compute").stdin(OwnedFd::from(input)).spawn().expect("it starts");
    let deadline = Instant::now() + GONE_WAIT;
    let ended = loop {
        match neighbour.try_wait().expect("it is a child") {
            None if Instant::now() < deadline => sleep(Duration::from_millis(10)),
            ended => break ended,
        }
    };
    if ended.is_none() {
        neighbour.kill().and_then(|()| neighbour.wait()).expect("it is a child");
    }
    assert!(ended.is_some_and(|status| status.success()), "it computes for no holder");
}
