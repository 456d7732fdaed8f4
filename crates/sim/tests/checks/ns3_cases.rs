//! The four cases of ns-3's `examples/tcp/tcp-validation.cc`: one flow over a bottleneck of 50
//! Mbit/s with CoDel.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::{ConnectionState, Outcome};

/// Samples of the sender: seconds of ns-3's clock (the flow starts at 5 s) and the connection.
type Trace = Vec<(f64, ConnectionState)>;

/// Two switches (ns-3's routers) joined by the bottleneck, with CoDel of 5 ms and 100 ms towards
/// the receiver; 1 Gbit/s and 1 us to the hosts. Frames have ns-3's two bytes of link header and
/// nothing around them. As in ns-3 there is no interrupt moderation; unlike there the bottleneck
/// has the same rate in both directions.
fn bottleneck(
    congestion_control: RawCongestionControl,
    rtt_ms: u64,
    ecn: bool,
    until_s: u64,
) -> RawPlan {
    let mut plan = star(2, 1500, GBPS, US, switch("wan", 1 << 26, fifo(1 << 24)));
    let ce_threshold_ps = if congestion_control == RawCongestionControl::Dctcp { MS } else { 0 };
    let mut codel = fifo(0);
    // CoDelQueueDisc's default: 1000 packets.
    codel.queues[0].limit = RawLimit::Frames(1000);
    codel.queues[0].aqm =
        RawAqm::Codel { target_ps: 5 * MS, interval_ps: 100 * MS, ecn, ce_threshold_ps };
    plan.switches[0].port_policies.push(RawPortPolicy { towards: "lan".into(), policy: codel });
    plan.switches.push(switch("lan", 1 << 26, fifo(1 << 24)));
    plan.links = vec![
        link("h0", "wan", GBPS, US),
        link("wan", "lan", 50_000_000, rtt_ms * MS / 2),
        link("lan", "h1", GBPS, US),
    ];
    plan.framing = RawFraming { header_bytes: 2, overhead_bytes: 0 };
    for host in &mut plan.hosts {
        prompt(host);
        (host.tcp.congestion_control, host.tcp.ecn) = (congestion_control, true);
        let buffer = RawSocketBuffer { initial_bytes: 32_768_000, maximum_bytes: 32_768_000 };
        (host.tcp.send_buffer, host.tcp.receive_buffer) = (buffer.clone(), buffer);
    }
    plan.observe.ports = vec![("wan".into(), "lan".into())];
    (plan.observe.series_bins, plan.observe.series_bin_ps) = (512, 200 * MS);
    plan.stop_at_ps = (until_s - 5) * S;
    plan.workloads.push(RawWorkload::from(stream("bulk", "h0", "h1", 1, 0)));
    plan
}

fn trace(plan: RawPlan) -> (Outcome, Trace) {
    let mut samples = Vec::new();
    let outcome = simulate_watched(plan, 5 * MS, |now, connections| {
        samples.push((now.as_secs_f64() + 5.0, connections[0]))
    });
    (outcome, samples)
}

/// Mbit/s in each 200 ms, as ns-3 samples them, with the second of its clock at which the sample
/// ends.
fn throughput(outcome: &Outcome, until_s: u64) -> Vec<(f64, f64)> {
    let bins = (until_s - 5) * 5;
    let rate = |bin| goodput_bps(outcome, 0, bin * 200 * MS, (bin + 1) * 200 * MS) / 1e6;
    (0..bins).map(|bin| (5.0 + (bin + 1) as f64 / 5.0, rate(bin))).collect()
}

/// Asserts a band for all samples of a span of time.
#[track_caller]
fn all_within(what: &str, samples: &[(f64, f64)], span: (f64, f64), band: (f64, f64)) {
    let inside: Vec<f64> = samples
        .iter()
        .filter(|sample| sample.0 > span.0 && sample.0 < span.1)
        .map(|sample| sample.1)
        .collect();
    assert!(inside.len() > 5, "{what} has samples");
    let what = |end: &str| format!("{end} of {what} from {} to {} s", span.0, span.1);
    within(&what("lowest"), inside.iter().copied().fold(f64::INFINITY, f64::min), band);
    within(&what("highest"), inside.iter().copied().fold(0.0, f64::max), band);
}

fn alphas(trace: &Trace) -> Vec<(f64, f64)> {
    let alpha = |connection: &ConnectionState| {
        f64::from(connection.marked_share_1024.expect("it is DCTCP")) / 1024.0
    };
    trace.iter().map(|(at, connection)| (*at, alpha(connection))).collect()
}

/// ns-3 marks what waited longer than 1 ms in the queue discipline; below that its device holds
/// three more packets of 1502 bytes (0.72 ms at 50 Mbit/s) which nothing marks. We have one queue,
/// so the same delay is marked at 1.72 ms.
const MARK_ABOVE_PS: u64 = MS + 3 * 1502 * 160_000;

fn dctcp(rtt_ms: u64, until_s: u64, ce_threshold_ps: u64) -> RawPlan {
    let mut plan = bottleneck(RawCongestionControl::Dctcp, rtt_ms, true, until_s);
    let queue = &mut plan.switches[0].port_policies[0].policy.queues[0];
    queue.aqm =
        RawAqm::Codel { target_ps: 5 * MS, interval_ps: 100 * MS, ecn: true, ce_threshold_ps };
    plan
}

