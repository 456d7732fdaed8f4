//! Where the time of transactions went, on cases that can be counted by hand.

use crate::bridging::pfc::incast;
use crate::bridging::{SAN, computed_headroom, lossless_policy};
use crate::common::*;
use crate::processor::processor;
use crate::random_plan::plans;
use proptest::prelude::*;
use tailrace_plan::*;
use tailrace_sim::{Control, Explained, Explanation, Part, explain, run};
use tailrace_units::Span;

/// Random plans.
const CASES: u32 = 96;

fn explained(raw: RawPlan) -> Explained {
    explain(&Plan::from_raw(raw).expect("the plan is sound"), &Control::default()).expect("it can be explained")
}

/// One user who asks a server on the other side of a switch; nothing takes time but links and the server.
fn one_user(response_bytes: u64) -> RawPlan {
    let mut plan = star(3, 1500, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    plan.clock_offset_ppb = 0;
    plan.workloads = vec![RawWorkload::from(oltp("oltp", "h1", "h0", 1, 5, response_bytes))];
    plan
}

fn ps(explanation: &Explanation, part: Part) -> u64 {
    explanation.parts.of(part).ps()
}

/// Time of a frame with this payload on a link of 10 Gbit/s: headers of 66 bytes, and 24 around the frame.
fn on_wire(payload_bytes: u64) -> u64 {
    (payload_bytes + 66 + 24) * 800
}

#[test]
fn a_transaction_of_two_frames_is_what_links_and_server_take() {
    let transactions = explained(one_user(1_000)).transactions;
    assert_eq!(transactions.len(), 5);
    for transaction in &transactions[1..] {
        let parts = [Part::Propagation, Part::Serialisation, Part::ServerWork].map(|part| ps(transaction, part));
        assert_eq!(parts, [4 * 5 * US, 2 * on_wire(100) + 2 * on_wire(1_000), 100 * US]);
        assert_eq!(transaction.parts.total(), Span::from_ps(parts.iter().sum()), "nothing else takes time");
        assert_eq!(transaction.window_rounds, 0);
    }
}

#[test]
fn a_response_beyond_the_window_takes_round_trips() {
    let transactions = explained(one_user(100_000)).transactions;
    let first = &transactions[0];
    assert!(first.window_rounds >= 2, "ten segments, then twenty: {first:?}");
    assert!(first.windowed > Span::ZERO && first.windowed < first.parts.total());
}

/// Users beside a bulk transfer to the same port, whose queue overflows.
fn crowded(limit_bytes: u64, costs: bool) -> RawPlan {
    let mut plan = star(4, 1500, 10 * GBPS, 5 * US, switch("sw", 2_000_000, fifo(limit_bytes)));
    plan.workloads =
        vec![RawWorkload::from(oltp("oltp", "h0", "h1", 8, 20, 64_000)), RawWorkload::from(stream("bulk", "h2", "h0", 4, 0))];
    if costs {
        plan.hosts.iter_mut().for_each(|host| (host.cpu.per_packet_ps, host.cpu.per_byte_fs) = (US, 100_000));
    }
    plan
}

#[test]
fn explanations_change_nothing_and_add_up_under_losses() {
    for costs in [false, true] {
        for limit_bytes in [60_000, 500_000] {
            let plan = Plan::from_raw(crowded(limit_bytes, costs)).expect("the plan is sound");
            let (plain, explained) =
                (run(&plan, &Control::default()), explain(&plan, &Control::default()).expect("it can be explained"));
            assert_eq!(plain.summary()["digest"], explained.outcome.summary()["digest"]);
            assert_eq!(plain.summary()["workloads"], explained.outcome.summary()["workloads"]);
            assert_eq!(explained.transactions.len() as u64, count(&plain.summary()["workloads"][0], "transactions"));
            let total = |part| explained.transactions.iter().map(|one| ps(one, part)).sum::<u64>();
            assert_eq!(total(Part::Unknown), 0, "everything is in the record");
            for one in &explained.transactions {
                assert_eq!(one.parts.total(), one.end.since(one.start));
                let queued = one.queued_at.values().fold(Span::ZERO, |sum, &span| sum + span);
                assert_eq!(queued, one.parts.of(Part::SwitchQueue));
            }
        }
    }
}

/// A user whose response meets a short queue in front of a slow link.
fn losing(response_bytes: u64, limit_bytes: u64, tail_loss_probe: bool) -> Vec<Explanation> {
    let mut plan = one_user(response_bytes);
    plan.links[1].rate_bps = GBPS;
    plan.switches[0].policy = fifo(limit_bytes);
    plan.hosts.iter_mut().for_each(|host| host.tcp.tail_loss_probe = tail_loss_probe);
    explained(plan).transactions
}

/// The parts of a transaction that are waits for a repetition: after duplicates, by a probe, by a timeout.
fn repaired(explanation: &Explanation) -> [u64; 3] {
    [Part::FastRetransmission, Part::Probe, Part::Timeout].map(|part| ps(explanation, part))
}

/// Ten segments leave at 10 Gbit/s and the queue at 1 Gbit/s holds three beside the one on the wire: the others are lost.
#[test]
fn a_lost_tail_is_waited_for_by_a_probe() {
    let first = &losing(14_480, 5_000, true)[0];
    let [fast, probe, timeout] = repaired(first);
    assert_eq!(timeout, 0, "{first:?}");
    assert_eq!(fast, 0, "what the probe shows to be lost is repeated with the acknowledgements: {first:?}");
    assert!((MS..20 * MS).contains(&probe), "two round trips, and ticks of 4 ms: {first:?}");
    let to_client = 3; // the second link's wire from the switch
    assert!(!first.losses.is_empty() && first.losses.iter().all(|loss| loss.wire == to_client));
}

#[test]
fn without_probes_a_lost_tail_is_waited_for_by_a_timeout() {
    let first = &losing(14_480, 5_000, false)[0];
    let [fast, probe, timeout] = repaired(first);
    assert_eq!((fast, probe), (0, 0), "{first:?}");
    assert!((200 * MS..220 * MS).contains(&timeout), "the least timeout, and ticks of 4 ms: {first:?}");
}

#[test]
fn a_lost_middle_is_repeated_after_duplicates() {
    let first = &losing(200_000, 40_000, true)[0];
    let [fast, probe, timeout] = repaired(first);
    assert_eq!((probe, timeout), (0, 0), "{first:?}");
    // What stands in the queue goes out before the acknowledgements that tell of the loss come back.
    assert!((300 * US..500 * US).contains(&fast), "a full queue at 1 Gbit/s takes 320 us: {first:?}");
    assert_eq!(first.losses.len(), 1);
}

/// Two cut-through switches with queues by class and prioritised first packets, whose ports choose late, and a warm-up.
#[test]
fn late_choices_cut_through_and_warm_up_are_explained_too() {
    let mut plan = crowded(60_000, false);
    plan.switches[0].policy = prioritised([50_000, 60_000, 60_000]);
    plan.switches[0].switching = RawSwitching::CutThrough;
    let mut second = plan.switches[0].clone();
    second.name = "sw2".into();
    plan.switches.push(second);
    plan.links[1].b = "sw2".into();
    plan.links.push(link("sw", "sw2", 10 * GBPS, 2 * US));
    plan.workloads[1].header.priority = 1;
    plan.observe.warm_up_ps = 100 * MS;
    let plan = Plan::from_raw(plan).expect("the plan is sound");
    let (plain, explained) = (run(&plan, &Control::default()), explain(&plan, &Control::default()).expect("it can be explained"));
    assert_eq!(plain.summary()["digest"], explained.outcome.summary()["digest"]);
    assert!(explained.transactions.len() > 20, "{}", explained.transactions.len());
    for one in &explained.transactions {
        let is_sink = matches!(&plan.raw.workloads[one.workload as usize].body, RawBody::Flows(_) | RawBody::Stream(_));
        if is_sink && plan.raw.hosts.iter().all(|host| host.cpu.processor.is_none()) {
            assert_eq!(ps(one, Part::ClientWork), 0, "what receives a flow does nothing with it: {one:?}");
        }
        assert_eq!((one.parts.total(), ps(one, Part::Unknown)), (one.end.since(one.start), 0));
    }
}

/// What must hold of every plan: nothing changes, each latency is explained in full, and of each workload there are as many explanations as
/// the run counts latencies, with the same mean.
fn check(raw: RawPlan) -> Explained {
    let plan = Plan::from_raw(raw).expect("the plan is sound");
    let (plain, explained) = (run(&plan, &Control::default()), explain(&plan, &Control::default()).expect("it can be explained"));
    let (plain, summary) = (plain.summary(), explained.outcome.summary());
    assert_eq!((&plain["digest"], &plain["workloads"]), (&summary["digest"], &summary["workloads"]));
    for (index, workload) in plain["workloads"].as_array().expect("there are some").iter().enumerate() {
        let counted_from = count(workload, "counted_from_ps");
        let own = explained.transactions.iter().filter(|one| one.workload as usize == index && one.end.ps() > counted_from);
        let latencies: Vec<u64> = own.map(|one| one.end.since(one.start).ps()).collect();
        let (number_of, mean) = match &workload["latency"] {
            latency if is_followed(&plan.raw.workloads[index].body) && !latency.is_null() => {
                (count(latency, "count"), number(latency, "mean_ps"))
            }
            _ => (0, 0.0),
        };
        assert_eq!(latencies.len() as u64, number_of, "{}", workload["name"]);
        let sum: u128 = latencies.iter().map(|&latency| u128::from(latency)).sum();
        assert!((sum as f64 - mean * number_of as f64).abs() <= 1e-9 * sum as f64, "{}: {mean}", workload["name"]);
    }
    for one in &explained.transactions {
        let is_sink = matches!(&plan.raw.workloads[one.workload as usize].body, RawBody::Flows(_) | RawBody::Stream(_));
        if is_sink && plan.raw.hosts.iter().all(|host| host.cpu.processor.is_none()) {
            assert_eq!(ps(one, Part::ClientWork), 0, "what receives a flow does nothing with it: {one:?}");
        }
        assert_eq!((one.parts.total(), ps(one, Part::Unknown)), (one.end.since(one.start), 0));
        assert_eq!(one.queued_at.values().fold(Span::ZERO, |sum, &span| sum + span), one.parts.of(Part::SwitchQueue));
    }
    explained
}

fn is_followed(body: &RawBody) -> bool {
    match body {
        RawBody::Datagrams(_) | RawBody::Frames(_) | RawBody::Blocks(_) => false,
        RawBody::Requests(requests) => !requests.is_udp,
        RawBody::Oltp(_) | RawBody::Stream(_) | RawBody::Flows(_) | RawBody::Storage(_) | RawBody::Mpi(_) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]
    #[test]
    fn any_plan_can_be_explained(mut plan in plans(), looks in any::<bool>()) {
        if looks {
            (plan.observe.windows_ps, plan.observe.interfaces_ps) = (3 * MS, 7 * MS);
        }
        check(plan);
    }
}

/// One connection on an idle network, with nothing that takes time but what a test adds.
fn quiet(hosts: usize, workload: impl Into<RawWorkload>) -> RawPlan {
    let mut plan = star(hosts, 1500, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    (plan.clock_offset_ppb, plan.workloads) = (0, vec![workload.into()]);
    plan
}

/// Parts of an explanation that took time.
fn parts(explanation: &Explanation) -> Vec<(Part, u64)> {
    let all = Part::ALL.iter().map(|&part| (part, ps(explanation, part)));
    all.filter(|part| part.1 > 0).collect()
}

/// Headers of 66 bytes and options of 8 in a SYN, 24 around the frame.
const SYN_PS: u64 = (66 + 8 + 24) * 800;

#[test]
fn a_flow_is_its_handshake_and_its_bytes() {
    let hosts: [Vec<String>; 2] = [vec!["h0".into()], vec!["h1".into()]];
    let sizes = RawDistribution::Constant(1_000);
    let flows = flows_between("flows", hosts, sizes, RawDistribution::Constant(MS), 10);
    let found = check(quiet(2, flows)).transactions;
    assert_eq!(found.len(), 10);
    for one in &found {
        let wires = 2 * (2 * SYN_PS + on_wire(1_000));
        // The data stand behind the acknowledgement of the SYN-ACK.
        assert_eq!(
            parts(one),
            [(Part::InterfaceQueue, on_wire(0)), (Part::Serialisation, wires), (Part::Propagation, 6 * 5 * US)]
        );
    }
}

/// Two tiers: a server works for 10 ms, asks another that works for 20 ms, and answers.
#[test]
fn the_path_of_a_request_leads_through_the_tiers_that_it_waited_for() {
    let work = |ps| RawServing { work: RawDistribution::Constant(ps), ..serving(RawDistribution::Constant(0), 0) };
    let mut requests = requests("w", "h1", "h0", 1);
    (requests.requests, requests.service) = (20, work(10 * MS));
    requests.stages = vec![stage(&["h2", "h3"], RawDistribution::Constant(0))];
    requests.stages[0].service = work(20 * MS);
    let found = check(quiet(4, requests)).transactions;
    assert_eq!(found.len(), 20);
    for one in &found[1..] {
        assert_eq!(ps(one, Part::ServerWork), 30 * MS, "{one:?}");
        assert_eq!(ps(one, Part::Propagation), 8 * 5 * US, "{one:?}");
        assert_eq!(ps(one, Part::Start) + ps(one, Part::ClientWork), 0);
    }
}

#[test]
fn a_request_of_storage_is_its_device_and_the_network() {
    let mut plan = quiet(2, storage("w", &["h0"], 1));
    plan.devices = vec![ssd(1)];
    let RawBody::Storage(storage) = &mut plan.workloads[0].body else { unreachable!("it is of storage") };
    (storage.requests, storage.target) = (20, Some("h1".into()));
    storage.protocol = RawStorageProtocol::Nbd(RawNbd { connections: 1, requests: 16, structured_replies: true });
    let found = check(plan).transactions;
    assert_eq!(found.len(), 20);
    for one in &found[1..] {
        // 4096 bytes at 8 Gbit/s take 4.096 us.
        assert_eq!(ps(one, Part::Device), 100 * US + 4_096_000, "{one:?}");
        assert_eq!(ps(one, Part::Propagation), 4 * 5 * US);
        // The blocks of a response are segments that stand behind each other.
        let rest = [Part::Serialisation, Part::InterfaceQueue].map(|part| ps(one, part));
        assert!(rest[0] < 10 * US && rest[1] < 5 * US, "{one:?}");
        assert_eq!([Part::Start, Part::ClientWork, Part::ServerWork, Part::Receive].map(|part| ps(one, part)), [0; 4], "{one:?}");
    }
}

#[test]
fn a_device_of_the_same_host_is_all_of_a_request() {
    let mut plan = quiet(2, storage("w", &["h0"], 4));
    plan.devices = vec![ssd(1)];
    let RawBody::Storage(storage) = &mut plan.workloads[0].body else { unreachable!("it is of storage") };
    storage.requests = 20;
    for one in &check(plan).transactions {
        assert_eq!(ps(one, Part::Device), one.end.since(one.start).ps());
    }
}

/// A ring of four ranks on four hosts, and one of two ranks each on two.
#[test]
fn an_operation_of_ranks_is_the_messages_that_it_waited_for() {
    for hosts in [&["h0", "h1", "h2", "h3"][..], &["h0", "h1", "h0", "h1"], &["h0", "h0", "h1", "h1"]] {
        let mut job = mpi("job", MpiPattern::Allreduce, hosts, &[64, 100_000], 20);
        (job.send_overhead_ps, job.receive_overhead_ps) = (US, US);
        let found = check(quiet(4, job)).transactions;
        for one in found.iter().filter(|one| one.start > found[0].end) {
            assert!(ps(one, Part::ClientWork) > 0 && ps(one, Part::ServerWork) == 0, "{one:?}");
            assert_eq!(ps(one, Part::Start), 0, "{one:?}");
        }
    }
}

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
    let mut plan = quiet(2, flows_between("flows", hosts, sizes, RawDistribution::Constant(20 * MS), 5));
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
    assert!(!losses.is_empty() && losses.iter().all(|loss| loss.in_ring && loss.wire == 3), "{losses:?}");
}

/// More than a poll takes waits in the ring: what a sink does nothing with is complete when the last poll's work is done.
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
        assert!(3 * US < ps(one, Part::Receive) && ps(one, Part::Receive) < one.parts.total().ps() / 2, "{one:?}");
    }
}

