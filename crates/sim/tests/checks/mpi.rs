//! Ranks of MPI jobs against theory: latency and size over rate, steps of collectives, and what
//! travels.

use crate::common::*;
use proptest::prelude::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

const MTU: u32 = 1_500;
const MSS: u64 = 1_448;
/// IPv4, TCP with timestamps, Ethernet and what the line adds.
const HEADERS: u64 = 20 + 32 + 14 + 24;
/// Of an eager message: the transport's header and that of the match.
const EAGER: u64 = 22;
const HOSTS: [&str; 8] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"];

/// A star of so many nodes at 10 Gbit/s, without anything that takes time but links.
fn plan(nodes: usize, drawn: Drawn<RawMpi>) -> RawPlan {
    let mut plan = star(nodes, MTU, 10 * GBPS, US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    (plan.clock_offset_ppb, plan.stop_at_ps) = (0, 20 * S);
    plan.workloads = vec![RawWorkload::from(drawn)];
    plan
}

fn own(outcome: &Outcome) -> &Value {
    &outcome.summary()["workloads"][0]
}

fn size(outcome: &Outcome, at: usize) -> &Value {
    &own(outcome)["mpi_times"]["sizes"][at]
}

/// Mean time of each rank, the smallest and the largest.
fn means(outcome: &Outcome, at: usize) -> (f64, f64) {
    let means = size(outcome, at)["mean_of_ranks_ps"].as_array().expect("a list");
    let means = means.iter().map(|mean| mean.as_f64().expect("a number"));
    means.fold((f64::MAX, 0.0), |(low, high), mean| (low.min(mean), high.max(mean)))
}

/// One segment of so many bytes of payload passes two links of 10 Gbit/s (800 ps for a byte) and 2
/// us.
fn segment(payload: u64) -> u64 {
    2 * 800 * (payload + HEADERS) + 2 * US
}

#[test]
fn a_short_ping_pong_takes_two_latencies_and_its_bytes_there_and_back() {
    let sizes = [0, 1, 1_024];
    let outcome = simulate(plan(2, mpi("job", MpiPattern::Pingpong, &HOSTS[..2], &sizes, 200)));
    for (at, bytes) in sizes.into_iter().enumerate() {
        let theory = 2 * segment(bytes + EAGER);
        assert_eq!(count(size(&outcome, at), "min_ps") / 1_000, theory / 1_000, "{bytes} bytes");
        assert_eq!(count(size(&outcome, at), "repetitions"), 200);
        within("mean, of theory", means(&outcome, at).0 / theory as f64, (1.0, 1.001));
    }
    assert_eq!(count(own(&outcome), "transactions"), 600, "of rank 0 alone");
    assert_eq!(
        count(own(&outcome), "request_counts.connections"),
        2,
        "each rank opens a connection for the first barrier, and that of rank 0 stays"
    );
}

/// A message above the limit is announced, asked for, and then sent: three crossings of the
/// network, of which the last has the data.
#[test]
fn a_long_ping_pong_takes_three_latencies_each_way_and_its_bytes_at_the_rate() {
    let sizes = [65_480, 65_481, 1 << 20];
    let outcome = simulate(plan(2, mpi("job", MpiPattern::Pingpong, &HOSTS[..2], &sizes, 60)));
    let stream =
        |bytes: u64| 800 * (bytes + bytes.div_ceil(MSS) * HEADERS) + 800 * (MSS + HEADERS) + 2 * US;
    let announced = |bytes: u64| segment(40) + segment(64) + stream(bytes + 8 + 32);
    for (at, theory) in
        [2 * stream(sizes[0] + EAGER), 2 * announced(sizes[1]), 2 * announced(sizes[2])]
            .into_iter()
            .enumerate()
    {
        within(
            &format!("{} bytes, of theory", sizes[at]),
            means(&outcome, at).0 / theory as f64,
            (0.97, 1.03),
        );
    }
}

/// Time from one iteration to the next of so many ranks that wait for nothing but each other, with
/// the barrier before each.
///
/// Ranks leave a barrier at different times, as long as the longest way through it apart: that of a
/// rank alone tells less.
fn cycle(pattern: MpiPattern, algorithm: Option<Algorithm>, ranks: usize, bytes: u64) -> f64 {
    let completion = |iterations: u64| {
        let mut drawn = mpi("job", pattern, &HOSTS[..ranks], &[bytes], iterations);
        drawn.algorithm = algorithm;
        let outcome = simulate(plan(8, drawn));
        assert_eq!(count(own(&outcome), "transactions"), iterations * ranks as u64);
        count(own(&outcome), "completion_ps")
    };
    (completion(100) - completion(50)) as f64 / 50.0
}

#[test]
fn collectives_take_as_many_steps_as_theory_says() {
    use Algorithm::{Bruck, Chain, Pairwise, RecursiveDoubling, Ring};
    let of = |bytes: u64| segment(bytes + EAGER) as f64;
    // Barriers of 8 ranks have three steps; five ranks tell rank 0, and it tells them.
    // Acknowledgements take up to 3 % of the lines.
    let [eight, five] = [3.0 * of(0), 2.0 * of(0)];
    for (what, got, theory, most) in [
        ("barrier of 8", cycle(MpiPattern::Barrier, None, 8, 0), eight, 1.001),
        ("barrier of 2", cycle(MpiPattern::Barrier, None, 2, 0), of(0), 1.001),
        ("dissemination of 5", cycle(MpiPattern::Barrier, Some(Bruck), 5, 0), 3.0 * of(0), 1.03),
        (
            "doubling of 8",
            cycle(MpiPattern::Allreduce, Some(RecursiveDoubling), 8, 512),
            3.0 * of(512) + eight,
            1.001,
        ),
        (
            "ring of 8",
            cycle(MpiPattern::Allreduce, Some(Ring), 8, 8 * 512),
            14.0 * of(512) + eight,
            1.05,
        ),
        (
            "ring of 5",
            cycle(MpiPattern::Allreduce, Some(Ring), 5, 5 * 512),
            8.0 * of(512) + five,
            1.05,
        ),
        (
            "pairwise of 8",
            cycle(MpiPattern::Alltoall, Some(Pairwise), 8, 512),
            7.0 * of(512) + eight,
            1.05,
        ),
        ("chain of 8", cycle(MpiPattern::Bcast, Some(Chain), 8, 512), 7.0 * of(512) + eight, 1.05),
        ("ring pattern", cycle(MpiPattern::Ring, None, 8, 512), of(512), 1.05),
    ] {
        within(&format!("{what}, of theory"), got / theory, (0.999, most));
    }
}

#[test]
fn ranks_of_one_host_use_its_memory() {
    let mut drawn = mpi("job", MpiPattern::Pingpong, &["h0", "h0"], &[0, 1 << 20], 100);
    drawn.local_bps = 80 * GBPS;
    let outcome = simulate(plan(2, drawn));
    for (at, bytes) in [(0, 0), (1, 1 << 20)] {
        assert_eq!(count(size(&outcome, at), "min_ps"), 2 * (US + 100 * bytes));
    }
    assert_eq!(count(host_summary(&outcome, "h1"), "rx_frames"), 0, "nothing leaves the host");
}

#[test]
fn the_library_takes_its_time_for_each_thing_that_it_hands_over_or_takes() {
    let mut drawn = mpi("job", MpiPattern::Pingpong, &HOSTS[..2], &[1_000, 100_000], 50);
    (drawn.send_overhead_ps, drawn.receive_overhead_ps, drawn.copy_bps) =
        (2 * US, 3 * US, 8 * GBPS);
    let outcome = simulate(plan(2, drawn.clone()));
    (drawn.send_overhead_ps, drawn.receive_overhead_ps, drawn.copy_bps) = (0, 0, 0);
    let prompt = simulate(plan(2, drawn));
    let more = |at| means(&outcome, at).0 - means(&prompt, at).0;
    // An acknowledgement of its own may be on a line before the next message: 72 ns.
    within("an eager message each way, us", more(0) / US as f64, (12.0, 12.1));
    // Each way: the announcement is sent and taken, the question taken, the data sent, the end
    // taken.
    within(
        "an announced message each way, us",
        more(1) / US as f64,
        (2.0 * 13.0 - 0.2, 2.0 * 13.0 + 6.1),
    );
}

#[test]
fn computing_between_iterations_is_not_their_time() {
    let mut drawn = mpi("job", MpiPattern::Pingpong, &HOSTS[..2], &[100], 50);
    drawn.compute = RawDistribution::Constant(100 * US);
    let outcome = simulate(plan(2, drawn));
    within(
        "there and back, of theory",
        means(&outcome, 0).0 / (2 * segment(100 + EAGER)) as f64,
        (1.0, 1.001),
    );
    let completion = count(own(&outcome), "completion_ps");
    assert!(completion > 60 * 100 * US, "60 iterations with 10 of the warm-up: {completion}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever the ranks, their hosts and sizes: no deadlock, exact counts, and each pair has at
    /// most two connections on their way.
    #[test]
    fn every_job_ends_with_exact_counts(
        ranks in prop::collection::vec(0_usize..8, 2..12),
        pattern in prop::sample::select(vec![ MpiPattern::Pingpong, MpiPattern::Ring, MpiPattern::Exchange, MpiPattern::Allreduce, MpiPattern::Alltoall, MpiPattern::Bcast, MpiPattern::Barrier, ]),
        kilobytes in 0_u64..200,
        odd in 0_u64..1_024,
        seed in any::<u64>(),
        compute_us in 0_u64..50,
        overhead_us in 0_u64..3,
        local_gbps in 0_u64..3,
    ) {
        let names: Vec<&str> = ranks.iter().map(|&at| HOSTS[at]).collect();
        let sizes = [4 * odd, 1_024 * kilobytes];
        let mut drawn = mpi("job", pattern, &names, &sizes, 5);
        drawn.compute = RawDistribution::Exponential { mean: compute_us * US };
        (drawn.send_overhead_ps, drawn.receive_overhead_ps) = (overhead_us * US, overhead_us * US);
        drawn.local_bps = local_gbps * GBPS;
        let mut raw = plan(8, drawn);
        raw.seed = seed;
        let outcome = simulate(raw);
        let timed = if pattern == MpiPattern::Pingpong { 1 } else { ranks.len() as u64 };
        prop_assert_eq!(count(own(&outcome), "transactions"), 10 * timed, "{}", own(&outcome));
        prop_assert!(own(&outcome)["completion_ps"].is_u64());
        prop_assert_eq!(count(own(&outcome), "request_counts.failed_connections"), 0);
        let pairs = (ranks.len() * (ranks.len() - 1) / 2) as u64;
        prop_assert!(count(own(&outcome), "request_counts.connections") <= 2 * pairs);
    }
}
