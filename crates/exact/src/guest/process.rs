//! The process of a guest.

use super::clock::Clock;
use super::{EPOCH_NS, console};
use crate::spec::{START_NS, of_machine};
use std::fs::{File, remove_file};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Name of the socket in the folder of a host.
const DEVICE: &str = "device";
/// Name of the link to the program there. The command line of a kernel must not have the program's
/// path either: the guest finds it by the machine's files, in the working directory of the kernel's
/// process.
const PROGRAM: &str = "init";
/// Lines of the console that a failure quotes.
const LAST_LINES: usize = 12;

/// A guest that was started, with its clock and the socket that its kernel connects to.
#[derive(Debug)]
pub struct Start {
    /// Name of its host.
    pub name: String,
    /// The process.
    pub process: Process,
    /// Its clock.
    pub clock: Clock,
    /// For its interface.
    pub device: UnixListener,
}

/// Configuration of a guest.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The kernel.
    pub kernel: PathBuf,
    /// This program, which is the first process of the guest too.
    pub program: PathBuf,
    /// Memory.
    pub memory_mib: u32,
    /// Of its random numbers.
    pub seed: u64,
    /// Bytes of the processor's extended registers.
    pub registers_bytes: u32,
}

impl Machine {
    /// Starts the guest of a host. `folder` is the host's own, with a file `guest.json` for the
    /// guest's first process. Its path may be longer than the address of a socket: the kernel is
    /// started in it, and this process reaches it by an open descriptor.
    ///
    /// # Errors
    /// When a socket or the process cannot be made.
    pub fn start(&self, number: usize, name: &str, folder: &Path) -> io::Result<Start> {
        let opened = File::open(folder)?;
        let path = format!("/proc/self/fd/{}/{DEVICE}", opened.as_raw_fd());
        // Of a trial in the same folder; where there was none it fails.
        let _ = remove_file(&path);
        let device = UnixListener::bind(path)?;
        let program = folder.join(PROGRAM);
        let _ = remove_file(&program);
        symlink(&self.program, program)?;
        device.set_nonblocking(true)?;
        let (clock, page) = Clock::new(EPOCH_NS, START_NS)?;
        let console = folder.join("console");
        let output = File::create(&console)?;
        let mut command = Command::new(&self.program);
        command.current_dir(folder).arg("cage").arg(&self.kernel);
        command.arg(format!("mem={}M", self.memory_mib));
        command.arg("time-travel=page");
        command.arg(format!("virtio_uml.device={DEVICE}:1"));
        let root = format!("rootflags={}", of_machine("/"));
        command.args([
            "hostfs=.",
            "root=/dev/root",
            "rootfstype=hostfs",
            &root,
            "ro",
            "con=null",
            "con0=null,fd:1",
            "ssl=null",
        ]);
        command.args(["uml_dir=./", "umid=guest"]);
        // The kernel stirs its command line into its random numbers.
        command.arg(format!("tailrace.seed={}.{number}", self.seed));
        command.args(["panic=-1", "loglevel=4"]);
        command.arg(format!("init=/proc/self/cwd/{PROGRAM}"));
        command.arg("--").arg("init");
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.stdin(Stdio::from(page)).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn()?;
        let process = Process { child, console };
        Ok(Start { name: name.to_owned(), process, clock, device })
    }
}

/// The process of a guest: a keeper, which ends with the engine, and with which everything of the
/// guest ends.
#[derive(Debug)]
pub struct Process {
    child: Child,
    console: PathBuf,
}

impl Process {
    /// How it has ended, if it has.
    pub(super) fn ending(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Why it has ended: the message of its first process, else `how` with the last lines of its
    /// console.
    pub fn why(&self, how: &str) -> String {
        console::reason(&self.console).unwrap_or_else(|| how.to_owned() + &self.last_lines())
    }

    /// The last lines of its console, each on a line of its own.
    pub(super) fn last_lines(&self) -> String {
        quote(&console::last_lines(&self.console, LAST_LINES))
    }

    /// Its panic message, each line on a line of its own.
    pub fn panic(&self) -> Option<String> {
        console::panic(&self.console, LAST_LINES).map(|lines| quote(&lines))
    }
}

fn quote(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |text, line| text + "\n    " + line)
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only when it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
