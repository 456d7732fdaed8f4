//! `tailrace-fabric blast`: sends frames for `tailrace blast` and for workloads; the order is JSON
//! on standard input, the answer a line for each round. `tailrace-fabric catch`: counts the frames
//! of a workload.

use super::{end_with_starter, print_json};
use crate::blast::{BlastSpec, Catch, catch as receive, enter, run as run_round};
use crate::sys::stopping::Stopping;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tailrace_lab::options::{Words, unknown};

/// Longest order: a few frames in each of 256 rounds, or 512 of 9 kB in one.
const ORDER_BYTES_MAX: u64 = 64 << 20;
/// How often the program checks whether it is asked to end.
const STOP_POLL: Duration = Duration::from_millis(10);

pub(super) fn run(words: Words) -> Result<(), String> {
    let (order, rounds) = BlastSpec::parse(&read_order(words)?)?;
    let interface = enter(&order)?;
    // A workload reports its counts when its trial ends; `tailrace blast` may be interrupted.
    let stopping = order.workload.is_some().then(Stopping::watch).transpose();
    let stopping = stopping.map_err(|error| format!("watching signals: {error}"))?;
    let (is_over, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        if let Some(stopping) = stopping {
            let (is_over, is_done) = (&is_over, &is_done);
            scope.spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    is_over.fetch_or(stopping.is_asked(), Ordering::Relaxed);
                    std::thread::sleep(STOP_POLL);
                }
            });
        }
        let result = rounds.iter().try_for_each(|frames| {
            print_json(&run_round(&order, interface, frames, &is_over)?.json())
        });
        is_done.store(true, Ordering::Relaxed);
        result
    })
}

pub(super) fn catch(words: Words) -> Result<(), String> {
    print_json(&receive(&Catch::parse(&read_order(words)?)?)?)
}

pub(super) fn read_order(mut words: Words) -> Result<String, String> {
    if let Some(word) = words.next() {
        return unknown(&word).map(|()| String::new());
    }
    end_with_starter()?;
    let mut text = String::new();
    io::stdin()
        .take(ORDER_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| format!("reading the order: {error}"))?;
    Ok(text)
}
