//! Pauses and classes of queues, and what holds a sender back.

use super::*;
use crate::bridging::pfc::incast;
use crate::bridging::{SAN, computed_headroom, lossless_policy};

/// Users of two priorities beside an incast without loss, whose pauses concern one of them.
#[test]
fn pauses_of_a_priority_are_a_part_of_its_waits() {
    let mut plan = incast(lossless_policy(computed_headroom(1500)));
    plan.observe.warm_up_ps = 10 * MS;
    let second = plan.switches[0].name.clone() + "2";
    // The users are behind a second switch, whose port is paused.
    let mut behind = plan.switches[0].clone();
    behind.name.clone_from(&second);
    plan.switches.push(behind);
    plan.links[1].b.clone_from(&second);
    plan.links.push(link("sw", &second, 10 * GBPS, US));
    for (name, priority) in [("paused", SAN), ("free", 0)] {
        let mut user = oltp(name, "h1", "h0", 1, 0, 1_000);
        user.header.priority = priority;
        plan.workloads.push(RawWorkload::from(user));
    }
    let first = plan.workloads.len() as u32 - 2;
    let found = check(plan).transactions;
    let time = |workload: u32, part: Part| {
        found.iter().filter(|one| one.workload == workload).map(|one| ps(one, part)).sum::<u64>()
    };
    assert!(
        time(first, Part::Paused) > time(first, Part::Propagation),
        "{}",
        time(first, Part::Paused)
    );
    assert_eq!(time(first + 1, Part::Paused), 0);
    let classes: std::collections::BTreeSet<(u32, u8)> = found
        .iter()
        .flat_map(|one| one.queued_at.keys().map(|&(_, _, class)| (one.workload, class)))
        .collect();
    assert_eq!(classes.into_iter().collect::<Vec<_>>(), [(first, SAN), (first + 1, 0)]);
}

#[test]
fn a_receiver_window_is_distinguished_from_a_congestion_window() {
    let rounds = |buffer_bytes: u64| {
        let mut plan = one_user(400_000);
        for host in &mut plan.hosts {
            host.tcp.receive_buffer =
                RawSocketBuffer { initial_bytes: buffer_bytes, maximum_bytes: buffer_bytes };
        }
        let found = check(plan).transactions;
        // Of the last one, congestion has opened the window.
        found
            .last()
            .map(|one| (one.windowed.ps(), one.receive_windowed.ps()))
            .expect("there are some")
    };
    let (windowed, by_receiver) = rounds(20_000);
    assert!(by_receiver > windowed * 9 / 10 && windowed > 0, "{by_receiver} of {windowed} ps");
    let (windowed, by_receiver) = rounds(60_000_000);
    assert!(windowed > 0 && by_receiver == 0, "{by_receiver} of {windowed} ps");
}

#[test]
fn a_pace_is_distinguished_from_other_timers() {
    let mut plan = one_user(400_000);
    plan.hosts.iter_mut().for_each(|host| host.tcp.congestion_control = RawCongestionControl::Bbr);
    let found = check(plan).transactions;
    assert!(found.iter().any(|one| ps(one, Part::Pacing) > 10 * US), "{found:?}");
}
