//! Enhanced transmission selection and shaping: the shares of a line that is always busy.

mod common;
use common::*;
use proptest::prelude::*;
use tailrace_dataplane::*;
use tailrace_units::{BitRate, RandomStream, Span, Time};

/// Wire bytes that each queue has sent up to `until` when all queues of a 10 Gbit/s port are full
/// of frames of these sizes.
fn saturated(queues: Vec<QueuePolicy>, sizes: &[Vec<u32>], until: Span) -> Vec<u64> {
    overfull(queues, sizes, until, 1)
}

/// The same where each queue holds so many times what the line can send.
fn overfull(queues: Vec<QueuePolicy>, sizes: &[Vec<u32>], until: Span, times: u64) -> Vec<u64> {
    let count = queues.len();
    let policy = PortPolicy {
        queue_of_class: std::array::from_fn(|class| (class % count) as u8),
        ..port(queues)
    };
    let mut switch = switch(1 << 40, vec![policy], true);
    let mut notes = Notebook::default();
    let mut stream = RandomStream::new(1, "sizes");
    let line_bytes = until.ps() / 800;
    for (queue, sizes) in sizes.iter().enumerate().take(count) {
        let mut offered = 0;
        while offered < times * line_bytes {
            let bytes = sizes[stream.below(sizes.len() as u64) as usize];
            offered += u64::from(bytes + 24);
            let mut entering =
                TestFrame { priority: queue as u8, ..frame(offered, bytes, queue as u32) };
            switch.handle_frame(Time::ZERO, 0, &mut entering, &mut notes);
        }
    }
    switch.handle_timeout(Time::ZERO + until, &mut notes);
    let mut served = vec![0; count];
    notes.sent.iter().for_each(|(_, _, frame)| {
        served[usize::from(frame.priority)] += u64::from(frame.bytes + 24)
    });
    served
}

fn full(service: Service) -> QueuePolicy {
    queue(service, Limit::Bytes(1 << 40))
}

fn shaped(service: Service, min_mbps: u64, max_mbps: u64) -> QueuePolicy {
    let shaper = |mbps: u64| {
        BitRate::from_bps(mbps * 1_000_000).map(|rate| Shaper::new(rate.pace(0), 18_460))
    };
    QueuePolicy { floor: shaper(min_mbps), ceiling: shaper(max_mbps), ..full(service) }
}

/// Asserts that the shares are these percentages of the whole line, to one percent of each share.
#[track_caller]
fn assert_shares(served: &[u64], until: Span, percent: &[f64]) {
    let line_bytes = until.ps() as f64 / 800.0;
    for (queue, (&bytes, percent)) in served.iter().zip(percent).enumerate() {
        let got = 100.0 * bytes as f64 / line_bytes;
        assert!(
            (got - percent).abs() <= 0.01 * percent,
            "queue {queue} has {got} % instead of {percent} %"
        );
    }
}

const WINDOW: Span = Span::from_ms(40);

/// CoDel drops most frames of the first queue as they leave; its share is of the frames that it
/// sends all the same.
#[test]
fn what_codel_drops_costs_a_queue_none_of_its_share() {
    let codel = Codel::new(Span::from_us(5), Span::from_us(20), false, Span::ZERO);
    let managed = QueuePolicy { aqm: Aqm::Codel(Box::new(codel)), ..full(Service::Dwrr(500)) };
    let sizes = vec![vec![1_476]; 2];
    let until = Span::from_ms(4);
    assert_shares(
        &overfull(vec![managed.clone(), full(Service::Dwrr(500))], &sizes, until, 8),
        until,
        &[50.0, 50.0],
    );
    // A floor pays for its own frames: 2 Gbit/s, and half of the rest.
    let lifted = QueuePolicy { floor: shaped(Service::Dwrr(500), 2_000, 0).floor, ..managed };
    assert_shares(
        &overfull(vec![lifted, full(Service::Dwrr(500))], &sizes, until, 8),
        until,
        &[60.0, 40.0],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ets_shares_hold_to_one_percent_under_any_frame_mix(
        parts in proptest::collection::vec(10_u32..100, 2..8),
        sizes in proptest::collection::vec(proptest::collection::vec(64_u32..9_000, 1..5), 8),
    ) {
        let total: u32 = parts.iter().sum();
        let weights: Vec<u32> = parts.iter().map(|part| part * 1_000 / total).collect();
        let whole = f64::from(weights.iter().sum::<u32>());
        let until = Span::from_ms(80);
        let served = saturated(
            weights.iter().map(|&weight| full(Service::Dwrr(weight))).collect(),
            &sizes,
            until,
        );
        for (&bytes, &weight) in served.iter().zip(&weights) {
            let share = f64::from(weight) / whole;
            let got = bytes as f64 * 800.0 / until.ps() as f64;
            // A turn and a frame either way, and one percent.
            let turn = (16.0 * f64::from(weight) + 2.0 * 9_024.0) * 800.0 / until.ps() as f64;
            prop_assert!((got - share).abs() <= 0.01 * share + turn, "{got} instead of {share}");
        }
    }
}

/// Frames offered to the queues of one port: gap in nanoseconds, queue, bytes.
type Offered = (u64, usize, u32);

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// However small its weight: the first frame of a queue is served before the others have had
    /// more than their turns.
    #[test]
    fn no_weighted_queue_starves(
        weights in proptest::collection::vec(1_u32..1_000, 2..8),
        offered in proptest::collection::vec((prop_oneof![3 => Just(0_u64), 1 => 0_u64..3_000], 0_usize..8, 64_u32..9_000), 10..250),
    ) {
        let offered: Vec<Offered> = offered
            .into_iter()
            .map(|(gap, queue, bytes)| (gap, queue % weights.len(), bytes))
            .collect();
        let waits = longest_waits_of_heads(&weights, &offered);
        for (queue, &waited) in waits.iter().enumerate() {
            let most = longest_wait(&weights, queue);
            prop_assert!(
                waited <= most,
                "queue {queue} of {weights:?} waited for {waited} bytes, at most {most}"
            );
        }
    }
}

