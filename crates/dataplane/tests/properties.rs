//! Invariants of every policy and every traffic.

mod common;
use common::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tailrace_dataplane::*;
use tailrace_units::{Span, Time};

/// One arrival: gap in nanoseconds, bytes, flow, destination port, priority.
type Arrival = (u64, u32, u32, u32, u8);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0), 5 => 0_u64..2_000, 1 => 0_u64..7_000_000];
    proptest::collection::vec((gap, 64_u32..9_000, 0_u32..12, 0_u32..2, 0_u8..8), 1..250)
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (9_000_u64..200_000).prop_map(Limit::Bytes),
        (1_u32..40).prop_map(Limit::Frames),
        (50_u32..16_000).prop_map(Limit::Alpha),
    ]
}

fn service() -> impl Strategy<Value = Service> {
    prop_oneof![(2_u8..9).prop_map(Service::Strict), (1_u32..=1000).prop_map(Service::Dwrr)]
}

fn policy() -> impl Strategy<Value = PortPolicy> {
    let queues = proptest::collection::vec((service(), limit()), 1..5);
    let dpp = proptest::option::of((
        1_u32..6,
        prop_oneof![Just(DppReset::OrderSafe), Just(DppReset::Naive)],
    ));
    (queues, any::<[u8; 8]>(), dpp).prop_map(|(queues, map, dpp)| {
        let mut queues: Vec<QueuePolicy> =
            queues.into_iter().map(|(service, limit)| queue(service, limit)).collect();
        let count = queues.len() as u8;
        let queue_of_class = map.map(|queue| queue % count);
        let dpp = dpp.map(|(max_packets, reset)| {
            queues.push(queue(Service::Strict(1), Limit::Bytes(50_000)));
            let (age, when_full) = (Span::from_ms(5), WhenFull::EvictOldest);
            DppPolicy {
                max_packets,
                age,
                express: queues.len() - 1,
                reset,
                table_entries: 64,
                when_full,
                classes: u8::MAX,
            }
        });
        PortPolicy { queue_of_class, dpp, ..port(queues) }
    })
}

/// Sends the arrivals through a switch of two ports. `nudge` is called before each, with the time
/// of the last and of the next.
fn drive(
    policies: &[PortPolicy],
    buffer_bytes: u64,
    must_choose: bool,
    arrivals: &[Arrival],
    mut nudge: impl FnMut(&mut Switch<TestFrame>, Time, Time, &mut Notebook),
) -> (Switch<TestFrame>, Notebook) {
    let mut switch = switch(buffer_bytes, policies.to_vec(), must_choose);
    let mut notes = Notebook::default();
    let mut now = Time::ZERO;
    for (id, &(gap, bytes, flow, destination, priority)) in arrivals.iter().enumerate() {
        let next = now + Span::from_ns(gap);
        nudge(&mut switch, now, next, &mut notes);
        now = next;
        // A flow has one destination, as its key says.
        let mut frame =
            TestFrame { destination, priority, ..frame(id as u64, bytes, flow * 2 + destination) };
        switch.handle_frame(now, 0, &mut frame, &mut notes);
    }
    let end = now + Span::from_secs(1);
    nudge(&mut switch, now, end, &mut notes);
    switch.handle_timeout(end, &mut notes);
    (switch, notes)
}

fn never(_: &mut Switch<TestFrame>, _: Time, _: Time, _: &mut Notebook) {}

/// Calls the switch at every moment at which something is due, and at moments at which nothing is.
fn always(switch: &mut Switch<TestFrame>, now: Time, next: Time, notes: &mut Notebook) {
    switch.handle_timeout(now, notes);
    while switch.poll_timeout() < next {
        let due = switch.poll_timeout();
        switch.handle_timeout(due, notes);
        switch.handle_timeout(due + Span::from_ns(1), notes);
    }
}

/// Time, port and frame of each frame sent.
type Sent = Vec<(u64, PortNo, u64)>;
/// Time, port, frame and cause of each frame dropped.
type Dropped = Vec<(u64, PortNo, u64, DropCause)>;

fn sorted(notes: &Notebook) -> (Sent, Dropped) {
    let mut sent: Vec<_> =
        notes.sent.iter().map(|(at, port, frame)| (*at, *port, frame.id)).collect();
    let mut dropped = notes.dropped.clone();
    sent.sort_unstable();
    dropped.sort_unstable();
    (sent, dropped)
}

