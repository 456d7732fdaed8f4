//! Invariants of every policy with lossless groups, pauses, shapers, policers, AFD, WRED and
//! watchdogs, and every traffic.

mod common;
use common::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tailrace_dataplane::*;
use tailrace_units::{BitRate, RandomStream, Span, Time};
use tailrace_wire::{Ecn, Pause, PauseState};

/// Ports of the switch under test; port `i` leads to destination `i`.
const PORTS: usize = 3;
const BUFFER_BYTES: u64 = 600_000;

/// The next input of the switch: gap in nanoseconds, ingress port, and its kind.
type Arrival = (u64, usize, Enters);

#[derive(Clone, Debug)]
enum Enters {
    Frame { bytes: u32, flow: u32, destination: u32, priority: u8, is_capable: bool },
    Pause { classes: u8, quanta: u16, is_link_pause: bool },
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![4 => Just(0), 6 => 0_u64..1_500, 1 => 0_u64..3_000_000];
    let frame = (64_u32..9_000, 0_u32..8, 0..PORTS as u32, 0_u8..8, any::<bool>()).prop_map(
        |(bytes, flow, destination, priority, is_capable)| Enters::Frame {
            bytes,
            flow,
            destination,
            priority,
            is_capable,
        },
    );
    let quanta = prop_oneof![Just(0_u16), 1_u16..400, Just(u16::MAX)];
    let pause = (any::<u8>(), quanta, proptest::bool::weighted(0.1)).prop_map(
        |(classes, quanta, is_link_pause)| Enters::Pause { classes, quanta, is_link_pause },
    );
    let enters = prop_oneof![12 => frame, 1 => pause];
    proptest::collection::vec((gap, 0..PORTS, enters), 1..220)
}

fn aqm() -> impl Strategy<Value = Aqm> {
    let pace = BitRate::from_gbps(10).pace(0);
    prop_oneof![
        3 => Just(Aqm::None),
        1 => (2_000_u64..60_000).prop_map(|threshold_bytes| Aqm::Step(Step { threshold_bytes })),
        1 => (2_000_u64..30_000, 0_u8..6, any::<bool>()).prop_map(move |(minimum_bytes, weight, ecn)| {
            let profile = RedProfile { minimum_bytes, maximum_bytes: 2 * minimum_bytes, probability_milli: 200, is_gentle: ecn };
            let stricter = RedProfile { maximum_bytes: minimum_bytes + 1_000, ..profile };
            Aqm::Red(Box::new(Red::new(profile, stricter, weight, ecn, RandomStream::new(1, "red"), pace)))
        }),
        2 => (5_000_u64..60_000, any::<bool>()).prop_map(|(desired, ecn)| {
            Aqm::Afd(Box::new(Afd::new(desired, Span::from_us(25), 31_250, ecn, RandomStream::new(1, "afd"))))
        }),
        1 => any::<bool>()
            .prop_map(|ecn| Aqm::Codel(Box::new(Codel::new(Span::from_us(10), Span::from_us(100), ecn, Span::ZERO)))),
    ]
}

prop_compose! {
    fn any_queue()(
        service in prop_oneof![(1_u8..4).prop_map(Service::Strict), (1_u32..=1000).prop_map(Service::Dwrr)],
        limit in prop_oneof![(20_000_u64..300_000).prop_map(Limit::Bytes), (200_u32..9_000).prop_map(Limit::Alpha)],
        reserved_bytes in prop_oneof![Just(0_u64), 0_u64..20_000],
        aqm in aqm(),
        ceiling in proptest::option::weighted(0.3, 100_000_000_u64..9_000_000_000),
        floor in proptest::option::weighted(0.3, 100_000_000_u64..5_000_000_000),
        has_congestion_point in proptest::bool::weighted(0.2),
    ) -> QueuePolicy {
        let shaper = |bps: u64| Shaper::new(BitRate::from_bps(bps).expect("above zero").pace(0), 18_000);
        let point = QcnPolicy { set_point_bytes: 10_000, weight: 2 };
        QueuePolicy {
            service,
            room: Room { reserved_bytes, limit },
            aqm,
            ceiling: ceiling.map(shaper),
            floor: floor.map(shaper),
            congestion_point: has_congestion_point.then(|| CongestionPoint::new(point, RandomStream::new(1, "qcn"))),
        }
    }
}

