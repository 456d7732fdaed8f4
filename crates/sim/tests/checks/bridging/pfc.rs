//! Priority-based flow control (802.1Qbb) and the pause of 802.3x at one switch.

use super::*;

/// Eight TCP streams without loss into one port.
pub fn incast(policy: RawPolicy) -> RawPlan {
    let mut plan = lossless_star(9, policy);
    plan.workloads = (1..9).map(|i| endless(&format!("h{i}"), "h0", SAN)).collect();
    plan
}

fn retransmits(outcome: &Outcome) -> u64 {
    total(&outcome.summary()["workloads"], |work| count(work, "tcp.retransmits"))
}

#[test]
fn an_incast_with_computed_headroom_loses_nothing() {
    let outcome = simulate(incast(lossless_policy(computed_headroom(1500))));
    assert_eq!(count(outcome.summary(), "conservation.dropped"), 0);
    assert_eq!(retransmits(&outcome), 0);
    let pauses: u64 = (1..9).map(|i| pauses_sent(&outcome, "sw", &format!("h{i}"))).sum();
    assert!(pauses > 100, "{pauses}");
    let paused =
        host_summary(&outcome, "h1")["interface"]["pause"]["received"][usize::from(SAN)].as_u64();
    assert!(paused > Some(10), "{paused:?}");
    let line = (1..9).map(|i| gbps(&outcome, &format!("h{i}>h0"))).sum();
    within("goodput with pauses", line, (9.2, 9.42)); // 1448 of 1538 bytes
    let shares: Vec<f64> = (1..9).map(|i| gbps(&outcome, &format!("h{i}>h0"))).collect();
    assert!(jain(&shares) > 0.99, "pauses share a port by ingress: {shares:?}");
}

#[test]
fn an_incast_with_too_little_headroom_loses_what_follows_the_pause() {
    for headroom in [0, computed_headroom(1500) / 4] {
        let outcome = simulate(incast(lossless_policy(headroom)));
        assert!(drops(&outcome, "headroom-full") > 0, "headroom {headroom}");
        assert_eq!(
            drops(&outcome, "headroom-full"),
            count(outcome.summary(), "conservation.dropped")
        );
    }
}

#[test]
fn interfaces_that_do_not_obey_overrun_the_headroom() {
    let mut plan = incast(lossless_policy(computed_headroom(1500)));
    plan.hosts.iter_mut().for_each(|host| host.nic.lossless.as_mut().expect("obedient").obeys = 0);
    let disobedient = simulate(plan);
    assert!(drops(&disobedient, "headroom-full") > 0);
    let mut plan = incast(lossless_policy(computed_headroom(1500)));
    plan.hosts.iter_mut().for_each(|host| host.nic.lossless = None);
    let ignorant = simulate(plan);
    assert!(drops(&ignorant, "headroom-full") > 0);
}

/// Four streams congest a port; the sender of one of them also sends to an idle port in another
/// priority.
fn beside_another_priority(policy: RawPolicy) -> RawPlan {
    let mut plan = lossless_star(6, policy);
    plan.workloads = (1..5).map(|i| endless(&format!("h{i}"), "h0", SAN)).collect();
    plan.workloads.push(endless("h1", "h5", 0));
    plan
}

#[test]
fn a_pause_of_one_priority_leaves_the_others_alone_and_a_link_pause_does_not() {
    let by_priority = simulate(beside_another_priority(lossless_policy(computed_headroom(1500))));
    // A quarter of h0's line in the paused priority, what is left of h1's line in the other.
    within("the paused stream", gbps(&by_priority, "h1>h0"), (2.1, 2.4));
    within("the other priority", gbps(&by_priority, "h1>h5"), (6.6, 7.4));

    let mut policy = lossless_policy(computed_headroom(1500));
    let all = RawGroup { priorities: u8::MAX, ..policy.groups[0].clone() };
    policy.groups = vec![all];
    policy.pause = Some(RawPause { sends_link_pause: true, obeys_link_pause: true, ..pausing(0) });
    let by_link = simulate(beside_another_priority(policy));
    assert_eq!(count(by_link.summary(), "conservation.dropped"), 0);
    assert!(pauses_sent(&by_link, "sw", "h1") > 0);
    within("the other priority behind a link pause", gbps(&by_link, "h1>h5"), (1.5, 4.0));
}
