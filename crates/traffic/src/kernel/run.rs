//! One host's trial, from time zero to its end.

use super::{Clock, Kernel};
use crate::host::Host;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::os::fd::AsFd;
use tailrace_units::Time;

/// Another way to ask for the end than a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// None.
    Ignored,
    /// Bytes, or the end, of the standard input.
    EndsTrial,
}

/// What a host tells while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// Its listeners are open.
    Ready,
    /// Everything that has an end and is measured here is complete.
    Finished(Time),
}

/// How a trial ended.
pub struct Ended {
    /// When.
    pub at: Time,
    /// The record of the host.
    pub record: Vec<u8>,
}

/// Runs a host until `stop_at`, or until a signal (SIGTERM, SIGINT) or the input asks for the end.
///
/// # Errors
/// When an address cannot be used, or the system lacks something.
pub fn run(
    mut host: Host,
    clock: Clock,
    stop_at: Time,
    input: Input,
    mut tell: impl FnMut(News) -> io::Result<()>,
) -> io::Result<Ended> {
    let mut kernel = Kernel::new(clock)?;
    let signals = asked_to_end()?;
    kernel.end_on(&signals)?;
    if input == Input::EndsTrial {
        kernel.end_on(io::stdin().as_fd())?;
    }
    host.open(&mut kernel)?;
    tell(News::Ready)?;
    kernel.clock.sleep_until_zero()?;
    let mut has_told = false;
    let mut now = Time::ZERO;
    loop {
        host.handle_timeout(now, &mut kernel);
        if host.has_finished() && !has_told {
            has_told = true;
            tell(News::Finished(now))?;
        }
        if now >= stop_at || kernel.is_asked_to_end {
            return Ok(Ended { at: now, record: host.finish(now, &mut kernel) });
        }
        now = kernel.wait(host.poll_timeout().min(stop_at))?;
        while let Some(event) = kernel.next_event() {
            host.handle_event(now, event, &mut kernel);
        }
    }
}

/// Readable when a signal asks for the end.
fn asked_to_end() -> io::Result<SignalFd> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    signals.add(Signal::SIGINT);
    signals.thread_block()?;
    Ok(SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}
