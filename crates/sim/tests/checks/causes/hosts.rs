//! Processors, cores, receive rings and interfaces of hosts.

use super::*;
use crate::processor::processor;

#[test]
fn a_processor_receives_works_and_sends() {
    let mut plan = one_user(1_000);
    plan.hosts.iter_mut().for_each(|host| host.cpu.processor = Some(Box::new(processor(2))));
    for one in &check(plan).transactions[1..] {
        // Of each of two frames: an interrupt, a poll, a frame.
        assert_eq!(ps(one, Part::Receive), 2 * (US + 200_000 + 630_000), "{one:?}");
        // 100 us of the server, system calls and copies; waking up.
        assert!((100 * US..102 * US).contains(&ps(one, Part::ServerWork)), "{one:?}");
        assert!(ps(one, Part::Start) < US && ps(one, Part::ClientWork) < US, "{one:?}");
        assert!((300_000..2 * US).contains(&ps(one, Part::CoreWait)), "{one:?}");
    }
}

/// Flows of 3 MB to a host that works 3 us on each frame, which takes 1.2 us to come.
fn overrun(ring_frames: u32) -> RawPlan {
    let hosts: [Vec<String>; 2] = [vec!["h0".into()], vec!["h1".into()]];
    let sizes = RawDistribution::Constant(3_000_000);
    let mut plan =
        quiet(2, flows_between("flows", hosts, sizes, RawDistribution::Constant(20 * MS), 5));
    (plan.hosts[1].cpu.per_packet_ps, plan.hosts[1].nic.rx_ring_frames) = (3 * US, ring_frames);
    plan.hosts[1].nic.gro_bytes = 0;
    plan
}

#[test]
fn frames_that_a_short_receive_ring_drops_are_named() {
    let mut losses = check(overrun(4_096)).transactions.into_iter().flat_map(|one| one.losses);
    assert_eq!(losses.next(), None, "the ring holds a window");
    let found = check(overrun(8)).transactions;
    let losses: Vec<_> = found.iter().flat_map(|one| &one.losses).collect();
    assert!(
        !losses.is_empty()
            && losses.iter().all(|loss| loss.by == DroppedBy::ReceiveRing && loss.wire == 3),
        "{losses:?}"
    );
}

/// More than a poll takes waits in the ring: what a sink does nothing with is complete when the
/// last poll's work is done.
#[test]
fn a_host_that_works_on_frames_takes_as_many_as_a_poll_does() {
    let mut plan = overrun(4_096);
    plan.workloads = vec![RawWorkload::from(stream("many", "h0", "h1", 16, 1_000_000))];
    assert_eq!(check(plan).transactions.len(), 16);
}

#[test]
fn a_processor_that_merges_segments_hands_up_all_of_them() {
    let mut plan = overrun(4_096);
    plan.hosts.iter_mut().for_each(|host| host.cpu.processor = Some(Box::new(processor(2))));
    plan.hosts[1].nic.gro_bytes = 65_536;
    for one in &check(plan).transactions {
        assert!(ps(one, Part::ClientWork) < 50 * US, "waking up and copies: {one:?}");
        assert!(
            3 * US < ps(one, Part::Receive) && ps(one, Part::Receive) < one.parts.total().ps() / 2,
            "{one:?}"
        );
    }
}

/// An interface that chooses among classes: what a user asks stands behind a stream of the same
/// host.
#[test]
fn a_wait_in_a_scheduling_interface_is_reported() {
    let mut plan = one_user(1_000);
    let class = RawNicLossless {
        obeys: 0,
        obeys_link_pause: false,
        response_ps: 0,
        qcn: None,
        storm: None,
        classes: vec![],
    };
    plan.hosts[1].nic.lossless = Some(class);
    plan.workloads.push(RawWorkload::from(stream("bulk", "h1", "h2", 1, 0)));
    let found = check(plan).transactions;
    let waited: u64 = found.iter().map(|one| ps(one, Part::InterfaceQueue)).sum();
    assert!(waited > found.len() as u64 * on_wire(1_448), "{found:?}");
}

/// Four users of a server with one core: what is not its work of 100 us on it, and 100 us without
/// it, is a wait for the core.
#[test]
fn a_wait_for_a_core_is_distinguished_from_work() {
    let mut plan = one_user(1_000);
    let mut users = oltp("oltp", "h1", "h0", 4, 5, 1_000);
    (users.gap, users.start) = (RawDistribution::Constant(0), RawDistribution::Constant(0));
    users.round_trips[0].server_work_ps = 100 * US;
    plan.workloads = vec![RawWorkload::from(users)];
    plan.hosts[0].cpu.program_cores = 1;
    let found = check(plan).transactions;
    let later = &found[8..];
    assert!(later.iter().all(|one| ps(one, Part::ServerWork) == 200 * US), "{later:?}");
    assert!(later.iter().any(|one| ps(one, Part::CoreWait) > 150 * US), "{later:?}");
}

/// One worker, whose thread shares a core with nothing: three users wait for it in turn, over
/// connections.
#[test]
fn a_wait_for_a_worker_is_no_wait_for_a_core() {
    for has_processor in [false, true] {
        let mut requests = requests("w", "h1", "h0", 3);
        (requests.requests, requests.service) =
            (20, serving(RawDistribution::Constant(400 * US), 1));
        let mut plan = quiet(2, requests);
        if has_processor {
            plan.hosts[0].cpu.processor = Some(Box::new(processor(2)));
        }
        let found = check(plan).transactions;
        for one in &found[10..] {
            assert!(
                (400 * US..403 * US).contains(&ps(one, Part::ServerWork)),
                "{has_processor} {one:?}"
            );
            assert!(
                (700 * US..800 * US).contains(&ps(one, Part::WorkerWait)),
                "{has_processor} {one:?}"
            );
        }
    }
}

#[test]
fn a_worker_of_a_server_waits_for_a_core_too() {
    for has_processor in [false, true] {
        let mut requests = requests("w", "h1", "h0", 4);
        (requests.requests, requests.service) = (20, serving(RawDistribution::Constant(0), 0));
        requests.service.work = RawDistribution::Constant(100 * US);
        let mut plan = quiet(2, requests);
        plan.hosts[0].cpu.program_cores = 1;
        if has_processor {
            plan.hosts[0].cpu.processor = Some(Box::new(processor(1)));
        }
        let found = check(plan).transactions;
        for one in &found[10..] {
            assert!(
                (100 * US..102 * US).contains(&ps(one, Part::ServerWork)),
                "{has_processor} {one:?}"
            );
            assert!(ps(one, Part::CoreWait) > 150 * US, "{has_processor} {one:?}");
        }
    }
}
