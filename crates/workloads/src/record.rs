//! The record of one workload.

use crate::StorageRecord;
use tailrace_host::Carried;
use tailrace_plan::RawObserve;
use tailrace_programs::{StorageDone, Tallies};
use tailrace_record::{Latency, Series};
use tailrace_transport::tcp::{Limits, TcpStats};
use tailrace_units::{Span, Time, prefetch_all};

/// Results of one workload.
#[derive(Debug)]
pub struct WorkloadRecord {
    /// Of transactions and flows that are complete.
    pub latency: Latency,
    /// Of parts of transactions, such as blocks: of kinds that report them.
    pub parts: Latency,
    /// Of a workload of storage.
    pub storage: Option<Box<StorageRecord>>,
    /// The same for each user, of kinds that report it.
    pub sums: Vec<Sum>,
    /// How many transactions and flows are complete.
    pub transactions: u64,
    /// Transactions until it is complete; 0 for a workload without end.
    pub transactions_total: u64,
    /// Users, streams or flows that are not finished.
    pub users_left: u64,
    /// When the last of them was.
    pub completion: Option<Time>,
    /// When each of them was.
    pub user_completion: Vec<Option<Time>>,
    /// Payload that came to the receiving programs.
    pub goodput_bytes: u64,
    /// The same over time.
    pub goodput: Option<Series>,
    /// Start and latency of transactions, the first so many.
    pub rows: Vec<Row>,
    /// Of a workload of flows: the flow of each row. Empty for others.
    pub carried: Vec<Carried>,
    /// Most rows.
    pub rows_max: usize,
    /// Sums over connections that are gone.
    pub retired: TcpStats,
    /// The limits of these, both ends together.
    pub retired_limits: Limits,
    /// From when its results count: the warm-up of a workload without end is left out.
    pub counted_from: Time,
    /// The counts at that time; none of a workload that is counted from its start.
    pub before: Option<Box<Before>>,
}

/// The counts of a workload at the end of the warm-up.
#[derive(Clone, Default, Debug)]
pub struct Before {
    /// By its connections.
    pub tcp: TcpStats,
    /// Their limits.
    pub limits: Limits,
    /// The same of each connection that lasts.
    pub connection_limits: Vec<Limits>,
    /// By its programs.
    pub tallies: Tallies,
    /// The bytes that each connection of a stream had received, in the order in which they start.
    pub bytes: Vec<u64>,
}

/// Latencies of one user.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sum {
    /// How many.
    pub count: u64,
    /// All of them together.
    pub sum_ps: u64,
    /// The smallest.
    pub min_ps: u64,
    /// The largest.
    pub max_ps: u64,
}

impl Sum {
    /// One more.
    pub fn add(&mut self, latency: Span) {
        let ps = latency.ps();
        self.min_ps = if self.count == 0 { ps } else { self.min_ps.min(ps) };
        (self.count, self.sum_ps, self.max_ps) =
            (self.count + 1, self.sum_ps + ps, self.max_ps.max(ps));
    }

    /// Their mean.
    pub fn mean_ps(&self) -> f64 {
        self.sum_ps as f64 / self.count.max(1) as f64
    }
}

/// One transaction.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Counts within the workload.
    pub user: u32,
    /// When it was meant to start.
    pub start: Time,
    /// From there to its end.
    pub latency: Span,
}

impl WorkloadRecord {
    /// An empty record of a workload with so many users, of which `users_left` finish after
    /// `transactions_total` transactions together (0: none does).
    pub fn new(
        plan: &RawObserve,
        users: usize,
        users_left: u64,
        transactions_total: u64,
    ) -> WorkloadRecord {
        let series = || {
            Series::new(
                (plan.series_bins as usize).max(2),
                Span::from_ps(plan.series_bin_ps.max(1)),
            )
        };
        WorkloadRecord {
            latency: Latency::default(),
            parts: Latency::default(),
            storage: None,
            sums: Vec::new(),
            transactions: 0,
            transactions_total,
            users_left,
            completion: None,
            user_completion: vec![None; users],
            goodput_bytes: 0,
            goodput: (plan.series_bins > 0).then(series),
            rows: Vec::new(),
            carried: Vec::new(),
            rows_max: usize::try_from(plan.transactions_max).unwrap_or(usize::MAX),
            retired: TcpStats::default(),
            retired_limits: Limits::default(),
            counted_from: Time::ZERO,
            before: None,
        }
    }