/// Waiting bytes times picoseconds between two moments, from the reported depths.
fn integral(notes: &Notebook, port: PortNo, since: Time, until: Time) -> u128 {
    let (mut sum, mut last) = (0, (Time::ZERO, 0));
    let depths = notes
        .depths
        .iter()
        .filter(|entry| entry.1 == port)
        .map(|&(at, _, bytes)| (Time::from_ps(at), bytes));
    for (at, bytes) in depths.chain([(Time::NEVER, 0)]) {
        let (from, to) = (last.0.max(since), at.min(until));
        sum += if from < to { u128::from(last.1) * u128::from(to.since(from).ps()) } else { 0 };
        last = (at, bytes);
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_late_call_changes_nothing(
        policies in proptest::collection::vec(policy(), 2),
        traffic in arrivals(),
    ) {
        let lazy = drive(&policies, 400_000, false, &traffic, never);
        let eager = drive(&policies, 400_000, false, &traffic, always);
        prop_assert_eq!(sorted(&lazy.1), sorted(&eager.1));
        for port in 0..2 {
            let of = |notes: &Notebook| {
                notes.depths.iter().filter(|d| d.1 == port).copied().collect::<Vec<_>>()
            };
            prop_assert_eq!(of(&lazy.1), of(&eager.1));
        }
    }

    #[test]
    fn committing_early_and_choosing_late_are_the_same(
        limits in proptest::collection::vec(limit(), 2),
        traffic in arrivals(),
    ) {
        let policies: Vec<PortPolicy> = limits.into_iter().map(fifo).collect();
        let now = Time::ZERO + Span::from_secs(10);
        let early = drive(&policies, 300_000, false, &traffic, never);
        let late = drive(&policies, 300_000, true, &traffic, never);
        prop_assert_eq!(sorted(&early.1), sorted(&late.1));
        prop_assert_eq!(&early.1.depths.len(), &late.1.depths.len());
        for port in 0..2 {
            prop_assert_eq!(early.0.counters(port, 0, now), late.0.counters(port, 0, now));
        }
    }

    /// At every moment, also where counting began anew while frames waited; the mean depth is that
    /// of the reported depths.
    #[test]
    fn committing_early_and_choosing_late_count_the_same(
        limits in proptest::collection::vec(limit(), 2),
        traffic in arrivals(),
        anew in any::<proptest::sample::Index>(),
    ) {
        let policies: Vec<PortPolicy> = limits.into_iter().map(fifo).collect();
        let anew = anew.index(traffic.len());
        let seen = |must_choose: bool| {
            let (mut seen, mut calls) = (Vec::new(), 0);
            let (_, notes) =
                drive(&policies, 300_000, must_choose, &traffic, |switch, now, next, notes| {
                    for at in [now, now + Span::from_ps(next.since(now).ps() / 2)] {
                        switch.handle_timeout(at, notes);
                        seen.push((at, [0, 1].map(|port| switch.counters(port, 0, at))));
                    }
                    if calls == anew {
                        let at = now + Span::from_ps(next.since(now).ps() / 2);
                        switch.begin_counting(at);
                        seen.push((at, [0, 1].map(|port| switch.counters(port, 0, at))));
                    }
                    calls += 1;
                });
            (seen, notes, 2 * anew + 2)
        };
        let (early, notes, begun) = seen(false);
        prop_assert_eq!(&early, &seen(true).0);
        let since = early[begun].0;
        for (at, counters) in &early[begun..] {
            for (port, counters) in counters.iter().enumerate() {
                prop_assert_eq!(counters.byte_picoseconds, integral(&notes, port, since, *at));
            }
        }
    }

    #[test]
    fn every_frame_is_sent_or_dropped_once_and_the_buffer_holds(
        policies in proptest::collection::vec(policy(), 2),
        traffic in arrivals(),
    ) {
        let (switch, notes) = drive(&policies, 100_000, false, &traffic, never);
        let mut seen: Vec<u64> =
            notes.sent.iter().map(|s| s.2.id).chain(notes.dropped.iter().map(|d| d.2)).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..traffic.len() as u64).collect::<Vec<_>>());
        prop_assert!(switch.buffer().used_max_bytes() <= 100_000);
        prop_assert_eq!(switch.buffer().free_bytes(), 100_000);
        let counted: u64 = (0..2)
            .flat_map(|port| (0..switch.queues(port)).map(move |queue| (port, queue)))
            .map(|(port, queue)| switch.counters(port, queue, Time::NEVER))
            .map(|c| c.tx_frames + c.drops.frames())
            .sum();
        prop_assert_eq!(counted, traffic.len() as u64);
    }

    #[test]
    fn transmissions_do_not_overlap_and_the_line_is_never_idle_while_frames_wait(
        policies in proptest::collection::vec(policy(), 2),
        traffic in arrivals(),
    ) {
        let (_, notes) = drive(&policies, 400_000, false, &traffic, never);
        for port in 0..2 {
            let mut sent: Vec<_> = notes.sent.iter().filter(|s| s.1 == port).collect();
            sent.sort_by_key(|s| s.0);
            let duration = |frame: &TestFrame| u64::from(frame.bytes + 24) * 800;
            for pair in sent.windows(2) {
                let end = pair[0].0 + duration(&pair[0].2);
                prop_assert!(
                    pair[1].0 >= end,
                    "frame {} starts before {} has ended",
                    pair[1].2.id,
                    pair[0].2.id
                );
                let waits = notes
                    .depths
                    .iter()
                    .rfind(|d| d.1 == port && d.0 <= end && d.0 < pair[1].0)
                    .is_some_and(|d| d.2 > 0);
                prop_assert!(
                    pair[1].0 == end || !waits,
                    "the line idles at {end} while frames wait"
                );
            }
        }
    }

    #[test]
    fn order_within_a_flow_holds_unless_prioritisation_is_naive(
        mut policies in proptest::collection::vec(policy(), 2),
        traffic in arrivals(),
    ) {
        // A flow of one priority; otherwise its frames may use different queues.
        for policy in &mut policies {
            policy.queue_of_class = [policy.queue_of_class[0]; 8];
            if let Some(dpp) = &mut policy.dpp {
                dpp.reset = DppReset::OrderSafe;
                dpp.table_entries = 4096; // no evictions: an evicted flow starts anew
            }
        }
        let (_, notes) = drive(&policies, 400_000, false, &traffic, never);
        let mut sent: Vec<_> = notes.sent.iter().collect();
        sent.sort_by_key(|s| s.0);
        let mut last: BTreeMap<u32, u64> = BTreeMap::new();
        for (_, _, frame) in sent {
            if let Some(before) = last.insert(frame.flow, frame.id) {
                prop_assert!(before < frame.id, "frame {} overtook frame {before}", frame.id);
            }
        }
    }
}
