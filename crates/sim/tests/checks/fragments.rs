//! Datagrams in fragments, and lines that lose some of them.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// A block of a database, and its fragments at an MTU of 1500.
const BLOCK_BYTES: u64 = 8_192;
const FRAGMENTS: i32 = 6;
const LOSS: f64 = 0.01;
const LOSS_PPB: u32 = 10_000_000;

/// A block each millisecond from `h1` to `h0`, whose line loses one frame in a hundred; `ip` is of
/// the receiver.
fn blocks(ip: Option<RawIp>, loses_later_fragments: bool, seconds: u64) -> Outcome {
    let mut plan = star(2, 1_500, GBPS, US, switch("sw", 2_000_000, fifo(1_000_000)));
    (plan.links[0].loss_ppb, plan.links[0].loses_later_fragments) =
        (LOSS_PPB, loses_later_fragments);
    plan.hosts[0].ip = ip;
    plan.workloads.push(RawWorkload::from(datagrams(
        "blocks",
        "h1",
        "h0",
        BLOCK_BYTES,
        RawDistribution::Constant(MS),
    )));
    plan.stop_at_ps = seconds * S + MS / 2;
    simulate(plan)
}

/// A second, and 64 MiB: what is not complete is forgotten before it fills the memory.
fn tuned() -> Option<RawIp> {
    Some(RawIp {
        reassembly_timeout_ps: S,
        reassembly_memory_bytes: 64 << 20,
        reassembly_distance: 64,
    })
}

fn lost_share(outcome: &Outcome) -> f64 {
    let sent = count(&host_summary(outcome, "h1")["ip"], "FragOKs") as f64;
    1.0 - count(workload(outcome, "blocks"), "transactions") as f64 / sent
}

/// A block is lost with any of its fragments: 1 - (1 - p)^n.
#[test]
fn one_lost_fragment_loses_its_datagram() {
    for (later, fragments) in [(false, FRAGMENTS), (true, FRAGMENTS - 1)] {
        let outcome = blocks(tuned(), later, 40);
        let theory = 1.0 - (1.0 - LOSS).powi(fragments);
        // A standard deviation of 0.12 % in 40 000 blocks.
        within(
            &format!("lost blocks, {fragments} fragments at risk"),
            lost_share(&outcome) / theory,
            (0.93, 1.07),
        );
        let ip = &host_summary(&outcome, "h0")["ip"];
        let lost = count(&outcome.summary()["switches"][0]["early_drops"], "line.frames");
        assert_eq!(
            count(ip, "ReasmReqds") + lost,
            count(&host_summary(&outcome, "h1")["ip"], "FragCreates")
        );
        assert_eq!(count(ip, "ReasmOKs"), count(workload(&outcome, "blocks"), "transactions"));
        assert_eq!(count(ip, "ReasmFails"), count(ip, "ReasmTimeout"), "nothing is refused");
    }
}

/// With Linux's defaults what is not complete stays for 30 s and fills 4 MiB within seconds: then
/// nothing is delivered until it is forgotten. Linux charges 200 bytes for a datagram and 2304 for
/// a fragment.
#[test]
fn reassembly_collapses_with_the_defaults() {
    let outcome = blocks(None, false, 45);
    let lost_per_s = 1_000.0 * (1.0 - (1.0 - LOSS).powi(FRAGMENTS));
    let filled_s = f64::from(4 << 20) / (lost_per_s * (200.0 + 5.0 * 2_304.0));
    let goodput = |from_ps: u64, until_ps: u64| {
        goodput_bps(&outcome, 0, from_ps, until_ps) / (BLOCK_BYTES as f64 * 8e3)
    };
    let bin = 1_024 * MS / 8;
    let alive: u64 =
        (0..300).take_while(|&at| goodput(at * bin, (at + 1) * bin) > 0.5).count() as u64;
    within("until the memory is full", (alive * bin) as f64 / 1e12 / filled_s, (0.85, 1.15));
    within("blocks before", goodput(0, 5_120 * MS), (0.92, 0.96));
    assert!(
        goodput(8_192 * MS, 29_696 * MS) == 0.0,
        "nothing is delivered until the first have waited for 30 s"
    );
    // Timers of 30 s expire every 512 ticks: those of the first two seconds together, then those of
    // the next.
    within("blocks when they are forgotten", goodput(31_744 * MS, 34_816 * MS), (0.3, 0.97));
    assert!(goodput(39_936 * MS, 44_032 * MS) == 0.0, "and so on");
    let ip = &host_summary(&outcome, "h0")["ip"];
    assert!(count(ip, "reassembly_memory_max_bytes") < (4 << 20) + 2_304 + 200, "{ip}");
    assert!(count(ip, "ReasmTimeout") > 300 && count(ip, "ReasmFails") > 100_000, "{ip}");
}