/// Published: 48 to 49 Mbit/s after 5.6 s; alpha below 0.1 after 5.6 s and from 0.055 to 0.09 after
/// 7 s (the comment of the program says 0.06 to 0.085; these are the numbers that it checks). Our
/// alpha settles a second and a half later, and goes down to 0.046 once, because a receiver of
/// Linux acknowledges a segment with CWR at once.
#[test]
fn case_dctcp_10_ms() {
    let (outcome, trace) = trace(dctcp(10, 15, MARK_ABOVE_PS));
    all_within("Mbit/s", &throughput(&outcome, 15), (5.6, 15.1), (48.0, 49.0));
    all_within("alpha", &alphas(&trace), (5.6, 15.0), (0.0, 0.1));
    all_within("alpha", &alphas(&trace), (7.0, 15.0), (0.045, 0.095));
    all_within("alpha", &alphas(&trace), (8.5, 15.0), (0.054, 0.09));
}

/// Marked at 1 ms as ns-3 is configured, the threshold is 4.2 packets, below a seventh of the 41.6
/// packets in flight, which DCTCP needs to keep a line busy (section 3.4 of the paper): 97 % of it
/// is what such a threshold leaves.
#[test]
fn a_threshold_below_a_seventh_of_the_product_costs_throughput() {
    let (outcome, _) = trace(dctcp(10, 15, MS));
    all_within("Mbit/s", &throughput(&outcome, 15), (8.3, 15.1), (46.0, 47.6));
}

/// Published: below 20 Mbit/s before 14 s, below 48 before 30 s, 47.5 to 48.5 after 32 s; alpha
/// above 0.1 before 7.5 s and below 0.01 from 11 to 30 s. It also names 0.015 to 0.025 after 34 s,
/// but tests that alpha is not below the one *and* above the other, which nothing is; ours swings
/// from 0 to 0.052 there. Once our rate goes down to 47.2: bursts of Linux end where its packets
/// do, and with a push, and ns-3 has neither.
#[test]
fn case_dctcp_80_ms() {
    let (outcome, trace) = trace(dctcp(80, 40, MARK_ABOVE_PS));
    let rates = throughput(&outcome, 40);
    all_within("Mbit/s", &rates, (5.0, 14.0), (0.0, 20.0));
    all_within("Mbit/s", &rates, (5.0, 30.0), (0.0, 48.0));
    all_within("Mbit/s", &rates, (32.5, 40.1), (47.0, 48.5));
    all_within("alpha", &alphas(&trace), (5.0, 7.5), (0.1, 1.0));
    all_within("alpha", &alphas(&trace), (11.0, 30.0), (0.0, 0.01));
    all_within("alpha", &alphas(&trace), (34.0, 40.0), (0.0, 0.055));
}

/// Second and height of the highest window between two times.
fn highest(trace: &Trace, span: (f64, f64)) -> (f64, f64) {
    let inside = trace.iter().filter(|sample| sample.0 > span.0 && sample.0 < span.1);
    let (at, connection) =
        inside.max_by_key(|sample| sample.1.cwnd_segments).expect("there are samples");
    (*at, f64::from(connection.cwnd_segments))
}

/// Published without ECN: a maximum of 511 segments at 5.46 s, 173 at 5.80 s, then maxima of 236 at
/// 14.28 s and 234 at 18.05 s; with ECN 173 at 5.79 s, 236 at 14.35 s, 234 at 18.06 s.
///
/// The start is not comparable: HyStart of ns-3 waits until the round trip has doubled
/// (`HystartDelayThresh` is the smallest round trip itself), Linux's until it has grown by an
/// eighth; so ours leaves slow start at 288 segments instead of 511 and CoDel meets a shorter
/// queue. What the line and CoDel decide is comparable: the window after the reduction stays below
/// 190, and the later maxima.
#[test]
fn case_cubic_50_ms() {
    for ecn in [false, true] {
        let (outcome, trace) = trace(bottleneck(RawCongestionControl::Cubic, 50, ecn, 20));
        within("the first maximum", highest(&trace, (5.0, 6.0)).1, (208.0, 511.0));
        within(
            "the window after the first reduction",
            highest(&trace, (5.795, 6.0)).1,
            (100.0, 190.0),
        );
        let (first, second) = (highest(&trace, (10.0, 15.5)), highest(&trace, (16.0, 20.0)));
        within("the maximum near 14.3 s, of 236", first.1 / 236.0, (0.97, 1.03));
        within("its time", first.0, (14.0, 15.3));
        within("the maximum near 18.05 s, of 234", second.1 / 234.0, (0.97, 1.03));
        within("its distance from the first, of 3.74 s", (second.0 - first.0) / 3.74, (0.85, 1.15));
        let queue = &port(&outcome, "wan", "lan")["queues"][0];
        let (marks, drops) = (
            count(queue, "marked_frames"),
            queue["drops"]["codel"]["frames"].as_u64().unwrap_or(0),
        );
        assert_eq!((marks > 0, drops > 0), (ecn, !ecn), "CoDel marks or drops: {queue}");
    }
}