prop_compose! {
    fn any_port()(
        queues in proptest::collection::vec(any_queue(), 1..5),
        map in any::<[u8; 8]>(),
        etrap in prop_oneof![Just(None), Just(Some(20_000_u64)), Just(Some(200_000))],
        (obeys, obeys_link, response_ns) in (any::<u8>(), any::<bool>(), 0_u64..3_000),
        watchdog in proptest::option::weighted(0.3, (10_u64..2_000, 10_u64..2_000)),
    ) -> PortPolicy {
        let etrap = etrap.map(|byte_count| {
            let policy = EtrapPolicy { byte_count, age: Span::from_us(50), bandwidth_threshold: 500, table_entries: 16 };
            (policy, Span::from_us(25))
        });
        PortPolicy {
            queue_of_class: map.map(|queue| queue % queues.len() as u8),
            etrap,
            pause: Some(PauseState::new(obeys, obeys_link, Span::from_ns(response_ns))),
            watchdog: watchdog.map(|(detection, restoration)| {
                Watchdog { detection: Span::from_us(detection), restoration: Span::from_us(restoration) }
            }),
            ..port(queues)
        }
    }
}

prop_compose! {
    /// A port that commits to every departure when the frame arrives.
    fn committing_port()(queue in any_queue()) -> PortPolicy {
        let aqm = if matches!(queue.aqm, Aqm::Codel(_)) { Aqm::None } else { queue.aqm };
        port(vec![QueuePolicy { aqm, ceiling: None, congestion_point: None, ..queue }])
    }
}

type Ingress = (Vec<GroupPolicy>, PausePolicy);

prop_compose! {
    /// Two lossless groups and a lossy one.
    fn any_ingress()(
        reserved_bytes in 0_u64..6_000,
        limit in prop_oneof![(5_000_u64..60_000).prop_map(Limit::Bytes), (60_u32..2_000).prop_map(Limit::Alpha)],
        xon_offset_bytes in 0_u64..20_000,
        headroom_bytes in 0_u64..40_000,
        lossy in prop_oneof![(20_000_u64..300_000).prop_map(Limit::Bytes), (200_u32..9_000).prop_map(Limit::Alpha)],
        (is_link_pause, quanta) in (proptest::bool::weighted(0.2), prop_oneof![1_u16..200, Just(u16::MAX)]),
    ) -> Ingress {
        let lossless = Some(Lossless { xon_offset_bytes, headroom_bytes });
        let groups = vec![
            GroupPolicy { priorities: 0b0000_1000, reserved_bytes, limit, lossless },
            GroupPolicy { priorities: 0b0011_0000, reserved_bytes, limit, lossless },
            GroupPolicy { priorities: 0b1100_0111, reserved_bytes, limit: lossy, lossless: None },
        ];
        (groups, PausePolicy { is_link_pause, quanta })
    }
}

fn any_switch() -> impl Strategy<Value = Policies> {
    let ports = proptest::collection::vec(any_port(), PORTS);
    let ingress = proptest::option::weighted(0.8, proptest::collection::vec(any_ingress(), PORTS));
    let police = proptest::option::weighted(
        0.3,
        (500_000_000_u64..8_000_000_000, 3_000_u64..60_000, any::<bool>()),
    );
    (ports, ingress, police).prop_map(|(ports, ingress, police)| Policies {
        ports,
        ingress,
        police,
    })
}

#[derive(Clone, Debug)]
struct Policies {
    ports: Vec<PortPolicy>,
    ingress: Option<Vec<Ingress>>,
    /// Rate, burst, per flow.
    police: Option<(u64, u64, bool)>,
}

impl Policies {
    fn build(&self) -> Switch<TestFrame> {
        let mut built = switch(BUFFER_BYTES, self.ports.clone(), self.ingress.is_some());
        if let Some(ingress) = &self.ingress {
            built.account_ingress(ingress.clone());
        }
        if let Some((bps, burst, is_per_flow)) = self.police {
            let pace = BitRate::from_bps(bps).expect("above zero").pace(0);
            (0..PORTS)
                .for_each(|port| built.police(port, Policer::new(pace, burst, 0b111, is_per_flow)));
        }
        built
    }

