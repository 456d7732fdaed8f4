//! Counters of the connections of a workload, under the simulator's names as far as the system
//! knows them.

use crate::counters::Counters;
use crate::record::{Item, Record};
use std::collections::BTreeMap;
use tailrace_outcome::{Limits, Tcp};
use tailrace_units::Time;
use tailrace_workloads::outcome::CONNECTIONS_REPORTED_MAX;

/// One end of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    user: u32,
    /// When counting began.
    before: Counters,
    last: Counters,
}

/// The counters of a workload since `from`. Counters that the system does not report are left out.
pub fn summary(records: &[Record], workload: u32, from: Time) -> Tcp {
    let ends = ends(records, workload, from);
    let sum = |name: &str| sum(&ends, name);
    let segments_sent = sum("data_segs_out");
    Tcp {
        segments_sent,
        acks_sent: sum("segs_out")
            .zip(segments_sent)
            .map(|(all, with_data)| all.saturating_sub(with_data)),
        retransmits: sum("total_retrans"),
        timeouts: sum("total_rto"),
        spurious_retransmits: sum("dsack_dups"),
        out_of_order: sum("rcv_ooopack"),
        marked_segments: sum("delivered_ce"),
        ..Tcp::default()
    }
}

/// Of all ends together; `None` if one does not report it.
fn sum(ends: &[Counted], name: &str) -> Option<u64> {
    ends.iter().map(|end| end.since(name)).sum()
}

/// The limits of the connections of a workload since `from`; `None` where the system does not
/// report them.
pub fn limits(records: &[Record], workload: u32, from: Time, is_lasting: bool) -> Option<Limits> {
    let ends = ends(records, workload, from);
    let mut users: BTreeMap<u32, Vec<Counted>> = BTreeMap::new();
    ends.iter().for_each(|end| users.entry(end.user).or_default().push(*end));
    let of_connections =
        || users.values().take(CONNECTIONS_REPORTED_MAX).map(|ends| limits_of(ends)).collect();
    Some(Limits { connections: is_lasting.then(of_connections), ..limits_of(&ends)? })
}

const PS_PER_US: u64 = 1_000_000;

/// Of both ends together.
fn limits_of(ends: &[Counted]) -> Option<Limits> {
    let sum_ps = |name: &str| sum(ends, name).map(|us| us * PS_PER_US);
    let open_ps = sum_ps("open_us").filter(|&open_ps| open_ps > 0)?;
    Some(Limits {
        // Both ends are open for the same time.
        open_ps: open_ps / 2,
        // Linux's count, and the samples.
        send_buffer_ps: Some(
            sum_ps("sndbuf_limited_us").unwrap_or(0) + sum_ps("buffer_limited_us").unwrap_or(0),
        ),
        receive_window_ps: sum_ps("rwnd_limited_us"),
        congestion_ps: sum_ps("congestion_limited_us"),
        recovery_ps: sum_ps("recovery_limited_us"),
        interface_ps: sum_ps("interface_limited_us"),
        queued_ps: sum_ps("queued_us"),
        reader_late_ps: sum_ps("reader_late_us"),
        ..Limits::default()
    })
}

impl Counted {
    fn since(&self, name: &str) -> Option<u64> {
        Some(self.last.named(name)?.saturating_sub(self.before.named(name).unwrap_or(0)))
    }
}

/// Every end that was open after `from`.
fn ends(records: &[Record], workload: u32, from: Time) -> Vec<Counted> {
    let mut done = Vec::new();
    for record in records {
        let mut open: BTreeMap<(u32, u8, u16), Counted> = BTreeMap::new();
        for item in &record.items {
            let Item::Sample(sample) = item else { continue };
            if sample.workload != workload {
                continue;
            }
            let own = open.entry((sample.user, sample.side, sample.port)).or_default();
            if is_another(&own.last, &sample.counters) {
                done.push(std::mem::take(own));
            }
            (own.last, own.user) = (sample.counters, sample.user);
            // One sample is taken for this very moment.
            if sample.at <= from {
                own.before = sample.counters;
            }
        }
        done.extend(open.into_values());
    }
    done
}

/// A flow may have the port of an earlier one.
fn is_another(before: &Counters, now: &Counters) -> bool {
    before.named("segs_out") > now.named("segs_out")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::COUNTERS;
    use crate::record::{Closing, Head, Sample};
    use tailrace_units::Span;

    /// The counters that one end reports at a time (in milliseconds).
    fn sample(at_ms: u64, port: u16, values: &[(&str, u64)]) -> Item {
        let mut counters = Counters::default();
        for (name, value) in values {
            counters.0[COUNTERS.iter().position(|known| known == name).expect("it has a name")] =
                Some(*value);
        }
        let at = Time::ZERO + Span::from_ms(at_ms);
        Item::Sample(Box::new(Sample {
            at,
            workload: 0,
            user: 0,
            side: 0,
            port,
            received: 0,
            counters,
        }))
    }

    fn merged(items: Vec<Item>, from_ms: u64) -> Tcp {
        let head = Head { host: "h0".into(), plan: "p".into(), seed: 1, bin: Span::from_ms(1) };
        let record = Record { head, items, closing: Closing::default() };
        summary(&[record], 0, Time::ZERO + Span::from_ms(from_ms))
    }

    #[test]
    fn each_word_is_its_own_counter() {
        let names = [
            "data_segs_out",
            "segs_out",
            "total_retrans",
            "total_rto",
            "dsack_dups",
            "rcv_ooopack",
            "delivered_ce",
            "lost",
        ];
        let values = [100, 130, 7, 2, 3, 4, 5, 60];
        let all: Vec<(&str, u64)> = names.into_iter().zip(values).collect();
        let expected = Tcp {
            segments_sent: Some(100),
            acks_sent: Some(30),
            retransmits: Some(7),
            timeouts: Some(2),
            spurious_retransmits: Some(3),
            out_of_order: Some(4),
            marked_segments: Some(5),
            ..Tcp::default()
        };
        assert_eq!(merged(vec![sample(1, 1, &all)], 0), expected);
        let without: Vec<(&str, u64)> =
            all.into_iter().filter(|(name, _)| *name != "total_rto").collect();
        assert_eq!(
            merged(vec![sample(1, 1, &without)], 0).timeouts,
            None,
            "a missing counter is left out"
        );
    }

    #[test]
    fn the_sample_at_the_end_of_the_warm_up_is_where_counting_begins() {
        let items = || {
            [(5, 10), (10, 25), (20, 60)]
                .map(|(at, sent)| sample(at, 1, &[("total_retrans", sent)]))
                .to_vec()
        };
        assert_eq!(merged(items(), 10).retransmits, Some(35));
        assert_eq!(merged(items(), 0).retransmits, Some(60));
    }

    #[test]
    fn a_port_that_is_used_again_begins_anew() {
        let one = |at: u64, sent: u64, again: u64| {
            sample(at, 1, &[("segs_out", sent), ("total_retrans", again)])
        };
        assert_eq!(
            merged(vec![one(1, 50, 4), one(2, 10, 1), one(3, 12, 2)], 0).retransmits,
            Some(6)
        );
    }
}
