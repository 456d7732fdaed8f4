//! A cleanup process: it outlives its starter for a moment, to remove what a killed starter leaves
//! behind.

use crate::sys::process::fork;
use nix::fcntl::OFlag;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{ForkResult, Pid, dup2_stderr, dup2_stdin, dup2_stdout, pipe2, read, setsid};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;

/// The starter's handle on its cleanup process. When the handle is dropped, the process cleans up.
#[derive(Debug)]
pub struct CleanupHandle {
    /// Number of the cleanup process.
    pub pid: Pid,
    /// Nothing is written to it: its closing is the message.
    _pipe: OwnedFd,
}

/// Starts a cleanup process for objects that are about to be made. It calls `clean_up` when the
/// calling process has ended; `clean_up` returns whether nothing is left. The caller has one thread.
///
/// # Errors
/// When no process or file can be created.
pub fn start(clean_up: impl FnOnce() -> bool) -> io::Result<CleanupHandle> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
    match fork()? {
        ForkResult::Parent { child } => Ok(CleanupHandle { pid: child, _pipe: writer }),
        ForkResult::Child => {
            drop(writer);
            let is_clean = wait(&reader).is_ok() && clean_up();
            std::process::exit(i32::from(!is_clean))
        }
    }
}

/// Waits for the end of the starter. Keeps none of the starter's files, session or signals.
fn wait(reader: &OwnedFd) -> io::Result<()> {
    setsid()?;
    let mut signals = SigSet::empty();
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]
        .into_iter()
        .for_each(|signal| signals.add(signal));
    signals.thread_block()?;
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    loop {
        match read(reader, &mut [0]) {
            Err(nix::errno::Errno::EINTR) => {}
            result => return result.map(drop).map_err(io::Error::from),
        }
    }
}
