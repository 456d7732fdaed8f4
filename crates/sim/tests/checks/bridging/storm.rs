//! A host whose interface pauses its switch for ever, and the watchdog that breaks the storm.

use super::*;

/// `h0` storms from 10 ms on; `h1` sends to it, and to `h2` in the same priority.
fn storm(until_ps: u64, watchdog: Option<RawWatchdog>) -> RawPlan {
    let mut policy = lossless_policy(computed_headroom(1500));
    policy.pause.as_mut().expect("pausing").watchdog = watchdog;
    let mut plan = lossless_star(3, policy);
    plan.hosts
        .iter_mut()
        .for_each(|host| (host.tcp.rto_min_ps, host.tcp.rto_max_ps) = (5 * MS, 20 * MS));
    let broken = RawStorm { priorities: SAN_BIT, from_ps: 10 * MS, until_ps };
    plan.hosts[0].nic.lossless = Some(RawNicLossless { storm: Some(broken), ..obedient() });
    plan.workloads = vec![endless("h1", "h0", SAN), endless("h1", "h2", SAN)];
    (plan.stop_at_ps, plan.observe.series_bin_ps) = (200 * MS, MS);
    plan
}

const WATCHDOG: RawWatchdog = RawWatchdog { detection_ps: 10 * MS, restoration_ps: 10 * MS };

#[test]
fn a_storm_stops_even_who_sends_elsewhere_until_a_watchdog_breaks_it() {
    let without = simulate(storm(u64::MAX, None));
    assert!(goodput_bps(&without, 0, 50 * MS, 200 * MS) < 1.0);
    assert!(
        goodput_bps(&without, 1, 50 * MS, 200 * MS) < 1.0,
        "the innocent stream hangs behind the paused one"
    );
    assert_eq!(count(without.summary(), "conservation.dropped"), 0);
    assert_eq!(without.summary()["deadlock"], serde_json::json!([]), "a storm is no circle");

    let with = simulate(storm(u64::MAX, Some(WATCHDOG)));
    assert_eq!(count(port(&with, "sw", "h0"), "pause.storms_detected"), 1);
    assert_eq!(count(port(&with, "sw", "h0"), "pause.storms_ended"), 0);
    assert!(drops(&with, "watchdog") > 0);
    assert!(goodput_bps(&with, 1, 50 * MS, 200 * MS) > 8e9, "the innocent stream goes on");
}

#[test]
fn a_storm_that_ends_gives_the_queue_back() {
    let outcome = simulate(storm(60 * MS, Some(WATCHDOG)));
    assert_eq!(count(port(&outcome, "sw", "h0"), "pause.storms_detected"), 1);
    assert_eq!(count(port(&outcome, "sw", "h0"), "pause.storms_ended"), 1);
    assert!(goodput_bps(&outcome, 0, 120 * MS, 200 * MS) > 1e9);
}
