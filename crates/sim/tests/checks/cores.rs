//! A client that works on what it receives, with few cores: the receive buffers fill, and its
//! senders slow down.

use crate::common::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// A core works on 400 Mbit/s.
const WORK_FS_PER_BYTE: u64 = 20_000_000;
const USERS: u32 = 8;
const DURATION: u64 = 2 * S;

/// Eight users who always have a large response to read, each from a buffer of 500 kB: no more than
/// the port's queue holds.
fn reading(cores: u32) -> Outcome {
    let mut plan = star(2, 9000, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(5_000_000)));
    plan.clock_offset_ppb = 0;
    plan.stop_at_ps = DURATION;
    let client = &mut plan.hosts[0];
    (client.cpu.program_cores, client.cpu.time_slice_ps) = (cores, 3 * MS);
    client.tcp.receive_buffer = RawSocketBuffer { initial_bytes: 500_000, maximum_bytes: 500_000 };
    let mut users = oltp("users", "h0", "h1", USERS, 0, 100_000_000);
    (users.gap, users.start) = (RawDistribution::Constant(0), RawDistribution::Constant(0));
    (users.round_trips[0].consume_fs_per_byte, users.round_trips[0].consume_chunk_bytes) =
        (WORK_FS_PER_BYTE, 16_384);
    plan.workloads.push(RawWorkload::from(users));
    simulate(plan)
}

fn client(outcome: &Outcome) -> &Value {
    &outcome.summary()["hosts"][0]
}

/// Work conservation: a run queue that is never empty keeps every core busy, and no more is read
/// than they work on.
#[test]
fn a_client_short_of_cores_receives_what_they_work_on_and_nothing_is_lost() {
    for (cores, working) in [(1, 1), (2, 2), (5, 5), (0, USERS)] {
        let outcome = reading(cores);
        let busy =
            number(client(&outcome), "program_busy_ps") / (DURATION as f64 * f64::from(working));
        within(&format!("{cores} cores: share of their time that they work"), busy, (0.99, 1.01));
        let goodput = goodput_bps(&outcome, 0, DURATION / 2, DURATION);
        let bound = f64::from(working) * 8e15 / WORK_FS_PER_BYTE as f64;
        within(
            &format!("{cores} cores: goodput, of what they work on"),
            goodput / bound,
            (0.98, 1.02),
        );
        assert_eq!(
            count(outcome.summary(), "conservation.dropped"),
            0,
            "a window closes before a queue overflows"
        );
    }
}

/// A transaction of a kilobyte beside bulk users who always have something to read. Beside one, it
/// waits for the end of a piece, because that user's slice is long over. Beside two, each holds the
/// core for a slice while the other waits, and who comes goes to the end of the queue: what is left
/// of one slice, and another.
#[test]
fn who_comes_to_a_busy_core_waits_for_the_slices_of_those_before_it() {
    /// 25 pieces of 4 KiB: a slice of 2 ms ends after the last.
    const SLICE_MS: f64 = 2.048;
    for (bulk_users, mean, most) in [(1, 0.04, 0.082), (2, 1.5 * SLICE_MS, 2.0 * SLICE_MS)] {
        let mut plan = star(3, 9000, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(5_000_000)));
        plan.stop_at_ps = 10 * S;
        let client = &mut plan.hosts[0];
        (client.cpu.program_cores, client.cpu.time_slice_ps) = (1, 2 * MS);
        client.tcp.receive_buffer =
            RawSocketBuffer { initial_bytes: 500_000, maximum_bytes: 500_000 };
        for (name, server, users, bytes) in
            [("bulk", "h1", bulk_users, 1 << 40), ("small", "h2", 1, 1_000)]
        {
            let mut user = oltp(name, "h0", server, users, 0, bytes);
            user.round_trips[0].server_time = RawDistribution::Constant(0);
            // comes anywhere in a slice
            user.gap = RawDistribution::Uniform { low: 6_000 * US, high: 8_048 * US };
            user.round_trips[0].consume_fs_per_byte = WORK_FS_PER_BYTE;
            user.round_trips[0].consume_chunk_bytes = 4_096;
            plan.workloads.push(RawWorkload::from(user));
        }
        let outcome = simulate(plan);
        // Beside the wait: 20 us of work, two polls of about 10 us each, the wires.
        let latency_ms = |key: &str| number(workload(&outcome, "small"), key) / 1e9 - 0.065;
        within(
            &format!("{bulk_users} bulk users: mean wait in ms, of {mean}"),
            latency_ms("latency.mean_ps"),
            (mean - 0.1, mean + 0.1),
        );
        within(
            &format!("{bulk_users} bulk users: longest wait in ms, of {most}"),
            latency_ms("latency.max_ps"),
            (most - 0.1, most + 0.1),
        );
    }
}

/// Work conservation at the other end: a server with few cores answers as many requests as they
/// work on, whichever user waits.
#[test]
fn a_server_short_of_cores_answers_what_they_work_on() {
    for (cores, working) in [(1, 1), (2, 2), (0, USERS)] {
        let mut plan = star(2, 1500, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(5_000_000)));
        plan.stop_at_ps = DURATION;
        plan.hosts[1].cpu.program_cores = cores;
        let mut users = oltp("users", "h0", "h1", USERS, 0, 1_000);
        (users.gap, users.start) = (RawDistribution::Constant(0), RawDistribution::Constant(0));
        (users.round_trips[0].server_time, users.round_trips[0].server_work_ps) =
            (RawDistribution::Constant(0), 2 * MS);
        plan.workloads.push(RawWorkload::from(users));
        let outcome = simulate(plan);
        let busy = number(host_summary(&outcome, "h1"), "program_busy_ps")
            / (DURATION as f64 * f64::from(working));
        // A user whose core is its own leaves it for a round trip of about 60 us.
        within(&format!("{cores} cores: share of their time that they work"), busy, (0.96, 1.01));
        let answered = count(workload(&outcome, "users"), "transactions") as f64;
        let bound = f64::from(working) * DURATION as f64 / (2 * MS) as f64;
        within(
            &format!("{cores} cores: requests, of what they work on"),
            answered / bound,
            (0.96, 1.0),
        );
        let waits = number(workload(&outcome, "users"), "latency.p50_ps") / (2 * MS) as f64;
        let turns = f64::from(USERS / working);
        within(
            &format!("{cores} cores: median latency, in works"),
            waits,
            (turns - 0.1, turns + 0.1),
        );
        assert_eq!(count(host_summary(&outcome, "h0"), "program_busy_ps"), 0);
    }
}
