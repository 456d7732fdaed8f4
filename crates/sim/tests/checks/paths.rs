//! Paths: what one frame takes over switches and wires, to the picosecond, and which way it goes.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// 8 bits at 10 Gbit/s.
const PS_PER_BYTE: u64 = 800;
/// Pipeline of the switches in these tests.
const LATENCY: u64 = 450_000;
/// A cut-through switch has seen this much of a frame when it forwards it.
const HEADER_BYTES: u64 = 64;

/// Two hosts with a row of switches between them, all links alike, no noise. One datagram goes from
/// end to end.
fn row(switches: usize, switching: RawSwitching, delay_ps: u64, payload: u64) -> RawPlan {
    let mut plan = star(2, 9000, 10 * GBPS, delay_ps, switch("s0", 1_000_000, fifo(1_000_000)));
    plan.clock_offset_ppb = 0;
    plan.observe.ports.clear();
    plan.stop_at_ps = MS;
    let name = |i: usize| format!("s{i}");
    plan.switches = (0..switches).map(|i| switch(&name(i), 1_000_000, fifo(1_000_000))).collect();
    for node in &mut plan.switches {
        (node.switching, node.latency_ps) = (switching, LATENCY);
    }
    plan.links = (1..switches).map(|i| link(&name(i - 1), &name(i), 10 * GBPS, delay_ps)).collect();
    plan.links.push(link("h0", "s0", 10 * GBPS, delay_ps));
    plan.links.push(link("h1", &name(switches - 1), 10 * GBPS, delay_ps));
    plan.hosts.iter_mut().for_each(prompt);
    plan.workloads.push(single("w", "h0", "h1", payload));
    plan
}

/// One datagram.
fn single(name: &str, source: &str, destination: &str, payload: u64) -> RawWorkload {
    let mut source = datagrams(name, source, destination, payload, RawDistribution::Constant(US));
    source.count = 1;
    RawWorkload::from(source)
}

fn latencies(outcome: &Outcome) -> Vec<u64> {
    column(outcome, "transactions", "latency_ps")
}

/// Store-and-forward: every hop sends the whole frame before the next begins. Fibre takes 5 ns per
/// metre, so 1 us is 200 m.
#[test]
fn a_stored_frame_is_sent_whole_on_every_hop() {
    for (switches, payload, delay) in [(1, 18, 0), (1, 1472, US), (3, 1472, US), (3, 8972, 5 * US)]
    {
        let outcome = simulate(row(switches, RawSwitching::StoreAndForward, delay, payload));
        let hops = switches as u64 + 1;
        let expected =
            hops * (wire_bytes(payload) * PS_PER_BYTE + delay) + switches as u64 * LATENCY;
        assert_eq!(latencies(&outcome), [expected], "{payload} bytes over {switches} switches");
    }
}

/// Cut-through: a switch forwards when it has seen the header, so only the last hop counts in full.
#[test]
fn a_frame_that_is_cut_through_is_sent_whole_only_once() {
    for (switches, payload, delay) in [(1, 1472, US), (3, 1472, US), (3, 8972, 5 * US)] {
        let outcome = simulate(row(switches, RawSwitching::CutThrough, delay, payload));
        let hop = HEADER_BYTES * PS_PER_BYTE + delay + LATENCY;
        let expected = switches as u64 * hop + wire_bytes(payload) * PS_PER_BYTE + delay;
        assert_eq!(latencies(&outcome), [expected], "{payload} bytes over {switches} switches");
    }
}

/// Towards a faster wire a cut-through switch would run dry in the middle of a frame: it stores it.
#[test]
fn a_frame_for_a_faster_wire_is_stored() {
    let mut plan = row(1, RawSwitching::CutThrough, US, 1472);
    plan.links[1].rate_bps = 100 * GBPS;
    let outcome = simulate(plan);
    let expected = wire_bytes(1472) * (PS_PER_BYTE + PS_PER_BYTE / 10) + 2 * US + LATENCY;
    assert_eq!(latencies(&outcome), [expected]);
}

/// A frame that waits in a scheduled port follows the one before it through the next switch, which
/// reads its header before the port is done with it.
#[test]
fn frames_that_wait_for_a_scheduler_follow_each_other_through_a_cut_through_switch() {
    let mut plan = row(2, RawSwitching::CutThrough, US, 1472);
    plan.hosts.push(host("h2", 9000));
    plan.links.push(link("h2", "s0", 10 * GBPS, US));
    plan.workloads.push(single("late", "h2", "h1", 1472));
    plan.switches[0].policy.queues.push(queue("other", RawService::Strict(1), 1_000_000));
    let frame = wire_bytes(1472) * PS_PER_BYTE;
    let first = 2 * (HEADER_BYTES * PS_PER_BYTE + US + LATENCY) + frame + US;
    assert_eq!(latencies(&simulate(plan)), [first, first + frame]);
}

