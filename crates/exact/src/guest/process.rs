//! The process of a guest.

use super::console;
use crate::spec::of_machine;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, remove_file};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Names of the sockets in the folder of a host.
const CLOCK: &str = "clock";
const DEVICE: &str = "device";
/// How often is looked whether a process that should connect has ended.
const LOOK: Duration = Duration::from_millis(100);
/// Lines of the console that a failure quotes.
const LAST_LINES: usize = 12;

/// A guest that was started, with the sockets that its kernel connects to.
#[derive(Debug)]
pub struct Start {
    /// Name of its host.
    pub name: String,
    /// The process.
    pub process: Process,
    /// For its clock.
    pub clock: UnixListener,
    /// For its interface.
    pub device: UnixListener,
}

/// What a guest is made of.
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
}

impl Machine {
    /// Starts the guest of a host. `folder` is the host's own, with a file `guest.json` for the guest's first process. Its path may be
    /// longer than the address of a socket: the kernel is started in it, and this process reaches it by an open descriptor.
    ///
    /// # Errors
    /// When a socket or the process cannot be made.
    pub fn start(&self, number: usize, name: &str, folder: &Path) -> io::Result<Start> {
        let opened = File::open(folder)?;
        let listen = |name: &str| {
            let path = format!("/proc/self/fd/{}/{name}", opened.as_raw_fd());
            // Of a trial in the same folder; where there was none it fails.
            let _ = remove_file(&path);
            UnixListener::bind(path)
        };
        let (clock, device) = (listen(CLOCK)?, listen(DEVICE)?);
        let console = folder.join("console");
        let output = File::create(&console)?;
        let mut command = Command::new(&self.program);
        command.current_dir(folder).arg("cage").arg(&self.kernel);
        command.arg(format!("mem={}M", self.memory_mib));
        command.arg(format!("time-travel=ext:{number}:{CLOCK}"));
        command.arg(format!("virtio_uml.device={DEVICE}:1"));
        let root = format!("rootflags={}", of_machine("/"));
        command.args(["hostfs=.", "root=/dev/root", "rootfstype=hostfs", &root, "ro", "con=null", "con0=null,fd:1", "ssl=null"]);
        command.args(["uml_dir=./", "umid=guest"]);
        // The kernel stirs its command line into its random numbers.
        command.arg(format!("tailrace.seed={}.{number}", self.seed));
        command.args(["panic=-1", "loglevel=4"]);
        command.arg(format!("init={}", self.program.display()));
        command.arg("--").arg("init");
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn()?;
        let process = Process { child, console };
        Ok(Start { name: name.to_owned(), process, clock, device })
    }
}

/// The process of a guest: a keeper, which ends with the engine, and with which everything of the guest ends.
#[derive(Debug)]
pub struct Process {
    child: Child,
    console: PathBuf,
}

impl Process {
    /// Waits until the kernel has connected.
    pub(super) fn accept(&mut self, listener: &UnixListener, limit: Duration) -> Result<UnixStream, String> {
        let started = Instant::now();
        loop {
            let mut inputs = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
            let count = poll(&mut inputs, PollTimeout::try_from(LOOK).expect("it is short"));
            if count.map_err(|error| error.to_string())? > 0 {
                return listener.accept().map(|(stream, _)| stream).map_err(|error| error.to_string());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("its kernel does not start ({status}){}", self.last_lines()));
            }
            if started.elapsed() > limit {
                return Err(format!("its kernel did not start within {} s{}", limit.as_secs(), self.last_lines()));
            }
        }
    }

    /// The last lines of its console, each on a line of its own.
    pub fn last_lines(&self) -> String {
        quote(&console::last_lines(&self.console, LAST_LINES))
    }

    /// What it wrote when it could not go on, each line on a line of its own.
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
