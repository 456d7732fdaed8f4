//! The figures of a trial begin after its warm-up, and nothing else changes.

use crate::common::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::{Column, Outcome};

/// A stream that overflows a queue in slow start, users without end, and users with a number to do.
fn plan(warm_up_ps: u64) -> RawPlan {
    let mut plan = star(3, 9000, 10 * GBPS, 5 * US, switch("sw", 4_000_000, fifo(1_000_000)));
    plan.stop_at_ps = 100 * MS;
    plan.observe.ports = vec![("sw".into(), "h0".into())];
    plan.observe.warm_up_ps = warm_up_ps;
    plan.workloads.push(RawWorkload::from(stream("bulk", "h1", "h0", 4, 0)));
    plan.workloads.push(RawWorkload::from(oltp("shop", "h0", "h2", 4, 0, 20_000)));
    plan.workloads.push(RawWorkload::from(oltp("jobs", "h0", "h2", 2, 50, 20_000)));
    plan.workloads.push(RawWorkload::from(stream("late", "h2", "h1", 1, 1_000_000_000)));
    plan
}

fn table<'a>(outcome: &'a Outcome, name: &str, column: &str) -> &'a [u64] {
    let table = outcome.tables().iter().find(|table| table.name == name).expect("it is a table");
    match &table.columns.iter().find(|found| found.0 == column).expect("it is a column").1 {
        Column::U64(values) => values,
        other => panic!("{other:?} holds no counts"),
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a count"))
}

#[test]
fn a_warm_up_is_left_out_of_what_a_trial_reports_and_changes_nothing_else() {
    let (whole, rest) = (simulate(plan(0)), simulate(plan(50 * MS)));
    let (before, after) = (whole.summary(), rest.summary());
    assert_eq!(before["digest"], after["digest"], "the same things happened");
    assert_eq!(before["conservation"], after["conservation"]);
    assert_eq!(
        (number(&before["counted_from_ps"]), number(&after["counted_from_ps"])),
        (0, 50 * MS)
    );
    for name in ["port_series", "workload_series"] {
        assert_eq!(
            table(&whole, name, "start_ps"),
            table(&rest, name, "start_ps"),
            "series keep the warm-up"
        );
    }

    let [bulk, shop, jobs, _] = [0, 1, 2, 3].map(|index| &after["workloads"][index]);
    // The rows say when each transaction ended: those that ended in the warm-up are gone, the
    // others are the same.
    let ended = |outcome: &Outcome| -> Vec<u64> {
        let (starts, latencies) = (
            table(outcome, "transactions", "start_ps"),
            table(outcome, "transactions", "latency_ps"),
        );
        starts.iter().zip(latencies).map(|(start, latency)| start + latency).collect()
    };
    let ended_late = |ends: &[u64]| ends.iter().filter(|&&at| at > 50 * MS).count();
    let jobs_early = number(&jobs["transactions"]) as usize
        - (ended_late(&ended(&whole)) - number(&shop["transactions"]) as usize);
    assert_eq!(
        ended(&rest).len() - ended_late(&ended(&rest)),
        jobs_early,
        "only those with a number to do ended earlier"
    );
    assert_eq!(ended_late(&ended(&rest)), ended_late(&ended(&whole)));
    assert!(number(&shop["transactions"]) < number(&before["workloads"][1]["transactions"]));
    assert_eq!(number(&shop["latency"]["count"]), number(&shop["transactions"]));

    // Bytes are those of the second half of the series.
    let (bytes, starts) = (
        table(&whole, "workload_series", "goodput_bytes"),
        table(&whole, "workload_series", "start_ps"),
    );
    let bins =
        starts.iter().skip(1).position(|&start| start == 0).expect("there are more workloads") + 1;
    let late: u64 = bytes[..bins]
        .iter()
        .zip(starts)
        .filter(|&(_, &start)| start >= 50 * MS)
        .map(|(bytes, _)| bytes)
        .sum();
    assert_eq!(number(&bulk["goodput_bytes"]), late);
    let connections: u64 = bulk["connection_bytes"]
        .as_array()
        .expect("a stream has connections")
        .iter()
        .map(number)
        .sum();
    assert_eq!(connections, late);
    assert!(
        number(&bulk["tcp"]["segments_sent"])
            < number(&before["workloads"][0]["tcp"]["segments_sent"])
    );

    assert_eq!(jobs, &{
        let mut same = before["workloads"][2].clone();
        same["counted_from_ps"] = 0.into();
        same
    });
    let depths = |outcome: &Outcome| table(outcome, "queue_depth", "time_ps").iter().sum::<u64>();
    assert_eq!((depths(&whole), depths(&rest)), (100 * MS, 50 * MS));
    let sent = |summary: &Value| {
        summary["ports"]
            .as_array()
            .expect("ports")
            .iter()
            .map(|port| number(&port["tx_bytes"]))
            .sum::<u64>()
    };
    assert!(sent(after) < sent(before) * 6 / 10);
    let host = |summary: &Value| number(&summary["hosts"][0]["rx_frames"]);
    assert!(host(after) > 0 && host(after) < host(before) * 6 / 10);
}

#[test]
fn a_trial_that_ends_within_its_warm_up_reports_nothing_without_end() {
    let mut plan = plan(50 * MS);
    plan.workloads.truncate(3);
    let RawBody::Oltp(jobs) = &mut plan.workloads[2].body else { panic!("jobs are users") };
    jobs.transactions = 1;
    let outcome = simulate(plan);
    let summary = outcome.summary();
    assert!(number(&summary["end_ps"]) < 50 * MS);
    assert_eq!(summary["counted_from_ps"], summary["end_ps"]);
    assert_eq!(number(&summary["workloads"][0]["goodput_bytes"]), 0);
    assert_eq!(number(&summary["workloads"][2]["transactions"]), 2);
}