/// A port that chooses late is brought up to the end of a run, although nothing has arrived behind
/// its long wire yet.
#[test]
fn ports_are_up_to_date_when_a_run_stops() {
    let mut policy = fifo(1_000_000);
    policy.queues.push(queue("other", RawService::Strict(1), 1_000_000));
    let mut plan = star(2, 1500, GBPS, 10 * MS, switch("sw", 2_000_000, policy));
    plan.links[1] = link("h1", "sw", 100 * GBPS, 0);
    plan.stop_at_ps = 5 * MS;
    let mut burst = datagrams("burst", "h1", "h0", 1472, RawDistribution::Constant(1));
    burst.count = 100;
    plan.workloads.push(RawWorkload::from(burst));
    let outcome = simulate(plan);
    assert_eq!(count(port(&outcome, "sw", "h0"), "tx_frames"), 100);
    assert_eq!(count(outcome.summary(), "conservation.in_network"), 100);
}

/// Hosts `h0..` in leaves of four below two spines.
fn leaf_spine(leaves: usize, spines: usize) -> RawPlan {
    let mut plan = star(4 * leaves, 1500, 10 * GBPS, US, switch("x", 1_000_000, fifo(1_000_000)));
    let node = |name: String| switch(&name, 1_000_000, fifo(1_000_000));
    plan.switches = (0..leaves)
        .map(|i| node(format!("l{i}")))
        .chain((0..spines).map(|i| node(format!("s{i}"))))
        .collect();
    plan.links = (0..4 * leaves)
        .map(|i| link(&format!("h{i}"), &format!("l{}", i / 4), 10 * GBPS, US))
        .collect();
    for leaf in 0..leaves {
        plan.links.extend(
            (0..spines).map(|spine| link(&format!("l{leaf}"), &format!("s{spine}"), 10 * GBPS, US)),
        );
    }
    plan.clock_offset_ppb = 0;
    plan.observe.ports.clear();
    plan
}

/// The fat tree of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008): k pods, k^3/4 hosts.
pub fn fat_tree(k: usize) -> RawPlan {
    let half = k / 2;
    let mut plan = leaf_spine(k * half * half / 4, 0);
    let names = (0..k * half)
        .flat_map(|i| [format!("e{i}"), format!("a{i}")])
        .chain((0..half * half).map(|i| format!("c{i}")));
    plan.switches = names.map(|name| switch(&name, 1_000_000, fifo(1_000_000))).collect();
    plan.links = (0..k * half * half)
        .map(|i| link(&format!("h{i}"), &format!("e{}", i / half), 10 * GBPS, US))
        .collect();
    for (pod, aggregation) in
        (0..k).flat_map(|pod| (0..half).map(move |aggregation| (pod, aggregation)))
    {
        let name = format!("a{}", pod * half + aggregation);
        for other in 0..half {
            plan.links.push(link(&name, &format!("e{}", pod * half + other), 10 * GBPS, US));
            plan.links.push(link(
                &name,
                &format!("c{}", aggregation * half + other),
                10 * GBPS,
                US,
            ));
        }
    }
    plan
}

/// One datagram between each two hosts, each at a time of its own: it arrives, after as many hops
/// as the shortest path has.
fn every_pair_is_joined(mut plan: RawPlan, switches_between: impl Fn(usize, usize) -> u64) {
    let hosts = plan.hosts.len();
    let pairs: Vec<(usize, usize)> = (0..hosts)
        .flat_map(|from| (0..hosts).map(move |to| (from, to)))
        .filter(|(from, to)| from != to)
        .collect();
    for (i, &(from, to)) in pairs.iter().enumerate() {
        let mut source = single(&format!("w{i}"), &format!("h{from}"), &format!("h{to}"), 100);
        source.header.start_ps = i as u64 * 100 * US;
        plan.workloads.push(source);
    }
    plan.stop_at_ps = (pairs.len() as u64 + 1) * 100 * US;
    plan.hosts.iter_mut().for_each(prompt);
    let outcome = simulate(plan);
    let expected: Vec<u64> = pairs
        .iter()
        .map(|&(from, to)| (switches_between(from, to) + 1) * (wire_bytes(100) * PS_PER_BYTE + US))
        .collect();
    assert_eq!(latencies(&outcome), expected);
    assert_eq!(count(outcome.summary(), "conservation.dropped"), 0);
}

