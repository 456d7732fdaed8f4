//! `tailrace-fabric blast`: sends frames for `tailrace blast`; the order is JSON on standard input, the answer a line for each round.

use super::print_json;
use crate::blast::{Order, enter, run as run_round};
use crate::options::{Words, unknown};
use crate::sys::process::die_with_parent;
use nix::sys::signal::Signal;
use std::io::{self, Read};

/// Longest order: a few frames in each of 256 rounds, or 512 of 9 kB in one.
const ORDER_BYTES_MAX: u64 = 64 << 20;

pub(super) fn run(mut words: Words) -> Result<(), String> {
    if let Some(word) = words.next() {
        return unknown(&word);
    }
    die_with_parent(Signal::SIGTERM).map_err(|error| format!("requesting a signal: {error}"))?;
    let mut text = String::new();
    io::stdin().take(ORDER_BYTES_MAX).read_to_string(&mut text).map_err(|error| format!("reading the order: {error}"))?;
    let (order, rounds) = Order::parse(&text)?;
    let interface = enter(&order)?;
    for frames in &rounds {
        print_json(&run_round(&order, interface, frames)?.json())?;
    }
    Ok(())
}
