//! Requests over sockets: the same programs as in the simulator.

use crate::net::{DELAY, Trial, run, run_with};
use crate::plans::*;
use tailrace_outcome::{RequestCounts, Workload};
use tailrace_plan::*;
use tailrace_traffic::Settings;
use tailrace_traffic::record::Item;
use tailrace_units::Span;

fn plan(stop_at_ps: u64, requests: Drawn<RawRequests>) -> Plan {
    let mut raw = star(5, 1500, GBPS, US, switch("sw", 1 << 20, fifo(1 << 20)));
    (raw.stop_at_ps, raw.workloads) = (stop_at_ps, vec![RawWorkload::from(requests)]);
    Plan::from_raw(raw).expect("the plan is sound")
}

/// Two clients ask two servers.
fn between_four(users: u32) -> Drawn<RawRequests> {
    let mut drawn = requests("w", "h0", "h2", users);
    (drawn.clients, drawn.servers) =
        (vec!["h0".into(), "h1".into()], vec!["h2".into(), "h3".into()]);
    (drawn.request, drawn.response) = (
        RawDistribution::Uniform { low: 100, high: 1_000 },
        RawDistribution::Uniform { low: 1, high: 1_400 },
    );
    drawn.requests = 30;
    drawn
}

fn own(trial: &Trial) -> &Workload {
    &trial.merged.summary.workloads[0]
}

fn counted(trial: &Trial) -> &RequestCounts {
    own(trial).request_counts.as_ref().expect("requests are counted")
}

fn failures(trial: &Trial) -> usize {
    trial
        .records
        .iter()
        .flat_map(|record| &record.items)
        .filter(|item| matches!(item, Item::Failed(_)))
        .count()
}

/// The shortest latency is this, to a bucket of the histogram.
fn assert_is(trial: &Trial, least: Span) {
    let seen = own(trial).latency.as_ref().expect("requests were answered").min_ps;
    assert!(seen.abs_diff(least.ps()) <= least.ps() / 1_000, "{seen} ps, not {} ps", least.ps());
}

#[test]
fn every_request_is_answered_over_connections_that_are_kept_or_new_and_by_datagrams() {
    for users in [0, 6] {
        for (is_kept, is_udp, is_random) in [
            (true, false, false),
            (true, false, true),
            (false, false, false),
            (false, false, true),
            (true, true, false),
            (true, true, true),
        ] {
            let mut drawn = between_four(users);
            (drawn.is_kept, drawn.is_udp, drawn.is_random) = (is_kept, is_udp, is_random);
            (drawn.timeout_ps, drawn.connections) =
                (if is_udp { S } else { 0 }, 2 * u32::from(is_udp));
            let whole = 30 * u64::from(users.max(1));
            let trial = run(&plan(10 * S, drawn));
            assert!(trial.merged.summary.finished, "{users} {is_kept} {is_udp} {is_random}");
            assert_eq!(
                (counted(&trial).begun, counted(&trial).answered, counted(&trial).failed),
                (whole, whole, 0)
            );
            assert_eq!(own(&trial).transactions, whole);
            let opened = if is_udp { 0 } else { trial.opened.len() as u64 };
            assert_eq!(counted(&trial).connections, opened);
            assert!(is_kept || opened == whole, "each request has a connection of its own");
            assert_eq!((failures(&trial), own(&trial).cut_off.count), (0, 0));
        }
    }
}

#[test]
fn latency_is_a_round_trip_and_one_more_for_a_new_connection() {
    for (is_kept, is_udp, trips) in [(true, false, 1), (false, false, 2), (true, true, 1)] {
        let mut drawn = requests("w", "h0", "h1", 1);
        (drawn.is_kept, drawn.is_udp, drawn.requests) = (is_kept, is_udp, 20);
        (drawn.timeout_ps, drawn.service) =
            (if is_udp { S } else { 0 }, serving(RawDistribution::Constant(MS), 1));
        let trial = run(&plan(10 * S, drawn));
        let least = Span::from_ms(1) + DELAY.times(2 * trips);
        assert_is(&trial, least);
    }
}

