//! Classification, policers and shares of a line between classes.

use super::*;

/// The per-flow cap of a cloud network (AWS: 5 Gbit/s for a flow outside a placement group), on 25
/// Gbit/s links.
fn capped(connections: u32) -> f64 {
    let mut plan =
        star(2, 1500, 25 * GBPS, 10 * US, switch("sw", BUFFER_BYTES, fifo(BUFFER_BYTES)));
    plan.switches[0].policy.police = Some(RawPolice {
        classes: u8::MAX,
        rate_bps: 5 * GBPS,
        burst_bytes: 500_000,
        per_flow: true,
    });
    plan.workloads = vec![RawWorkload::from(stream("iperf", "h1", "h0", connections, 0))];
    (plan.stop_at_ps, plan.observe.series_bin_ps) = (500 * MS, MS);
    goodput_bps(&simulate(plan), 0, 100 * MS, 500 * MS) / 1e9
}

/// n0derunner's AWS column: 1, 2, 4 and 8 streams carry 4.8, 9, 18 and 23 Gbit/s.
#[test]
fn a_cap_for_each_flow_gives_the_column_of_the_cloud() {
    for (streams, published) in [(1, 4.8), (2, 9.0), (4, 18.0), (8, 23.0)] {
        within(&format!("{streams} streams"), capped(streams), (0.9 * published, 1.1 * published));
    }
}

/// Three senders of datagrams; rules put the frames into three queues.
fn classified(rules: Vec<RawRule>) -> Vec<u64> {
    let queues =
        (0..3).map(|i| queue(&format!("q{i}"), RawService::Dwrr(300), 1_000_000)).collect();
    let mut plan = star(
        4,
        1500,
        10 * GBPS,
        US,
        switch("sw", 4_000_000, policy(queues, [0, 1, 2, 0, 0, 0, 0, 0])),
    );
    plan.switches[0].classify = rules;
    for (i, dscp) in [(1, 0), (2, 26), (3, 46)] {
        let mut work = datagrams(
            &format!("w{i}"),
            &format!("h{i}"),
            "h0",
            500,
            RawDistribution::Constant(10 * US),
        );
        (work.header.dscp, work.count) = (dscp, 100 * i);
        plan.workloads.push(RawWorkload::from(work));
    }
    plan.stop_at_ps = 20 * MS;
    let outcome = simulate(plan);
    (0..3).map(|queue| count(&port(&outcome, "sw", "h0")["queues"][queue], "tx_frames")).collect()
}

#[test]
fn frames_are_classified_by_code_point_host_port_and_ingress() {
    assert_eq!(classified(vec![]), [600, 0, 0]);
    let by_code_point =
        |class, dscp| RawRule { class, dscp: Some(vec![dscp]), ..RawRule::default() };
    assert_eq!(classified(vec![by_code_point(1, 26), by_code_point(2, 46)]), [100, 200, 300]);
    let by_ingress =
        |class, name: &str| RawRule { class, ingress: Some(name.into()), ..RawRule::default() };
    assert_eq!(classified(vec![by_ingress(2, "h1"), by_ingress(1, "h3")]), [200, 300, 100]);
    let by_flow =
        RawRule { class: 1, source: Some("h2".into()), protocol: Some(17), ..RawRule::default() };
    assert_eq!(classified(vec![by_flow.clone()]), [400, 200, 0]);
    // The first rule that matches counts, and everything that a rule names must hold.
    let other_protocol = RawRule { protocol: Some(6), class: 2, ..by_flow.clone() };
    assert_eq!(classified(vec![other_protocol, by_flow, by_code_point(2, 26)]), [400, 200, 0]);
}

/// Hagen's suggestion: shares by class whatever the frames; here 10, 30 and 60 % with frames of
/// 100, 1500 and 600 bytes.
#[test]
fn ets_shares_hold_for_datagrams_of_any_size() {
    let parts = [(100, 100), (300, 1_400), (600, 600)];
    let queues = parts
        .iter()
        .map(|(share, bytes)| queue(&format!("q{bytes}"), RawService::Dwrr(*share), 500_000))
        .collect();
    let mut plan = star(
        4,
        1500,
        10 * GBPS,
        US,
        switch("sw", 4_000_000, policy(queues, [0, 1, 2, 0, 0, 0, 0, 0])),
    );
    for (class, (_, bytes)) in parts.iter().enumerate() {
        let gap = RawDistribution::Constant(wire_bytes(*bytes) * 800); // line rate each
        let mut work =
            datagrams(&format!("w{class}"), &format!("h{}", class + 1), "h0", *bytes, gap);
        work.header.priority = class as u8;
        plan.workloads.push(RawWorkload::from(work));
    }
    plan.stop_at_ps = 50 * MS;
    let outcome = simulate(plan);
    let queues = &port(&outcome, "sw", "h0")["queues"];
    let wire: Vec<f64> = (0..3)
        .map(|q| number(&queues[q], "tx_bytes") + 24.0 * number(&queues[q], "tx_frames"))
        .collect();
    let whole: f64 = wire.iter().sum();
    for (bytes, share) in wire.iter().zip([0.1, 0.3, 0.6]) {
        within("share", bytes / whole / share, (0.99, 1.01));
    }
}

/// Choudhury and Hahne: S saturated queues hold alpha B / (1 + alpha S) each.
#[test]
fn saturated_ports_share_the_buffer_by_their_alpha() {
    for (alpha_milli, ports, share) in
        [(1_000, 2, 1.0 / 3.0), (8_000, 2, 8.0 / 17.0), (1_000, 1, 0.5), (500, 4, 1.0 / 6.0)]
    {
        let mut policy = fifo(0);
        policy.queues[0].limit = RawLimit::AlphaMilli(alpha_milli);
        let mut plan = star(3 * ports, 1500, 10 * GBPS, US, switch("sw", 1_000_000, policy));
        for to in 0..ports {
            for from in [ports + 2 * to, ports + 2 * to + 1] {
                plan.workloads.push(constant(&format!("h{from}"), &format!("h{to}"), 0, 10 * GBPS));
            }
        }
        (plan.stop_at_ps, plan.observe.ports) = (5 * MS, vec![("sw".into(), "h0".into())]);
        plan.observe.series_bin_ps = 100 * US;
        let outcome = simulate(plan);
        let depth = fractions(&outcome, "port_series", "queue_mean_bytes");
        within(
            &format!("alpha {alpha_milli}, {ports} ports"),
            depth[40] / 1e6,
            (share - 0.01, share + 0.01),
        );
    }
}
