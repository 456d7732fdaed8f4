//! Frames that threads send: the cost of a frame in its host, the line, and pauses.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

const PAYLOAD: u32 = 958;
const DURATION: u64 = 20 * MS;

/// Two hosts at one switch, without anything that takes time but links; the first sends.
fn sending(change: impl FnOnce(&mut RawFrames, &mut RawPlan)) -> Outcome {
    let mut plan = star(2, 1_500, 10 * GBPS, US, switch("sw", 16_000_000, fifo(1_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    (plan.clock_offset_ppb, plan.stop_at_ps) = (0, DURATION);
    let mut drawn = frames("blast", "h0", "h1", PAYLOAD, 1, US);
    change(&mut drawn.body, &mut plan);
    plan.workloads = vec![RawWorkload::from(drawn)];
    simulate(plan)
}

fn arrived(outcome: &Outcome) -> f64 {
    number(workload(outcome, "blast"), "transactions") * S as f64 / DURATION as f64
}

#[test]
fn the_cost_of_a_frame_bounds_its_rate_and_the_line_bounds_all() {
    within("one thread, 1 us for a frame", arrived(&sending(|_, _| ())), (0.998e6, 1.0e6));
    let locked = sending(|own, _| {
        (own.threads, own.cost, own.locked) =
            (6, RawDistribution::Constant(US), RawDistribution::Constant(US));
    });
    within("six threads with one lock", arrived(&locked), (0.998e6, 1.0e6));
    let line = sending(|own, plan| {
        (own.threads, own.locked) = (4, RawDistribution::Constant(US / 10));
        plan.hosts[0].nic.queue_bytes = 100_000;
    });
    let bound = 1e10 / 8.0 / wire_bytes(PAYLOAD.into()) as f64;
    within("the line of 10 Gbit/s", arrived(&line) / bound, (0.995, 1.0));
    assert!(
        count(host_summary(&line, "h0"), "nic_queue_drops") > 0,
        "the interface refuses what it has no room for"
    );
}

/// 20 bytes of preamble and gap, 4 of the check sequence: a frame passes two links of 10 Gbit/s and
/// 1 us.
#[test]
fn the_delay_of_a_frame_is_that_of_its_path() {
    let outcome = sending(|own, _| own.delay_ps = 100 * US);
    let theory = 2 * (800 * wire_bytes(PAYLOAD.into()) + US);
    let latency = number(workload(&outcome, "blast"), "latency.max_ps");
    within("one-way delay", latency / theory as f64, (0.995, 1.005));
}

/// 16 threads with 1 ms after each frame: at most 16 000 frames a second.
#[test]
fn a_pause_after_each_frame_bounds_the_rate() {
    let outcome = sending(|own, _| (own.threads, own.delay_ps) = (16, MS));
    within("16 threads with 1 ms", arrived(&outcome), (15_000.0, 17_000.0));
    let paced = sending(|own, _| (own.threads, own.interval_ps) = (4, 40 * US));
    within("100 000 a second", arrived(&paced), (99_000.0, 100_200.0));
    let counted = sending(|own, _| (own.threads, own.count) = (3, 100));
    assert_eq!(count(workload(&counted, "blast"), "transactions"), 100);
    assert_eq!(count(workload(&counted, "blast"), "goodput_bytes"), 100 * u64::from(PAYLOAD));
}

/// A host with a processor has its own costs of a datagram beside those of the workload, and its
/// cores bound them.
#[test]
fn the_processor_of_a_host_bounds_its_frames() {
    let with = |cores: u32, threads: u32| {
        arrived(&sending(|own, plan| {
            (own.threads, own.locked, own.cost) =
                (threads, RawDistribution::Constant(0), RawDistribution::Constant(US));
            plan.hosts[0].cpu.processor = Some(Box::new(crate::processor::processor(cores)));
        }))
    };
    // 1 us of its own, 200 ns for the call, 1 us to send, 75 ps for each byte.
    let one = 1e12 / (1e6 + 0.2e6 + 1e6 + 75.0 * f64::from(PAYLOAD));
    within("one thread of one core", with(1, 1) / one, (0.95, 1.01));
    within("four threads of one core", with(1, 4) / one, (0.8, 1.01));
    within("two threads of two cores", with(2, 2) / one, (1.9, 2.02));
}

#[test]
fn the_same_plan_gives_the_same_digest() {
    let run = || {
        let outcome = sending(|own, _| {
            (own.threads, own.locked) = (3, RawDistribution::Exponential { mean: US })
        });
        outcome.summary()["digest"].clone()
    };
    assert!(run().is_string());
    assert_eq!(run(), run());
}
