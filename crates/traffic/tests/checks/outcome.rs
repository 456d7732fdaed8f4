//! Records of hosts, and the outcome that follows.

use crate::net::{DELAY, Trial, WINDOW, run, run_late, run_with};
use crate::plans::*;
use tailrace_outcome::{Side, TrafficOutcome};
use tailrace_plan::*;
use tailrace_record::Column;
use tailrace_traffic::record::{Item, Record};
use tailrace_traffic::{Merged, Settings, merge};
use tailrace_units::{Span, Time};

fn plan(stop_at_ps: u64, workloads: Vec<RawWorkload>) -> Plan {
    let mut raw = star(3, 1500, GBPS, US, switch("sw", 1 << 20, fifo(1 << 20)));
    (raw.stop_at_ps, raw.workloads) = (stop_at_ps, workloads);
    Plan::from_raw(raw).expect("the plan is sound")
}

/// The bytes of each connection of a workload.
fn by_connection(summary: &TrafficOutcome, place: usize) -> &[u64] {
    summary.workloads[place]
        .connection_bytes
        .as_ref()
        .and_then(Option::as_deref)
        .expect("it is reported")
}

/// Users who start at once, 4 transactions each; a statement is one write each way, and the server
/// takes 100 us.
fn users(client: &str) -> Drawn<RawOltp> {
    let mut users = oltp("users", client, "h1", 2, 4, 1_000);
    (users.start, users.gap) = (RawDistribution::Constant(0), RawDistribution::Constant(MS));
    users
}

/// Of a statement: to the server, its work, and back.
const STATEMENT_PS: u64 = 2 * DELAY.ps() + 100 * US;

#[test]
fn a_trial_ends_when_all_that_has_an_end_is_complete() {
    let merged =
        run(&plan(S, vec![users("h0").into(), stream("copy", "h2", "h0", 2, 0).into()])).merged;
    // Connections take twice the delay; three pauses lie between four transactions.
    let end = 2 * DELAY.ps() + 4 * STATEMENT_PS + 3 * MS;
    assert_eq!((merged.summary.finished, merged.summary.end_ps), (true, end));
    let users = &merged.summary.workloads[0];
    assert_eq!(
        (users.completion_ps, users.transactions, users.goodput_bytes),
        (Some(end), 8, 8 * 1_000)
    );
    assert_eq!(users.latency.as_ref().map(|latency| latency.max_ps / US), Some(STATEMENT_PS / US));
    let by_connection = by_connection(&merged.summary, 1);
    assert_eq!(by_connection.len(), 2);
    assert_eq!(by_connection.iter().sum::<u64>(), merged.summary.workloads[1].goodput_bytes);
    assert!(
        by_connection.iter().all(|&bytes| bytes > 1_000_000),
        "both streams flow: {by_connection:?}"
    );
}

#[test]
fn what_is_not_complete_at_the_end_is_cut_off() {
    let plan = plan(S, vec![users("h0").into()]);
    let trial = run(&plan);
    // In the second transaction of both users.
    let earlier = Time::from_ps(2 * DELAY.ps() + STATEMENT_PS + MS + 50 * US);
    let merged = merge(&plan, &trial.records, Some(earlier)).expect("it is the same trial");
    let users = &merged.summary.workloads[0];
    assert_eq!((merged.summary.finished, merged.summary.end_ps), (false, earlier.ps()));
    assert_eq!(
        (users.transactions, users.cut_off.count, users.cut_off.longest_ps),
        (2, 2, 50 * US)
    );
}

#[test]
fn a_flow_that_has_begun_and_has_not_come_is_cut_off() {
    let ends = [vec!["h0".into()], vec!["h1".into()]];
    let web = flows_between(
        "web",
        ends,
        RawDistribution::Constant(5_000),
        RawDistribution::Constant(MS),
        10,
    );
    let stop_at = 3 * MS + DELAY.ps() / 2; // the third has sent its first segment
    let merged = run(&plan(stop_at, vec![web.into()])).merged;
    let web = &merged.summary.workloads[0];
    assert_eq!(
        (web.transactions, web.cut_off.count, web.cut_off.longest_ps),
        (2, 1, DELAY.ps() / 2)
    );
}

