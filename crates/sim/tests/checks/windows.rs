//! Windows over time.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::{Column, Outcome};

fn plan(windows_ps: u64) -> RawPlan {
    let mut plan = star(3, 1500, GBPS, 5 * US, switch("sw", 1_000_000, fifo(10_000)));
    plan.stop_at_ps = 100 * MS;
    plan.observe.windows_ps = windows_ps;
    plan.workloads.push(RawWorkload::from(oltp("shop", "h0", "h2", 3, 0, 200_000)));
    plan.workloads.push(RawWorkload::from(stream("bulk", "h1", "h0", 2, 0)));
    plan
}

fn column(outcome: &Outcome, name: &str) -> Option<Vec<u64>> {
    let table = outcome.tables().iter().find(|table| table.name == "tcp_windows")?;
    Some(match &table.columns.iter().find(|found| found.0 == name).expect("it is a column").1 {
        Column::U64(values) => values.clone(),
        Column::U32(values) => values.iter().copied().map(u64::from).collect(),
        Column::F64(_) => panic!("windows are whole numbers"),
    })
}

#[test]
fn windows_are_those_of_every_connection_at_every_interval_and_change_nothing() {
    let (seen, unseen) = (simulate(plan(10 * MS)), simulate(plan(0)));
    assert_eq!(seen.summary()["digest"], unseen.summary()["digest"]);
    assert_eq!(column(&unseen, "at_ps"), None, "not asked for");
    let of = |name: &str| column(&seen, name).expect("they are recorded");
    let ends: Vec<(u64, u64, u64)> = of("workload")
        .into_iter()
        .zip(of("connection"))
        .zip(of("side"))
        .map(|((a, b), c)| (a, b, c))
        .collect();
    let mut distinct = ends.clone();
    distinct.dedup();
    let expected: Vec<(u64, u64, u64)> = [(0, 3), (1, 2)]
        .into_iter()
        .flat_map(|(workload, count)| (0..2 * count).map(move |end| (workload, end / 2, end % 2)))
        .collect();
    assert_eq!(distinct, expected, "five connections with two ends each");
    for (place, at) in of("at_ps").chunks(10).enumerate() {
        assert_eq!(at, (1..=10).map(|step| step * 10 * MS).collect::<Vec<_>>(), "end {place}");
    }

    // The client of a stream sends: its windows overflow the queue, and all that it sent again is
    // in its last row.
    let (retransmits, thresholds) = (of("retransmits"), of("threshold_segments"));
    let last =
        |end: (u64, u64, u64)| ends.iter().rposition(|&found| found == end).expect("it has rows");
    let sent_again: u64 =
        [(1, 0, 0), (1, 1, 0)].into_iter().map(|end| retransmits[last(end)]).sum();
    assert_eq!(Some(sent_again), seen.summary()["workloads"][1]["tcp"]["retransmits"].as_u64());
    assert!(sent_again > 0, "the queue is short");
    assert!(thresholds[last((1, 0, 0))] < 1_000, "there was a loss");
    assert_eq!(thresholds[last((1, 0, 1))], 0x7fff_ffff, "a receiver has none");
}