    /// Sends the arrivals through the switch, and waits until it is empty. `nudge` is called before
    /// each, with the time of the last and of the next.
    fn drive(
        &self,
        arrivals: &[Arrival],
        nudge: impl Fn(&mut Switch<TestFrame>, Time, Time, &mut Notebook),
    ) -> Driven {
        let mut switch = self.build();
        let mut notes = Notebook::default();
        let (mut now, mut frames) = (Time::ZERO, 0);
        for (id, (gap, in_port, enters)) in arrivals.iter().enumerate() {
            let next = now + Span::from_ns(*gap);
            nudge(&mut switch, now, next, &mut notes);
            now = next;
            let mut entering = enters.frame(id as u64);
            frames += u64::from(entering.pause.is_none());
            switch.handle_frame(now, *in_port, &mut entering, &mut notes);
        }
        let end = now + Span::from_secs(1);
        nudge(&mut switch, now, end, &mut notes);
        switch.handle_timeout(end, &mut notes);
        Driven { switch, notes, frames }
    }
}

impl Enters {
    fn frame(&self, id: u64) -> TestFrame {
        match *self {
            Enters::Frame { bytes, flow, destination, priority, is_capable } => {
                let ecn = if is_capable { Ecn::Ect0 } else { Ecn::NotEct };
                TestFrame { destination, priority, ecn, ..frame(id, bytes, flow) }
            }
            Enters::Pause { classes, quanta, is_link_pause } => {
                TestFrame::new_pause(Pause::new(classes, quanta, is_link_pause))
            }
        }
    }
}

struct Driven {
    switch: Switch<TestFrame>,
    notes: Notebook,
    /// Frames that entered, without pauses.
    frames: u64,
}

/// All that can be asked of a switch at `now`.
fn state(switch: &Switch<TestFrame>, now: Time) -> impl PartialEq + std::fmt::Debug {
    let queues = |port| (0..switch.queues(port)).map(move |queue| (port, queue));
    let port = |port| {
        (
            (switch.waiting_bytes(port), switch.free_at(port), switch.held_frames(port)),
            (switch.committed_frames(port, now), switch.is_due(port, now), switch.storms(port)),
            switch.elephants(port),
        )
    };
    let queue = |(port, queue)| {
        let counters = switch.counters(port, queue, now);
        (counters, switch.depth_bytes(port, queue), switch.notifications(port, queue))
    };
    (
        (switch.poll_timeout(), switch.poll_wakeup(), switch.early_drops().clone()),
        (switch.buffer().free_bytes(), switch.buffer().used_max_bytes()),
        (0..PORTS).map(port).collect::<Vec<_>>(),
        (0..PORTS).flat_map(queues).map(queue).collect::<Vec<_>>(),
    )
}

fn never(_: &mut Switch<TestFrame>, _: Time, _: Time, _: &mut Notebook) {}

/// Calls the switch at every moment at which something is due, and at moments at which nothing is.
fn always(switch: &mut Switch<TestFrame>, now: Time, next: Time, notes: &mut Notebook) {
    switch.handle_timeout(now, notes);
    while switch.poll_timeout() < next {
        let due = switch.poll_timeout();
        switch.handle_timeout(due, notes);
        switch.handle_timeout(due + Span::from_ps(1), notes);
    }
}

