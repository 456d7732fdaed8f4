//! `tailrace-fabric compute`: an endless CPU load, beside which a machine is measured.

use crate::sys::process::die_with_parent;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use std::hint::black_box;
use std::io;
use std::os::fd::AsFd;
use tailrace_lab::options::{Words, unknown};

/// Computes until it is killed, at the latest with its starter. The starter holds the other end of
/// our input, which shows whether it ended before the kernel knew how to handle that.
pub(super) fn run(mut words: Words) -> Result<(), String> {
    if let Some(word) = words.next() {
        return unknown(&word);
    }
    die_with_parent(Signal::SIGKILL).map_err(|error| format!("requesting a signal: {error}"))?;
    if is_abandoned().map_err(|error| format!("polling the input: {error}"))? {
        return Ok(());
    }
    let mut count = 0_u64;
    loop {
        count = black_box(count.wrapping_add(1));
    }
}

fn is_abandoned() -> nix::Result<bool> {
    let input = io::stdin();
    // reports only the end of its other side
    let mut files = [PollFd::new(input.as_fd(), PollFlags::empty())];
    poll(&mut files, PollTimeout::ZERO).map(|ready| ready > 0)
}
