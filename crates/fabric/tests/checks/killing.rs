//! Whatever is killed, at whatever moment, nothing stays. A few rounds with every run of the tests;
//! `TAILRACE_KILL_ROUNDS` says how many.

use crate::common::{fifo, folder, groups_of, is_root, program, two_switches};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tailrace_units::RandomStream;

/// Rounds of an ordinary run.
const ROUNDS: u64 = 12;
/// The kill comes at most so long after the start; a lab is ready after some tens of milliseconds.
const LATEST_US: u64 = 250_000;
/// Everything must be gone by then: several times the usual duration on a busy machine.
const GONE_WAIT: Duration = Duration::from_secs(20);

/// The part that is killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Victim {
    /// The process that holds the lab's input.
    Holder,
    Supervisor,
    Lab,
    Cleanup,
    Program,
}

const VICTIMS: [Victim; 5] =
    [Victim::Holder, Victim::Supervisor, Victim::Lab, Victim::Cleanup, Victim::Program];

#[test]
fn nothing_stays_when_any_part_is_killed_at_any_moment() {
    if !is_root("nothing_stays_when_any_part_is_killed_at_any_moment") {
        return;
    }
    let rounds = std::env::var("TAILRACE_KILL_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(ROUNDS);
    let mut random = RandomStream::new(1, "killing");
    let before = outside();
    for round in 0..rounds {
        let victim = VICTIMS[random.below(VICTIMS.len() as u64) as usize];
        let after = Duration::from_micros(random.below(LATEST_US));
        let dir = folder(&format!("kill-{round}"));
        fs::write(dir.join("plan.json"), two_switches(100_000_000, &fifo(100_000)).to_string())
            .expect("the folder is there");
        let left = kill_one(&dir, victim, after);
        assert_eq!(left, Vec::<String>::new(), "round {round}: {victim:?} killed after {after:?}");
    }
    assert_eq!(outside(), before);
}

/// Starts a lab with programs in it and kills one part of it. Returns the remains when everything
/// should be gone.
fn kill_one(dir: &Path, victim: Victim, after: Duration) -> Vec<String> {
    let mut holder = start(dir);
    let start = Instant::now();
    let programs = fill(&mut holder, dir);
    sleep(after.saturating_sub(start.elapsed()));
    let supervisor = children(holder.id()).first().copied();
    let found = supervisor.and_then(|supervisor| match victim {
        Victim::Holder => Some(holder.id()),
        Victim::Supervisor => Some(supervisor),
        // The cleanup process is started before the lab.
        Victim::Cleanup => children(supervisor).first().copied(),
        Victim::Lab => children(supervisor).get(1).copied(),
        Victim::Program => {
            children(supervisor).get(1).and_then(|&lab| children(lab).first().copied())
        }
    });
    if let Some(pid) = found {
        // It may have ended between the wake-up and the kill.
        let _ = kill(Pid::from_raw(pid as i32), Signal::SIGKILL);
    }
    drop(holder.stdin.take()); // where the victim's death does not end the lab, this does
    let deadline = Instant::now() + GONE_WAIT;
    loop {
        let left = left_of(dir, supervisor);
        if left.is_empty() || Instant::now() > deadline {
            let _ = holder.kill(); // it waits for the supervisor, which is gone
            let _ = holder.wait();
            let _ = programs.join();
            return left;
        }
        sleep(Duration::from_millis(10));
    }
}

/// A lab that is held by a shell, so that its holder can be killed.
fn start(dir: &Path) -> Child {
    let line = "exec 3<&0; \"$0\" lab --plan \"$1/plan.json\" --dir \"$1\" <&3 & exec 3<&-; exec <&-; wait";
    let mut command = Command::new("sh");
    command.args(["-c", line]).arg(program()).arg(dir);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("there is a shell")
}

/// When the lab is ready, starts a program that leaves its session and its parent behind.
fn fill(holder: &mut Child, dir: &Path) -> std::thread::JoinHandle<()> {
    let input = holder
        .stdin
        .as_ref()
        .expect("it is piped")
        .as_fd()
        .try_clone_to_owned()
        .expect("there is room for a file");
    let mut input = fs::File::from(input);
    let output = holder.stdout.take().expect("it is piped");
    let escape =
        format!("setsid sh -c 'setsid sleep 600 {} & sleep 600' & sleep 600", dir.display());
    let (out, err) = (dir.join("out"), dir.join("err"));
    let command = json!({ "op": "spawn", "id": 1, "name": "escape", "host": "h0", "argv": ["sh", "-c", escape],
                          "stdout": out, "stderr": err });
    std::thread::spawn(move || {
        let mut lines = BufReader::new(output).lines();
        if lines.next().is_some_and(|line| line.is_ok()) {
            // The lab may be dead by now.
            let _ = writeln!(input, "{command}");
        }
        drop(input);
        lines.for_each(drop);
    })
}

/// The remains of a lab: processes that name its folder or descend from it, and control groups.
fn left_of(dir: &Path, supervisor: Option<u32>) -> Vec<String> {
    let name = dir.to_str().expect("a path in UTF-8").as_bytes();
    let is_holder = |text: &[u8]| text.starts_with(b"sh\0-c\0exec 3");
    let processes = processes().into_iter().filter_map(|pid| {
        let text = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let names_it = text.windows(name.len()).any(|window| window == name) && !is_holder(&text);
        names_it.then(|| format!("process {pid}: {}", String::from_utf8_lossy(&text)))
    });
    processes.chain(supervisor.into_iter().flat_map(groups_of)).collect()
}

/// Children of a process, in the order of their making.
pub fn children(of: u32) -> Vec<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let mut found: Vec<u32> =
        processes().into_iter().filter(|&pid| parent(pid) == Some(of)).collect();
    found.sort_unstable();
    found
}

/// Whether a process still does anything: one that has ended and was not waited for does not.
pub fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // proc(5)
    stat.rsplit_once(") ").is_some_and(|(_, behind_name)| !behind_name.starts_with(['Z', 'X']))
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// State of the machine that a lab could leave changed: interfaces, mounts, and shared memory of
/// its name.
fn outside() -> (BTreeSet<String>, BTreeSet<String>) {
    let names = |path: &str| {
        fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
    };
    let mounts = fs::read_to_string("/proc/self/mounts").expect("/proc is there");
    let shared = names("/dev/shm").chain(names("/run")).filter(|name| name.contains("tailrace"));
    let kept = mounts.lines().filter(|line| line.contains("tailrace")).map(str::to_owned);
    (names("/sys/class/net").collect(), shared.chain(kept).collect())
}
