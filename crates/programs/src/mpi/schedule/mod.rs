//! The sends and receives of a rank in each step of a pattern: pure functions of its rank, the size
//! and the number of the step.
//!
//! A step is over when all of its messages are complete; received data is combined then. Algorithms
//! and the choice among them are those of Open MPI 4.1.4 (`coll/base`, `coll/tuned`), and the
//! patterns between two ranks those of the Intel MPI Benchmarks.

mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod choice;
mod folding;

pub use bcast::Tree;
pub use choice::{barrier_of, choose};

/// Most ranks: from 128 on Open MPI chooses algorithms that are not here.
pub const RANKS_MAX: u32 = 127;
/// Bytes of an element that is reduced: `MPI_FLOAT`, as the benchmarks do.
pub const ELEMENT: u64 = 4;

/// The pattern that the ranks of a job repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Two ranks send a message there and back; its time is half of that.
    PingPong,
    /// Each sends to the next rank and receives from the one before.
    Ring,
    /// Each sends to both neighbours and receives from both.
    Exchange,
    /// The sum of all, at all.
    Allreduce,
    /// A message from each to each.
    Alltoall,
    /// From rank 0 to all.
    Bcast,
    /// Each waits for all.
    Barrier,
}

impl Pattern {
    /// Ranks that take part, of so many.
    pub fn active(self, ranks: u32) -> u32 {
        if self == Pattern::PingPong { ranks.min(2) } else { ranks }
    }

    /// Whether the iterations of this rank are reported.
    pub fn is_timed_by(self, rank: u32) -> bool {
        self != Pattern::PingPong || rank == 0
    }

    /// Whether a barrier comes before each iteration (`-sync` of the benchmarks, on for
    /// collectives).
    pub fn is_synchronised(self) -> bool {
        matches!(self, Pattern::Allreduce | Pattern::Alltoall | Pattern::Bcast)
    }
}

/// How a pattern is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collective {
    /// Two ranks, there and back.
    PingPong,
    /// To the next rank, from the one before.
    Ring,
    /// To and from both neighbours.
    Exchange,
    /// Pairs at doubling distances exchange and combine all.
    RecursiveDoubling,
    /// Parts go round twice: once to be combined, once to be distributed.
    ReduceRing,
    /// Halves, quarters ... are combined, then gathered.
    Rabenseifner,
    /// All at once to and from all others.
    Linear,
    /// One partner to send to and one to receive from at a time.
    Pairwise,
    /// Blocks of several ranks at doubling distances.
    Bruck,
    /// Along a tree.
    Tree(Tree),
    /// Parts along a tree, then round.
    ScatterRing,
    /// Rank 0 receives from all, then sends to all.
    BarrierLinear,
    /// Pairs at doubling distances.
    BarrierDoubling,
    /// To a rank at doubling distances, from one as far behind.
    Dissemination,
}

/// A rank among others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommRank {
    /// From 0.
    pub rank: u32,
    /// How many there are.
    pub ranks: u32,
}

impl CommRank {
    /// The rank so far behind this one, round the ring.
    fn after(self, distance: u32) -> u32 {
        (self.rank + distance % self.ranks) % self.ranks
    }

    /// The rank so far before it.
    fn before(self, distance: u32) -> u32 {
        (self.rank + self.ranks - distance % self.ranks) % self.ranks
    }
}

/// Messages that a rank sends and receives at the same time: the other rank, and bytes.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ScheduleStep {
    /// In order.
    pub sends: Vec<(u32, u64)>,
    /// In order.
    pub receives: Vec<(u32, u64)>,
    /// Bytes that are combined when all are complete.
    pub combine: u64,
}

impl ScheduleStep {
    /// Nothing to do.
    pub fn clear(&mut self) {
        self.sends.clear();
        self.receives.clear();
        self.combine = 0;
    }

    fn send(&mut self, to: u32, bytes: u64) {
        self.sends.push((to, bytes));
    }

    fn receive(&mut self, from: u32, bytes: u64) {
        self.receives.push((from, bytes));
    }

    fn swap(&mut self, with: u32, bytes: u64) {
        self.send(with, bytes);
        self.receive(with, bytes);
    }
}

impl Collective {
    /// Writes a step of a rank. Returns whether there is such a step.
    pub fn step(self, caller: CommRank, bytes: u64, number: u32, step: &mut ScheduleStep) -> bool {
        step.clear();
        match self {
            Collective::PingPong => ping_pong(caller, bytes, number, step),
            Collective::Ring | Collective::Exchange => {
                let is_both = self == Collective::Exchange;
                number == 0 && neighbours(caller, bytes, is_both, step)
            }
            Collective::RecursiveDoubling => {
                allreduce::recursive_doubling(caller, bytes, number, step)
            }
            Collective::ReduceRing => allreduce::ring(caller, bytes, number, step),
            Collective::Rabenseifner => allreduce::rabenseifner(caller, bytes, number, step),
            Collective::Linear => number == 0 && alltoall::linear(caller, bytes, step),
            Collective::Pairwise => alltoall::pairwise(caller, bytes, number, step),
            Collective::Bruck => alltoall::bruck(caller, bytes, number, step),
            Collective::Tree(tree) => bcast::along(tree, caller, bytes, number, step),
            Collective::ScatterRing => bcast::scatter_ring(caller, bytes, number, step),
            Collective::BarrierLinear => barrier::linear(caller, number, step),
            Collective::BarrierDoubling => barrier::doubling(caller, number, step),
            Collective::Dissemination => barrier::dissemination(caller, number, step),
        }
    }
}

fn ping_pong(caller: CommRank, bytes: u64, number: u32, step: &mut ScheduleStep) -> bool {
    match (caller.rank, number) {
        (0, 0) => step.send(1, bytes),
        (0, 1) => step.receive(1, bytes),
        (1, 0) => step.receive(0, bytes),
        (1, 1) => step.send(0, bytes),
        _ => return false,
    }
    true
}

fn neighbours(caller: CommRank, bytes: u64, is_both: bool, step: &mut ScheduleStep) -> bool {
    let (left, right) = (caller.before(1), caller.after(1));
    step.send(right, bytes);
    step.receive(left, bytes);
    if is_both {
        step.send(left, bytes);
        step.receive(right, bytes);
    }
    true
}
