//! Two bottlenecks in a row: figure 17 of the DCTCP paper (Alizadeh et al., SIGCOMM 2010, section
//! 4.1, "multi-hop").

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// 10 hosts S1 and 20 hosts S2 on switch T1, 10 hosts S3, receiver R1 and 20 receivers R2 on switch
/// T2; 1 Gbit/s to every host, 10 Gbit/s between the switches, 10 us per link as in ns-3's
/// `examples/tcp/dctcp-example.cc`, which also gives the start times, the queue of 2666 packets and
/// the second that is measured.
fn two_bottlenecks(slow: RawAqm, fast: RawAqm) -> RawPlan {
    let policy = |aqm| {
        let mut policy = fifo(0);
        (policy.queues[0].limit, policy.queues[0].aqm) = (RawLimit::Frames(2666), aqm);
        policy
    };
    let mut plan = star(61, 1500, GBPS, 10 * US, switch("T1", 1 << 30, policy(slow)));
    let name = |i: usize| match i {
        0 => "R1".to_owned(),
        1..=10 => format!("S1.{i}"),
        11..=20 => format!("S3.{}", i - 10),
        21..=40 => format!("S2.{}", i - 20),
        _ => format!("R2.{}", i - 40),
    };
    plan.switches.push(switch("T2", 1 << 30, policy(slow)));
    for (node, other) in [(0, "T2"), (1, "T1")] {
        plan.switches[node]
            .port_policies
            .push(RawPortPolicy { towards: other.into(), policy: policy(fast) });
    }
    plan.links = (0..61)
        .map(|i| {
            link(&name(i), if matches!(i, 1..=10 | 21..=40) { "T1" } else { "T2" }, GBPS, 10 * US)
        })
        .collect();
    plan.links.push(link("T1", "T2", 10 * GBPS, 10 * US));
    plan.framing = RawFraming { header_bytes: 2, overhead_bytes: 0 };
    for (i, host) in plan.hosts.iter_mut().enumerate() {
        prompt(host);
        (host.name, host.tcp.congestion_control, host.tcp.ecn) =
            (name(i), RawCongestionControl::Dctcp, true);
        host.tcp.slow_start_exit = RawSlowStartExit::None;
    }
    plan.workloads = (0..40_u64).map(|i| RawWorkload::from(flow(i, &name))).collect();
    plan.stop_at_ps = 5 * S;
    plan.observe.ports = vec![("T1".into(), "T2".into()), ("T2".into(), "R1".into())];
    (plan.observe.series_bins, plan.observe.series_bin_ps) = (64, 100 * MS);
    plan
}

/// Flows 0 to 9 come from S1, 10 to 19 from S3, both to R1; 20 to 39 from S2 to R2.
fn flow(i: u64, name: &impl Fn(usize) -> String) -> Drawn<RawStream> {
    let (source, destination, start_ps) = match i {
        0..=9 => (1 + i, 0, i * 100 * MS + 5 * i * MS),
        10..=19 => (1 + i, 0, (i - 10) * 100 * MS + 5 * i * MS),
        _ => (1 + i, 21 + i, (i - 20) * 50 * MS),
    };
    let mut flow =
        stream(&format!("f{i}"), &name(source as usize), &name(destination as usize), 1, 0);
    flow.header.start_ps = start_ps;
    flow
}

/// Mean goodput of each flow of a group in Mbit/s during the measured second.
fn group(outcome: &Outcome, flows: std::ops::Range<u64>) -> Vec<f64> {
    flows.map(|flow| goodput_bps(outcome, flow, 4 * S, 5 * S) / 1e6).collect()
}

/// Mean depth of the observed port in bytes during the measured second.
fn depth(outcome: &Outcome, node: &str, towards: &str) -> f64 {
    let ports = outcome.summary()["ports"].as_array().expect("a list");
    let wanted = ports
        .iter()
        .position(|port| port["node"] == node && port["towards"] == towards)
        .expect("it exists") as u64;
    let (port, start) =
        (column(outcome, "port_series", "port"), column(outcome, "port_series", "start_ps"));
    let mean = fractions(outcome, "port_series", "queue_mean_bytes");
    let rows: Vec<usize> = (0..port.len())
        .filter(|&row| port[row] == wanted && (4 * S..5 * S).contains(&start[row]))
        .collect();
    rows.iter().map(|&row| mean[row]).sum::<f64>() / rows.len() as f64
}

/// Group S1, group S3 and group S2: mean in Mbit/s, and that each group shares fairly (both
/// sources: Jain above 0.99).
fn means(outcome: &Outcome) -> [f64; 3] {
    [0..10, 10..20, 20..40].map(|flows| {
        let shares = group(outcome, flows);
        assert!(jain(&shares) > 0.99, "a group shares fairly: {shares:?}");
        shares.iter().sum::<f64>() / shares.len() as f64
    })
}

/// ns-3's `dctcp-example.cc` reports 23 Mbit/s for S1, 74 for S3, 471 for S2, about 1 ms of queue
/// towards R1 and 200 us between the switches, with RED between 20 and 60 packets at 1 Gbit/s and
/// 50 and 150 at 10 Gbit/s. Its devices hold 100 more packets below the queue that is marked; ours
/// have no such second queue, so our round trips are shorter and the two groups at R1, which differ
/// in round trip, lie nearer to each other. Bands: S1 20-50, S3 50-80, S2 460-480.
#[test]
fn red_marking_gives_the_shares_of_the_ns_3_example() {
    let red = |minimum: u64, maximum: u64| RawAqm::Red {
        not_capable: None,
        minimum_bytes: minimum * 1500,
        maximum_bytes: maximum * 1500,
        probability_milli: 20,
        weight_exponent: 0,
        ecn: true,
        gentle: true, // as ns-3's RedQueueDisc unless configured otherwise
    };
    let outcome = simulate(two_bottlenecks(red(20, 60), red(50, 150)));
    let [s1, s3, s2] = means(&outcome);
    within("S1", s1, (20.0, 50.0));
    within("S3", s3, (50.0, 80.0));
    within("S2", s2, (460.0, 480.0));
    within(
        "queue between the switches in us",
        depth(&outcome, "T1", "T2") * 0.8e-3,
        (150.0, 250.0),
    );
    within("queue towards R1 in us", depth(&outcome, "T2", "R1") * 8e-3, (700.0, 1300.0));
}

/// The paper: 46 Mbit/s for S1, 54 for S3, 475 for S2, with a step at K = 20 frames for 1 Gbit/s
/// and 65 for 10 Gbit/s.
#[test]
fn step_marking_gives_the_shares_of_the_paper() {
    let step = |frames: u64| RawAqm::Step { threshold_bytes: frames * 1500 };
    let [s1, s3, s2] = means(&simulate(two_bottlenecks(step(20), step(65))));
    for (what, got, published) in [("S1", s1, 46.0), ("S3", s3, 54.0), ("S2", s2, 475.0)] {
        within(&format!("{what}, of the paper's"), got / published, (0.85, 1.1));
    }
}
