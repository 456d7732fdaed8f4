//! From the records of all hosts to the outcome of a trial, in the simulator's shape: the results
//! of workloads. Those of the network are known to its engine.
//!
//! A trial ends when everything that has an end is complete, as a simulated one does, and hosts
//! learn of it later. Later events are left out: a transaction that ended later was cut off.

mod tables;
mod tcp;

use crate::record::{Failure, Item, Record, Transaction};
use std::collections::{BTreeMap, BTreeSet};
use tailrace_host::Carried;
use tailrace_outcome::{Side, TrafficHost, TrafficOutcome};
use tailrace_plan::Plan;
use tailrace_programs::Tallies;
use tailrace_record::Table;
use tailrace_units::{Span, Time};
use tailrace_workloads::outcome::{
    Counts, CutOff, running, transactions, workload_series, workload_summary,
};
use tailrace_workloads::{WorkloadRecord, has_lasting_connections, record_for, tells_connections};

/// The outcome of all hosts together.
#[derive(Clone, Debug)]
pub struct Merged {
    /// `finished`, `end_ps`, `counted_from_ps`, `workloads` as in the outcome of a simulated trial,
    /// and `hosts` with each host's own report.
    pub summary: TrafficOutcome,
    /// `transactions`, `cut_off`, `workload_series` as in the outcome of a simulated trial, and
    /// `tcp_windows` where they are wanted; `first_bytes` and `tcp_samples`.
    pub tables: Vec<Table>,
}

/// The outcome of a trial, which ended at `end` at the latest.
///
/// # Errors
/// When records are missing, or belong to another trial.
pub fn merge(plan: &Plan, records: &[Record], end: Option<Time>) -> Result<Merged, String> {
    check(plan, records)?;
    let (finished, end) = end_of(plan, records, end);
    let trial =
        Trial { plan, records, end, warm_up: Time::from_ps(plan.raw.observe.warm_up_ps).min(end) };
    let mut workloads: Vec<OfWorkload> =
        plan.workloads.iter().map(|workload| OfWorkload::new(plan, workload)).collect();
    trial.take_transactions(&mut workloads);
    trial.take_bytes(&mut workloads);
    let summary = TrafficOutcome {
        name: plan.raw.name.clone(),
        seed: plan.raw.seed,
        finished,
        end_ps: end.ps(),
        counted_from_ps: trial.warm_up.ps(),
        workloads: (0..)
            .zip(&workloads)
            .map(|(number, workload)| trial.summary(number, workload))
            .collect(),
        hosts: records.iter().map(host_summary).collect(),
        tables: None,
    };
    let (recorded, cut_off): (Vec<WorkloadRecord>, Vec<CutOff>) =
        workloads.into_iter().map(|workload| (workload.record, workload.cut_off)).unzip();
    let of_records = [transactions(plan, &recorded), running(&cut_off), workload_series(&recorded)];
    let more = [tables::first_bytes(records, end), tables::tcp_samples(records)];
    let windows = (plan.raw.observe.windows_ps > 0).then(|| tables::windows(plan, records, end));
    Ok(Merged { summary, tables: of_records.into_iter().chain(more).chain(windows).collect() })
}

/// One workload, as it is put together.
struct OfWorkload {
    record: WorkloadRecord,
    cut_off: CutOff,
    is_finite: bool,
    /// By connection, if that is reported.
    bytes: Option<Vec<u64>>,
}

impl OfWorkload {
    fn new(plan: &Plan, workload: &tailrace_plan::Workload) -> OfWorkload {
        let record = record_for(plan, workload);
        let bytes = tells_connections(workload).then(|| vec![0; record.user_completion.len()]);
        OfWorkload { is_finite: record.is_finite(), record, cut_off: CutOff::default(), bytes }
    }
}

/// All records of a trial, and its times.
struct Trial<'a> {
    plan: &'a Plan,
    records: &'a [Record],
    end: Time,
    warm_up: Time,
}

