//! One host's trial, from time zero to its end.

use super::{Clock, ClockKind, Kernel};
use crate::host::Host;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use tailrace_units::Time;

/// How often a thread that waits for time zero checks for it.
const BEGIN_POLL_MS: u8 = 1;

/// When time zero is, on the clock of a trial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Begin {
    /// At this time. Listeners of other hosts are open by then, or connections to them are refused.
    At(u64),
    /// As this file says, in a line, once it is there: written when all hosts are ready.
    InFile(PathBuf),
}

impl Begin {
    /// When, as far as it is known.
    fn known_ns(&self) -> io::Result<Option<u64>> {
        let path = match self {
            Begin::At(ns) => return Ok(Some(*ns)),
            Begin::InFile(path) => path,
        };
        let named = |kind, error: &dyn std::fmt::Display| {
            io::Error::new(kind, format!("{}: {error}", path.display()))
        };
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(named(error.kind(), &error)),
            Ok(text) => text,
        };
        // A line without its end is not whole yet.
        let Some(line) = text.strip_suffix('\n') else { return Ok(None) };
        line.parse().map(Some).map_err(|_| {
            named(io::ErrorKind::InvalidData, &format!("{line:?} is no number of nanoseconds"))
        })
    }

    /// When; none when the end is asked for before it is known.
    fn await_ns(&self, end: impl AsFd) -> io::Result<Option<u64>> {
        loop {
            if let Some(ns) = self.known_ns()? {
                return Ok(Some(ns));
            }
            match poll(
                &mut [PollFd::new(end.as_fd(), PollFlags::POLLIN)],
                PollTimeout::from(BEGIN_POLL_MS),
            ) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Another way to ask for the end than a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// None.
    Ignored,
    /// Bytes, or the end, of the standard input.
    EndsTrial,
}

/// Progress reports of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostProgress {
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

/// Runs a host from time zero until `stop_at`, or until a signal (SIGTERM, SIGINT) or the input
/// asks for the end.
///
/// # Errors
/// When an address cannot be used, or the system lacks something.
pub fn run(
    mut host: Host,
    clock: ClockKind,
    begin: &Begin,
    stop_at: Time,
    input: Input,
    mut tell: impl FnMut(HostProgress) -> io::Result<()>,
) -> io::Result<Ended> {
    let mut kernel = Kernel::new(Clock::new(clock, 0)?)?;
    let signals = asked_to_end()?;
    kernel.end_on(&signals)?;
    if input == Input::EndsTrial {
        kernel.end_on(io::stdin().as_fd())?;
    }
    host.open(&mut kernel)?;
    tell(HostProgress::Ready)?;
    let Some(begin_ns) = begin.await_ns(&signals)? else {
        return Ok(Ended { at: Time::ZERO, record: host.finish(Time::ZERO, &mut kernel) });
    };
    kernel.clock.begin_at(begin_ns);
    kernel.clock.sleep_until_zero()?;
    let mut has_reported = false;
    let mut now = Time::ZERO;
    loop {
        host.handle_timeout(now, &mut kernel);
        if host.has_finished() && !has_reported {
            has_reported = true;
            tell(HostProgress::Finished(now))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    #[test]
    fn time_zero_is_awaited_until_a_whole_line_says_it() {
        let folder = std::env::temp_dir().join(format!("tailrace-begin-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let begin = Begin::InFile(folder.join("begin"));
        assert_eq!(begin.known_ns().expect("no file is no error"), None);
        fs::write(folder.join("begin"), "12345").expect("it is writable");
        assert_eq!(begin.known_ns().expect("half a line is no error"), None);
        let (open, _other) = UnixStream::pair().expect("a pair");
        let waiting = std::thread::spawn({
            let begin = begin.clone();
            move || begin.await_ns(open).expect("a number")
        });
        std::thread::sleep(Duration::from_millis(5));
        fs::write(folder.join("begin"), "12345678\n").expect("it is writable");
        assert_eq!(waiting.join().expect("it ends"), Some(12_345_678));
        fs::write(folder.join("begin"), "soon\n").expect("it is writable");
        assert!(
            begin
                .known_ns()
                .expect_err("no number")
                .to_string()
                .ends_with("\"soon\" is no number of nanoseconds")
        );
        fs::remove_dir_all(&folder).expect("it was made");
    }

    #[test]
    fn who_waits_for_time_zero_can_be_asked_to_end() {
        let (end, other) = UnixStream::pair().expect("a pair");
        drop(other); // it can be read now
        let begin =
            Begin::InFile(std::env::temp_dir().join("tailrace-begin-that-is-never-written"));
        assert_eq!(begin.await_ns(end).expect("no error"), None);
    }
}