/// The largest frame with its overhead.
const LARGEST: u64 = 9_024;

/// Wire bytes of others before a frame that is first in its queue: it needs so many turns of its
/// own, in each of which the others send a quantum (16 bytes for each thousandth) and their
/// savings, less than a frame.
fn longest_wait(weights: &[u32], queue: usize) -> u64 {
    let quantum = |weight: u32| 16 * u64::from(weight);
    let turns = LARGEST.div_ceil(quantum(weights[queue])) + 1;
    let others = weights.iter().enumerate().filter(|(other, _)| *other != queue);
    others.map(|(_, &weight)| turns * quantum(weight) + LARGEST).sum::<u64>() + LARGEST
}

/// For each queue the most wire bytes that the line sent while one frame was first in it.
fn longest_waits_of_heads(weights: &[u32], offered: &[Offered]) -> Vec<u64> {
    let queues = weights.iter().map(|&weight| full(Service::Dwrr(weight))).collect();
    let policy = PortPolicy {
        queue_of_class: std::array::from_fn(|class| (class % weights.len()) as u8),
        ..port(queues)
    };
    let mut switch = switch(1 << 40, vec![policy], true);
    let (mut notes, mut now, mut came) = (Notebook::default(), Time::ZERO, Vec::new());
    for (id, &(gap, queue, bytes)) in offered.iter().enumerate() {
        now += Span::from_ns(gap);
        came.push(now.ps());
        switch.handle_frame(
            now,
            0,
            &mut TestFrame { priority: queue as u8, ..frame(id as u64, bytes, 0) },
            &mut notes,
        );
    }
    switch.handle_timeout(now + Span::from_secs(1), &mut notes);
    let mut first_since = vec![0; weights.len()];
    let mut longest = vec![0; weights.len()];
    for (at, _, frame) in &notes.sent {
        let queue = usize::from(frame.priority);
        let waited = at - first_since[queue].max(came[frame.id as usize]);
        longest[queue] = longest[queue].max(waited / 800);
        first_since[queue] = *at;
    }
    assert_eq!(notes.sent.len(), offered.len(), "everything is served in the end");
    longest
}

#[test]
fn short_frames_pay_for_the_overhead_of_each() {
    let until = Span::from_ms(8);
    let served = saturated(
        vec![full(Service::Dwrr(500)), full(Service::Dwrr(500))],
        &[vec![64], vec![9_000]],
        until,
    );
    assert_shares(&served, until, &[50.0, 50.0]);
}

#[test]
fn weights_that_leave_a_rest_share_all_of_the_line() {
    // ETS is work-conserving: 20 and 30 percent alone are 40 and 60.
    let served = saturated(
        vec![full(Service::Dwrr(200)), full(Service::Dwrr(300))],
        &[vec![1_500], vec![9_000, 64]],
        WINDOW,
    );
    assert_shares(&served, WINDOW, &[40.0, 60.0]);
}

#[test]
fn a_ceiling_holds_and_leaves_the_rest_to_others() {
    let queues = vec![
        shaped(Service::Strict(1), 0, 2_000),
        full(Service::Dwrr(500)),
        full(Service::Dwrr(500)),
    ];
    let served = saturated(queues, &[vec![1_500], vec![1_500], vec![1_500]], WINDOW);
    assert_shares(&served, WINDOW, &[20.0, 40.0, 40.0]);
}