#[test]
fn the_warm_up_of_what_has_no_end_is_left_out() {
    let endless = |warm_up_ps: u64| {
        let pings = datagrams("pings", "h0", "h1", 100, RawDistribution::Constant(MS));
        let mut raw =
            plan(20 * MS, vec![pings.into(), stream("copy", "h2", "h1", 1, 0).into()]).raw;
        raw.observe.warm_up_ps = warm_up_ps;
        run(&Plan::from_raw(raw).expect("the plan is sound")).merged.summary
    };
    let (whole, counted) = (endless(0), endless(5 * MS));
    assert_eq!((whole.workloads[0].transactions, counted.workloads[0].transactions), (19, 15));
    assert_eq!(counted.workloads[0].goodput_bytes, 15 * 100);
    let copied = |summary: &TrafficOutcome| by_connection(summary, 1)[0] as f64;
    let part = copied(&counted) / copied(&whole);
    assert!((part - 0.75).abs() < 0.02, "{part} of the bytes came after a quarter of the time");
}

#[test]
fn a_user_who_works_on_what_arrives_reads_all_of_it() {
    let mut working = users("h0");
    (working.round_trips[0].response_bytes, working.round_trips[0].consume_fs_per_byte) =
        (300_000, 1_000);
    working.round_trips[0].unpack_fs_per_byte = 1_000;
    let merged = run(&plan(S, vec![working.into()])).merged;
    assert_eq!(merged.summary.workloads[0].goodput_bytes, 8 * 300_000);
    // A picosecond for each byte as it comes, and another when all have come.
    assert_eq!(merged.summary.hosts[0].program_busy_ps, 2 * 8 * 300_000);
}

/// A clock is read a little later than what was waited for. That is no work: it would add up over
/// the pieces.
#[test]
fn work_takes_no_longer_where_its_end_is_noticed_late() {
    let mut working = users("h0");
    (working.round_trips[0].response_bytes, working.round_trips[0].consume_fs_per_byte) =
        (300_000, 1_000_000);
    let plan = plan(S, vec![working.into()]);
    let settings = Settings { bin: Span::from_ms(1), tcp_interval: None };
    let end = |late| run_late(&plan, settings, None, late).merged.summary.end_ps;
    assert_eq!(end(Span::from_ns(300)), end(Span::ZERO));
}

#[test]
fn a_connection_that_is_refused_is_a_failure_and_the_trial_is_not_finished() {
    let plan = plan(50 * MS, vec![users("h0").into()]);
    let settings = Settings { bin: Span::from_ms(1), tcp_interval: None };
    let summary = run_with(&plan, settings, Some(1)).merged.summary;
    assert!(!summary.finished);
    let failures = &summary.hosts[0].failures;
    assert_eq!(failures.len(), 2, "one for each user: {failures:?}");
    assert_eq!(failures[0].side, Side::Client);
    assert!(failures[0].error.contains("refused"), "{failures:?}");
}

/// A column of a table of the outcome.
fn column(merged: &Merged, table: &str, name: &str) -> Vec<u64> {
    let found =
        merged.tables.iter().find(|each| each.name == table).expect("there is such a table");
    match &found.columns.iter().find(|each| each.0 == name).expect("it has this column").1 {
        Column::U64(values) => values.clone(),
        Column::U32(_) | Column::F64(_) => panic!("the numbers have 64 bits"),
    }
}

#[test]
fn the_first_byte_of_a_long_answer_comes_before_its_last() {
    let mut long = users("h0");
    long.round_trips[0].response_bytes = 300_000;
    let plan = plan(S, vec![long.into()]);
    let trial = run(&plan);
    let first = column(&trial.merged, "first_bytes", "first_byte_ps");
    let whole = column(&trial.merged, "transactions", "latency_ps");
    assert_eq!((first.len(), whole.len()), (8, 8));
    assert!(whole.iter().min() > first.iter().max(), "{first:?} {whole:?}");
    assert!(first.iter().all(|ps| *ps >= STATEMENT_PS), "{first:?}");
    let earlier = Time::from_ps(trial.merged.summary.end_ps / 2);
    let half = merge(&plan, &trial.records, Some(earlier)).expect("it is the same trial");
    assert_eq!(
        column(&half, "first_bytes", "first_byte_ps").len(),
        column(&half, "transactions", "latency_ps").len()
    );
}