#[test]
fn a_leaf_spine_joins_every_pair_by_a_shortest_path() {
    every_pair_is_joined(leaf_spine(4, 2), |a, b| if a / 4 == b / 4 { 1 } else { 3 });
}

#[test]
fn a_fat_tree_joins_every_pair_by_a_shortest_path() {
    every_pair_is_joined(fat_tree(4), |a, b| match (a / 2 == b / 2, a / 4 == b / 4) {
        (true, _) => 1,
        (false, true) => 3,
        (false, false) => 5,
    });
}

/// Frames from the first leaf to each spine.
fn upward(outcome: &Outcome, spines: usize) -> Vec<u64> {
    (0..spines).map(|spine| count(port(outcome, "l0", &format!("s{spine}")), "tx_frames")).collect()
}

/// With four paths, chi-square has three degrees of freedom: 16.27 is exceeded once in a thousand
/// times.
#[test]
fn flows_spread_evenly_over_equal_paths() {
    const FLOWS: usize = 960;
    let mut plan = leaf_spine(2, 4);
    for i in 0..FLOWS {
        let (from, to) = (format!("h{}", i % 4), format!("h{}", 4 + i / 4 % 4));
        plan.workloads.push(single(&format!("w{i}"), &from, &to, 100));
    }
    plan.stop_at_ps = 10 * MS;
    let counts = upward(&simulate(plan), 4);
    assert_eq!(counts.iter().sum::<u64>(), FLOWS as u64);
    let expected = FLOWS as f64 / 4.0;
    let chi_square: f64 =
        counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    assert!(chi_square < 16.27, "{counts:?} has a chi-square of {chi_square}");
}

#[test]
fn a_flow_stays_on_one_path() {
    let mut plan = leaf_spine(2, 4);
    plan.stop_at_ps = 20 * MS;
    plan.workloads.push(RawWorkload::from(stream("bulk", "h0", "h4", 1, 0)));
    let outcome = simulate(plan);
    let used: Vec<u64> = upward(&outcome, 4).into_iter().filter(|&frames| frames > 0).collect();
    assert_eq!(used.len(), 1, "one spine carries the flow");
    assert!(used[0] > 10_000, "it is a long flow: {used:?}");
    assert_eq!(count(workload(&outcome, "bulk"), "tcp.out_of_order"), 0);
}

/// A datagram waits for its poll and for the work of receiving it, as a segment does: 10 us, 3 us
/// and 2 ns for each of 1472 bytes.
#[test]
fn the_delay_of_a_datagram_holds_the_poll_and_the_work_of_receiving() {
    let mut plan = row(1, RawSwitching::StoreAndForward, US, 1472);
    let network = latencies(&simulate(plan.clone()))[0];
    plan.hosts[1].nic.rx_coalesce_ps = 10 * US;
    (plan.hosts[1].cpu.per_packet_ps, plan.hosts[1].cpu.per_byte_fs) = (3 * US, 2_000_000);
    let outcome = simulate(plan);
    let work = 3 * US + 1472 * 2_000;
    assert_eq!(latencies(&outcome), [network + 10 * US + work]);
    assert_eq!(count(host_summary(&outcome, "h1"), "cpu_busy_ps"), work);
}

/// The path of a datagram hangs on its hosts and its port, not on the workloads that are named
/// before its own.
#[test]
fn the_flow_hash_of_datagrams_does_not_depend_on_the_index_of_their_workload() {
    let with = |others_first: bool| {
        let mut plan = leaf_spine(2, 8);
        let between = |from: usize, to: usize| {
            single(&format!("{from}>{to}"), &format!("h{from}"), &format!("h{to}"), 100)
        };
        let others: Vec<RawWorkload> = (1..4).map(|from| between(from, 7)).collect();
        plan.workloads = if others_first { others.clone() } else { vec![] };
        plan.workloads.push(between(0, 4));
        plan.workloads.extend(if others_first { vec![] } else { others });
        let outcome = simulate(plan);
        let used = |spine: usize| count(port(&outcome, "l0", &format!("s{spine}")), "tx_frames");
        (0..8).map(used).collect::<Vec<_>>()
    };
    assert_eq!(with(false), with(true));
}
