//! Programs of a guest.

use super::users;
use crate::spec::{Ending, Program, Stream, signal_of};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Bytes of a program's error output that its ending quotes.
const LAST_WORDS_MAX: usize = 2_000;
/// Where programs of other users than root start: root's folder may be closed to them.
const FOLDER_OF_USERS: &str = "/tmp";

/// OpenSSL shall take random numbers from the kernel alone, whose are from the seed, and not from
/// the processor: no RDTSC, no RDRAND, no RDSEED (OPENSSL_ia32cap(3)).
const NO_CHANCE: &str = "~0x4000000000000010:~0x40000";

/// The programs that are asked to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whom {
    /// Programs that are no servers.
    Clients,
    /// The others too.
    All,
}

/// One program.
#[derive(Debug)]
struct Running {
    program: Program,
    /// When it starts, as time of day.
    start: Duration,
    pid: Option<Pid>,
    errors: PathBuf,
    /// The output of a program that announces its completion, and the part of its last line that
    /// has come.
    watched: Option<(File, String)>,
    /// Lines that have announced it.
    finished_lines: u64,
    was_asked_to_end: bool,
    ending: Option<Ending>,
}

/// All of a guest.
#[derive(Debug)]
pub(super) struct Programs {
    all: Vec<Running>,
    is_ending: bool,
}

impl Programs {
    /// Programs that start at this time of day (ns), or as much later as they say.
    pub(super) fn new(programs: &[Program], start_ns: u64) -> Programs {
        let running = |(number, program): (usize, &Program)| Running {
            program: program.clone(),
            start: Duration::from_nanos(start_ns + program.delay_ns),
            pid: None,
            errors: Path::new(super::mounts::OUTPUT).join(format!("{number}.err")),
            watched: None,
            finished_lines: 0,
            was_asked_to_end: false,
            ending: None,
        };
        Programs { all: programs.iter().enumerate().map(running).collect(), is_ending: false }
    }

    /// Starts the programs that are due.
    pub(super) fn start_due(&mut self) -> io::Result<()> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let is_ending = self.is_ending;
        let is_due = |running: &&mut Running| {
            running.pid.is_none() && running.ending.is_none() && running.start <= now
        };
        self.all.iter_mut().filter(|_| !is_ending).filter(is_due).try_for_each(Running::start)
    }

    /// The next start, as time of day.
    pub(super) fn next_start(&self) -> Option<Duration> {
        let waiting =
            self.all.iter().filter(|running| running.pid.is_none() && running.ending.is_none());
        waiting.map(|running| running.start).min()
    }

    /// Notes which have ended; orphans are reaped too.
    pub(super) fn reap(&mut self) -> io::Result<()> {
        loop {
            let (pid, code) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) => (pid, Some(code)),
                Ok(WaitStatus::Signaled(pid, ..)) => (pid, None),
                Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::ECHILD) => return Ok(()),
                Ok(_) => continue,
                Err(error) => return Err(error.into()),
            };
            if let Some(running) = self.all.iter_mut().find(|running| running.pid == Some(pid)) {
                let was_asked_to_end = running.was_asked_to_end;
                running.read_output()?;
                running.ending =
                    Some(Ending { code, was_asked_to_end, last_words: running.last_words() });
            }
        }
    }

    /// Whether the awaited programs have all ended well, or one of the others has ended badly;
    /// `None` as long as neither.
    pub(super) fn are_done(&self) -> Option<bool> {
        let failed = |ending: &Ending| ending.code != Some(0);
        if self.all.iter().any(|running| running.ending.as_ref().is_some_and(failed)) {
            return Some(false);
        }
        let is_over = |running: &Running| running.ending.is_some() || running.has_finished();
        let is_open = |running: &Running| running.program.is_awaited && !is_over(running);
        (!self.all.iter().any(is_open)).then_some(true)
    }

    /// The outputs to be waited for.
    pub(super) fn outputs(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.iter().filter_map(|running| Some(running.watched.as_ref()?.0.as_fd()))
    }

    /// Reads the announcements of programs.
    pub(super) fn read_outputs(&mut self) -> io::Result<()> {
        self.all.iter_mut().try_for_each(Running::read_output)
    }

    /// Whether nothing runs.
    pub(super) fn are_over(&self) -> bool {
        self.all.iter().all(|running| running.pid.is_none() || running.ending.is_some())
    }

    /// Whether no program runs that is no server.
    pub(super) fn clients_are_over(&self) -> bool {
        let mut clients = self.all.iter().filter(|running| !running.program.is_server);
        clients.all(|running| running.pid.is_none() || running.ending.is_some())
    }

    /// Asks programs to end.
    pub(super) fn ask_to_end(&mut self, whom: Whom) {
        self.is_ending = true;
        let is_meant = |running: &&mut Running| whom == Whom::All || !running.program.is_server;
        for running in
            self.all.iter_mut().filter(is_meant).filter(|running| !running.was_asked_to_end)
        {
            running.was_asked_to_end = true;
            if let (Some(pid), None) = (running.pid, &running.ending) {
                // It may have ended.
                let _ = match running.stop_signal() {
                    Some(signal) => kill(pid, signal),
                    None => killpg(pid, Signal::SIGTERM),
                };
            }
        }
    }

    /// Ends the remaining programs.
    pub(super) fn kill(&mut self) {
        for pid in self.running() {
            let _ = killpg(pid, Signal::SIGKILL);
            let _ = kill(pid, Signal::SIGKILL);
            let _ = waitpid(pid, None);
        }
    }

    fn running(&self) -> Vec<Pid> {
        self.all
            .iter()
            .filter(|running| running.ending.is_none())
            .filter_map(|running| running.pid)
            .collect()
    }

    /// How they ended, in order; those that had to be killed by a signal.
    pub(super) fn endings(&self) -> io::Result<Vec<Ending>> {
        let of = |running: &Running| {
            let killed =
                || Ending { code: None, was_asked_to_end: true, last_words: running.last_words() };
            running.ending.clone().unwrap_or_else(killed)
        };
        Ok(self.all.iter().map(of).collect())
    }
}

