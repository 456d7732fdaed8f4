//! Congestion spreading over two switches: fate sharing of the streams of one priority (Hagen and
//! Zarick, NCA 2011: "stream throughputs converge to the lowest stream's throughput"), and victims
//! that pass no congested port.

use super::*;

/// Two switches joined by one link. `h0` sends to `h2` and `h1` to `h3`, whose link is slow.
fn common_link(policy: RawPolicy, fast_priority: u8) -> RawPlan {
    let mut plan = lossless_star(4, policy.clone());
    plan.switches.push(switch("far", BUFFER_BYTES, policy));
    for link in &mut plan.links[2..] {
        link.b = "far".into();
    }
    plan.links[3].rate_bps = 2 * GBPS;
    plan.links.push(link("sw", "far", 10 * GBPS, DELAY_PS));
    plan.workloads = vec![endless("h0", "h2", fast_priority), endless("h1", "h3", SAN)];
    plan.stop_at_ps = 100 * MS;
    plan
}

/// 2 Gbit/s of wire carry 1448 bytes of every 1538.
const SLOW_GBPS: f64 = 2.0 * 1448.0 / 1538.0;

#[test]
fn streams_of_one_priority_converge_to_the_slowest() {
    let outcome = simulate(common_link(lossless_policy(computed_headroom(1500)), SAN));
    assert_eq!(count(outcome.summary(), "conservation.dropped"), 0);
    let (victim, slow) = (gbps(&outcome, "h0>h2"), gbps(&outcome, "h1>h3"));
    within("the slow stream", slow, (0.9 * SLOW_GBPS, 1.01 * SLOW_GBPS));
    within("its victim", victim, (0.7 * slow, 1.4 * slow));
    // The pause went from the far switch to the near one, and from there to a host that sends
    // nothing over the slow link.
    assert!(pauses_sent(&outcome, "far", "sw") > 0);
    assert!(pauses_sent(&outcome, "sw", "h0") > 0);
}

#[test]
fn a_victim_in_another_priority_is_none() {
    let outcome = simulate(common_link(lossless_policy(computed_headroom(1500)), 0));
    within("the stream in another priority", gbps(&outcome, "h0>h2"), (6.0, 7.6));
    within("the slow stream", gbps(&outcome, "h1>h3"), (0.9 * SLOW_GBPS, 1.01 * SLOW_GBPS));
}

#[test]
fn without_pauses_only_the_slow_stream_loses_frames() {
    let outcome = simulate(common_link(lossy_policy(), SAN));
    assert!(drops(&outcome, "tail-drop") > 0);
    // The slow link is idle for moments after reductions: up to 7.9 of the common link are left to
    // the other.
    within("the stream that shares no congested port", gbps(&outcome, "h0>h2"), (6.0, 7.9));
    assert_eq!(pauses_sent(&outcome, "sw", "h0"), 0);
}
