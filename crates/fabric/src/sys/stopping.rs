//! Programs that are asked to end, and report their counts before they do.

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;

/// Watches SIGTERM and SIGINT.
#[derive(Debug)]
pub struct Stopping {
    signals: SignalFd,
}

impl Stopping {
    /// From now on they do not end the program. Before there are threads, which all must leave the
    /// signals alone.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn watch() -> io::Result<Stopping> {
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGTERM);
        signals.add(Signal::SIGINT);
        signals.thread_set_mask()?;
        Ok(Stopping {
            signals: SignalFd::with_flags(
                &signals,
                SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK,
            )?,
        })
    }

    /// Whether one has come since the last call.
    pub fn is_asked(&self) -> bool {
        matches!(self.signals.read_signal(), Ok(Some(_)))
    }
}
