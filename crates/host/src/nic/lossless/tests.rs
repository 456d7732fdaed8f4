use super::*;
use tailrace_dataplane::Service;
use tailrace_units::{BitRate, Span};
use tailrace_wire::Tag;

fn nic(reaction: Option<ReactionPolicy>) -> LosslessNic {
    let rate = BitRate::from_gbps(10);
    LosslessNic::new(
        rate.pace(0),
        rate.bps(),
        24,
        1 << 20,
        PauseState::new(0b1000, false, Span::ZERO),
        reaction,
    )
}
fn policy() -> ReactionPolicy {
    ReactionPolicy {
        timer: Span::from_ms(15),
        byte_counter: 1 << 40,
        active_increase_bps: 5_000_000,
        hyper_increase_bps: 50_000_000,
        rate_min_bps: 10_000_000,
    }
}
fn frame(flow_hash: u32, priority: u8) -> Packet {
    Packet { flow_hash, tag: Tag::new(priority, 0), frame_bytes: 976, ..Packet::default() }
}
fn sent_until(nic: &mut LosslessNic, now: Time) -> Vec<(u64, u32)> {
    std::iter::from_fn(|| nic.send(now))
        .map(|(start, _, packet)| (start.ps() / 1000, packet.flow_hash))
        .collect()
}

#[test]
fn a_paused_priority_waits_and_the_others_go_on() {
    let mut nic = nic(None);
    for flow in 0..4 {
        nic.enqueue(Time::ZERO, frame(flow, if flow < 2 { 3 } else { 0 }));
    }
    nic.handle_pause(Time::ZERO, &Pause::new(0b1000, 100, false)); // 5120 ns
    let sent = sent_until(&mut nic, Time::ZERO + Span::from_us(10));
    assert_eq!(sent, [(0, 2), (800, 3), (5120, 0), (5920, 1)]);
    assert_eq!((nic.poll_timeout(), nic.sent_frames), (Time::NEVER, 4));
}

#[test]
fn a_limited_flow_keeps_its_rate_and_its_order() {
    let mut nic = nic(Some(policy()));
    for _ in 0..4 {
        nic.enqueue(Time::ZERO, frame(7, 0));
    }
    nic.handle_notification(Time::ZERO, 7, 63); // 5.078 Gbit/s: 1000 bytes in 1575 ns
    let starts: Vec<u64> =
        sent_until(&mut nic, Time::ZERO + Span::from_us(10)).iter().map(|sent| sent.0).collect();
    assert_eq!(starts, [0, 1575, 3150, 4726]);
}

#[test]
fn a_limited_flow_waits_for_its_limiter_and_for_the_pause_of_its_priority() {
    let mut nic = nic(Some(policy()));
    for _ in 0..3 {
        nic.enqueue(Time::ZERO, frame(7, 3));
    }
    nic.handle_notification(Time::ZERO, 7, 63);
    // until 5220 ns
    nic.handle_pause(Time::ZERO + Span::from_ns(100), &Pause::new(0b1000, 100, false));
    assert_eq!(
        sent_until(&mut nic, Time::ZERO + Span::from_us(10)),
        [(5220, 7), (6795, 7), (8370, 7)]
    );
}

#[test]
fn an_announced_departure_is_exact_where_nothing_holds_it_back() {
    let mut nic = nic(None);
    let announced: Vec<Time> = (0..3)
        .map(|flow| nic.enqueue(Time::ZERO, frame(flow, 0)).expect("there is room"))
        .collect();
    let ends: Vec<Time> = std::iter::from_fn(|| nic.send(Time::ZERO + Span::from_us(10)))
        .map(|(_, end, _)| end)
        .collect();
    assert_eq!(announced, ends);
}