impl Running {
    fn start(&mut self) -> io::Result<()> {
        let (program, arguments) = self
            .program
            .words
            .split_first()
            .ok_or_else(|| io::Error::other("a program has a name"))?;
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command.current_dir(if self.program.user.is_some() {
            FOLDER_OF_USERS
        } else {
            super::mounts::OUTPUT
        });
        if let Some((user, group)) = self.program.user.as_deref().map(users::find).transpose()? {
            command.uid(user.as_raw()).gid(group.as_raw());
        }
        command
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.envs([
            ("HOME", "/tmp"),
            ("LC_ALL", "C.UTF-8"),
            ("PAGER", "cat"),
            ("OPENSSL_ia32cap", NO_CHANCE),
        ]);
        let output = File::create(self.output())?;
        let errors = File::create(&self.errors)?;
        let telling = self.program.finished_by.as_ref().map(|finished| finished.stream);
        command.stdin(Stdio::null());
        command.stdout(if telling == Some(Stream::Out) { Stdio::piped() } else { output.into() });
        command.stderr(if telling == Some(Stream::Err) { Stdio::piped() } else { errors.into() });
        let mut child = command
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
        self.pid = Some(Pid::from_raw(child.id() as i32));
        let pipe =
            child.stdout.take().map(OwnedFd::from).or(child.stderr.take().map(OwnedFd::from));
        if let Some(pipe) = pipe {
            fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
            self.watched = Some((pipe.into(), String::new()));
        }
        Ok(())
    }

    /// The signal that ends it, if that is its own.
    fn stop_signal(&self) -> Option<Signal> {
        self.program.stop_signal.as_deref().and_then(signal_of)
    }

    fn has_finished(&self) -> bool {
        self.program
            .finished_by
            .as_ref()
            .is_some_and(|finished| self.finished_lines >= finished.lines)
    }

    /// Where its standard output is kept.
    fn output(&self) -> PathBuf {
        self.errors.with_extension("out")
    }

    /// Reads the output with the announcements, and keeps it with the other output.
    fn read_output(&mut self) -> io::Result<()> {
        let output = self.output();
        let (Some((pipe, line)), Some(finished)) = (&mut self.watched, &self.program.finished_by)
        else {
            return Ok(());
        };
        let mut bytes = [0; 4_096];
        loop {
            let count = match pipe.read(&mut bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            if count == 0 {
                self.watched = None;
                return Ok(());
            }
            line.push_str(&String::from_utf8_lossy(&bytes[..count]));
            while let Some((whole, rest)) = line.split_once('\n') {
                self.finished_lines += u64::from(whole.contains(&finished.text));
                *line = rest.to_owned();
            }
            let kept = if finished.stream == Stream::Out { &output } else { &self.errors };
            File::options().append(true).open(kept)?.write_all(&bytes[..count])?;
        }
    }

    fn last_words(&self) -> String {
        let bytes = fs::read(&self.errors).unwrap_or_default();
        String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LAST_WORDS_MAX)..])
            .trim()
            .to_owned()
    }
}
