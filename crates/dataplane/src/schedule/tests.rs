use super::*;
use crate::shaper::Shaper;
use tailrace_units::{BitRate, Span, Time};

/// Serves queues that never run empty and returns the wire bytes that each got.
fn serve(services: &[Service], frame_bytes: &[u64], frames: usize) -> Vec<u64> {
    let mut scheduler = Scheduler::new(services);
    let mut served = vec![0; services.len()];
    for _ in 0..frames {
        let queue = scheduler.choose(|q| Some(frame_bytes[q])).expect("something waits");
        served[queue] += frame_bytes[queue];
    }
    served
}

#[test]
fn shares_follow_the_weights_whatever_the_frame_sizes() {
    let served = serve(
        &[Service::Dwrr(100), Service::Dwrr(300), Service::Dwrr(600)],
        &[9038, 88, 1538],
        400_000,
    );
    let total: u64 = served.iter().sum();
    for (bytes, share) in served.iter().zip([0.1, 0.3, 0.6]) {
        let got = *bytes as f64 / total as f64;
        assert!((got / share - 1.0).abs() < 0.01, "{got} instead of {share}");
    }
}

#[test]
fn a_strict_queue_is_always_first_and_lower_levels_go_before_higher() {
    let mut scheduler =
        Scheduler::new(&[Service::Dwrr(1000), Service::Strict(2), Service::Strict(1)]);
    assert_eq!(scheduler.choose(|_| Some(100)), Some(2));
    assert_eq!(scheduler.choose(|q| (q != 2).then_some(100)), Some(1));
    assert_eq!(scheduler.choose(|q| (q == 0).then_some(100)), Some(0));
    assert_eq!(scheduler.choose(|_| None), None);
}

#[test]
fn a_tiny_weight_still_gets_its_share() {
    let served = serve(&[Service::Dwrr(1), Service::Dwrr(999)], &[9038, 9038], 300_000);
    let share = served[0] as f64 / (served[0] + served[1]) as f64;
    assert!((share / 0.001 - 1.0).abs() < 0.01, "{share}");
}

/// The unused rest of a queue's turn is gone when it runs empty: its next turn is a turn and no
/// more.
#[test]
fn an_empty_queue_saves_nothing() {
    // 8 000 bytes a turn
    let mut scheduler = Scheduler::new(&[Service::Dwrr(500), Service::Dwrr(500)]);
    let mut choose =
        |has_first: bool| scheduler.choose(|queue| (queue == 1 || has_first).then_some(1_000));
    assert_eq!(choose(true), Some(0)); // one frame of eight
    (0..8).for_each(|_| assert_eq!(choose(false), Some(1)));
    let turns: Vec<_> = (0..16).map(|_| choose(true)).collect();
    assert_eq!(turns, [[Some(0); 8], [Some(1); 8]].concat());
}

/// A queue of a small weight that is held back again and again (a pause each time before it has
/// saved up for a frame) keeps its savings: it gets its share of the turns in which it could take
/// part.
#[test]
fn a_queue_that_is_held_back_keeps_its_deficit() {
    // 160 and 15 840 bytes a turn
    let mut scheduler = Scheduler::new(&[Service::Dwrr(10), Service::Dwrr(990)]);
    let mut served = [0; 2];
    for n in 0..300_000 {
        // Of every 40 choices the first is held back for 20: two turns of the other, a tenth of the
        // bytes of a frame.
        let is_held = n % 40 >= 20;
        let head = |queue: usize| (queue == 1 || !is_held).then_some(1_600);
        let queue = scheduler.choose_held(head, |_| false, |_| false).expect("something waits");
        served[queue] += 1;
    }
    // Half of the turns: 1 % of half of the frames.
    let share = f64::from(served[0]) / 150_000.0;
    assert!((share - 0.01).abs() < 0.002, "{share}");
}

/// The savings of a held queue are bounded: a turn, and a byte less than the frame it saves for.
#[test]
fn a_queue_that_was_held_back_sends_no_more_than_two_turns_at_once() {
    // 8 000 bytes a turn
    let mut scheduler = Scheduler::new(&[Service::Dwrr(500), Service::Dwrr(500)]);
    let mut choose = |is_held: bool| {
        let head = |queue: usize| (queue == 1 || !is_held).then_some(1_000);
        scheduler.choose_held(head, |_| false, |_| false)
    };
    assert_eq!(choose(false), Some(0)); // one frame of eight
    (0..800).for_each(|_| assert_eq!(choose(true), Some(1)));
    let turns: Vec<_> = (0..40).map(|_| choose(false)).collect();
    let first = turns.iter().position(|&queue| queue == Some(0)).expect("its turn comes");
    assert_eq!(
        turns[first..].iter().take_while(|&&queue| queue == Some(0)).count(),
        15,
        "seven and eight"
    );
}