#[test]
fn a_ceiling_holds_when_no_other_queue_sends() {
    let served = saturated(vec![shaped(Service::Dwrr(1000), 0, 2_500)], &[vec![1_500]], WINDOW);
    assert_shares(&served, WINDOW, &[25.0]);
}

#[test]
fn a_floor_lifts_a_small_weight() {
    let queues = vec![shaped(Service::Dwrr(10), 3_000, 0), full(Service::Dwrr(990))];
    let served = saturated(queues, &[vec![1_500], vec![9_000]], WINDOW);
    // Guaranteed 30 %; the rest is shared 1 to 99.
    assert_shares(&served, WINDOW, &[30.7, 69.3]);
}

#[test]
fn a_floor_does_not_go_before_a_strict_queue() {
    let queues = vec![
        shaped(Service::Dwrr(500), 3_000, 0),
        full(Service::Strict(1)),
        full(Service::Dwrr(500)),
    ];
    let served = saturated(queues, &[vec![1_500], vec![1_500], vec![1_500]], WINDOW);
    // One frame of the first queue had come before all others.
    assert_eq!((served[0], served[2]), (1_524, 0));
}

/// Service beyond a queue's guarantee while the line was idle is not held against it when the line
/// is busy.
#[test]
fn a_floor_has_no_debts() {
    let queues = vec![shaped(Service::Dwrr(10), 3_000, 0), full(Service::Dwrr(990))];
    let policy = PortPolicy { queue_of_class: [0, 1, 0, 0, 0, 0, 0, 0], ..port(queues) };
    let mut switch = switch(1 << 40, vec![policy], true);
    let mut notes = Notebook::default();
    let enter = |switch: &mut Switch<TestFrame>,
                 notes: &mut Notebook,
                 at: Time,
                 priority: u8,
                 frames: u64| {
        (0..frames).for_each(|id| {
            switch.handle_frame(at, 0, &mut TestFrame { priority, ..frame(id, 1_476, 0) }, notes)
        });
    };
    enter(&mut switch, &mut notes, Time::ZERO, 0, 60_000);
    // Alone for 10 ms at line rate, then the other has work too.
    let (busy, end) = (Time::ZERO + Span::from_ms(10), Time::ZERO + Span::from_ms(20));
    switch.handle_timeout(busy, &mut notes);
    enter(&mut switch, &mut notes, busy, 1, 20_000);
    switch.handle_timeout(end, &mut notes);
    let late = notes.sent.iter().filter(|s| s.0 > busy.ps() && s.2.priority == 0).count() as f64;
    let share = late * 1_500.0 * 800.0 / 1e10;
    assert!((0.30..0.32).contains(&share), "{share}");
}

/// Frames that find an idle line are sent at once, and are charged all the same.
#[test]
fn a_ceiling_counts_what_need_not_wait() {
    let policy = port(vec![shaped(Service::Dwrr(1_000), 0, 1_000)]);
    let mut switch = switch(1 << 40, vec![policy], true);
    let mut notes = Notebook::default();
    // 1500 bytes of the line each 2 us are 6 Gbit/s.
    (0..1_000).for_each(|id| {
        switch.handle_frame(
            Time::ZERO + Span::from_us(2 * id),
            0,
            &mut frame(id, 1_476, 0),
            &mut notes,
        )
    });
    switch.handle_timeout(Time::ZERO + Span::from_us(2_000), &mut notes);
    let served: u64 = notes.sent.iter().map(|_| 1_500).sum();
    // 1 Gbit/s for 2 ms, the burst, and a frame.
    assert!((250_000..=250_000 + 18_460 + 1_500).contains(&served), "{served}");
}

/// A frame that need not wait is not held back by others that must.
#[test]
fn a_shaped_queue_holds_back_no_other_queue() {
    let queues = vec![shaped(Service::Strict(1), 0, 100), full(Service::Dwrr(1000))];
    let policy = PortPolicy { queue_of_class: [0, 1, 0, 0, 0, 0, 0, 0], ..port(queues) };
    let mut switch = switch(1 << 40, vec![policy], true);
    let mut notes = Notebook::default();
    (0..40).for_each(|id| switch.handle_frame(Time::ZERO, 0, &mut frame(id, 1_476, 0), &mut notes));
    let now = Time::ZERO + Span::from_ms(1);
    switch.handle_timeout(now, &mut notes);
    switch.handle_frame(now, 0, &mut TestFrame { priority: 1, ..frame(99, 1_476, 1) }, &mut notes);
    assert_eq!(notes.sent.last().map(|s| (s.0, s.2.id)), Some((now.ps(), 99)));
}