/// An interface that chooses among classes: what a user asks stands behind a stream of the same host.
#[test]
fn a_wait_in_an_interface_that_chooses_is_told() {
    let mut plan = one_user(1_000);
    let class = RawNicLossless { obeys: 0, obeys_link_pause: false, response_ps: 0, qcn: None, storm: None, classes: vec![] };
    plan.hosts[1].nic.lossless = Some(class);
    plan.workloads.push(RawWorkload::from(stream("bulk", "h1", "h2", 1, 0)));
    let found = check(plan).transactions;
    let waited: u64 = found.iter().map(|one| ps(one, Part::InterfaceQueue)).sum();
    assert!(waited > found.len() as u64 * on_wire(1_448), "{found:?}");
}

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
    let time =
        |workload: u32, part: Part| found.iter().filter(|one| one.workload == workload).map(|one| ps(one, part)).sum::<u64>();
    assert!(time(first, Part::Paused) > time(first, Part::Propagation), "{}", time(first, Part::Paused));
    assert_eq!(time(first + 1, Part::Paused), 0);
    let classes: std::collections::BTreeSet<(u32, u8)> =
        found.iter().flat_map(|one| one.queued_at.keys().map(|&(_, class)| (one.workload, class))).collect();
    assert_eq!(classes.into_iter().collect::<Vec<_>>(), [(first, SAN), (first + 1, 0)]);
}

