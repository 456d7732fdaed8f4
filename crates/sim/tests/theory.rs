//! The simulator against queueing theory and against the bounds of the protocols.

mod common;
use common::*;
use tailrace_plan::*;

/// Frame of `payload` bytes of UDP on the wire, with everything.
fn wire_bytes(payload: u64) -> u64 {
    payload + 8 + 20 + 14 + 24
}

/// Mean wait of an M/D/1 queue is rho / (2 (1 - rho)) service times (Pollaczek and Khinchine). The load comes from
/// several hosts, because one host's wire would space the arrivals.
#[test]
fn the_mean_wait_is_that_of_an_m_d_1_queue() {
    for rho in [0.5, 0.8, 0.9] {
        let mut plan = star(17, 1500, GBPS, US, switch("sw", 100_000_000, fifo(100_000_000)));
        plan.clock_offset_ppb = 0;
        plan.stop_at_ps = 20 * S;
        // The senders' links are a hundred times faster, so that they do not shape the arrivals.
        plan.links.iter_mut().skip(1).for_each(|link| link.rate_bps = 100 * GBPS);
        let payload = 1000;
        let service_ps = wire_bytes(payload) * 8_000;
        let gap = (service_ps as f64 / rho * 16.0) as u64;
        for i in 1..=16 {
            let poisson = RawDistribution::Exponential { mean: gap };
            plan.workloads.push(RawWorkload::Datagrams(datagrams(&format!("w{i}"), &format!("h{i}"), "h0", payload, poisson)));
        }
        let outcome = simulate(plan);
        let mean: f64 = (1..=16).map(|i| number(workload(&outcome, &format!("w{i}")), "latency.mean_ps")).sum::<f64>() / 16.0;
        let unloaded = wire_bytes(payload) as f64 * (8_000.0 + 80.0) + 2.0 * US as f64;
        let wait = (mean - unloaded) / service_ps as f64;
        let theory = rho / (2.0 * (1.0 - rho));
        assert!((wait / theory - 1.0).abs() < 0.03, "at load {rho} frames wait {wait} service times, not {theory}");
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
        source.priority = i as u8 - 1;
        plan.workloads.push(RawWorkload::Datagrams(source));
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
        assert!((got / share - 1.0).abs() < 0.01, "queue {queue} got {got} instead of {share}");
    }
}