#[test]
fn of_the_bin_in_which_a_trial_ends_a_part_counts() {
    let plan = plan(20 * MS, vec![stream("copy", "h2", "h1", 1, 0).into()]);
    let trial = run_with(&plan, Settings { bin: Span::from_ms(10), tcp_interval: None }, None);
    let by = |ms: u64| {
        let merged = merge(&plan, &trial.records, Some(Time::from_ps(ms * MS)))
            .expect("it is the same trial");
        merged.summary.workloads[0].goodput_bytes
    };
    let (first, middle, whole) = (by(10), by(15), by(20));
    assert!(0 < first && first < whole);
    assert_eq!(middle, first + (whole - first) / 2);
}

#[test]
fn what_a_flow_has_counted_is_read_before_it_closes() {
    let ends = [vec!["h0".into()], vec!["h1".into()]];
    let web = flows_between(
        "web",
        ends,
        RawDistribution::Constant(5_000),
        RawDistribution::Constant(MS),
        10,
    );
    let records = run(&plan(S, vec![web.into()])).records;
    let samples = |record: &Record| {
        record.items.iter().filter(|item| matches!(item, Item::Sample(_))).count()
    };
    assert_eq!(records.iter().map(samples).collect::<Vec<_>>(), [10, 10]);
}

#[test]
fn counters_are_read_as_often_as_wanted() {
    let plan = plan(10 * MS + DELAY.ps(), vec![stream("copy", "h2", "h1", 1, 0).into()]);
    let settings = Settings { bin: Span::from_ms(1), tcp_interval: Some(Span::from_ms(2)) };
    let trial = run_with(&plan, settings, None);
    let samples = |record: &Record| {
        record.items.iter().filter(|item| matches!(item, Item::Sample(_))).count()
    };
    // After 2, 4, 6, 8 and 10 ms, and at the end, at both ends.
    assert_eq!(trial.records.iter().map(samples).collect::<Vec<_>>(), [6, 6]);
}

#[test]
fn windows_are_reported_when_the_plan_wants_them() {
    let mut raw = plan(S, vec![users("h0").into(), stream("copy", "h2", "h1", 1, 0).into()]).raw;
    let settings = Settings { bin: Span::from_ms(1), tcp_interval: Some(Span::from_ms(2)) };
    let windows_of = |raw: &RawPlan| {
        let merged =
            run_with(&Plan::from_raw(raw.clone()).expect("the plan is sound"), settings, None)
                .merged;
        merged
            .tables
            .into_iter()
            .find(|table| table.name == "tcp_windows")
            .map(|table| table.columns)
    };
    assert!(windows_of(&raw).is_none(), "not asked for");
    raw.observe.windows_ps = 2 * MS;
    let columns = windows_of(&raw).expect("they were asked for");
    let Column::U32(workloads) = &columns[0].1 else { panic!("workloads are numbers") };
    let Column::U64(windows) = &columns[4].1 else { panic!("windows are numbers") };
    assert_eq!(columns[4].0, "window_segments");
    let mut both = workloads.clone();
    both.dedup();
    assert_eq!(both, [0, 1]);
    assert!(windows.iter().all(|&window| window == WINDOW), "{windows:?}");
}

#[test]
fn a_record_that_is_not_whole_is_refused() {
    let Trial { files, .. } = run(&plan(S, vec![users("h0").into()]));
    let [client, ..] = files.as_slice() else { panic!("every host has one") };
    for length in [4, 20, client.len() / 2, client.len() - 1] {
        assert!(Record::parse(&client[..length]).is_err(), "{length} of {} bytes", client.len());
    }
    let error = Record::parse(&[client.as_slice(), &[0]].concat()).expect_err("it goes on");
    assert!(error.starts_with("the record goes on after its end"), "{error}");
}

#[test]
fn records_of_another_trial_are_refused() {
    let plan = plan(S, vec![users("h0").into()]);
    let Trial { records, .. } = run(&plan);
    let complaint =
        |plan: &Plan, records: &[Record]| merge(plan, records, None).expect_err("it is refused");
    assert_eq!(complaint(&plan, &records[..1]), "the record of host h1 is missing");
    let twice = [records[0].clone(), records[0].clone()];
    assert_eq!(complaint(&plan, &twice), "host h0 has two records, or no part in the plan");
    let mut raw = plan.raw.clone();
    raw.seed = 2;
    let other = Plan::from_raw(raw).expect("the plan is sound");
    assert_eq!(
        complaint(&other, &records),
        "the record of host h0 is of plan \"test\" with seed 1"
    );
}
