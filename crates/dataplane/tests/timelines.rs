//! Small stories of one port, to be read.

mod common;
use common::*;
use tailrace_dataplane::*;
use tailrace_units::{Span, Time};
use tailrace_wire::Ecn;

fn ns(n: u64) -> Time {
    Time::ZERO + Span::from_ns(n)
}

/// A frame of 976 bytes with its 24 bytes of overhead takes 800 ns at 10 Gbit/s.
const SIZE: u32 = 976;

#[test]
fn a_full_queue_drops_the_newcomer() {
    let limit = Limit::Bytes(2 * u64::from(SIZE));
    let mut switch = switch(1 << 20, vec![fifo(limit)], false);
    let mut notes = Notebook::default();
    for id in 0..4 {
        switch.handle_frame(ns(0), 0, &mut frame(id, SIZE, 1), &mut notes);
    }
    // frame 1 has left the queue just now
    switch.handle_frame(ns(800), 0, &mut frame(4, SIZE, 1), &mut notes);
    switch.handle_timeout(ns(10_000), &mut notes);
    let story = "
        0 ps  frame 0  SendStarted
        0 ps  frame 3  Dropped(TailDrop)
   800000 ps  frame 1  SendStarted
  1600000 ps  frame 2  SendStarted
  2400000 ps  frame 4  SendStarted
";
    assert_eq!(notes.timeline(), story[1..]);
    assert_eq!(switch.counters(0, 0, ns(10_000)).depth_max_bytes, 2 * u64::from(SIZE));
}

/// A frame that has left one port by the time at which a frame waits at another is not in the
/// memory with it.
#[test]
fn the_largest_use_of_the_memory_is_that_of_one_moment() {
    let mut switch = switch(1 << 20, vec![fifo(Limit::Bytes(1 << 19)); 2], false);
    let mut notes = Notebook::default();
    let to = |port: u32, id: u64| TestFrame { destination: port, ..frame(id, SIZE, 1) };
    for id in 0..2 {
        switch.handle_frame(ns(0), 0, &mut to(0, id), &mut notes); // one is sent, one waits for 800 ns
    }
    for id in 2..4 {
        switch.handle_frame(ns(5_000), 0, &mut to(1, id), &mut notes);
    }
    assert_eq!(switch.buffer().used_max_bytes(), u64::from(SIZE));
}

#[test]
fn express_packets_overtake_what_waits_but_not_what_is_on_the_wire() {
    let mut switch =
        switch(1 << 20, vec![dpp(Limit::Bytes(1 << 19), 1, DppReset::OrderSafe)], false);
    let mut notes = Notebook::default();
    for id in 0..4 {
        // one bulk flow: frame 0 is its prioritised one
        switch.handle_frame(ns(0), 0, &mut frame(id, SIZE, 1), &mut notes);
    }
    switch.handle_frame(ns(900), 0, &mut frame(9, SIZE, 2), &mut notes); // a new flow
    switch.handle_timeout(ns(10_000), &mut notes);
    let story = "
        0 ps  frame 0  SendStarted
   800000 ps  frame 1  SendStarted
  1600000 ps  frame 9  SendStarted
  2400000 ps  frame 2  SendStarted
  3200000 ps  frame 3  SendStarted
";
    assert_eq!(notes.timeline(), story[1..]);
}

#[test]
fn a_choice_that_is_due_does_not_see_a_frame_that_arrives_at_that_moment() {
    let mut switch =
        switch(1 << 20, vec![dpp(Limit::Bytes(1 << 19), 1, DppReset::OrderSafe)], false);
    let mut notes = Notebook::default();
    for id in 0..3 {
        switch.handle_frame(ns(0), 0, &mut frame(id, SIZE, 1), &mut notes);
    }
    switch.handle_frame(ns(800), 0, &mut frame(9, SIZE, 2), &mut notes);
    switch.handle_timeout(ns(10_000), &mut notes);
    let order: Vec<u64> = notes.sent.iter().map(|(_, _, frame)| frame.id).collect();
    assert_eq!(order, [0, 1, 9, 2]);
}