impl Trial<'_> {
    fn items(&self) -> impl Iterator<Item = &Item> {
        self.records.iter().flat_map(|record| &record.items)
    }

    /// From when a workload counts: one that has an end is counted whole.
    fn counted_from(&self, is_finite: bool) -> Time {
        if is_finite { Time::ZERO } else { self.warm_up }
    }

    fn take_transactions(&self, workloads: &mut [OfWorkload]) {
        let mut complete: Vec<&Transaction> = Vec::new();
        for item in self.items() {
            let (workload, user, start) = match item {
                Item::Transaction(transaction) if transaction.end <= self.end => {
                    complete.push(transaction);
                    continue;
                }
                Item::Transaction(transaction) => {
                    (transaction.workload, transaction.user, transaction.intended)
                }
                &Item::CutOff { workload, user, start } => (workload, user, start),
                Item::Received { .. }
                | Item::Sample(_)
                | Item::Finished { .. }
                | Item::Failed(_)
                | Item::Tallies { .. }
                | Item::Part { .. }
                | Item::End(_) => continue,
            };
            if start <= self.end {
                let own = &mut workloads[workload as usize];
                own.cut_off.note(user, start, self.end, own.record.rows_max);
            }
        }
        complete.sort_by_key(|transaction| {
            (transaction.end, transaction.workload, transaction.user, transaction.intended)
        });
        for &&Transaction { workload, user, intended, end, flow, .. } in &complete {
            let OfWorkload { record, is_finite, .. } = &mut workloads[workload as usize];
            if end > self.counted_from(*is_finite) || *is_finite {
                record.measured(user, intended, end.since(intended));
                if let Some((ends, bytes)) = flow {
                    record.carried(Carried {
                        source: ends.client as u16,
                        destination: ends.server as u16,
                        bytes,
                    });
                }
            }
        }
        self.take_parts(workloads);
        for (at, workload, user) in finished(self.records).filter(|&(at, ..)| at <= self.end) {
            workloads[workload as usize].record.finished(at, user);
        }
    }

    fn take_parts(&self, workloads: &mut [OfWorkload]) {
        for item in self.items() {
            let &Item::Part { workload, since, end } = item else { continue };
            let OfWorkload { record, is_finite, .. } = &mut workloads[workload as usize];
            if end <= self.end && (*is_finite || end > self.counted_from(false)) {
                record.parts.record(end.since(since));
            }
        }
    }

    /// A bin counts from the warm-up on if it begins there. Of the one in which the trial ends a
    /// part counts where traffic went on.
    fn take_bytes(&self, workloads: &mut [OfWorkload]) {
        for own in workloads.iter_mut() {
            own.record.counted_from = self.counted_from(own.is_finite);
        }
        for record in self.records {
            let width = record.head.bin;
            for item in &record.items {
                let &Item::Received { workload, user, bin, bytes } = item else { continue };
                let OfWorkload { record, is_finite, bytes: by_user, .. } =
                    &mut workloads[workload as usize];
                let start = Time::from_ps(bin.saturating_mul(width.ps()));
                let bytes =
                    if *is_finite { bytes } else { share(bytes, width, self.end.since(start)) };
                if let Some(series) = &mut record.goodput {
                    series.add(start, bytes);
                }
                if start >= record.counted_from {
                    record.goodput_bytes += bytes;
                    if let Some(of_user) =
                        by_user.as_mut().and_then(|by_user| by_user.get_mut(user as usize))
                    {
                        *of_user += bytes;
                    }
                }
            }
        }
    }

    /// Counters of the programs of a workload. A host may count a little beyond the end of the
    /// trial, of which it learns later.
    fn tallies(&self, number: u32, is_finite: bool) -> Tallies {
        let from = self.counted_from(is_finite);
        let mut sum = Tallies::default();
        for record in self.records {
            let (mut before, mut last) = (Tallies::default(), Tallies::default());
            for item in &record.items {
                if let &Item::Tallies { at, workload, tallies } = item
                    && workload == number
                {
                    last = tallies;
                    before = if at <= from { tallies } else { before };
                }
            }
            sum.add(&last.since(&before));
        }
        sum
    }

    fn summary(&self, number: u32, own: &OfWorkload) -> tailrace_outcome::Workload {
        let workload = &self.plan.workloads[number as usize];
        let from = self.counted_from(own.is_finite);
        let counts = Counts {
            connection_bytes: own.bytes.clone(),
            tcp: tcp::summary(self.records, number, from),
            limits: tcp::limits(self.records, number, from, has_lasting_connections(workload)),
            tallies: self.tallies(number, own.is_finite),
        };
        workload_summary(workload, &own.record, &own.cut_off, counts)
    }
}

/// The share of a bin's bytes that came in its first `open`.
fn share(bytes: u64, width: Span, open: Span) -> u64 {
    if open >= width {
        return bytes;
    }
    (u128::from(bytes) * u128::from(open.ps()) / u128::from(width.ps())) as u64
}

