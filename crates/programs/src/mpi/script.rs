//! The calls of MPI that a rank makes, one after the other: as the Intel MPI Benchmarks do,
//! barriers, then warm-up iterations of each size, then those that count.

use super::Costs;
use super::schedule::{Collective, Pattern};
use std::sync::Arc;
use tailrace_units::{Distribution, RandomStream, Span};

/// A message size and its iterations.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Bytes.
    pub bytes: u64,
    /// Iterations that count.
    pub iterations: u64,
    /// How the pattern does it.
    pub collective: Collective,
}

/// The job of all ranks.
#[derive(Clone, Debug)]
pub struct Job {
    /// The pattern.
    pub pattern: Pattern,
    /// Sizes, in order.
    pub sizes: Vec<Size>,
    /// Iterations of each size before those that count.
    pub warm_up: u64,
    /// A barrier comes before each iteration, and does not count.
    pub is_synchronised: bool,
    /// Computation of a rank before each iteration.
    pub compute: Distribution,
    /// How barriers are done.
    pub barrier: Collective,
    /// Ranks that take part.
    pub ranks: u32,
    /// A longer message is announced first.
    pub eager_limit: u64,
    /// Cost of the library.
    pub costs: Costs,
}

/// The next action of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    Compute(Span),
    Barrier,
    /// One iteration of a size.
    Iteration {
        size: u32,
        counts: bool,
    },
}

/// Where a rank is.
#[derive(Debug)]
pub(super) struct Script {
    job: Arc<Job>,
    random: RandomStream,
    size: u32,
    iteration: u64,
    before: Before,
}

/// The action before the next iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Before {
    Barrier,
    Compute,
    Nothing,
}

impl Script {
    pub(super) fn new(job: Arc<Job>, random: RandomStream) -> Script {
        Script { job, random, size: 0, iteration: 0, before: Before::Barrier }
    }

    /// The next call; `None` behind the last.
    pub(super) fn next(&mut self) -> Option<Call> {
        let job = Arc::clone(&self.job);
        let size = job.sizes.get(self.size as usize)?;
        loop {
            match self.before {
                Before::Barrier => {
                    self.before = Before::Compute;
                    if job.is_synchronised || self.iteration == 0 || self.iteration == job.warm_up {
                        return Some(Call::Barrier);
                    }
                }
                Before::Compute => {
                    self.before = Before::Nothing;
                    let time = Span::from_ps(job.compute.draw(&mut self.random));
                    if time > Span::ZERO {
                        return Some(Call::Compute(time));
                    }
                }
                Before::Nothing => {
                    let call =
                        Call::Iteration { size: self.size, counts: self.iteration >= job.warm_up };
                    self.before = Before::Barrier;
                    self.iteration += 1;
                    if self.iteration == job.warm_up + size.iterations {
                        (self.size, self.iteration) = (self.size + 1, 0);
                    }
                    return Some(call);
                }
            }
        }
    }
}