/// Ports stand in the first fragment alone: a rule about a port puts it into another class than the
/// rest.
#[test]
fn a_rule_about_ports_takes_the_first_fragment_and_leaves_the_others() {
    let mut own = switch(
        "sw",
        2_000_000,
        policy(
            vec![
                queue("first", RawService::Strict(1), 500_000),
                queue("rest", RawService::Dwrr(1_000), 500_000),
            ],
            [1, 1, 1, 1, 1, 0, 1, 1],
        ),
    );
    own.classify =
        vec![RawRule { class: 5, destination_port: Some((1, 65_535)), ..RawRule::default() }];
    let mut plan = star(2, 1_500, GBPS, US, own);
    plan.workloads.push(RawWorkload::from(datagrams(
        "blocks",
        "h1",
        "h0",
        BLOCK_BYTES,
        RawDistribution::Constant(MS),
    )));
    plan.stop_at_ps = 100 * MS + MS / 2;
    let outcome = simulate(plan);
    let blocks = count(workload(&outcome, "blocks"), "transactions");
    let frames: Vec<u64> =
        [0, 1].map(|queue| count(&port(&outcome, "sw", "h0")["queues"][queue], "tx_frames")).into();
    assert_eq!(frames, [blocks, 5 * blocks]);
}

/// Without ports all flows between two hosts have one hash while they are cut: they share a path,
/// and an elephant trap takes them for one flow.
#[test]
fn fragments_of_all_flows_of_two_hosts_take_one_path() {
    let paths = |bytes: u64| {
        let mut plan = star(2, 1_500, GBPS, US, switch("sw", 2_000_000, fifo(1_000_000)));
        plan.switches =
            ["a", "b", "s0", "s1"].map(|name| switch(name, 2_000_000, fifo(1_000_000))).into();
        plan.links = vec![link("h0", "a", GBPS, US), link("h1", "b", GBPS, US)];
        let spines = ["s0", "s1"]
            .into_iter()
            .flat_map(|spine| ["a", "b"].map(|leaf| link(leaf, spine, GBPS, US)));
        plan.links.extend(spines);
        plan.observe.ports.clear();
        for flow in 0..16 {
            let gap = RawDistribution::Constant(MS);
            plan.workloads.push(RawWorkload::from(datagrams(
                &format!("flow{flow}"),
                "h1",
                "h0",
                bytes,
                gap,
            )));
        }
        plan.stop_at_ps = 20 * MS;
        let outcome = simulate(plan);
        ["s0", "s1"].map(|spine| count(port(&outcome, "b", spine), "tx_frames") > 0)
    };
    assert_eq!(paths(1_472), [true, true], "16 flows are on both paths");
    assert_eq!(paths(1_473).iter().filter(|is_used| **is_used).count(), 1);
}

/// Blocks whose last hop loses frames: each lost fragment loses its block, which is asked for
/// again. A request is one frame on the same line.
#[test]
fn blocks_are_lost_with_any_of_their_fragments_and_asked_for_again() {
    for (later, frames) in [(false, 1 + FRAGMENTS), (true, FRAGMENTS - 1)] {
        let mut plan = star(2, 1_500, GBPS, US, switch("sw", 2_000_000, fifo(1_000_000)));
        (plan.links[0].loss_ppb, plan.links[0].loses_later_fragments) = (LOSS_PPB, later);
        plan.hosts[0].ip = tuned();
        plan.workloads.push(RawWorkload::from(crate::common::blocks("rac", &["h0", "h1"], 0)));
        plan.stop_at_ps = 40 * S;
        let outcome = simulate(plan);
        let of = |key: &str| count(workload(&outcome, "rac"), &format!("block_counts.{key}"));
        let theory = 1.0 - (1.0 - LOSS).powi(frames);
        let lost = of("lost_blocks") as f64 / (of("lost_blocks") + of("received_blocks")) as f64;
        within(&format!("lost blocks, {frames} frames at risk"), lost / theory, (0.93, 1.07));
        // Four in succession: one block in 50 000 or 170 000.
        assert!(of("failed_blocks") <= 5, "{} failed", of("failed_blocks"));
        let ip = &host_summary(&outcome, "h0")["ip"];
        assert_eq!(of("received_blocks"), count(ip, "ReasmOKs"), "none comes after its timeout");
    }
}

/// A line between two switches loses a tenth of the frames of each direction: once, and not the
/// same ones.
#[test]
fn a_line_between_switches_loses_each_direction_once_and_by_itself() {
    let mut plan = star(2, 1_500, GBPS, US, switch("sw", 2_000_000, fifo(1_000_000)));
    plan.switches.push(switch("far", 2_000_000, fifo(1_000_000)));
    plan.links[1].b = "far".into();
    plan.links.push(RawLink { loss_ppb: 100_000_000, ..link("sw", "far", GBPS, US) });
    for (name, from, to) in [("there", "h0", "h1"), ("back", "h1", "h0")] {
        plan.workloads.push(RawWorkload::from(datagrams(
            name,
            from,
            to,
            1_000,
            RawDistribution::Constant(MS),
        )));
    }
    plan.stop_at_ps = 20 * S;
    let outcome = simulate(plan);
    for name in ["there", "back"] {
        // A standard deviation of 2 % in 20 000 frames.
        let arrived = count(workload(&outcome, name), "transactions") as f64;
        within(&format!("loss of {name}"), (20_000.0 - arrived) / 2_000.0, (0.93, 1.07));
    }
    let lost =
        [0, 1].map(|at| count(&outcome.summary()["switches"][at]["early_drops"], "line.frames"));
    assert_ne!(lost[0], lost[1], "each direction draws its own losses");
}
