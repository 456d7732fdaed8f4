//! The control laws of congestion as they come out on a wire.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// Depths of the one observed port in frames of 1514 bytes, one per bin, from `from_ps` on: means
/// and maxima.
fn depths(outcome: &Outcome, from_ps: u64) -> Vec<(f64, f64)> {
    let start = column(outcome, "port_series", "start_ps");
    let mean = fractions(outcome, "port_series", "queue_mean_bytes");
    let most = column(outcome, "port_series", "queue_max_bytes");
    let rows = (0..start.len()).filter(|&row| start[row] >= from_ps);
    rows.map(|row| (mean[row] / 1514.0, most[row] as f64 / 1514.0)).collect()
}

/// N long DCTCP flows into one port of 10 Gbit/s with a threshold of K frames.
fn dctcp(flows: usize, threshold_frames: u64, delay_ps: u64) -> RawPlan {
    let mut policy = fifo(16_000_000);
    policy.queues[0].aqm = RawAqm::Step { threshold_bytes: threshold_frames * 1514 };
    let mut plan = star(flows + 1, 1500, 10 * GBPS, delay_ps, switch("sw", 32_000_000, policy));
    for host in &mut plan.hosts {
        bare(host);
        (host.tcp.congestion_control, host.tcp.ecn, host.tcp.delayed_ack_ps) =
            (RawCongestionControl::Dctcp, true, 0);
    }
    plan.stop_at_ps = 150 * MS;
    (plan.observe.series_bins, plan.observe.series_bin_ps) = (8_192, 20 * US);
    for i in 1..=flows {
        let mut flow = stream(&format!("f{i}"), &format!("h{i}"), "h0", 1, 0);
        flow.header.start_ps = i as u64 * 100 * US;
        plan.workloads.push(RawWorkload::from(flow));
    }
    plan
}

/// Section 3.3 of the DCTCP paper (SIGCOMM 2010): N synchronised flows drive the queue to K + N
/// frames, and the swing below is A = sqrt(2 N (C RTT + K)) / 2. The analysis cuts the window at
/// once; Linux spreads the cut over a round trip, in which more frames are marked, so that few
/// flows swing up to 1.7 times as far.
#[test]
fn dctcp_keeps_the_queue_between_its_threshold_and_its_swing_below() {
    for (flows, threshold) in [(2, 40), (4, 65), (10, 65), (20, 100)] {
        let outcome = simulate(dctcp(flows, threshold, 25 * US));
        let seen = depths(&outcome, 50 * MS);
        let highest = seen.iter().map(|depth| depth.1).fold(0.0, f64::max);
        let mut means: Vec<f64> = seen.iter().map(|depth| depth.0).collect();
        means.sort_by(f64::total_cmp);
        let lowest = means[means.len() / 100];
        let (n, k) = (flows as f64, threshold as f64);
        // One frame is being sent and one rounds the threshold up.
        within(
            &format!("the highest queue of {flows} flows, less K + N"),
            highest - (k + n),
            (-1.0, 3.0),
        );
        let product = 10e9 * 100e-6 / 8.0 / 1538.0;
        let swing = (2.0 * n * (product + k)).sqrt() / 2.0;
        within(
            &format!("the swing of {flows} flows, of the analysis"),
            (highest - lowest) / swing,
            (0.9, 1.75),
        );
        let carried = (0..flows as u64)
            .map(|flow| goodput_bps(&outcome, flow, 50 * MS, 150 * MS))
            .sum::<f64>();
        within("the goodput, of the line's", carried / (10e9 * 1448.0 / 1538.0), (0.995, 1.0005));
    }
}

/// The window of the only connection of a plan, with the time in seconds, every `period_ps`.
fn windows(plan: RawPlan, period_ps: u64) -> Vec<(f64, u32)> {
    let mut seen = Vec::new();
    simulate_watched(plan, period_ps, |now, connections| {
        seen.push((now.as_secs_f64(), connections[0].cwnd_segments))
    });
    seen
}

