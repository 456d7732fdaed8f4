//! What the connections of a workload have counted, in the simulator's words as far as the system knows them.

use crate::counters::Counters;
use crate::record::{Item, Record};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tailrace_units::Time;
use tailrace_workloads::outcome::CONNECTIONS_TOLD_MAX;

/// The simulator's word, the system's counter, and one that is taken off it.
const WORDS: [(&str, &str, Option<&str>); 7] = [
    ("segments_sent", "data_segs_out", None),
    ("acks_sent", "segs_out", Some("data_segs_out")),
    ("retransmits", "total_retrans", None),
    ("timeouts", "total_rto", None),
    ("spurious_retransmits", "dsack_dups", None),
    ("out_of_order", "rcv_ooopack", None),
    ("marked_segments", "delivered_ce", None),
];

/// One end of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    user: u32,
    /// When counting began.
    before: Counters,
    last: Counters,
}

/// The counters of a workload since `from`. What the system does not tell is left out.
pub fn summary(records: &[Record], workload: u32, from: Time) -> Value {
    let ends = ends(records, workload, from);
    let sum = |name: &str| ends.iter().map(|end| end.since(name)).sum::<Option<u64>>();
    let words = WORDS.into_iter().filter_map(|(word, name, less)| {
        let less = less.map_or(Some(0), sum)?;
        Some((word.to_owned(), Value::from(sum(name)?.saturating_sub(less))))
    });
    Value::Object(words.collect::<Map<_, _>>())
}

/// What limited the connections of a workload since `from`, in the simulator's words; null where the system does not tell.
pub fn limits(records: &[Record], workload: u32, from: Time, is_lasting: bool) -> Value {
    let ends = ends(records, workload, from);
    let mut users: BTreeMap<u32, Vec<Counted>> = BTreeMap::new();
    ends.iter().for_each(|end| users.entry(end.user).or_default().push(*end));
    let mut together = limits_of(&ends);
    if is_lasting && together.is_object() {
        let told = users.values().take(CONNECTIONS_TOLD_MAX).map(|ends| limits_of(ends));
        together["connections"] = told.collect::<Vec<Value>>().into();
    }
    together
}

/// The simulator's word and the counter, of both ends together.
const LIMIT_WORDS: [(&str, &str); 6] = [
    ("receive_window_ps", "rwnd_limited_us"),
    ("congestion_ps", "congestion_limited_us"),
    ("recovery_ps", "recovery_limited_us"),
    ("interface_ps", "interface_limited_us"),
    ("queued_ps", "queued_us"),
    ("reader_late_ps", "reader_late_us"),
];
const PS_PER_US: u64 = 1_000_000;

fn limits_of(ends: &[Counted]) -> Value {
    let sum = |name: &str| ends.iter().map(|end| end.since(name)).sum::<Option<u64>>().map(|us| us * PS_PER_US);
    let Some(open_ps) = sum("open_us").filter(|&open_ps| open_ps > 0) else { return Value::Null };
    let words = LIMIT_WORDS.into_iter().filter_map(|(word, name)| Some((word.to_owned(), Value::from(sum(name)?))));
    let mut told: Map<String, Value> = words.collect();
    // Both ends are open for the same time.
    told.insert("open_ps".to_owned(), (open_ps / 2).into());
    // What Linux counts, and what it looked like besides.
    let buffer_ps = sum("sndbuf_limited_us").unwrap_or(0) + sum("buffer_limited_us").unwrap_or(0);
    told.insert("send_buffer_ps".to_owned(), buffer_ps.into());
    Value::Object(told)
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

    /// What one end tells at a time (in milliseconds).
    fn sample(at_ms: u64, port: u16, told: &[(&str, u64)]) -> Item {
        let mut counters = Counters::default();
        for (name, value) in told {
            counters.0[COUNTERS.iter().position(|known| known == name).expect("it has a name")] = Some(*value);
        }
        let at = Time::ZERO + Span::from_ms(at_ms);
        Item::Sample(Box::new(Sample { at, workload: 0, user: 0, side: 0, port, received: 0, counters }))
    }

    fn told(items: Vec<Item>, from_ms: u64) -> Value {
        let head = Head { host: "h0".into(), plan: "p".into(), seed: 1, bin: Span::from_ms(1) };
        let record = Record { head, items, closing: Closing::default() };
        summary(&[record], 0, Time::ZERO + Span::from_ms(from_ms))
    }

    #[test]
    fn each_word_is_its_own_counter() {
        let names =
            ["data_segs_out", "segs_out", "total_retrans", "total_rto", "dsack_dups", "rcv_ooopack", "delivered_ce", "lost"];
        let values = [100, 130, 7, 2, 3, 4, 5, 60];
        let all: Vec<(&str, u64)> = names.into_iter().zip(values).collect();
        let expected = serde_json::json!({
            "segments_sent": 100, "acks_sent": 30, "retransmits": 7, "timeouts": 2, "spurious_retransmits": 3, "out_of_order": 4,
            "marked_segments": 5,
        });
        assert_eq!(told(vec![sample(1, 1, &all)], 0), expected);
        let without: Vec<(&str, u64)> = all.into_iter().filter(|(name, _)| *name != "total_rto").collect();
        assert!(told(vec![sample(1, 1, &without)], 0).get("timeouts").is_none(), "what is not told is left out");
    }

    #[test]
    fn the_sample_at_the_end_of_the_warm_up_is_where_counting_begins() {
        let items = || [(5, 10), (10, 25), (20, 60)].map(|(at, sent)| sample(at, 1, &[("total_retrans", sent)])).to_vec();
        assert_eq!(told(items(), 10)["retransmits"], 35);
        assert_eq!(told(items(), 0)["retransmits"], 60);
    }

    #[test]
    fn a_port_that_is_used_again_begins_anew() {
        let one = |at: u64, sent: u64, again: u64| sample(at, 1, &[("segs_out", sent), ("total_retrans", again)]);
        assert_eq!(told(vec![one(1, 50, 4), one(2, 10, 1), one(3, 12, 2)], 0)["retransmits"], 6);
    }
}
