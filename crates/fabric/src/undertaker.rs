//! A process that outlives the guardian for a moment, to remove the control groups of a lab whose guardian was killed.

use crate::cgroup::Groups;
use crate::sys::process::fork;
use nix::fcntl::OFlag;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{ForkResult, dup2_stderr, dup2_stdin, dup2_stdout, pipe2, read, setsid};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;

/// The guardian's hold: when it is gone, so is the guardian.
#[derive(Debug)]
pub struct Hold {
    /// Nothing is written: its end is the message.
    _pipe: OwnedFd,
}

/// Starts the undertaker for groups that are about to be made.
///
/// # Errors
/// When there can be no more processes or files.
pub fn start(groups: &Groups) -> io::Result<Hold> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
    match fork()? {
        ForkResult::Parent { .. } => Ok(Hold { _pipe: writer }),
        ForkResult::Child => {
            drop(writer);
            let is_clean = wait(&reader).is_ok() && groups.remove();
            std::process::exit(i32::from(!is_clean))
        }
    }
}

/// Waits for the end of the guardian, holding nothing that anybody else waits for.
fn wait(reader: &OwnedFd) -> io::Result<()> {
    setsid()?;
    let mut signals = SigSet::empty();
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().for_each(|signal| signals.add(signal));
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
