//! Cost of windows beside their events, on this machine: for `benches/cores.py`.

use super::barrier::{Barrier, WindowReport};
use super::mailboxes::Mailboxes;
use super::threads;
use crate::clock::Stopwatch;
use std::time::Duration;

/// Windows that are timed together: tens of microseconds, in which other programs seldom interrupt
/// a thread.
const BATCH: u32 = 50;
/// Batches, of which the fastest counts.
const BATCHES: u32 = 2_000;

/// The time of one window of this many parts without events and frames: a barrier of all threads,
/// and their empty mailboxes.
pub fn cost_of_a_window(parts: usize) -> Duration {
    let (barrier, mailboxes) = (Barrier::new(parts), Mailboxes::new(parts));
    let (barrier, mailboxes) = (&barrier, &mailboxes);
    let run = |part: usize| {
        move || {
            let _guard = barrier.guard();
            let mut window = 0;
            let mut fastest = Duration::MAX;
            for _ in 0..BATCHES {
                let started = Stopwatch::start();
                for _ in 0..BATCH {
                    barrier.meet(part, window, WindowReport::NOTHING);
                    mailboxes.collect(part, window, |_| ());
                    window += 1;
                    (0..parts).for_each(|to| mailboxes.post((part, to), window, &mut Vec::new()));
                }
                fastest = fastest.min(started.elapsed() / BATCH);
            }
            fastest
        }
    };
    threads::together((0..parts).map(run).collect())[0]
}