#[test]
fn priorities_and_limited_flows_take_turns() {
    let mut nic = nic(Some(policy()));
    nic.handle_notification(Time::ZERO, 9, 1); // 0.8 % slower than the line
    for _ in 0..3 {
        nic.enqueue(Time::ZERO, frame(9, 0));
        nic.enqueue(Time::ZERO, frame(1, 1));
        nic.enqueue(Time::ZERO, frame(2, 2));
    }
    let flows: Vec<u32> =
        sent_until(&mut nic, Time::ZERO + Span::from_us(10)).iter().map(|sent| sent.1).collect();
    assert_eq!(flows, [1, 2, 9, 1, 2, 9, 1, 2, 9]);
}

fn class(priorities: u8, service: Service) -> TrafficClass {
    TrafficClass { priorities, service }
}

/// The frames that the interface sends of each flow while `fill` keeps it supplied.
fn shares(
    nic: &mut LosslessNic,
    millis: u64,
    mut fill: impl FnMut(&mut LosslessNic, Time),
) -> BTreeMap<u32, u64> {
    let mut sent = BTreeMap::new();
    for step in 0..millis * 1_250 {
        let now = Time::ZERO + Span::from_ns(800 * step); // a frame each
        fill(nic, now);
        while let Some((.., packet)) = nic.send(now) {
            *sent.entry(packet.flow_hash).or_insert(0) += 1;
        }
    }
    sent
}

fn fill_all(flows: &'static [(u32, u8)]) -> impl FnMut(&mut LosslessNic, Time) {
    move |nic, now| {
        flows.iter().for_each(
            |&(flow, priority)| while nic.enqueue(now, frame(flow, priority)).is_some() {},
        )
    }
}

#[test]
fn classes_share_the_line_by_their_weights_and_priorities_within_a_class_take_turns() {
    let mut nic = nic(None);
    nic.share_among(&[
        class(0b11, Service::Dwrr(200)),
        class(0b1000, Service::Dwrr(300)),
        class(0b100_0000, Service::Dwrr(500)),
    ]);
    let sent = shares(&mut nic, 20, fill_all(&[(0, 0), (1, 1), (3, 3), (6, 6)]));
    let total: u64 = sent.values().sum();
    assert!(total > 24_900, "the line is never idle: {total}");
    for (flow, share) in [(0, 0.1), (1, 0.1), (3, 0.3), (6, 0.5)] {
        let got = sent[&flow] as f64 / total as f64;
        assert!((got - share).abs() < 0.01, "flow {flow}: {got}");
    }
}

#[test]
fn a_turn_of_a_class_is_not_longer_than_a_frame() {
    let mut nic = nic(None);
    nic.share_among(&[class(0b1, Service::Dwrr(500)), class(0b1000, Service::Dwrr(500))]);
    for _ in 0..4 {
        nic.enqueue(Time::ZERO, frame(0, 0));
        nic.enqueue(Time::ZERO, frame(3, 3));
    }
    let flows: Vec<u32> =
        sent_until(&mut nic, Time::ZERO + Span::from_us(10)).iter().map(|sent| sent.1).collect();
    assert_eq!(flows, [0, 3, 0, 3, 0, 3, 0, 3]);
}

#[test]
fn what_a_class_leaves_goes_to_the_others_and_a_strict_one_goes_first() {
    let mut nic = nic(None);
    let classes = [
        class(0b1, Service::Dwrr(250)),
        class(0b10, Service::Dwrr(250)),
        class(0b100, Service::Dwrr(500)),
        class(0b1000, Service::Strict(1)),
    ];
    nic.share_among(&classes);
    // The strict class has a tenth of the line; the third sends nothing.
    let mut rest = fill_all(&[(0, 0), (1, 1)]);
    let sent = shares(&mut nic, 20, |nic, now| {
        if now.ps() % 8_000_000 == 0 {
            nic.enqueue(now, frame(3, 3));
        }
        rest(nic, now);
    });
    assert_eq!(sent[&3], 2_500);
    let total: u64 = sent.values().sum();
    assert!(total > 24_900 && sent[&0].abs_diff(sent[&1]) < 20, "{sent:?}");
}

