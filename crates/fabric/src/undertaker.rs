//! A process that outlives the one that starts it for a moment, to remove what that one cannot
//! remove when it is killed.

use crate::sys::process::fork;
use nix::fcntl::OFlag;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{ForkResult, Pid, dup2_stderr, dup2_stdin, dup2_stdout, pipe2, read, setsid};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;

/// The starter's hold on its undertaker: when it is gone, so is the starter.
#[derive(Debug)]
pub struct Hold {
    /// Number of the undertaker.
    pub pid: Pid,
    /// Nothing is written: its end is the message.
    _pipe: OwnedFd,
}

/// Starts an undertaker for what is about to be made. It calls `bury` when the calling process has
/// ended; that tells whether nothing is left. The caller has one thread.
///
/// # Errors
/// When there can be no more processes or files.
pub fn start(bury: impl FnOnce() -> bool) -> io::Result<Hold> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
    match fork()? {
        ForkResult::Parent { child } => Ok(Hold { pid: child, _pipe: writer }),
        ForkResult::Child => {
            drop(writer);
            let is_clean = wait(&reader).is_ok() && bury();
            std::process::exit(i32::from(!is_clean))
        }
    }
}

/// Waits for the end of the starter, holding nothing that anybody else waits for.
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
