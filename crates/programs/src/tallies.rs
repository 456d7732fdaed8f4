//! Counters of programs of requests.

/// Counts of a program, or of all programs of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tallies {
    /// Requests that were meant to start by now.
    pub begun: u64,
    /// Requests that were answered.
    pub answered: u64,
    /// Requests that will never be: their connection failed, they were given up, or all of their
    /// queries were lost.
    pub failed: u64,
    /// Connections that clients and asking servers have tried to open.
    pub connections: u64,
    /// Of these, those that could not be opened, or were lost while a response was awaited.
    pub failed_connections: u64,
    /// Queries without a response in time. Each request has one query, and one more for each retry.
    pub lost_queries: u64,
    /// Requests of servers to other servers that failed.
    pub failed_calls: u64,
    /// Requests over TCP that were given up because no whole response came in time, with each retry
    /// counted.
    pub timed_out: u64,
    /// Blocks that have come.
    pub blocks: u64,
    /// Queries for a block without one in time, with each retry counted; they are among the lost
    /// queries.
    pub lost_blocks: u64,
    /// Blocks that will never come: all of their queries were lost.
    pub failed_blocks: u64,
    /// Messages that were answered.
    pub messages: u64,
}

impl Tallies {
    /// How many counts there are.
    pub const COUNT: usize = 12;

    /// In the order of the fields.
    pub fn counts(&self) -> [u64; Tallies::COUNT] {
        let &Tallies {
            begun,
            answered,
            failed,
            connections,
            failed_connections,
            lost_queries,
            failed_calls,
            timed_out,
            ..
        } = self;
        let &Tallies { blocks, lost_blocks, failed_blocks, messages, .. } = self;
        [
            begun,
            answered,
            failed,
            connections,
            failed_connections,
            lost_queries,
            failed_calls,
            timed_out,
            blocks,
            lost_blocks,
            failed_blocks,
            messages,
        ]
    }

    /// From the order of the fields.
    pub fn from_counts(counts: [u64; Tallies::COUNT]) -> Tallies {
        let [
            begun,
            answered,
            failed,
            connections,
            failed_connections,
            lost_queries,
            failed_calls,
            timed_out,
            ..,
        ] = counts;
        let [.., blocks, lost_blocks, failed_blocks, messages] = counts;
        Tallies {
            begun,
            answered,
            failed,
            connections,
            failed_connections,
            lost_queries,
            failed_calls,
            timed_out,
            blocks,
            lost_blocks,
            failed_blocks,
            messages,
        }
    }

    /// Adds those of another program.
    pub fn add(&mut self, other: &Tallies) {
        let mut counts = self.counts();
        counts.iter_mut().zip(other.counts()).for_each(|(count, other)| *count += other);
        *self = Tallies::from_counts(counts);
    }

    /// Counts since then.
    pub fn since(&self, before: &Tallies) -> Tallies {
        let mut counts = self.counts();
        counts.iter_mut().zip(before.counts()).for_each(|(count, before)| *count -= before);
        Tallies::from_counts(counts)
    }
}
