//! Where the time of transactions went, on cases that can be counted by hand.

mod cached_paths;
mod datagrams;
mod forgetting;
mod hosts;
mod hypervisors;
mod kinds;
mod queues;

use crate::common::*;
use crate::random_plan::plans;
use proptest::prelude::*;
use tailrace_dataplane::DropCause;
use tailrace_plan::*;
use tailrace_sim::{Control, DroppedBy, Explained, Explanation, Part, explain, run};
use tailrace_units::Span;

/// Random plans.
const CASES: u32 = 96;

fn explained(raw: RawPlan) -> Explained {
    explain(&Plan::from_raw(raw).expect("the plan is sound"), &Control::default())
}

/// One user who asks a server on the other side of a switch; nothing takes time but links and the
/// server.
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

/// Time of a frame with this payload on a link of 10 Gbit/s: headers of 66 bytes, and 24 around the
/// frame.
fn on_wire(payload_bytes: u64) -> u64 {
    (payload_bytes + 66 + 24) * 800
}

#[test]
fn a_transaction_of_two_frames_is_what_links_and_server_take() {
    let transactions = explained(one_user(1_000)).transactions;
    assert_eq!(transactions.len(), 5);
    for transaction in &transactions[1..] {
        let parts = [Part::Propagation, Part::Serialisation, Part::ServerWork]
            .map(|part| ps(transaction, part));
        assert_eq!(parts, [4 * 5 * US, 2 * on_wire(100) + 2 * on_wire(1_000), 100 * US]);
        assert_eq!(
            transaction.parts.total(),
            Span::from_ps(parts.iter().sum()),
            "nothing else takes time"
        );
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
    plan.workloads = vec![
        RawWorkload::from(oltp("oltp", "h0", "h1", 8, 20, 64_000)),
        RawWorkload::from(stream("bulk", "h2", "h0", 4, 0)),
    ];
    if costs {
        plan.hosts
            .iter_mut()
            .for_each(|host| (host.cpu.per_packet_ps, host.cpu.per_byte_fs) = (US, 100_000));
    }
    plan
}

#[test]
fn explanations_change_nothing_and_add_up_under_losses() {
    for costs in [false, true] {
        for limit_bytes in [60_000, 500_000] {
            let plan = Plan::from_raw(crowded(limit_bytes, costs)).expect("the plan is sound");
            let (plain, explained) =
                (run(&plan, &Control::default()), explain(&plan, &Control::default()));
            assert_eq!(plain.summary()["digest"], explained.outcome.summary()["digest"]);
            assert_eq!(plain.summary()["workloads"], explained.outcome.summary()["workloads"]);
            assert_eq!(
                explained.transactions.len() as u64,
                count(&plain.summary()["workloads"][0], "transactions")
            );
            let total = |part| explained.transactions.iter().map(|one| ps(one, part)).sum::<u64>();
            assert_eq!(total(Part::Unknown), 0, "everything is in the record");
            for one in &explained.transactions {
                assert_eq!(one.parts.total(), one.end.since(one.start));
                assert_queues_add_up(one);
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

/// The parts of a transaction that are waits for a repetition: after duplicates, by a probe, by a
/// timeout.
fn repaired(explanation: &Explanation) -> [u64; 3] {
    [Part::FastRetransmission, Part::Probe, Part::Timeout].map(|part| ps(explanation, part))
}

/// Ten segments leave at 10 Gbit/s and the queue at 1 Gbit/s holds three beside the one on the
/// wire: the others are lost.
#[test]
fn a_lost_tail_is_waited_for_by_a_probe() {
    let first = &losing(14_480, 5_000, true)[0];
    let [fast, probe, timeout] = repaired(first);
    assert_eq!(timeout, 0, "{first:?}");
    assert_eq!(
        fast, 0,
        "what the probe shows to be lost is repeated with the acknowledgements: {first:?}"
    );
    assert!((MS..20 * MS).contains(&probe), "two round trips, and ticks of 4 ms: {first:?}");
    let to_client = 3; // the second link's wire from the switch
    assert!(!first.losses.is_empty() && first.losses.iter().all(|loss| loss.wire == to_client));
}

#[test]
fn without_probes_a_lost_tail_is_waited_for_by_a_timeout() {
    let first = &losing(14_480, 5_000, false)[0];
    let [fast, probe, timeout] = repaired(first);
    assert_eq!((fast, probe), (0, 0), "{first:?}");
    assert!(
        (200 * MS..220 * MS).contains(&timeout),
        "the least timeout, and ticks of 4 ms: {first:?}"
    );
}

#[test]
fn a_lost_middle_is_repeated_after_duplicates() {
    let first = &losing(200_000, 40_000, true)[0];
    let [fast, probe, timeout] = repaired(first);
    assert_eq!((probe, timeout), (0, 0), "{first:?}");
    // Frames in the queue go out before the acknowledgements that report the loss come
    // back.
    assert!(
        (300 * US..500 * US).contains(&fast),
        "a full queue at 1 Gbit/s takes 320 us: {first:?}"
    );
    assert_eq!(first.losses.len(), 1);
}

/// Two cut-through switches with queues by class and prioritised first packets, whose ports choose
/// late, and a warm-up.
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
    let (plain, explained) = (run(&plan, &Control::default()), explain(&plan, &Control::default()));
    assert_eq!(plain.summary()["digest"], explained.outcome.summary()["digest"]);
    assert!(explained.transactions.len() > 20, "{}", explained.transactions.len());
    for one in &explained.transactions {
        let is_sink = matches!(
            &plan.raw.workloads[one.workload as usize].body,
            RawBody::Flows(_) | RawBody::Stream(_)
        );
        if is_sink && plan.raw.hosts.iter().all(|host| host.cpu.processor.is_none()) {
            assert_eq!(
                ps(one, Part::ClientWork),
                0,
                "what receives a flow does nothing with it: {one:?}"
            );
        }
        assert_eq!(
            (one.parts.total(), ps(one, Part::Unknown)),
            (one.end.since(one.start), 0),
            "{one:?}"
        );
    }
}

/// Invariants of every plan: nothing changes, each latency is explained in full, and of each
/// workload there are as many explanations as the run counts latencies, with the same mean.
fn check(raw: RawPlan) -> Explained {
    let plan = Plan::from_raw(raw).expect("the plan is sound");
    let (plain, explained) = (run(&plan, &Control::default()), explain(&plan, &Control::default()));
    let (plain, summary) = (plain.summary(), explained.outcome.summary());
    assert_eq!(
        (&plain["digest"], &plain["workloads"]),
        (&summary["digest"], &summary["workloads"])
    );
    for (index, workload) in
        plain["workloads"].as_array().expect("there are some").iter().enumerate()
    {
        let counted_from = count(workload, "counted_from_ps");
        let own = explained
            .transactions
            .iter()
            .filter(|one| one.workload as usize == index && one.end.ps() > counted_from);
        let latencies: Vec<u64> = own.map(|one| one.end.since(one.start).ps()).collect();
        let (number_of, mean) = match &workload["latency"] {
            latency if latency.is_null() => (0, 0.0),
            latency => (count(latency, "count"), number(latency, "mean_ps")),
        };
        assert_eq!(latencies.len() as u64, number_of, "{}", workload["name"]);
        let sum: u128 = latencies.iter().map(|&latency| u128::from(latency)).sum();
        assert!(
            (sum as f64 - mean * number_of as f64).abs() <= 1e-9 * sum as f64,
            "{}: {mean}",
            workload["name"]
        );
    }
    for one in &explained.transactions {
        let is_sink = matches!(
            &plan.raw.workloads[one.workload as usize].body,
            RawBody::Flows(_) | RawBody::Stream(_)
        );
        if is_sink && plan.raw.hosts.iter().all(|host| host.cpu.processor.is_none()) {
            assert_eq!(
                ps(one, Part::ClientWork),
                0,
                "what receives a flow does nothing with it: {one:?}"
            );
        }
        assert_eq!(
            (one.parts.total(), ps(one, Part::Unknown)),
            (one.end.since(one.start), 0),
            "{one:?}"
        );
        assert_queues_add_up(one);
    }
    explained
}

/// The times by wire and class add up to each part that is a queue.
fn assert_queues_add_up(one: &Explanation) {
    for part in [Part::SwitchQueue, Part::InterfaceQueue, Part::Paused] {
        let at = one.queued_at.iter().filter(|(queue, _)| queue.0 == part);
        assert_eq!(
            at.fold(Span::ZERO, |sum, (_, &span)| sum + span),
            one.parts.of(part),
            "{part:?}: {one:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]
    #[test]
    fn any_plan_can_be_explained(mut plan in plans(), is_sampled in any::<bool>()) {
        if is_sampled {
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
