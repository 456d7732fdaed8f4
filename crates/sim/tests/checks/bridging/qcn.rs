//! Quantised congestion notification (802.1Qau): a queue at its set point, and no pauses for the
//! innocent.

use super::*;

/// Q_eq of IEEE8021-CN-MIB.
const SET_POINT: f64 = 26_000.0;

fn reaction() -> RawQcnReaction {
    RawQcnReaction {
        timer_ps: 15 * MS,
        byte_counter: 150_000,
        active_increase_bps: 5_000_000,
        hyper_increase_bps: 50_000_000,
        rate_min_bps: 10_000_000,
    }
}

/// Four hosts send 5 Gbit/s each to `h0`, in a priority that pauses; the first also sends 4 Gbit/s
/// to `h5`.
fn plan(has_qcn: bool) -> RawPlan {
    let mut policy = lossless_policy(computed_headroom(1500));
    if has_qcn {
        policy.queues[1].qcn = Some(RawQcn { set_point_bytes: SET_POINT as u64, weight: 2 });
    }
    let mut plan = lossless_star(6, policy);
    for host in &mut plan.hosts {
        // what the limiter holds back is dropped at the source, as it would be in the program
        host.nic.queue_bytes = 300_000;
        host.nic.lossless = Some(RawNicLossless { qcn: has_qcn.then(reaction), ..obedient() });
    }
    plan.workloads = (1..5).map(|i| constant(&format!("h{i}"), "h0", SAN, 5 * GBPS)).collect();
    plan.workloads.push(constant("h1", "h5", SAN, 4 * GBPS));
    (plan.stop_at_ps, plan.observe.series_bin_ps) = (S, 10 * MS);
    plan
}

#[test]
fn the_queue_stands_around_its_set_point_and_the_line_is_busy() {
    let outcome = simulate(plan(true));
    let (start, depth) = (
        column(&outcome, "port_series", "start_ps"),
        fractions(&outcome, "port_series", "queue_mean_bytes"),
    );
    let late: Vec<f64> = start
        .iter()
        .zip(depth)
        .filter(|(start, _)| **start >= 300 * MS)
        .map(|(_, depth)| depth)
        .collect();
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    within("mean depth", mean, (0.5 * SET_POINT, 1.5 * SET_POINT));
    let line: f64 = (0..4).map(|work| goodput_bps(&outcome, work, 300 * MS, S)).sum::<f64>() / 1e9;
    within("goodput of the congested line", line, (8.3, 9.35)); // 934 of 1000 bytes
    assert_eq!(drops(&outcome, "headroom-full") + drops(&outcome, "tail-drop"), 0);
    assert!(count(&port(&outcome, "sw", "h0")["queues"][1], "qcn.notifications") > 0);
}

#[test]
fn an_innocent_flow_of_a_limited_host_is_not_slowed() {
    let (alone, with) = (simulate(plan(false)), simulate(plan(true)));
    let innocent = |outcome: &Outcome| goodput_bps(outcome, 4, 300 * MS, S) / 1e9;
    within("the innocent flow with QCN", innocent(&with), (3.6, 3.75)); // 4 Gbit/s of wire
    within("the innocent flow with pauses alone", innocent(&alone), (1.0, 3.2));
    let pauses = |outcome: &Outcome| {
        (1..5).map(|i| pauses_sent(outcome, "sw", &format!("h{i}"))).sum::<u64>()
    };
    assert!(20 * pauses(&with) < pauses(&alone), "{} and {}", pauses(&with), pauses(&alone));
}

/// `h1` sends too much to `h0`, and a frame comes for `h1` every 10 us; notifications for `h1` use
/// the same wire.
fn beside_notifications(interface: Option<RawNicLossless>) -> RawPlan {
    let mut policy = fifo(100_000);
    policy.queues[0].qcn = Some(RawQcn { set_point_bytes: SET_POINT as u64, weight: 2 });
    let mut plan = star(3, 1500, 2 * GBPS, DELAY_PS, switch("sw", BUFFER_BYTES, policy));
    plan.links[0].rate_bps = GBPS;
    plan.hosts[1].nic.lossless = interface;
    plan.hosts[1].nic.rx_coalesce_ps = 100 * US;
    plan.workloads =
        vec![constant("h1", "h0", 0, 2 * GBPS), constant("h2", "h1", 0, 8 * GBPS / 10)];
    plan.stop_at_ps = 200 * MS;
    plan
}

/// The longest delay of the frames for `h1` in the network: bytes on two wires of 2 Gbit/s, both
/// cables, and a notification before them.
const LONGEST_PS: f64 = (2 * 1_000 * 4_000 + 2 * DELAY_PS + 84 * 4_000) as f64;

/// One user of `h1` asks `h2` again and again, and the answers share the wire to `h1` with its
/// notifications.
fn asking_beside_notifications(response_bytes: u64) -> RawPlan {
    let mut plan = beside_notifications(None);
    plan.hosts.iter_mut().for_each(bare);
    let mut asking = oltp("asking", "h1", "h2", 1, 40_000, response_bytes);
    asking.round_trips[0].server_time = RawDistribution::Uniform { low: 0, high: 10 * US };
    (asking.gap, asking.start) = (RawDistribution::Constant(0), RawDistribution::Constant(0));
    plan.workloads = vec![constant("h1", "h0", 0, 3 * GBPS / 2), RawWorkload::from(asking)];
    plan.stop_at_ps = 2 * S;
    plan
}

/// The server takes up to 10 us; frames of 4 us may be before the request, and a notification
/// before the answer.
fn no_answer_waits_for_other_traffic(outcome: &Outcome) {
    assert!(count(&port(outcome, "sw", "h0")["queues"][0], "qcn.notifications") > 2_000);
    let latency = |figure: &str| number(workload(outcome, "asking"), figure) / 1e6;
    let least = latency("latency.min_ps");
    within("longest transaction in us", latency("latency.max_ps"), (least, least + 25.0));
}

/// One answer in a few hundred comes while a notification is sent. After that, only the next
/// notification, 75 us later or more, uses the wire.
#[test]
fn frames_behind_a_notification_do_not_wait_for_the_next_one() {
    no_answer_waits_for_other_traffic(&simulate(asking_beside_notifications(1_000)));
}

/// Answers of several frames, and a notification between two of them. The first one arrives while
/// the notification is still being sent (the cable is short), and nothing else is on the wire then.
#[test]
fn frames_behind_a_notification_that_follows_another_frame_do_not_wait_either() {
    let mut plan = asking_beside_notifications(4_000);
    plan.links.iter_mut().for_each(|link| link.delay_ps = US / 10);
    no_answer_waits_for_other_traffic(&simulate(plan));
}

/// A host that polls its frames every 100 us learns of congestion when the notification arrives.
#[test]
fn an_interface_acts_on_a_notification_when_it_arrives() {
    let obedient = RawNicLossless { qcn: Some(reaction()), ..obedient() };
    let outcome = simulate(beside_notifications(Some(obedient)));
    let sent = count(&port(&outcome, "sw", "h0")["queues"][0], "qcn.notifications");
    assert_eq!(count(host_summary(&outcome, "h1"), "interface.notifications"), sent);
    assert!(sent > 20, "{sent}");
    // A frame that arrives after a quiet time also waits for its poll: 100 us and up to 4 us of
    // jitter.
    let (least, most) =
        (0.9 * LONGEST_PS + 100.0 * US as f64, 1.01 * LONGEST_PS + 104.0 * US as f64);
    within("longest delay", number(workload(&outcome, "h2>h1"), "latency.max_ps"), (least, most));
}
