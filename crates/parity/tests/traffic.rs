//! The simulator and the programs over sockets draw the same numbers: when users start, how long
//! they pause, which flow and which datagram comes when and how large it is, and how long a server
//! works.
//!
//! The network is another one, so that the results differ; the draws must not, to the picosecond.

use proptest::prelude::*;
use std::collections::BTreeMap;
use tailrace_plan::*;
use tailrace_sim::{Column, Control, Table, run};

#[path = "../../sim/tests/checks/common/mod.rs"]
#[expect(dead_code, reason = "plans are made as for the simulator's tests, which need more")]
mod common;
#[path = "../../traffic/tests/checks/net.rs"]
#[expect(dead_code, reason = "the network of the traffic program's tests, which look at more")]
mod net;

use common::*;

/// A row of the table of transactions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Row {
    workload: u64,
    user: u64,
    start: u64,
    latency: u64,
    size: u64,
}

fn rows(tables: &[Table]) -> Vec<Row> {
    let table =
        tables.iter().find(|table| table.name == "transactions").expect("it is always there");
    let column = |name: &str| -> Vec<u64> {
        match &table.columns.iter().find(|(known, _)| *known == name).expect("it is always there").1
        {
            Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
            Column::U64(values) => values.clone(),
            Column::F64(_) => panic!("{name} holds whole numbers"),
        }
    };
    let [workload, user, start, latency, size] =
        ["workload", "user", "start_ps", "latency_ps", "size_bytes"].map(column);
    let row = |i: usize| Row {
        workload: workload[i],
        user: user[i],
        start: start[i],
        latency: latency[i],
        size: size[i],
    };
    (0..workload.len()).map(row).collect()
}

/// Of each user of a closed loop, the pauses between its transactions; `of_starts` measures them
/// from start to start.
fn pauses(rows: &[Row], workload: u64, of_starts: bool) -> BTreeMap<u64, Vec<u64>> {
    let mut by_user: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    rows.iter()
        .filter(|row| row.workload == workload)
        .for_each(|row| by_user.entry(row.user).or_default().push(*row));
    let of_user = |(user, mut own): (u64, Vec<Row>)| {
        own.sort_by_key(|row| row.start);
        let from = |row: &Row| row.start + if of_starts { 0 } else { row.latency };
        (user, own.windows(2).map(|pair| pair[1].start - from(&pair[0])).collect())
    };
    by_user.into_iter().map(of_user).collect()
}

/// Starts and sizes of arrivals.
fn arrivals(rows: &[Row], workload: u64) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = rows
        .iter()
        .filter(|row| row.workload == workload)
        .map(|row| (row.start, row.size))
        .collect();
    found.sort_unstable();
    found
}

/// Thinking users, paced users, flows between all hosts and datagrams; everything but the datagrams
/// has an end.
fn mix(seed: u64) -> Plan {
    let mut plan = star(4, 1500, 10 * GBPS, US, switch("sw", 64 << 20, fifo(32 << 20)));
    plan.seed = seed;
    plan.stop_at_ps = 10 * S;
    plan.observe.transactions_max = 1 << 20;
    let mut thinking = oltp("thinking", "h0", "h1", 5, 30, 12_000);
    thinking.gap = RawDistribution::Exponential { mean: 2 * MS };
    thinking.start = RawDistribution::Uniform { low: 0, high: 20 * MS };
    thinking.round_trips[0].server_time = RawDistribution::Exponential { mean: MS };
    let mut paced = oltp("paced", "h2", "h1", 3, 40, 4_000);
    (paced.gap, paced.gap_from) =
        (RawDistribution::Erlang { mean: 3 * MS, shape: 3 }, RawGapFrom::Start);
    let hosts = || (0..4).map(|i| format!("h{i}")).collect();
    let sizes = RawDistribution::LogNormal { median: 20_000, sigma_milli: 1_000 };
    let web = flows_between(
        "web",
        [hosts(), hosts()],
        sizes,
        RawDistribution::Exponential { mean: MS },
        150,
    );
    let mut pings =
        datagrams("pings", "h3", "h0", 0, RawDistribution::Exponential { mean: MS / 2 });
    pings.sizes = RawDistribution::Uniform { low: 1, high: 1_400 };
    plan.workloads = vec![thinking.into(), paced.into(), web.into(), pings.into()];
    Plan::from_raw(plan).expect("the plan is sound")
}

