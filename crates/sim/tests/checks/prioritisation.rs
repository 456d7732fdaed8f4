//! Dynamic packet prioritisation from end to end.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// Ten users of 18 kB transactions, and 40 windows of 300 kB that keep 12 MB (9.6 ms) waiting at
/// one port of 10 Gbit/s. The buffer loses nothing. `reset` says when a silent flow becomes new;
/// `None` is a plain queue.
fn small_beside_bulk(reset: Option<RawDppReset>) -> Outcome {
    prioritised_in(reset, u8::MAX)
}

/// The same with prioritisation in these classes; all traffic is in class 0.
fn prioritised_in(reset: Option<RawDppReset>, classes: u8) -> Outcome {
    let mut policy = fifo(60_000_000);
    if let Some(reset) = reset {
        policy.queues.push(queue("express", RawService::Strict(1), 4_000_000));
        policy.dpp = Some(RawDpp {
            max_packets: 20,
            age_ps: 5 * MS,
            express_queue: 1,
            reset,
            table_entries: 4_096,
            when_full: RawTableFull::EvictOldest,
            classes,
        });
    }
    let mut plan = star(4, 9000, 10 * GBPS, 5 * US, switch("sw", 64_000_000, policy));
    for host in &mut plan.hosts[1..] {
        host.tcp.window_cap_bytes = 300_000;
    }
    plan.workloads = vec![
        RawWorkload::from(oltp("small", "h0", "h3", 10, 30, 18_000)),
        RawWorkload::from(stream("bulk-1", "h1", "h0", 20, 0)),
        RawWorkload::from(stream("bulk-2", "h2", "h0", 20, 0)),
    ];
    (plan.observe.warm_up_ps, plan.stop_at_ps) = (100 * MS, S);
    simulate(plan)
}

fn median_ms(outcome: &Outcome) -> f64 {
    number(workload(outcome, "small"), "latency.p50_ps") / 1e9
}

/// A response waits for what is queued, 11.3 MB or 9.0 ms; prioritised it waits for one frame at
/// most. The rest is 100 us of server time and the polls of the hosts.
#[test]
fn small_transactions_cross_the_queue_or_pass_it() {
    let (plain, prioritised) =
        (small_beside_bulk(None), small_beside_bulk(Some(RawDppReset::OrderSafe)));
    let queue_ms = number(&port(&plain, "sw", "h0")["queues"][0], "depth_mean_bytes") * 8.0 / 1e7;
    within("median less the queue, in ms", median_ms(&plain) - queue_ms, (0.1, 0.4));
    within("median when prioritised, in ms", median_ms(&prioritised), (0.1, 0.3));
}

#[test]
fn a_class_without_prioritisation_keeps_to_its_own_queue() {
    let (without, plain) =
        (prioritised_in(Some(RawDppReset::OrderSafe), !1), small_beside_bulk(None));
    let dpp = &port(&without, "sw", "h0")["dpp"];
    assert_eq!((count(dpp, "prioritised_frames"), count(dpp, "new_flows")), (0, 0));
    within("median, of that of one queue", median_ms(&without) / median_ms(&plain), (0.95, 1.05));
    let only = prioritised_in(Some(RawDppReset::OrderSafe), 1);
    assert!(count(&port(&only, "sw", "h0")["dpp"], "prioritised_frames") > 0);
}

/// A bulk flow is silent for longer than the age period (5 ms) while its own packets wait (9 ms).
/// If it becomes new then, the next packets overtake those: its receiver sees reordering and its
/// sender repeats what was not lost.
#[test]
fn only_the_naive_rule_reorders() {
    for (reset, is_reordered) in [(RawDppReset::OrderSafe, false), (RawDppReset::Naive, true)] {
        let outcome = small_beside_bulk(Some(reset));
        let dpp = &port(&outcome, "sw", "h0")["dpp"];
        let tcp = &workload(&outcome, "bulk-1")["tcp"];
        assert_eq!(count(dpp, "reordering_resets") > 0, is_reordered, "{dpp}");
        assert_eq!(count(tcp, "out_of_order") > 0, is_reordered, "{tcp}");
        assert_eq!(count(tcp, "spurious_retransmits") > 0, is_reordered, "{tcp}");
        assert_eq!(count(dpp, "deferred_resets") > 0, !is_reordered, "{dpp}");
    }
}
