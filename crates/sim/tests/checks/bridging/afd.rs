//! Approximate fair drop in a set-up like that of Pan, Breslau, Prabhakar and Shenker (CCR 33(2),
//! 2003): responsive flows of different round trips beside hogs that do not respond, and mice.

use super::*;

/// TCP flows, in four groups of round trips; hogs come after them.
const TCP_FLOWS: usize = 20;
const HOGS: usize = 2;
/// The line that all share.
const LINE_BPS: u64 = GBPS;
const MICE: u64 = (TCP_FLOWS + HOGS) as u64;

/// Round trips of 0.2, 0.6, 1 and 1.4 ms without queue, two hogs with 0.2 of the line each, and
/// flows of 30 kB.
fn plan(aqm: RawAqm, ecn: bool) -> RawPlan {
    let mut policy = fifo(1_500_000);
    policy.queues[0].aqm = aqm;
    policy.etrap = Some(RawEtrap {
        byte_count: 100_000,
        age_ps: 40 * MS,
        bandwidth_threshold_bytes: 500,
        table_entries: 1_024,
        afd_period_ps: MS,
    });
    let hosts = 2 + TCP_FLOWS + HOGS;
    let mut plan = star(hosts, 1500, 10 * GBPS, 50 * US, switch("sw", 4_000_000, policy));
    plan.links[0].rate_bps = LINE_BPS;
    for i in 0..TCP_FLOWS {
        plan.links[i + 1].delay_ps = (50 + 200 * (i as u64 % 4)) * US;
        plan.workloads.push(endless(&format!("h{}", i + 1), "h0", 0));
    }
    for i in 0..HOGS {
        plan.workloads.push(constant(&format!("h{}", TCP_FLOWS + 1 + i), "h0", 0, LINE_BPS / 5));
    }
    plan.workloads.push(RawWorkload::from(flows_between(
        "mice",
        [vec![format!("h{}", hosts - 1)], vec!["h0".into()]],
        RawDistribution::Constant(30_000),
        RawDistribution::Exponential { mean: 5 * MS },
        0,
    )));
    plan.hosts.iter_mut().for_each(|host| {
        host.tcp.ecn = ecn;
        bare(host);
    });
    (plan.stop_at_ps, plan.observe.series_bin_ps) = (20 * S, 100 * MS);
    plan
}

fn afd(ecn: bool) -> RawAqm {
    RawAqm::Afd { desired_bytes: 150_000, ecn }
}

/// Goodput of every elephant in Mbit/s, once things have settled.
fn elephants(outcome: &Outcome) -> Vec<f64> {
    (0..MICE).map(|work| goodput_bps(outcome, work, 2 * S, 20 * S) / 1e6).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// CUBIC of Linux counts in ticks of 4 ms, so that the flows of the shortest round trip get less,
/// and hogs more. Real kernels have the same shares (examples/afd.yaml by the exact engine).
#[test]
fn elephants_are_equal_within_a_third_and_mice_lose_nothing() {
    let outcome = simulate(plan(afd(false), false));
    let shares = elephants(&outcome);
    let fair = mean(&shares);
    for (flow, share) in shares.iter().enumerate() {
        assert!((share / fair - 1.0).abs() < 0.34, "flow {flow} has {share} of {fair}: {shares:?}");
    }
    assert_eq!(count(workload(&outcome, "mice"), "tcp.retransmits"), 0);
    assert!(drops(&outcome, "afd") > 0);
    assert_eq!(
        drops(&outcome, "afd"),
        count(outcome.summary(), "conservation.dropped"),
        "nothing but elephants' frames"
    );
    let depth = number(&port(&outcome, "sw", "h0")["queues"][0], "depth_mean_bytes");
    within("mean depth", depth, (75_000.0, 225_000.0));
    let line: f64 = shares.iter().sum();
    assert!(line > 850.0, "the line is busy: {line}");
}

#[test]
fn without_it_hogs_take_what_they_send_and_mice_lose_frames() {
    let outcome = simulate(plan(RawAqm::None, false));
    let shares = elephants(&outcome);
    let hog = mean(&shares[TCP_FLOWS..]);
    let responsive = mean(&shares[..TCP_FLOWS]);
    assert!(hog > 4.0 * responsive, "{hog} beside {responsive}");
    assert!(count(workload(&outcome, "mice"), "tcp.retransmits") > 0);
}

#[test]
fn capable_elephants_are_marked_instead() {
    let mut plan = plan(afd(true), true);
    plan.workloads.drain(TCP_FLOWS..TCP_FLOWS + HOGS);
    let outcome = simulate(plan);
    assert!(count(&port(&outcome, "sw", "h0")["queues"][0], "marked_frames") > 0);
    assert_eq!(count(outcome.summary(), "conservation.dropped"), 0);
    let shares = &elephants(&outcome)[..TCP_FLOWS];
    assert!(jain(shares) > 0.98, "{shares:?}");
}