/// Everything that happened, in order: times, ports, frames, and what pauses said.
fn history(notes: &Notebook) -> Vec<String> {
    let sent = notes.sent.iter().map(|(at, port, frame)| format!("{at:>15} {port} sent {frame:?}"));
    let dropped = notes
        .dropped
        .iter()
        .map(|(at, port, id, cause)| format!("{at:>15} {port} dropped {id} {cause:?}"));
    let notified = notes
        .notified
        .iter()
        .map(|(at, notification)| format!("{at:>15} notified {notification:?}"));
    let mut all: Vec<String> = sent.chain(dropped).chain(notified).collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_late_call_changes_nothing(policies in any_switch(), traffic in arrivals()) {
        let lazy = policies.drive(&traffic, never);
        let eager = policies.drive(&traffic, always);
        prop_assert_eq!(history(&lazy.notes), history(&eager.notes));
        for port in 0..PORTS {
            let of = |notes: &Notebook| {
                notes.depths.iter().filter(|d| d.1 == port).copied().collect::<Vec<_>>()
            };
            prop_assert_eq!(of(&lazy.notes), of(&eager.notes));
            prop_assert_eq!(lazy.switch.groups(port), eager.switch.groups(port));
        }
    }

    /// A switch with nothing to do at its entrance only asks the forwarding table. It does to every
    /// frame what the whole entrance does that lets every frame pass: the frame, what was reported,
    /// and the state of the switch are the same after each.
    #[test]
    fn without_an_entrance_is_as_with_one_that_lets_every_frame_pass(
        ports in proptest::collection::vec(prop_oneof![any_port(), committing_port()], PORTS),
        traffic in arrivals(),
    ) {
        let policies = Policies { ports, ingress: None, police: None };
        let (mut short, mut whole) = (policies.build(), policies.build());
        whole.limit_frames(vec![None; PORTS]);
        let (mut of_short, mut of_whole) = (Notebook::default(), Notebook::default());
        let mut now = Time::ZERO;
        for (id, (gap, in_port, enters)) in traffic.iter().enumerate() {
            now += Span::from_ns(*gap);
            let (mut left, mut right) = (enters.frame(id as u64), enters.frame(id as u64));
            short.handle_frame(now, *in_port, &mut left, &mut of_short);
            whole.handle_frame(now, *in_port, &mut right, &mut of_whole);
            prop_assert_eq!(left, right);
            prop_assert_eq!(state(&short, now), state(&whole, now));
            prop_assert_eq!(&of_short, &of_whole);
        }
        now += Span::from_secs(1);
        short.handle_timeout(now, &mut of_short);
        whole.handle_timeout(now, &mut of_whole);
        prop_assert_eq!(state(&short, now), state(&whole, now));
        prop_assert_eq!(&of_short, &of_whole);
    }

    /// Every frame is sent or dropped once and counted where it went; the memory is never overdrawn
    /// and is empty in the end.
    #[test]
    fn every_frame_is_sent_or_dropped_once_and_every_account_is_closed(
        policies in any_switch(),
        traffic in arrivals(),
    ) {
        let Driven { switch, notes, frames } = policies.drive(&traffic, never);
        let mut seen: Vec<u64> =
            notes.sent.iter().filter(|s| s.2.pause.is_none()).map(|s| s.2.id).collect();
        seen.extend(notes.dropped.iter().map(|d| d.2));
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len() as u64, frames);
        let queues =
            (0..PORTS).flat_map(|port| (0..switch.queues(port)).map(move |queue| (port, queue)));
        let counted: u64 = queues
            .map(|(port, queue)| switch.counters(port, queue, Time::NEVER))
            .map(|c| c.tx_frames + c.drops.frames())
            .sum();
        prop_assert_eq!(counted + switch.early_drops().drops.frames(), frames);
        prop_assert!(switch.buffer().used_max_bytes() <= BUFFER_BYTES);
        prop_assert_eq!(switch.buffer().free_bytes(), BUFFER_BYTES);
        for port in 0..PORTS {
            let (xoff, xon) = switch
                .groups(port)
                .iter()
                .fold((0, 0), |(off, on), (_, c)| (off + c.xoff_sent, on + c.xon_sent));
            prop_assert_eq!(xoff, xon, "whoever was paused is let go");
        }
    }

    /// With accounts at the entrance the memory is shared there: it is never the memory that is
    /// full at the exit.
    #[test]
    fn groups_stay_within_their_parts(policies in any_switch(), traffic in arrivals()) {
        let Driven { switch, notes, .. } = policies.drive(&traffic, never);
        let Some(ingress) = &policies.ingress else { return Ok(()) };
        for (port, (groups, _)) in ingress.iter().enumerate() {
            for (policy, (_, counters)) in groups.iter().zip(switch.groups(port)) {
                let headroom = policy.lossless.map_or(0, |lossless| lossless.headroom_bytes);
                prop_assert!(counters.headroom_max_bytes <= headroom);
                if let Limit::Bytes(limit) = policy.limit {
                    prop_assert!(counters.bytes_max <= policy.reserved_bytes + limit);
                }
                let dropped = notes.dropped.iter().filter(|d| {
                    d.1 == port && matches!(d.3, DropCause::HeadroomFull | DropCause::IngressFull)
                });
                prop_assert!(dropped.count() as u64 >= counters.drop_frames);
            }
        }
    }

    #[test]
    fn order_within_a_queue_holds(policies in any_switch(), traffic in arrivals()) {
        let Driven { notes, .. } = policies.drive(&traffic, never);
        let mut last: BTreeMap<(PortNo, u8), u64> = BTreeMap::new();
        let mut sent: Vec<_> = notes.sent.iter().filter(|s| s.2.pause.is_none()).collect();
        sent.sort_by_key(|s| s.0);
        for (_, port, frame) in sent {
            let queue = policies.ports[*port].queue_of_class[usize::from(frame.priority)];
            if let Some(before) = last.insert((*port, queue), frame.id) {
                prop_assert!(before < frame.id, "frame {} overtook frame {before}", frame.id);
            }
        }
    }

    /// Nothing happens to a frame before it has come.
    #[test]
    fn no_frame_leaves_before_it_has_come(policies in any_switch(), traffic in arrivals()) {
        let Driven { notes, .. } = policies.drive(&traffic, never);
        let came: Vec<u64> = traffic
            .iter()
            .scan(0, |now, arrival| {
                *now += 1_000 * arrival.0;
                Some(*now)
            })
            .collect();
        let sent = notes.sent.iter().filter(|s| s.2.pause.is_none()).map(|s| (s.0, s.2.id));
        let dropped = notes.dropped.iter().map(|d| (d.0, d.2));
        for (at, id) in sent.chain(dropped) {
            prop_assert!(
                at >= came[id as usize],
                "frame {id} leaves at {at} and comes at {}",
                came[id as usize]
            );
        }
    }

    /// A frame never starts while its priority is paused, pause frames excepted, and the line is
    /// never shared by two.
    #[test]
    fn a_paused_priority_is_silent(policies in any_switch(), traffic in arrivals()) {
        let Driven { notes, .. } = policies.drive(&traffic, never);
        let pace = BitRate::from_gbps(10).pace(0);
        for port in 0..PORTS {
            let mut state = policies.ports[port].pause.clone().expect("every port has one");
            let mut now = Time::ZERO;
            let mut pauses = Vec::new();
            for (gap, in_port, enters) in &traffic {
                now += Span::from_ns(*gap);
                if let (Enters::Pause { classes, quanta, is_link_pause }, true) =
                    (enters, *in_port == port)
                {
                    pauses.push((now, Pause::new(*classes, *quanta, *is_link_pause)));
                }
            }
            let mut sent: Vec<_> = notes.sent.iter().filter(|s| s.1 == port).collect();
            sent.sort_by_key(|s| s.0);
            let mut pauses = pauses.into_iter().peekable();
            let mut free_at = 0;
            for (start, _, frame) in sent {
                // A frame that starts when a pause arrives was chosen before it.
                while let Some((at, pause)) = pauses.next_if(|(at, _)| at.ps() < *start) {
                    state.handle_pause(at, &pause, pace);
                }
                let start_time = Time::from_ps(*start);
                let is_free = state.free_from(start_time, frame.priority) == start_time;
                let ends_now = pauses.peek().is_some_and(|(at, _)| at.ps() == *start);
                prop_assert!(
                    frame.pause.is_some() || is_free || ends_now,
                    "frame {} is sent while paused",
                    frame.id
                );
                prop_assert!(
                    *start >= free_at,
                    "frame {} starts before the line is free",
                    frame.id
                );
                free_at = start + u64::from(frame.bytes + 24) * 800;
            }
        }
    }
}