#[test]
fn a_paused_class_lets_the_others_send_and_gets_no_more_than_its_share_later() {
    let mut nic = nic(None);
    nic.share_among(&[class(0b1, Service::Dwrr(500)), class(0b1000, Service::Dwrr(500))]);
    let mut fill = fill_all(&[(0, 0), (3, 3)]);
    nic.handle_pause(Time::ZERO, &Pause::new(0b1000, 60_000, false)); // 3.07 ms
    let paused = shares(&mut nic, 3, &mut fill);
    assert_eq!(paused.get(&3), None, "{paused:?}");
    assert!(paused[&0] > 3_700, "{paused:?}");
}

#[test]
fn a_limited_flow_has_the_share_of_its_class_up_to_its_rate() {
    let mut nic = nic(Some(policy()));
    nic.share_among(&[class(0b1, Service::Dwrr(500)), class(0b1000, Service::Dwrr(500))]);
    let mut fill = fill_all(&[(0, 0), (3, 3)]);
    // 0.8 % slower than the line: half of the line is less
    nic.handle_notification(Time::ZERO, 3, 1);
    let sent = shares(&mut nic, 4, &mut fill);
    assert!(sent[&0].abs_diff(sent[&3]) < 100, "{sent:?}");
    let mut nic = LosslessNic { reaction: Some(policy()), ..self::nic(None) };
    nic.share_among(&[class(0b1, Service::Dwrr(200)), class(0b1000, Service::Dwrr(800))]);
    for _ in 0..3 {
        nic.handle_notification(Time::ZERO, 3, 63); // 1.31 Gbit/s, of 8 that its class could have
    }
    let sent = shares(&mut nic, 4, &mut fill);
    let share = sent[&3] as f64 / 5_000.0;
    assert!((share - 0.131).abs() < 0.01, "{sent:?}");
}

/// The figure that TCP's small queues receive for a class that waits beside a long queue: its own
/// share of the line.
#[test]
fn a_departure_is_estimated_at_the_share_of_its_class() {
    let mut nic = nic(None);
    nic.share_among(&[class(0b1, Service::Dwrr(200)), class(0b1000, Service::Dwrr(800))]);
    for _ in 0..1_000 {
        nic.enqueue(Time::ZERO, frame(0, 0)).expect("there is room");
    }
    let departs = nic.enqueue(Time::ZERO, frame(3, 3)).expect("there is room");
    // Its 1000 bytes of the line, and 250 of the others meanwhile.
    assert_eq!(departs.ps() / 1_000, 1_000);
    let departs = nic.enqueue(Time::ZERO, frame(0, 0)).expect("there is room");
    assert_eq!(departs.ps() / 1_000, (1_001 * 1_000 + 1_000) * 8 / 10, "all that waits");
}

#[test]
fn a_priority_of_no_class_belongs_to_the_first() {
    let mut nic = nic(None);
    nic.share_among(&[class(0b10, Service::Dwrr(250)), class(0b1000, Service::Dwrr(750))]);
    let sent = shares(&mut nic, 4, fill_all(&[(5, 5), (3, 3)]));
    let share = sent[&5] as f64 / 5_000.0;
    assert!((share - 0.25).abs() < 0.01, "{sent:?}");
}

/// A class of a small weight that is paused again and again, each time before it has saved up for a
/// frame.
#[test]
fn a_class_that_is_paused_keeps_its_deficit() {
    let mut nic = nic(None);
    nic.share_among(&[class(0b1, Service::Dwrr(900)), class(0b1000, Service::Dwrr(100))]);
    let mut fill = fill_all(&[(0, 0), (3, 3)]);
    let mut step = 0_u64;
    let sent = shares(&mut nic, 8, |nic, now| {
        fill(nic, now);
        step += 1;
        if step.is_multiple_of(4) {
            nic.handle_pause(now, &Pause::new(0b1000, 30, false)); // 1.5 us, of each 3.2
        }
    });
    assert!(sent[&3] > 400, "half of a tenth of 10 000 frames: {sent:?}");
}