fn compare(plan: &Plan) {
    let simulated = rows(run(plan, &Control::default()).tables());
    let driven = rows(net::run(plan).merged.tables.as_slice());
    assert_eq!(pauses(&simulated, 0, false), pauses(&driven, 0, false), "pauses of thinking users");
    assert_eq!(pauses(&simulated, 1, true), pauses(&driven, 1, true), "pauses of paced users");
    assert_eq!(arrivals(&simulated, 2), arrivals(&driven, 2), "flows");
    let (simulated_pings, driven_pings) = (arrivals(&simulated, 3), arrivals(&driven, 3));
    let both = simulated_pings.len().min(driven_pings.len());
    assert!(both > 50, "{both} datagrams came");
    assert_eq!(simulated_pings[..both], driven_pings[..both], "datagrams");
    assert_eq!([0, 1, 2].map(|workload| arrivals(&driven, workload).len()), [5 * 30, 3 * 40, 150]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn both_draw_the_same_arrivals(seed in any::<u64>()) {
        compare(&mix(seed));
    }
}

#[test]
fn a_recording_is_replayed_with_the_same_pauses_and_times_in_both() {
    for pace in [RawReplayPace::Think, RawReplayPace::Time] {
        let mut plan = star(2, 1500, 10 * GBPS, US, switch("sw", 64 << 20, fifo(32 << 20)));
        plan.stop_at_ps = S;
        plan.observe.transactions_max = 100;
        let connection = |connect_ps| RawRecorded {
            connect_ps,
            begin_ps: vec![10 * MS, 12 * MS, 50 * MS],
            request_bytes: vec![100, 3_000, 1],
            server_ps: vec![MS, 5 * MS, 0],
            response_bytes: vec![1, 100_000, 2_000],
        };
        let connections = vec![connection(0), connection(5 * MS)];
        let (client, server) = ("h0".into(), "h1".into());
        let body = RawBody::Replay(Box::new(RawReplay { client, server, pace, connections }));
        plan.workloads = vec![RawWorkload {
            header: RawHeader { name: "recorded".into(), port: 5_432, ..RawHeader::default() },
            body,
        }];
        let plan = Plan::from_raw(plan).expect("the plan is sound");
        let (simulated, driven) = (
            rows(run(&plan, &Control::default()).tables()),
            rows(net::run(&plan).merged.tables.as_slice()),
        );
        assert_eq!(driven.len(), 6);
        let of_starts = pace == RawReplayPace::Time;
        assert_eq!(pauses(&simulated, 0, of_starts), pauses(&driven, 0, of_starts));
        let expected = if of_starts { [2 * MS, 38 * MS] } else { [12 * MS, 50 * MS] };
        assert!(pauses(&driven, 0, of_starts).values().all(|own| own[..] == expected));
    }
}

#[test]
fn servers_work_as_long_in_both() {
    let plan = mix(7);
    let by_user = |rows: Vec<Row>| {
        let mut own: Vec<Row> = rows.into_iter().filter(|row| row.workload == 0).collect();
        own.sort_by_key(|row| (row.user, row.start));
        own
    };
    let simulated = by_user(rows(run(&plan, &Control::default()).tables()));
    let driven = by_user(rows(net::run(&plan).merged.tables.as_slice()));
    assert_eq!(simulated.len(), driven.len());
    let network = |a: &Row, b: &Row| a.latency.abs_diff(b.latency);
    let most = simulated
        .iter()
        .zip(&driven)
        .map(|(a, b)| network(a, b))
        .max()
        .expect("there are transactions");
    let spread = driven.iter().map(|row| row.latency).max().expect("there are transactions");
    assert!(most < 200 * US && spread > 3 * MS, "latencies differ by {most} ps of {spread} ps");
}
