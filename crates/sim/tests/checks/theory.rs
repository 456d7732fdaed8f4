//! The simulator against queueing theory.

use crate::common::*;
use tailrace_plan::*;

/// Mean wait of an M/D/1 queue is rho / (2 (1 - rho)) service times (Pollaczek and Khinchine). The
/// load comes from several hosts, because one host's wire would space the arrivals.
#[test]
fn the_mean_wait_is_that_of_an_m_d_1_queue() {
    for rho in [0.5, 0.8, 0.9] {
        let mut plan = star(17, 1500, GBPS, US, switch("sw", 100_000_000, fifo(100_000_000)));
        plan.clock_offset_ppb = 0;
        plan.stop_at_ps = 20 * S;
        plan.hosts.iter_mut().for_each(prompt);
        // The senders' links are a hundred times faster, so that they do not shape the arrivals.
        plan.links.iter_mut().skip(1).for_each(|link| link.rate_bps = 100 * GBPS);
        let payload = 1000;
        let service_ps = wire_bytes(payload) * 8_000;
        let gap = (service_ps as f64 / rho * 16.0) as u64;
        for i in 1..=16 {
            let poisson = RawDistribution::Exponential { mean: gap };
            plan.workloads.push(RawWorkload::from(datagrams(
                &format!("w{i}"),
                &format!("h{i}"),
                "h0",
                payload,
                poisson,
            )));
        }
        let outcome = simulate(plan);
        let mean: f64 = (1..=16)
            .map(|i| number(workload(&outcome, &format!("w{i}")), "latency.mean_ps"))
            .sum::<f64>()
            / 16.0;
        let unloaded = wire_bytes(payload) as f64 * (8_000.0 + 80.0) + 2.0 * US as f64;
        let wait = (mean - unloaded) / service_ps as f64;
        let theory = rho / (2.0 * (1.0 - rho));
        within(
            &format!("mean wait at load {rho}, of {theory} service times"),
            wait / theory,
            (0.97, 1.03),
        );
    }
}

#[test]
fn weighted_queues_get_their_shares_to_one_percent() {
    let queues = vec![
        queue("gold", RawService::Dwrr(600), 1_000_000),
        queue("silver", RawService::Dwrr(300), 1_000_000),
        queue("bronze", RawService::Dwrr(100), 1_000_000),
    ];
    let policy = policy(queues, [0, 1, 2, 0, 0, 0, 0, 0]);
    let mut plan = star(4, 9000, GBPS, US, switch("sw", 16_000_000, policy));
    for (i, payload) in [(1, 100), (2, 1472), (3, 8972)] {
        let gap = RawDistribution::Constant(wire_bytes(payload) * 8_000);
        let mut source = datagrams(&format!("w{i}"), &format!("h{i}"), "h0", payload, gap);
        source.header.priority = i as u8 - 1;
        plan.workloads.push(RawWorkload::from(source));
    }
    let outcome = simulate(plan);
    let port = port(&outcome, "sw", "h0");
    let wire = |queue: usize| {
        let queue = &port["queues"][queue];
        number(queue, "tx_bytes") + 24.0 * number(queue, "tx_frames")
    };
    let total: f64 = (0..3).map(wire).sum();
    assert!((total / (GBPS as f64 / 8.0) - 1.0).abs() < 0.001, "the line is full: {total}");
    for (queue, share) in [(0, 0.6), (1, 0.3), (2, 0.1)] {
        let got = wire(queue) / total;
        within(&format!("share of queue {queue}, of {share}"), got / share, (0.99, 1.01));
    }
}

