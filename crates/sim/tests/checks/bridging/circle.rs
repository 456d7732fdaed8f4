//! Three switches in a ring whose buffers wait for each other.

use super::*;

/// Two hosts at each switch send two switches further, the long way round: every link carries
/// frames of two origins.
fn ring(policy: RawPolicy) -> RawPlan {
    let mut plan = lossless_star(6, policy.clone());
    plan.switches =
        (0..3).map(|i| switch(&format!("s{i}"), BUFFER_BYTES, policy.clone())).collect();
    for (i, link) in plan.links.iter_mut().enumerate() {
        link.b = format!("s{}", i / 2);
    }
    plan.links.extend(
        (0..3).map(|i| link(&format!("s{i}"), &format!("s{}", (i + 1) % 3), 10 * GBPS, DELAY_PS)),
    );
    plan.observe.ports.clear();
    for i in 0..6 {
        let (source, destination) = (format!("h{i}"), format!("h{}", (i + 4) % 6));
        let mut work = stream(&format!("w{i}"), &source, &destination, 1, 0);
        work.header.priority = SAN;
        work.pin_forward = (0..3).map(|hop| format!("s{}", (i / 2 + hop) % 3)).collect();
        plan.workloads.push(RawWorkload::from(work));
    }
    (plan.stop_at_ps, plan.observe.series_bin_ps) = (200 * MS, MS);
    plan
}

#[test]
fn a_circle_of_pauses_is_found_and_named() {
    let outcome = simulate(ring(lossless_policy(computed_headroom(1500))));
    assert_eq!(outcome.summary()["deadlock"], serde_json::json!(["s0>s1", "s1>s2", "s2>s0"]));
    let late: f64 = (0..6).map(|work| goodput_bps(&outcome, work, 150 * MS, 200 * MS)).sum();
    assert!(late < 1.0, "nothing moves any more: {late}");
    assert_eq!(count(outcome.summary(), "conservation.dropped"), 0);
}

#[test]
fn what_stands_still_is_still_accounted_at_the_end() {
    let outcome = simulate(ring(lossless_policy(computed_headroom(1500))));
    for (node, next) in [("s0", "s1"), ("s1", "s2"), ("s2", "s0")] {
        let waits = count(&port(&outcome, node, next)["queues"][1], "depth_bytes");
        let held =
            total(&port(&outcome, next, node)["groups"], |group| count(group, "depth_bytes"));
        let resumes_below = XOFF_BYTES - 20_000;
        assert!(
            waits > 0 && held > resumes_below,
            "{node}>{next}: {waits} wait, {held} held beyond"
        );
    }
    for (index, work) in
        outcome.summary()["workloads"].as_array().expect("a list").iter().enumerate()
    {
        let carried = total(&work["connection_bytes"], |bytes| bytes.as_u64().expect("a number"));
        assert_eq!(carried, count(work, "goodput_bytes"), "workload {index}");
    }
}

#[test]
fn without_pauses_the_same_ring_goes_on() {
    let outcome = simulate(ring(lossy_policy()));
    assert_eq!(outcome.summary()["deadlock"], serde_json::json!([]));
    let late: f64 = (0..6).map(|work| goodput_bps(&outcome, work, 150 * MS, 200 * MS)).sum();
    assert!(late > 8e9, "{late}");
}

#[test]
fn without_a_circle_of_paths_there_is_none_of_pauses() {
    let mut plan = ring(lossless_policy(computed_headroom(1500)));
    for work in &mut plan.workloads {
        if let RawBody::Stream(stream) = &mut work.body {
            stream.pin_forward.clear(); // the short way: one link
        }
    }
    let outcome = simulate(plan);
    assert_eq!(outcome.summary()["deadlock"], serde_json::json!([]));
    let late: f64 = (0..6).map(|work| goodput_bps(&outcome, work, 150 * MS, 200 * MS)).sum();
    assert!(late > 20e9, "{late}");
}
