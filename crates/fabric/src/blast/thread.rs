//! One thread that sends.

use super::BlastSpec;
use super::work::{Lock, Worker};
use crate::generator::{Pace, Schedule};
use crate::sys::blast::{BATCH_MAX, Handed, RingSender};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A thread that has nothing to send for longer sleeps; a shorter wait would be over before it
/// wakes.
const SPIN: Duration = Duration::from_micros(60);
/// Longest sleep: a longer one would be a gap of the pace.
const NAP: Duration = Duration::from_micros(500);
/// How long frames that the kernel still has are awaited at the end.
const RESIDUE: Duration = Duration::from_millis(200);

/// Counts of one thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) sent: u64,
    pub(super) refused: u64,
    pub(super) length: Duration,
    /// Times at which it was away for more than a millisecond and had frames to send at a rate.
    pub(super) gaps: u64,
}

/// Common state of the threads of a round, and the number of this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    pub(super) order: &'a BlastSpec,
    pub(super) number: usize,
    pub(super) lock: &'a Lock,
    /// The round ends early.
    pub(super) is_over: &'a AtomicBool,
}

/// Sends until the round is over.
pub(super) fn send(
    job: &Job<'_>,
    mut worker: Option<Worker>,
    mut sender: RingSender,
    start: Instant,
) -> io::Result<Counts> {
    let Job { order, number, lock, is_over } = *job;
    let frames = order.count_of(number);
    let start = worker.as_ref().map_or(start, |worker| {
        worker.wait();
        Instant::now()
    });
    let mut counts = Counts::default();
    let mut pace = Pace::new(
        Schedule { interval_ps: order.interval_ps, frames, limit_ns: order.limit_ns },
        start,
    );
    let batch = worker.as_ref().map_or(BATCH_MAX, Worker::batch);
    let (delay, most) =
        (Duration::from_nanos(order.delay_ns), if order.delay_ns > 0 { 1 } else { batch });
    while let Some(due) = pace.due(Instant::now()).filter(|_| !is_over.load(Ordering::Relaxed)) {
        // A refused frame was offered: it counts as one of those that are due.
        let count = due.saturating_sub(sender.pending()).min(most);
        if count == 0 && sender.pending() == 0 {
            wait(order.interval_ps);
            continue;
        }
        let handed = match &mut worker {
            Some(worker) => worker.hand_over(&mut sender, count, lock)?,
            None => sender.send(count)?,
        };
        take(&mut counts, &mut pace, handed);
        if order.delay_ns > 0 {
            std::thread::sleep(delay.min(remaining(order, start)));
        }
    }
    counts.length = pace.elapsed();
    let end = Instant::now() + RESIDUE;
    while sender.pending() > 0 && Instant::now() < end {
        take(&mut counts, &mut pace, sender.send(0)?);
    }
    counts.gaps = if order.interval_ps > 0 && order.delay_ns == 0 { pace.gaps.count } else { 0 };
    Ok(counts)
}

fn take(counts: &mut Counts, pace: &mut Pace, handed: Handed) {
    counts.sent += handed.sent as u64;
    counts.refused += handed.refused as u64;
    pace.sent += (handed.sent + handed.refused) as u64;
}

/// Until about half of the interval is over.
fn wait(interval_ps: u64) {
    let interval = Duration::from_nanos(interval_ps / 1_000);
    if interval > SPIN {
        std::thread::sleep((interval / 2).min(NAP))
    } else {
        std::hint::spin_loop()
    }
}

fn remaining(order: &BlastSpec, start: Instant) -> Duration {
    Duration::from_nanos(order.limit_ns).saturating_sub(start.elapsed())
}
