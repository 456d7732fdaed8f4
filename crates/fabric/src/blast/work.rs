//! The work of a workload's threads besides handing frames over: they take at least the time that
//! the scenario gives a frame, before the lock and under it, and write a number and the time into
//! it. `tailrace blast` itself does nothing of this.

use super::BlastSpec;
use super::order::Work;
use crate::generator::{MARKED_BYTES, mark, now_ns, remark};
use crate::sys::blast::{BATCH_MAX, Handed, RingSender};
use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tailrace_units::{Distribution, RandomStream};

/// Work that is done together: frames that take less are handed over several at a time.
const TOGETHER_PS: f64 = 1e6;
const PS_PER_NS: u64 = 1_000;

/// The lock of the transmit queue, which one thread of the workload has at a time.
pub(super) type Lock = Mutex<()>;

/// The work of one thread.
#[derive(Debug)]
pub(super) struct Worker {
    cost: Distribution,
    locked: Distribution,
    random: RandomStream,
    /// Of its next frame: each thread has numbers of its own.
    number: u64,
    begin_ns: u64,
}

impl Worker {
    /// One for each thread; none of an order without a workload.
    pub(super) fn for_threads(order: &BlastSpec) -> Result<Vec<Option<Worker>>, String> {
        (0..order.threads)
            .map(|thread| order.workload.as_ref().map(|own| Worker::new(own, thread)).transpose())
            .collect()
    }

    fn new(work: &Work, thread: usize) -> Result<Worker, String> {
        Ok(Worker {
            cost: work.cost.resolved("cost").map_err(|error| error.to_string())?,
            locked: work.locked.resolved("locked").map_err(|error| error.to_string())?,
            random: RandomStream::new(work.seed, &format!("{}/thread{thread}/costs", work.name)),
            number: 0,
            begin_ns: work.begin_ns,
        })
    }

    /// Most frames that are handed over together.
    pub(super) fn batch(&self) -> usize {
        let mean_ps = self.cost.mean() + self.locked.mean();
        ((TOGETHER_PS / mean_ps.max(1.0)) as usize).clamp(1, BATCH_MAX)
    }

    /// Until the workload begins.
    pub(super) fn wait(&self) {
        std::thread::sleep(Duration::from_nanos(self.begin_ns.saturating_sub(now_ns())));
    }

    /// Takes its time, marks the frames and hands them over; frames that were refused before go
    /// first.
    pub(super) fn hand_over(
        &mut self,
        sender: &mut RingSender,
        count: usize,
        lock: &Lock,
    ) -> io::Result<Handed> {
        let (cost, locked) = (
            drawn(&self.cost, &mut self.random, count),
            drawn(&self.locked, &mut self.random, count),
        );
        spin(Instant::now() + cost);
        let _held =
            (!locked.is_zero()).then(|| lock.lock().expect("no thread panics with the lock"));
        let end = Instant::now() + locked;
        let (time, number) = (now_ns(), &mut self.number);
        sender.rewrite(count, MARKED_BYTES, |frame, is_new| {
            if is_new {
                mark(frame, *number, time);
                *number += 1;
            } else {
                remark(frame, time);
            }
        });
        let handed = sender.send(count)?;
        spin(end);
        Ok(handed)
    }
}

/// The time of so many frames, and of one that is offered again.
fn drawn(of: &Distribution, random: &mut RandomStream, count: usize) -> Duration {
    Duration::from_nanos((0..count.max(1)).map(|_| of.draw(random)).sum::<u64>() / PS_PER_NS)
}

fn spin(until: Instant) {
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(cost_ps: u64, locked_ps: u64) -> Worker {
        Worker {
            cost: Distribution::Constant(cost_ps),
            locked: Distribution::Constant(locked_ps),
            random: RandomStream::new(1, "frames"),
            number: 0,
            begin_ns: 0,
        }
    }

    #[test]
    fn frames_that_take_less_than_a_microsecond_are_handed_over_together() {
        let batches =
            [(1_000, 0), (100_000, 100_000), (600_000, 0), (0, 1_000_000), (5_000_000, 0)];
        assert_eq!(batches.map(|(cost, locked)| worker(cost, locked).batch()), [64, 5, 1, 1, 1]);
    }

    #[test]
    fn the_time_of_several_frames_is_the_sum_of_theirs_and_an_offer_takes_that_of_one() {
        let mut random = RandomStream::new(1, "frames");
        let times =
            [0, 1, 3].map(|count| drawn(&Distribution::Constant(2_000_000), &mut random, count));
        assert_eq!(times, [2, 2, 6].map(Duration::from_micros));
    }
}