#[test]
fn a_frame_that_was_dropped_is_paid_back() {
    // 8 000 bytes a turn
    let mut scheduler = Scheduler::new(&[Service::Dwrr(500), Service::Dwrr(500)]);
    let mut sent = vec![];
    for n in 0..24 {
        let queue = scheduler.choose(|_| Some(1_000)).expect("something waits");
        // Two of three frames of the first queue are dropped when they leave.
        if queue == 0 && n % 3 > 0 {
            scheduler.refund(queue, 1_000);
        } else {
            sent.push(queue);
        }
    }
    assert_eq!(sent[..8], [0; 8], "a turn is eight frames sent, whatever was dropped");
}

/// Rounds in which no queue could send are credited to all as if they had been gone through one by
/// one.
#[test]
fn skipped_rounds_count_for_everybody() {
    // 16 and 48 bytes a turn
    let mut scheduler = Scheduler::new(&[Service::Dwrr(1), Service::Dwrr(3)]);
    let frames = [1_600, 4_000];
    let chosen: Vec<_> = (0..8).map(|_| scheduler.choose(|queue| Some(frames[queue]))).collect();
    // Queue 0 is due in rounds 100, 200, 300 ..; queue 1 in 84, 167, 250, 334 ..
    assert_eq!(chosen, [1, 0, 1, 0, 1, 0, 1, 0].map(Some));
    let rounds = scheduler.weighted.iter().map(|w| w.deficit / w.quantum).max();
    assert!(rounds <= Some(84), "no queue is credited twice: {rounds:?}");
}

/// Wire bytes of a frame, and its time at a byte per nanosecond.
const FRAME: u64 = 1_538;
/// The burst of ports (`SHAPER_BURST_BYTES`).
const BURST: u64 = 18_460;

/// The share of the first of two queues that always wait. A limit lets it have this part of the
/// line (thousandths), with so much burst.
fn share_beside_a_limit(scheduler: &mut Scheduler, limit: u64, burst_bytes: u64) -> f64 {
    const FRAMES: u32 = 50_000;
    let pace = BitRate::from_bps(8_000_000 * limit).expect("above zero").pace(0);
    let (mut shaper, mut now, mut first) = (Shaper::new(pace, burst_bytes), Time::ZERO, 0);
    for _ in 0..FRAMES {
        let head = |queue: usize| (queue == 1 || shaper.conforms_from() <= now).then_some(FRAME);
        let queue =
            scheduler.choose_held(head, |_| false, |_| false).expect("the second always waits");
        if queue == 0 {
            shaper.charge(now, FRAME);
            first += 1;
        }
        now += Span::from_ns(FRAME);
    }
    f64::from(first) / f64::from(FRAMES)
}

/// Weight of the first queue of a thousand, its limit, and the smaller of the two.
const LIMITED: [(u32, u64, f64); 8] = [
    (500, 500, 0.5),
    (500, 400, 0.4),
    (500, 900, 0.5),
    (900, 500, 0.5),
    (250, 300, 0.25),
    (100, 500, 0.1),
    (100, 50, 0.05),
    (10, 900, 0.01),
];

/// The turn of a queue ends when its limit holds it back, and the turns of the others are as long
/// as 16 kB. Its limit has a burst that is longer: bytes that it could not send meanwhile it sends
/// in its next turn. 802.1Q asks for shares within a tenth (clause 37).
#[test]
fn a_queue_with_a_ceiling_gets_the_smaller_of_its_ceiling_and_its_share() {
    for (weight, limit, share) in LIMITED {
        let found = share_beside_a_limit(
            &mut Scheduler::new(&[Service::Dwrr(weight), Service::Dwrr(1_000 - weight)]),
            limit,
            BURST,
        );
        assert!(
            (found / share - 1.0).abs() < 0.02,
            "weight {weight}, limit {limit}: {found} instead of {share}"
        );
    }
}

/// A limit without a burst, such as that of congestion notification, needs turns that are shorter
/// than a frame, as interfaces of hosts have them: with long turns a queue of half of the line that
/// may have half of it gets a sixth.
#[test]
fn a_limit_without_a_burst_costs_no_share_where_turns_are_short() {
    let services = [Service::Dwrr(500), Service::Dwrr(500)];
    let [short, long] = [1, QUANTUM_PER_MILLI].map(|quantum| {
        share_beside_a_limit(&mut Scheduler::with_quanta(&services, quantum), 500, 0)
    });
    assert!((short - 0.5).abs() < 0.01, "{short}");
    assert!((long - 0.16).abs() < 0.01, "{long}");
}