/// With S saturated queues each holds alpha B / (1 + alpha S) of the buffer (Choudhury and Hahne,
/// IEEE/ACM ToN 6(2), 1998, equation 3). The queues fill one after the other: each newcomer takes
/// its share from those that were there.
#[test]
fn saturated_queues_share_the_buffer_by_the_dynamic_threshold() {
    const BUFFER: u64 = 2_000_000;
    for (alpha_milli, queues) in
        [(1_000, 1), (1_000, 2), (1_000, 4), (8_000, 1), (8_000, 2), (14_000, 4), (125, 4)]
    {
        let outcome = simulate(saturated(alpha_milli, queues, BUFFER));
        let alpha = f64::from(alpha_milli) / 1000.0;
        let share = alpha * BUFFER as f64 / (1.0 + alpha * queues as f64);
        let (bin, port) =
            (column(&outcome, "port_series", "bin"), column(&outcome, "port_series", "port"));
        let depth = fractions(&outcome, "port_series", "queue_mean_bytes");
        // The last bins before the end: the very last is not whole.
        let last = 290;
        let held: Vec<f64> =
            (0..bin.len()).filter(|&row| bin[row] == last).map(|row| depth[row]).collect();
        assert_eq!(held.len(), queues, "every queue was observed: {port:?}");
        for got in held {
            // One frame more or less in the buffer moves the threshold by alpha frames.
            let slack = 1514.0 * (1.0 + alpha);
            within(
                &format!("depth of one of {queues} queues at alpha {alpha}, less {share:.0}"),
                got - share,
                (-slack, slack),
            );
        }
    }
}

/// `queues` receivers, each wanted by two hosts at full rate, one after the other.
fn saturated(alpha_milli: u32, queues: usize, buffer: u64) -> RawPlan {
    let mut policy = fifo(0);
    policy.queues[0].limit = RawLimit::AlphaMilli(alpha_milli);
    let mut plan = star(3 * queues, 1500, GBPS, US, switch("sw", buffer, policy));
    plan.observe.ports = (0..queues).map(|i| ("sw".into(), format!("h{i}"))).collect();
    plan.stop_at_ps = 300 * MS;
    for sender in 0..2 * queues {
        let receiver = sender / 2;
        let gap = RawDistribution::Constant(wire_bytes(1472) * 8_000);
        let (from, to) = (format!("h{}", queues + sender), format!("h{receiver}"));
        let mut source = datagrams(&format!("w{sender}"), &from, &to, 1472, gap);
        source.header.start_ps = receiver as u64 * 10 * MS;
        plan.workloads.push(RawWorkload::from(source));
    }
    plan
}

/// While the delay stays above the target, CoDel's n-th drop follows the one before it by 100 ms /
/// sqrt(n - 1) (RFC 8289, section 5.3). Traffic of 1.2 times the line does not give way, so the
/// delay only grows.
#[test]
fn codel_drops_at_the_pace_of_its_control_law() {
    let mut policy = fifo(1 << 30);
    policy.queues[0].aqm =
        RawAqm::Codel { target_ps: 5 * MS, interval_ps: 100 * MS, ecn: false, ce_threshold_ps: 0 };
    let mut plan = star(2, 1500, GBPS, US, switch("sw", 1 << 30, policy));
    plan.links[1].rate_bps = 10 * GBPS;
    plan.clock_offset_ppb = 0;
    plan.stop_at_ps = 3 * S;
    let gap = RawDistribution::Constant(wire_bytes(1472) * 8_000 * 10 / 12);
    plan.workloads.push(RawWorkload::from(datagrams("flood", "h1", "h0", 1472, gap)));
    let outcome = simulate(plan);
    // A delay of d needs d / (1 - 1 / 1.2) of such traffic. It is seen when the frame leaves, an
    // interval before the first drop.
    let mut due = 0.005 * 6.0 + 0.1;
    let mut expected = 0_u64;
    while due < 3.0 {
        expected += 1;
        due += 0.1 / (expected as f64).sqrt();
    }
    let dropped = count(&port(&outcome, "sw", "h0")["queues"][0], "drops.codel.frames");
    within("drops in 3 s", dropped as f64, (expected as f64 - 2.0, expected as f64 + 2.0));
}