#[test]
fn saturated_queues_share_the_buffer_by_their_alpha() {
    // Choudhury and Hahne: each of S queues settles at alpha B / (1 + alpha S).
    for (alpha_milli, ports) in
        [(1000, 1), (1000, 2), (1000, 4), (8000, 1), (8000, 2), (14_000, 4), (125, 8)]
    {
        let buffer = 10_000_000_u64;
        let policies = vec![fifo(Limit::Alpha(alpha_milli)); ports];
        let mut switch = switch(buffer, policies, false);
        let mut notes = Notebook::default();
        for id in 0..60_000 {
            let destination = (id % ports as u64) as u32;
            switch.handle_frame(
                ns(id),
                0,
                &mut TestFrame { destination, ..frame(id, SIZE, 1) },
                &mut notes,
            );
        }
        let alpha = f64::from(alpha_milli) / 1000.0;
        let share = alpha * buffer as f64 / (1.0 + alpha * ports as f64);
        for port in 0..ports {
            let got = switch.waiting_bytes(port) as f64;
            assert!(
                (got / share - 1.0).abs() < 0.01,
                "alpha {alpha}, {ports} ports: {got} instead of {share}"
            );
        }
    }
}

#[test]
fn the_step_marks_what_finds_more_than_the_threshold_and_only_what_is_capable() {
    let mut policy = fifo(Limit::Bytes(1 << 19));
    policy.queues[0].aqm = Aqm::Step(Step { threshold_bytes: 2 * u64::from(SIZE) });
    let mut switch = switch(1 << 20, vec![policy], false);
    let mut notes = Notebook::default();
    for id in 0..8 {
        let ecn = if id % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct };
        switch.handle_frame(ns(0), 0, &mut TestFrame { ecn, ..frame(id, SIZE, 1) }, &mut notes);
    }
    // Frame 0 is on the wire, 1 and 2 wait: 3 finds exactly the threshold, 4 finds more.
    assert_eq!(notes.marked, [4, 6]);
    assert_eq!(switch.counters(0, 0, ns(0)).marked_frames, 2);
}

#[test]
fn a_rule_gives_a_frame_its_class_its_queue_and_its_priority_on_the_way_on() {
    let queues = vec![
        queue(Service::Dwrr(500), Limit::Bytes(1 << 19)),
        queue(Service::Dwrr(500), Limit::Bytes(1 << 19)),
    ];
    let policy = PortPolicy { queue_of_class: [0, 0, 0, 0, 0, 1, 0, 0], ..port(queues) };
    let mut switch = switch(1 << 20, vec![policy.clone(), policy], true);
    switch.classify_by(Classifier::new(vec![(Match { ingress: Some(1), ..Match::default() }, 5)]));
    let mut notes = Notebook::default();
    (0..2).for_each(|in_port| {
        switch.handle_frame(ns(0), in_port, &mut frame(in_port as u64, SIZE, 1), &mut notes)
    });
    switch.handle_timeout(ns(10_000), &mut notes);
    assert_eq!([0, 1].map(|queue| switch.counters(0, queue, ns(10_000)).tx_frames), [1, 1]);
    let priorities: Vec<u8> = notes.sent.iter().map(|(_, _, frame)| frame.priority()).collect();
    assert_eq!(priorities, [0, 5]);
}

#[test]
fn counting_anew_changes_what_is_counted_and_nothing_else() {
    let limit = Limit::Bytes(2 * u64::from(SIZE));
    let run = |must_choose: bool, counts_anew: bool| {
        let mut switch = switch(1 << 20, vec![fifo(limit)], must_choose);
        let mut notes = Notebook::default();
        (0..4).for_each(|id| switch.handle_frame(ns(0), 0, &mut frame(id, SIZE, 1), &mut notes));
        switch.handle_timeout(ns(900), &mut notes);
        if counts_anew {
            switch.begin_counting(ns(900));
        }
        (4..7).for_each(|id| switch.handle_frame(ns(900), 0, &mut frame(id, SIZE, 1), &mut notes));
        switch.handle_timeout(ns(10_000), &mut notes);
        let counters = switch.counters(0, 0, ns(10_000));
        (notes.timeline(), counters.drops.of(DropCause::TailDrop).frames, counters.tx_frames)
    };
    let (story, drops, frames) = run(true, false);
    assert_eq!((drops, frames), (3, 4));
    // One frame waits at 900 ns: it is sent and counted after that, also where its departure was
    // decided before.
    assert_eq!(run(true, true), (story.clone(), 2, 2));
    assert_eq!(run(false, true), (story, 2, 2));
}
