//! What the connections of a workload have counted, in the simulator's words as far as the system knows them.

use crate::counters::Counters;
use crate::record::{Item, Record};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tailrace_units::Time;

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
    /// When counting began.
    before: Counters,
    last: Counters,
}

/// The counters of a workload since `from`. What the system does not tell is left out.
pub fn summary(records: &[Record], workload: u32, from: Time) -> Value {
    let ends = ends(records, workload, from);
    let sum = |name: &str| {
        let of = |end: &Counted| Some(end.last.named(name)?.saturating_sub(end.before.named(name).unwrap_or(0)));
        ends.iter().map(of).sum::<Option<u64>>()
    };
    let words = WORDS.into_iter().filter_map(|(word, name, less)| {
        let less = less.map_or(Some(0), sum)?;
        Some((word.to_owned(), Value::from(sum(name)?.saturating_sub(less))))
    });
    Value::Object(words.collect::<Map<_, _>>())
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
            own.last = sample.counters;
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