#[test]
fn a_window_of_the_receiver_is_told_from_that_of_congestion() {
    let rounds = |buffer_bytes: u64| {
        let mut plan = one_user(400_000);
        for host in &mut plan.hosts {
            host.tcp.receive_buffer = RawSocketBuffer { initial_bytes: buffer_bytes, maximum_bytes: buffer_bytes };
        }
        let found = check(plan).transactions;
        // Of the last one, congestion has opened the window.
        found.last().map(|one| (one.windowed.ps(), one.receive_windowed.ps())).expect("there are some")
    };
    let (windowed, by_receiver) = rounds(20_000);
    assert!(by_receiver > windowed * 9 / 10 && windowed > 0, "{by_receiver} of {windowed} ps");
    let (windowed, by_receiver) = rounds(60_000_000);
    assert!(windowed > 0 && by_receiver == 0, "{by_receiver} of {windowed} ps");
}

#[test]
fn a_pace_is_told_from_other_timers() {
    let mut plan = one_user(400_000);
    plan.hosts.iter_mut().for_each(|host| host.tcp.congestion_control = RawCongestionControl::Bbr);
    let found = check(plan).transactions;
    assert!(found.iter().any(|one| ps(one, Part::Pacing) > 10 * US), "{found:?}");
}

/// Four users of a server with one core: what is not its work of 100 us on it, and 100 us without it, is a wait for the core.
#[test]
fn a_wait_for_a_core_is_told_from_work() {
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
            assert!((100 * US..102 * US).contains(&ps(one, Part::ServerWork)), "{has_processor} {one:?}");
            assert!(ps(one, Part::CoreWait) > 150 * US, "{has_processor} {one:?}");
        }
    }
}
