//! Blocks and messages between nodes against queueing theory, and against themselves.

use crate::common::*;
use proptest::prelude::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

const SERVICE: u64 = 10 * MS;
const JUMBO: u32 = 9_000;

fn exponential(mean: u64) -> RawDistribution {
    RawDistribution::Exponential { mean }
}

/// A star of so many nodes, without anything that takes time but links and servers.
fn plan(nodes: usize, stop_at_ps: u64, blocks: Vec<Drawn<RawBlocks>>) -> RawPlan {
    let mut plan = star(nodes, JUMBO, 10 * GBPS, US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    (plan.clock_offset_ppb, plan.stop_at_ps) = (0, stop_at_ps);
    plan.workloads = blocks.into_iter().map(RawWorkload::from).collect();
    plan
}

fn own(outcome: &Outcome) -> &Value {
    &outcome.summary()["workloads"][0]
}

fn counted(outcome: &Outcome, key: &str) -> u64 {
    count(own(outcome), &format!("block_counts.{key}"))
}

fn requested(outcome: &Outcome, key: &str) -> u64 {
    count(own(outcome), &format!("request_counts.{key}"))
}

/// A round trip on the empty path: 200 bytes to the other node, 8192 back. Each frame passes two
/// links of 10 Gbit/s (800 ps for a byte) and 1 us.
#[test]
fn a_block_alone_takes_the_time_of_its_frames() {
    let mut drawn = blocks("w", &["h0", "h1"], 1);
    drawn.transactions = 100;
    let outcome = simulate(plan(2, S, vec![drawn]));
    let theory = 2 * 800 * (wire_bytes(200) + wire_bytes(8_192)) + 4 * US;
    assert_eq!(count(own(&outcome), "block_latency.min_ps") / 10_000, theory / 10_000);
    assert_eq!((counted(&outcome, "received_blocks"), counted(&outcome, "lost_blocks")), (100, 0));
    assert_eq!(count(own(&outcome), "goodput_bytes"), 100 * 8_192);
    for host in ["h0", "h1"] {
        assert_eq!(
            count(host_summary(&outcome, host), "rx_frames"),
            100,
            "one frame for a message and one for a block"
        );
    }
}

/// Machine repair, M/M/1//N: users of one node pause for a random time and share one process of the
/// other.
#[test]
fn users_of_one_process_are_the_machine_repair_model() {
    let (users, think) = (8_u32, 5 * SERVICE);
    let mut drawn = blocks("w", &["h0", "h1"], users);
    (drawn.gap, drawn.block_service, drawn.timeout_ps) =
        (exponential(think), serving(exponential(SERVICE), 1), 1_000 * S);
    let outcome = simulate(plan(2, 2_000 * S, vec![drawn]));
    let ratio = SERVICE as f64 / think as f64;
    let terms = (0..=users).scan(1.0, |term, waiting| {
        let now = *term;
        *term *= f64::from(users - waiting) * ratio;
        Some(now)
    });
    let rate = (1.0 - 1.0 / terms.sum::<f64>()) * S as f64 / SERVICE as f64;
    within(
        "rate of eight users",
        counted(&outcome, "received_blocks") as f64 / 2_000.0 / rate,
        (0.98, 1.02),
    );
    let mean = number(own(&outcome), "latency.mean_ps");
    let of_blocks = number(own(&outcome), "block_latency.mean_ps");
    within("latency of a block, of that of its transaction", of_blocks / mean, (0.999, 1.001));
}

/// Blocks one after the other add up, messages too; those that are asked for at once wait for the
/// slowest.
#[test]
fn a_transaction_waits_for_its_blocks_one_after_the_other_or_for_the_slowest() {
    let latency = |is_parallel: bool| {
        let mut drawn = blocks("w", &["h0", "h1", "h2", "h3"], 1);
        (drawn.blocks_milli, drawn.messages_milli, drawn.is_parallel) = (3_000, 2_000, is_parallel);
        drawn.block_service = serving(exponential(SERVICE), 0);
        drawn.message_service = serving(RawDistribution::Constant(SERVICE), 0);
        number(own(&simulate(plan(4, 300 * S, vec![drawn]))), "latency.mean_ps") / SERVICE as f64
    };
    within("three blocks and two messages", latency(false), (4.9, 5.15));
    let slowest_of_three = 11.0 / 6.0;
    within(
        "the slowest of three blocks, and two messages at once",
        latency(true),
        (0.97 * (slowest_of_three + 1.0), 1.04 * (slowest_of_three + 1.0)),
    );
}

/// Each node that serves draws its own service times: of two users who ask each other's node once,
/// at the same time, one waits longer.
#[test]
fn nodes_draw_their_own_times_of_service() {
    let mut drawn = blocks("w", &["h0", "h1"], 2);
    (drawn.clients, drawn.transactions) = (drawn.nodes.clone(), 1);
    drawn.block_service = serving(exponential(SERVICE), 0);
    let outcome = simulate(plan(2, S, vec![drawn]));
    assert_eq!(counted(&outcome, "received_blocks"), 2);
    let [least, most] =
        ["min_ps", "max_ps"].map(|key| count(own(&outcome), &format!("block_latency.{key}")));
    assert!(most > least + MS / 10, "{least} and {most} ps");
}

/// The profile of another site: 1.56 blocks received and 0.39 served, 17.65 packets with fragments
/// of 1500 bytes and 7.90 with none, where a node with four times the users asks one with a fourth
/// of them.
#[test]
fn the_published_profile_has_its_packets() {
    let of_node = |name: &str, nodes: &[&str], users: u32| {
        let mut drawn = blocks(name, nodes, users);
        (drawn.blocks_milli, drawn.messages_milli, drawn.transactions) = (1_560, 1_600, 5_000);
        drawn
    };
    let outcome = simulate(plan(
        2,
        1_000 * S,
        vec![of_node("a", &["h0", "h1"], 4), of_node("b", &["h1", "h0"], 1)],
    ));
    let of = |at: usize, key: &str| {
        count(&outcome.summary()["workloads"][at], &format!("block_counts.{key}")) as f64
    };
    let transactions = 20_000.0;
    within(
        "blocks received of a transaction",
        of(0, "received_blocks") / transactions,
        (1.54, 1.58),
    );
    within("blocks served", of(1, "received_blocks") / transactions, (0.38, 0.40));
    let packets = ["h0", "h1"]
        .map(|host| count(host_summary(&outcome, host), "rx_frames") as f64 / transactions);
    within("packets of a transaction without fragments", packets[0] + packets[1], (7.8, 8.0));
}

/// Where a node is slower than the timeout, every block is asked for again, and its transaction
/// fails after the last.
#[test]
fn a_block_that_does_not_come_in_time_is_asked_for_again_and_fails_in_the_end() {
    let mut drawn = blocks("w", &["h0", "h1"], 2);
    (drawn.timeout_ps, drawn.retries, drawn.transactions) = (SERVICE, 2, 10);
    drawn.block_service = serving(RawDistribution::Constant(4 * SERVICE), 0);
    let outcome = simulate(plan(2, 100 * S, vec![drawn]));
    assert_eq!((requested(&outcome, "answered"), requested(&outcome, "failed")), (0, 20));
    assert_eq!((counted(&outcome, "lost_blocks"), counted(&outcome, "failed_blocks")), (60, 20));
    assert_eq!(requested(&outcome, "lost_queries"), 60);
    assert!(own(&outcome)["completion_ps"].is_u64(), "failed transactions are over too");
}

#[test]
fn nothing_of_the_warm_up_is_counted() {
    let mut raw = plan(2, 20 * S, vec![blocks("w", &["h0", "h1"], 0)]);
    raw.observe.warm_up_ps = 10 * S;
    let outcome = simulate(raw);
    within(
        "blocks after the warm-up",
        counted(&outcome, "received_blocks") as f64 / 10_000.0,
        (0.95, 1.05),
    );
    let reported = count(own(&outcome), "block_latency.count");
    assert!(reported.abs_diff(counted(&outcome, "received_blocks")) <= 1, "{reported} latencies");
}

prop_compose! {
    fn any_blocks()(
        (users, transactions, nodes) in (0_u32..6, 0_u64..40, 2_usize..5),
        (blocks_milli, messages_milli) in (0_u64..3_000, 1_u64..3_000),
        (is_parallel, all_nodes) in any::<(bool, bool)>(),
        (block, message) in (8_u64..8_900, 8_u64..1_400),
        (time, concurrency, retries) in (0_u64..2 * MS, 0_u32..4, 0_u32..3),
    ) -> Drawn<RawBlocks> {
        let names = ["h0", "h1", "h2", "h3"];
        let mut drawn = blocks("w", &names[..nodes], if users >= nodes as u32 { users } else { 0 });
        if all_nodes {
            drawn.clients = drawn.nodes.clone();
        }
        (drawn.transactions, drawn.blocks_milli, drawn.messages_milli) = (transactions, blocks_milli, messages_milli);
        (drawn.is_parallel, drawn.timeout_ps, drawn.retries) = (is_parallel, 5 * MS, retries);
        drawn.block = RawDistribution::Uniform { low: 1, high: block };
        drawn.message = RawDistribution::Uniform { low: 1, high: message };
        drawn.block_service = serving(exponential(time), concurrency);
        drawn.message_service.work = exponential(time / 4);
        drawn
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Transactions begun are complete, failed or running, frames are conserved, and the same seed
    /// gives the same trial, where switches drop and cores are few.
    #[test]
    fn every_transaction_is_complete_or_failed_or_running(
        drawn in any_blocks(),
        seed in 0_u64..1_000,
        small in any::<bool>(),
    ) {
        let mut raw =
            plan(4, 60 * MS, vec![drawn.clone(), Drawn { header: header("x"), body: drawn.body }]);
        raw.seed = seed;
        raw.hosts.iter_mut().for_each(|host| host.cpu.program_cores = 2);
        if small {
            raw.switches[0] = switch("sw", 20_000, fifo(20_000));
        }
        let outcome = simulate(raw.clone());
        for work in outcome.summary()["workloads"].as_array().expect("workloads") {
            let of = |key: &str| count(work, &format!("request_counts.{key}"));
            prop_assert_eq!(
                of("begun"),
                of("answered") + of("failed") + count(work, "cut_off.count")
            );
            prop_assert_eq!(of("answered"), count(work, "transactions"));
            let lost = count(work, "block_counts.lost_blocks");
            prop_assert!(
                count(work, "block_counts.failed_blocks") <= lost && lost <= of("lost_queries")
            );
        }
        let frames = &outcome.summary()["conservation"];
        let gone =
            count(frames, "delivered") + count(frames, "dropped") + count(frames, "in_network");
        prop_assert_eq!(count(frames, "sent"), gone);
        let again = simulate(raw);
        prop_assert_eq!(&outcome.summary()["digest"], &again.summary()["digest"]);
    }
}