/// One flow through 100 Mbit/s with a round trip of 40 ms (325 segments) and a buffer of as much.
fn lone_flow(congestion_control: RawCongestionControl, seconds: u64) -> RawPlan {
    let buffer = 325 * 1514;
    let mut plan = star(2, 1500, 100_000_000, 10 * MS, switch("sw", 4 * buffer, fifo(buffer)));
    for host in &mut plan.hosts {
        bare(host);
        host.tcp.congestion_control = congestion_control;
    }
    plan.links[1].rate_bps = GBPS;
    plan.stop_at_ps = seconds * S;
    plan.workloads.push(RawWorkload::from(stream("bulk", "h1", "h0", 1, 0)));
    plan
}

/// Samples between losses: from the lowest window after one, until the highest before the next.
fn teeth(windows: &[(f64, u32)]) -> Vec<&[(f64, u32)]> {
    let (mut teeth, mut low, mut high) = (Vec::new(), 0, 0);
    for (at, &(_, window)) in windows.iter().enumerate() {
        if window * 5 < windows[high].1 * 4 {
            teeth.push(&windows[low..=high]);
            (low, high) = (at, at);
        } else if window >= windows[high].1 {
            high = at;
        } else if window <= windows[low].1 {
            (low, high) = (at, at);
        }
    }
    teeth
}

/// RFC 5681: half the window at a loss, then one segment per round trip. The round trip is the
/// window over the line's rate once the line is full, so a tooth lasts (W^2 - (W/2)^2) / 2 / rate.
#[test]
fn new_reno_halves_and_climbs_by_one_segment_per_round_trip() {
    let seen = windows(lone_flow(RawCongestionControl::NewReno, 55), 10 * MS);
    let teeth = teeth(&seen);
    assert_eq!(teeth.len(), 3, "the run has a start and two whole teeth");
    for tooth in &teeth[1..] {
        let (first, last) = (tooth[0], tooth[tooth.len() - 1]);
        let top = f64::from(last.1);
        within("the window after a loss, of that before", f64::from(first.1) / top, (0.495, 0.505));
        // The buffer and the line hold 325 + 325 segments.
        within("the highest window", top, (645.0, 660.0));
        let rate = 100e6 / 8.0 / 1538.0;
        let expected = (top * top - top * top / 4.0) / 2.0 / rate;
        within("the length of a tooth, of the theory", (last.0 - first.0) / expected, (0.98, 1.03));
    }
}

/// RFC 9438: the window falls to 0.7 and follows W(t) = 0.4 (t - K)^3 + Wmax with K = cbrt((Wmax -
/// W) / 0.4); Wmax is the window at the loss, or with fast convergence 0.85 of it when the loss
/// came below the last Wmax (section 4.7).
#[test]
fn cubic_follows_its_curve_from_loss_to_loss() {
    let seen = windows(lone_flow(RawCongestionControl::Cubic, 55), 10 * MS);
    let teeth = teeth(&seen);
    assert!(teeth.len() >= 5, "there are several teeth");
    let top = |tooth: &[(f64, u32)]| f64::from(tooth[tooth.len() - 1].1);
    // The time before the second loss belongs to slow start.
    let mut plateau = top(teeth[0]);
    for pair in teeth.windows(2) {
        let (loss, tooth) = (top(pair[0]), pair[1]);
        plateau = if loss < plateau { loss * 0.85 } else { loss };
        let (begun, low) = (tooth[0].0, f64::from(tooth[0].1));
        within("the window after a loss, of that before", low / loss, (0.69, 0.71));
        let k = ((plateau - low) / 0.4).cbrt();
        // The window follows the curve of one round trip later, 40 to 80 ms (section 4.2).
        let curve = |at: f64| plateau + 0.4 * (at - begun - k).powi(3);
        let ratios = tooth.iter().map(|&(at, window)| f64::from(window) / curve(at));
        within(
            "the window, least of the curve",
            ratios.clone().fold(f64::INFINITY, f64::min),
            (0.985, 1.02),
        );
        within("the window, most of the curve", ratios.fold(0.0, f64::max), (0.985, 1.02));
    }
}