/// The hosts' completions, with times.
fn finished(records: &[Record]) -> impl Iterator<Item = (Time, u32, u32)> {
    let mut found: Vec<(Time, u32, u32)> = records
        .iter()
        .flat_map(|record| &record.items)
        .filter_map(|item| match *item {
            Item::Finished { workload, user, at } => Some((at, workload, user)),
            Item::Transaction(_)
            | Item::Received { .. }
            | Item::Sample(_)
            | Item::CutOff { .. }
            | Item::Failed(_)
            | Item::Tallies { .. }
            | Item::Part { .. }
            | Item::End(_) => None,
        })
        .collect();
    found.sort_unstable();
    found.into_iter()
}

/// Whether everything that has an end was complete, and when the trial ended.
fn end_of(plan: &Plan, records: &[Record], latest: Option<Time>) -> (bool, Time) {
    let mut left: BTreeMap<u32, u64> = (0..)
        .zip(&plan.workloads)
        .map(|(number, workload)| (number, record_for(plan, workload).users_left))
        .filter(|&(_, left)| left > 0)
        .collect();
    let ended = records.iter().map(|record| record.closing.at).min().unwrap_or(Time::ZERO);
    let end = ended.min(Time::from_ps(plan.raw.stop_at_ps)).min(latest.unwrap_or(Time::NEVER));
    let ends_when_done = !left.is_empty();
    for (at, workload, _) in finished(records).take_while(|&(at, ..)| at <= end) {
        if let Some(of_workload) = left.get_mut(&workload) {
            *of_workload -= 1;
            if *of_workload == 0 {
                left.remove(&workload);
            }
            if left.is_empty() {
                return (true, at);
            }
        }
    }
    (!ends_when_done, end)
}

/// Every host that takes part has one record of this trial.
fn check(plan: &Plan, records: &[Record]) -> Result<(), String> {
    let hosts = plan.workloads.iter().flat_map(|workload| workload.header.hosts());
    let mut missing: BTreeSet<&str> = hosts.map(|host| plan.graph.names[host].as_str()).collect();
    for Record { head, items, .. } in records {
        let host = &head.host;
        if head.plan != plan.raw.name || head.seed != plan.raw.seed {
            return Err(format!(
                "the record of host {host} is of plan {:?} with seed {}",
                head.plan, head.seed
            ));
        }
        if !missing.remove(host.as_str()) {
            return Err(format!("host {host} has two records, or no part in the plan"));
        }
        if items.iter().any(|item| {
            workload_of(item).is_some_and(|workload| workload as usize >= plan.workloads.len())
        }) {
            return Err(format!(
                "the record of host {host} names a workload that the plan does not have"
            ));
        }
    }
    match missing.first() {
        None => Ok(()),
        Some(host) => Err(format!("the record of host {host} is missing")),
    }
}

fn workload_of(item: &Item) -> Option<u32> {
    match *item {
        Item::Transaction(Transaction { workload, .. })
        | Item::Received { workload, .. }
        | Item::Finished { workload, .. }
        | Item::CutOff { workload, .. }
        | Item::Tallies { workload, .. }
        | Item::Part { workload, .. } => Some(workload),
        Item::Sample(ref sample) => Some(sample.workload),
        Item::Failed(_) | Item::End(_) => None,
    }
}

fn host_summary(record: &Record) -> TrafficHost {
    let closing = &record.closing;
    let failures = record
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Failed(failure) => Some(failure_summary(failure)),
            Item::Transaction(_)
            | Item::Received { .. }
            | Item::Sample(_)
            | Item::Finished { .. }
            | Item::CutOff { .. }
            | Item::Tallies { .. }
            | Item::Part { .. }
            | Item::End(_) => None,
        })
        .collect();
    TrafficHost {
        name: record.head.host.clone(),
        ended_ps: closing.at.ps(),
        program_busy_ps: closing.busy_ps,
        calls: closing.calls,
        late_mean_ps: closing.late_ps.checked_div(closing.calls).unwrap_or(0),
        late_max_ps: closing.late_max_ps,
        unsent_datagrams: closing.unsent_datagrams,
        failures,
    }
}

fn failure_summary(failure: &Failure) -> tailrace_outcome::Failure {
    tailrace_outcome::Failure {
        at_ps: failure.at.ps(),
        workload: failure.workload,
        user: failure.user,
        side: if failure.side == 0 { Side::Client } else { Side::Server },
        error: std::io::Error::from_raw_os_error(failure.error).to_string(),
    }
}
