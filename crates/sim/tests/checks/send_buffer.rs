//! Programs that send datagrams faster than their line, with a send buffer: they wait, and nothing
//! is lost at the source.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

const PAYLOAD: u64 = 1_472;
const FRAME: u64 = PAYLOAD + 42;
const DURATION: u64 = 50 * MS;
/// 1538 bytes at 10 Gbit/s take 1230 ns: twice the line.
const GAP: u64 = 615_200;

/// One host sends to each of the others, as many datagrams as it can: twice its line for each.
fn sending(buffers: &[Option<u64>], change: impl Fn(&mut RawPlan)) -> Outcome {
    let mut plan =
        star(1 + buffers.len(), 1_500, 10 * GBPS, US, switch("sw", 16_000_000, fifo(1_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    (plan.clock_offset_ppb, plan.stop_at_ps) = (0, DURATION);
    for (number, &buffer) in buffers.iter().enumerate() {
        let to = format!("h{}", number + 1);
        let mut drawn =
            datagrams(&format!("to-{to}"), "h0", &to, PAYLOAD, RawDistribution::Constant(GAP));
        drawn.body.send_buffer_bytes = buffer;
        plan.workloads.push(RawWorkload::from(drawn));
    }
    change(&mut plan);
    simulate(plan)
}

fn share_of_line(outcome: &Outcome, name: &str) -> f64 {
    let line = DURATION as f64 / (800.0 * wire_bytes(PAYLOAD) as f64);
    number(workload(outcome, name), "transactions") / line
}

#[test]
fn a_program_that_waits_loses_nothing_and_fills_the_line() {
    let buffer = 92 * FRAME;
    let waits = sending(&[Some(buffer)], |plan| plan.hosts[0].nic.queue_bytes = 200_000);
    within("share of the line", share_of_line(&waits, "to-h1"), (0.995, 1.0));
    assert_eq!(count(host_summary(&waits, "h0"), "nic_queue_drops"), 0);
    // It is sent when there is room, and waits behind at most the buffer: 92 frames, on two links
    // of 1 us.
    let longest = number(workload(&waits, "to-h1"), "latency.max_ps")
        / (93.0 * 1_538.0 * 800.0 + 2.0 * US as f64);
    within("longest delay by that of a full buffer", longest, (0.95, 1.02));
    let refused = sending(&[None], |plan| plan.hosts[0].nic.queue_bytes = 200_000);
    let dropped = count(host_summary(&refused, "h0"), "nic_queue_drops") as f64;
    within(
        "drops without one, by what the line does not carry",
        dropped / (DURATION / GAP / 2) as f64,
        (0.97, 1.01),
    );
}

/// In one queue each has what it keeps there: a buffer three times as large is three quarters of
/// the line.
#[test]
fn buffers_share_one_queue() {
    let shared = sending(&[Some(50 * FRAME), Some(150 * FRAME)], |_| ());
    let [small, large] = ["to-h1", "to-h2"].map(|name| share_of_line(&shared, name));
    within("all of the line", small + large, (0.995, 1.0));
    within("three quarters", large, (0.72, 0.78));
}

/// A rate below the line is kept, buffer or not, and the same datagrams are sent at the same times.
#[test]
fn below_the_line_a_buffer_changes_nothing() {
    let run = |buffer| {
        let slow = |plan: &mut RawPlan| {
            let RawBody::Datagrams(body) = &mut plan.workloads[0].body else {
                unreachable!("it is one of datagrams")
            };
            body.interarrival = RawDistribution::Exponential { mean: 4 * GAP };
        };
        simulated_digest(&sending(&[buffer], slow))
    };
    assert_eq!(run(Some(64 * FRAME)), run(None));
}

/// At nine tenths of the line with random gaps a buffer of four frames is often full: what was due
/// meanwhile is sent later, not dropped.
#[test]
fn a_program_that_had_to_wait_catches_up() {
    let run = |buffer| {
        let nearly = |plan: &mut RawPlan| {
            let RawBody::Datagrams(body) = &mut plan.workloads[0].body else {
                unreachable!("it is one of datagrams")
            };
            body.interarrival = RawDistribution::Exponential { mean: 2 * GAP * 10 / 9 };
        };
        number(workload(&sending(&[buffer], nearly), "to-h1"), "transactions")
    };
    within(
        "datagrams with a small buffer by those without one",
        run(Some(4 * FRAME)) / run(None),
        (0.995, 1.001),
    );
}

fn simulated_digest(outcome: &Outcome) -> String {
    outcome.summary()["digest"].to_string()
}
