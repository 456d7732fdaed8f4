//! Writing a record, in memory: it is stored once, at the end.

use super::numbers::put;
use super::{Closing, Failure, MAGIC, Sample, Transaction};
use serde_json::json;
use std::collections::BTreeMap;
use tailrace_plan::Plan;
use tailrace_programs::Tallies;
use tailrace_units::{Span, Time};
use tailrace_workloads::tells_connections;

/// A record that grows.
pub struct Recorder {
    bytes: Vec<u8>,
    bin: Span,
    /// By workload: whether bytes are reported by connection.
    tells_connections: Vec<bool>,
    /// By workload and user: the open bin and the bytes in it.
    open: BTreeMap<(u32, u32), (u64, u64)>,
    closing: Closing,
    /// Datagrams that the system did not take.
    pub(crate) unsent_datagrams: u64,
}

impl Recorder {
    pub(crate) fn new(plan: &Plan, host: u32, bin: Span) -> Recorder {
        let raw = &plan.raw;
        let name = &raw.hosts[host as usize].name;
        let head = json!({"host": name, "plan": raw.name, "seed": raw.seed, "bin_ps": bin.ps()})
            .to_string();
        let mut bytes = MAGIC.to_vec();
        put(&mut bytes, head.len() as u64);
        bytes.extend_from_slice(head.as_bytes());
        let tells_connections = plan.workloads.iter().map(tells_connections).collect();
        Recorder {
            bytes,
            bin,
            tells_connections,
            open: BTreeMap::new(),
            closing: Closing::default(),
            unsent_datagrams: 0,
        }
    }

    fn put<const N: usize>(&mut self, kind: u8, fields: [u64; N]) {
        self.bytes.push(kind);
        fields.into_iter().for_each(|field| put(&mut self.bytes, field));
    }

    pub(crate) fn transaction(&mut self, transaction: &Transaction) {
        let &Transaction { workload, user, intended, first_byte, end, flow } = transaction;
        let (source, destination, size) =
            flow.map_or((0, 0, 0), |(ends, bytes)| (ends.client, ends.server, bytes));
        let (first, rest) = (first_byte.since(intended).ps(), end.since(first_byte).ps());
        let (source, destination) = (source.into(), destination.into());
        self.put(
            1,
            [
                workload.into(),
                user_field(user),
                intended.ps(),
                first,
                rest,
                size,
                source,
                destination,
            ],
        );
    }

    pub(crate) fn received(&mut self, now: Time, workload: u32, user: u32, bytes: u64) {
        let bin = now.ps() / self.bin.ps();
        let user = if self.tells_connections[workload as usize] { user } else { u32::MAX };
        let (open, sum) = self.open.entry((workload, user)).or_insert((bin, 0));
        if *open == bin {
            *sum += bytes;
            return;
        }
        let (before, whole) = (*open, *sum);
        (*open, *sum) = (bin, bytes);
        self.put(2, [workload.into(), user_field(user), before, whole]);
    }

    pub(crate) fn sample(&mut self, sample: &Sample) {
        let &Sample { at, workload, user, side, port, received, counters } = sample;
        let length = counters.0.len() as u64;
        self.put(
            3,
            [
                at.ps(),
                workload.into(),
                user_field(user),
                side.into(),
                port.into(),
                received,
                length,
            ],
        );
        counters.0.iter().for_each(|counter| {
            put(&mut self.bytes, counter.map_or(0, |value| value.saturating_add(1)))
        });
    }

    pub(crate) fn finished(&mut self, workload: u32, user: u32, now: Time) {
        self.put(4, [workload.into(), user_field(user), now.ps()]);
    }

    pub(crate) fn cut_off(&mut self, workload: u32, user: u32, start: Time) {
        self.put(5, [workload.into(), user_field(user), start.ps()]);
    }

    pub(crate) fn failed(&mut self, failure: &Failure) {
        let &Failure { at, workload, user, side, error } = failure;
        self.put(
            6,
            [
                at.ps(),
                workload.into(),
                user_field(user),
                side.into(),
                u64::from(error.unsigned_abs()),
            ],
        );
    }

    pub(crate) fn tallies(&mut self, now: Time, workload: u32, tallies: &Tallies) {
        self.put(8, [now.ps(), workload.into(), Tallies::COUNT as u64]);
        tallies.counts().into_iter().for_each(|count| put(&mut self.bytes, count));
    }

    pub(crate) fn part(&mut self, workload: u32, since: Time, end: Time) {
        self.put(9, [workload.into(), since.ps(), end.since(since).ps()]);
    }

    /// Something was done so long after it was due.
    pub(crate) fn was_late(&mut self, by: Span) {
        let Closing { calls, late_ps, late_max_ps, .. } = &mut self.closing;
        *calls += 1;
        *late_ps += by.ps();
        *late_max_ps = (*late_max_ps).max(by.ps());
    }

    /// The whole record, which ends here.
    pub(crate) fn end(mut self, now: Time, busy: Span) -> Vec<u8> {
        for ((workload, user), (bin, bytes)) in std::mem::take(&mut self.open) {
            self.put(2, [workload.into(), user_field(user), bin, bytes]);
        }
        let Closing { calls, late_ps, late_max_ps, .. } = self.closing;
        self.put(7, [now.ps(), busy.ps(), calls, late_ps, late_max_ps, self.unsent_datagrams]);
        self.bytes
    }
}

/// A user as it is written: flows have none.
fn user_field(user: u32) -> u64 {
    u64::from(user.wrapping_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_summed_and_its_most_is_kept() {
        let (bytes, bin) = (Vec::new(), Span::from_ms(1));
        let (open, closing) = (BTreeMap::new(), Closing::default());
        let mut recorder = Recorder {
            bytes,
            bin,
            tells_connections: Vec::new(),
            open,
            closing,
            unsent_datagrams: 0,
        };
        [2, 5, 3].into_iter().for_each(|us| recorder.was_late(Span::from_us(us)));
        let Closing { calls, late_ps, late_max_ps, .. } = recorder.closing;
        assert_eq!((calls, late_ps, late_max_ps), (3, 10_000_000, 5_000_000));
    }
}