    /// Latencies are kept for each of so many users.
    pub fn keep_sums(&mut self, users: usize) {
        self.sums = vec![Sum::default(); users];
    }

    /// Bytes come to a receiving program soon.
    #[inline(always)]
    pub fn prefetch_goodput(&self) {
        prefetch_all(&self.goodput_bytes);
        prefetch_all(&self.goodput);
    }

    /// Bytes came to a receiving program.
    #[inline]
    pub fn received(&mut self, now: Time, bytes: u64) {
        self.goodput_bytes += bytes;
        if let Some(series) = &mut self.goodput {
            series.add(now, bytes);
        }
    }

    /// A transaction or datagram took this long.
    pub fn measured(&mut self, user: u32, start: Time, latency: Span) {
        self.transactions += 1;
        self.latency.record(latency);
        if let Some(sum) = self.sums.get_mut(user as usize) {
            sum.add(latency);
        }
        if self.rows.len() < self.rows_max {
            self.rows.push(Row { user, start, latency });
        }
    }

    /// A transaction that was meant to start at `intended` is complete.
    pub fn completed(&mut self, now: Time, user: u32, intended: Time) {
        self.measured(user, intended, now.since(intended));
    }

    /// A request of storage is complete.
    pub fn storage_done(&mut self, now: Time, done: &StorageDone) {
        self.received(now, done.bytes);
        if let Some(storage) = &mut self.storage {
            storage.note(done);
        }
    }

    /// Whether it has a number to do, and so a completion.
    pub fn is_finite(&self) -> bool {
        self.transactions_total > 0
    }

    /// Latencies, transactions and bytes count from `now` on; the series stays.
    pub fn begin_counting(&mut self, now: Time, before: Before) {
        self.counted_from = now;
        (self.latency, self.parts) = (Latency::default(), Latency::default());
        (self.transactions, self.goodput_bytes) = (0, 0);
        if let Some(storage) = &mut self.storage {
            **storage = StorageRecord::new(storage.devices);
        }
        self.sums.fill(Sum::default());
        self.rows.clear();
        self.carried.clear();
        self.before = Some(Box::new(before));
    }

    /// Adds the bytes that another part of the same trial has counted, and the counts of its closed
    /// connections; both begin anew there. All other events are applied in order.
    pub fn absorb(&mut self, other: &mut WorkloadRecord) {
        self.goodput_bytes += std::mem::take(&mut other.goodput_bytes);
        if let (Some(own), Some(others)) = (&mut self.goodput, &mut other.goodput) {
            own.absorb(others);
        }
        self.retired.add(&std::mem::take(&mut other.retired));
        self.retired_limits.add(&std::mem::take(&mut other.retired_limits));
    }

    /// The flow that has just been measured.
    pub fn carried(&mut self, carried: Carried) {
        if self.carried.len() < self.rows.len() {
            self.carried.push(carried);
        }
    }

    /// This user has nothing more to do. Returns whether that was the last.
    pub fn finished(&mut self, now: Time, user: u32) -> bool {
        if let Some(slot) = self.user_completion.get_mut(user as usize) {
            *slot = Some(now);
        }
        if self.users_left == 0 {
            return false;
        }
        self.users_left -= 1;
        if self.users_left == 0 {
            self.completion = Some(now);
        }
        self.users_left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_warm_up_everything_but_the_series_is_counted_anew() {
        let observe = RawObserve {
            ports: Vec::new(),
            series_bins: 4,
            series_bin_ps: 1_000_000,
            transactions_max: 10,
            digest: false,
            warm_up_ps: 0,
            windows_ps: 0,
            interfaces_ps: 0,
        };
        let mut record = WorkloadRecord::new(&observe, 1, 0, 0);
        record.received(Time::ZERO, 700);
        record.completed(Time::from_ps(5), 0, Time::ZERO);
        record.carried(Carried { source: 0, destination: 1, bytes: 700 });
        let now = Time::from_ps(9);
        record.begin_counting(now, Before { bytes: vec![700], ..Before::default() });
        assert_eq!((record.transactions, record.latency.count(), record.goodput_bytes), (0, 0, 0));
        assert_eq!((record.rows.len(), record.carried.len(), record.counted_from), (0, 0, now));
        assert_eq!(record.before.expect("counting began").bytes, [700]);
        assert_eq!(record.goodput.expect("it has a series").bins()[0], 700);
    }
}
