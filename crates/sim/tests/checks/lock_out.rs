//! The losses of each source at a port, and the port that a sender as fast as itself keeps full.

use crate::common::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// Frames with data that a workload sent through the port towards `h0`, and that found no room
/// there.
fn tally(outcome: &Outcome, name: &str) -> (u64, u64) {
    let rows = port(outcome, "sw", "h0")["traffic"].as_array().expect("the port is observed");
    let row = rows
        .iter()
        .find(|row| row["workloads"] == serde_json::json!([name]))
        .expect("this workload came here");
    (count(row, "sent_frames"), count(row, "dropped_frames"))
}

fn drops(port: &Value) -> u64 {
    count(&port["queues"][0], "drops.tail-drop.frames")
}

/// Every datagram is of one workload: the tallies are the port's own counters, taken apart.
#[test]
fn the_frames_of_a_port_are_those_of_its_workloads() {
    let mut plan = star(3, 1500, GBPS, US, switch("sw", 2_000_000, fifo(20_000)));
    for (name, source, gap_us) in [("even", "h1", 12), ("odd", "h2", 14)] {
        let gap = RawDistribution::Exponential { mean: gap_us * US };
        plan.workloads.push(RawWorkload::from(datagrams(name, source, "h0", 1_000, gap)));
    }
    plan.stop_at_ps = 100 * MS;
    let outcome = simulate(plan);
    let (even, odd) = (tally(&outcome, "even"), tally(&outcome, "odd"));
    let towards = port(&outcome, "sw", "h0");
    // Sources were counted when the port took their frames: those that wait at the end are
    // included.
    let waiting = count(&towards["queues"][0], "depth_bytes") * count(towards, "tx_frames")
        / count(towards, "tx_bytes");
    assert!(waiting > 0, "the port is full");
    assert_eq!(even.0 + odd.0, count(towards, "tx_frames") + waiting);
    assert_eq!(even.1 + odd.1, drops(towards));
    assert!(even.1 > 100 && odd.1 > 100, "both lose: {even:?}, {odd:?}");
    assert!(port(&outcome, "sw", "h1")["traffic"].is_null(), "this port is not observed");
}

/// Sockets of finished flows serve the next ones, of whatever workload.
#[test]
fn a_socket_that_is_used_again_counts_for_its_new_workload() {
    let mut plan = star(3, 1500, GBPS, US, switch("sw", 2_000_000, fifo(1_000_000)));
    for (name, source, bytes) in [("one", "h1", 1_000), ("ten", "h2", 10_000)] {
        plan.workloads.push(RawWorkload::from(flows_between(
            name,
            [vec![source.into()], vec!["h0".into()]],
            RawDistribution::Constant(bytes),
            RawDistribution::Exponential { mean: MS },
            200,
        )));
    }
    plan.stop_at_ps = 2 * S;
    let outcome = simulate(plan);
    assert_eq!(
        (tally(&outcome, "one"), tally(&outcome, "ten")),
        ((200, 0), (1_400, 0)),
        "1 and 7 segments a flow"
    );
}

/// Short answers beside 20 bulk connections of one host, 1 Gbit/s, 400 kB; the host's own link at
/// `sender_bps`.
fn short_answers(sender_bps: u64) -> Outcome {
    let mut plan = star(3, 9000, GBPS, US / 2, switch("sw", 12_000_000, fifo(400_000)));
    plan.links[2].rate_bps = sender_bps;
    let mut small = oltp("small", "h0", "h1", 10, 0, 18_000);
    small.gap = RawDistribution::Exponential { mean: 20 * MS };
    plan.workloads.push(RawWorkload::from(small));
    plan.workloads.push(RawWorkload::from(stream("bulk", "h2", "h0", 20, 0)));
    plan.stop_at_ps = 3 * S;
    simulate(plan)
}

/// Each frame of the sender finds the slot that the frame before it left; frames of other sources
/// find none (the "port blackout" of Prakash et al., The TCP Outcast Problem, NSDI 2012). A sender
/// that is a tenth slower never fills the queue.
#[test]
fn a_sender_as_fast_as_the_port_locks_short_answers_out() {
    let lost = |outcome: &Outcome, name| {
        let (sent, dropped) = tally(outcome, name);
        dropped as f64 / (sent + dropped) as f64
    };
    let full = short_answers(GBPS);
    let (small, bulk) = (lost(&full, "small"), lost(&full, "bulk"));
    within("share of its frames that the small one loses", small, (0.15, 0.8));
    within("of that of the bulk", small / bulk, (10.0, 1_000.0));
    let slower = short_answers(GBPS / 10 * 9);
    assert_eq!((tally(&slower, "small").1, tally(&slower, "bulk").1), (0, 0));
    let transactions = |outcome| number(workload(outcome, "small"), "transactions");
    within(
        "transactions with the slower sender, of those without",
        transactions(&slower) / transactions(&full),
        (4.0, 100.0),
    );
}