/// A socket has room for 100 kB at a time.
#[test]
fn a_response_larger_than_a_socket_takes_is_written_whole_before_its_connection_closes() {
    let mut drawn = requests("w", "h0", "h1", 2);
    (drawn.is_kept, drawn.requests, drawn.response) =
        (false, 5, RawDistribution::Constant(450_000));
    let trial = run(&plan(10 * S, drawn));
    assert_eq!((counted(&trial).answered, counted(&trial).failed), (10, 0));
    assert_eq!(own(&trial).goodput_bytes, 10 * 450_000);
}

#[test]
fn servers_ask_others_and_work_on_cores() {
    let mut drawn = requests("w", "h0", "h1", 4);
    let mut asked = stage(&["h2", "h3", "h4"], RawDistribution::Constant(2 * MS));
    asked.awaited = 2;
    (drawn.stages, drawn.requests) =
        (vec![stage(&["h2"], RawDistribution::Constant(MS)), asked], 10);
    drawn.service.work = RawDistribution::Constant(MS);
    let trial = run(&plan(10 * S, drawn));
    assert_eq!((counted(&trial).answered, counted(&trial).failed_calls), (40, 0));
    let busy = |host: usize| trial.merged.summary.hosts[host].program_busy_ps;
    assert_eq!((busy(0), busy(1), busy(2)), (0, 40 * MS, 0));
    assert_is(&trial, Span::from_ms(4) + DELAY.times(6));
}

#[test]
fn called_servers_ask_others_in_turn() {
    let mut drawn = requests("w", "h0", "h1", 2);
    let mut middle = stage(&["h2", "h3"], RawDistribution::Constant(MS));
    middle.stages = vec![stage(&["h4"], RawDistribution::Constant(2 * MS))];
    (drawn.stages, drawn.requests) = (vec![middle], 10);
    let trial = run(&plan(10 * S, drawn));
    assert_eq!((counted(&trial).answered, counted(&trial).failed_calls), (20, 0));
    assert_is(&trial, Span::from_ms(3) + DELAY.times(6));
}

#[test]
fn a_request_over_tcp_that_takes_too_long_is_given_up_and_asked_again() {
    for is_kept in [true, false] {
        let mut drawn = requests("w", "h0", "h1", 2);
        (drawn.is_kept, drawn.requests, drawn.timeout_ps, drawn.retries) = (is_kept, 5, 3 * MS, 1);
        drawn.service = serving(RawDistribution::Constant(10 * MS), 0);
        let trial = run(&plan(10 * S, drawn));
        assert_eq!(
            (counted(&trial).answered, counted(&trial).failed, counted(&trial).timed_out),
            (0, 10, 20)
        );
        assert_eq!((counted(&trial).connections, failures(&trial)), (20, 0));
        assert!(trial.merged.summary.finished);
    }
}

#[test]
fn a_server_that_refuses_is_counted_and_does_not_spoil_the_trial() {
    let mut drawn = requests("w", "h0", "h1", 3);
    drawn.requests = 4;
    let trial = run_with(
        &plan(10 * S, drawn),
        Settings { bin: Span::from_ms(1), tcp_interval: None },
        Some(1),
    );
    assert_eq!(
        (counted(&trial).answered, counted(&trial).failed, counted(&trial).failed_connections),
        (0, 12, 12)
    );
    assert_eq!((trial.merged.summary.finished, failures(&trial)), (true, 0));
}

/// Counts of the warm-up are left out, as latencies are.
#[test]
fn counts_begin_at_the_end_of_the_warm_up() {
    let drawn = requests("w", "h0", "h1", 1);
    let mut raw = star(2, 1500, GBPS, US, switch("sw", 1 << 20, fifo(1 << 20)));
    (raw.stop_at_ps, raw.observe.warm_up_ps, raw.workloads) =
        (100 * MS, 50 * MS, vec![RawWorkload::from(drawn)]);
    let trial = run(&Plan::from_raw(raw).expect("the plan is sound"));
    let (answered, transactions) = (counted(&trial).answered, own(&trial).transactions);
    assert!(
        answered.abs_diff(transactions) <= 1 && (2_400..2_600).contains(&answered),
        "{answered} and {transactions}"
    );
}
