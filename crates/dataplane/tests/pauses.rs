//! Timelines of pauses: which frames wait, which do not, and the acts of a watchdog.

mod common;
use common::*;
use tailrace_dataplane::*;
use tailrace_units::{Span, Time};
use tailrace_wire::{Pause, PauseState, QUANTA_MAX};

/// A frame of 976 bytes with its 24 bytes of overhead takes 800 ns at 10 Gbit/s; a pause frame of
/// 60 takes 67.2.
const SIZE: u32 = 976;
const SAN: u8 = 3;
const LAN: u8 = 0;
/// Time of 1 000 quanta of 512 bits.
const PAUSE_NS: u64 = 51_200;

fn ns(n: u64) -> Time {
    Time::ZERO + Span::from_ns(n)
}
fn of(priority: u8, id: u64) -> TestFrame {
    TestFrame { priority, ..frame(id, SIZE, u32::from(priority)) }
}
fn pause(classes: u8, quanta: u16) -> TestFrame {
    TestFrame::new_pause(Pause::new(classes, quanta, false))
}

/// Port 0 leads to destination 0 and obeys pauses of [`SAN`]; two queues of equal weight, one for
/// each priority.
fn obedient(watchdog: Option<Watchdog>) -> PortPolicy {
    let queues = vec![
        queue(Service::Dwrr(500), Limit::Bytes(1 << 30)),
        queue(Service::Dwrr(500), Limit::Bytes(1 << 30)),
    ];
    let pause = Some(PauseState::new(1 << SAN, true, Span::ZERO));
    PortPolicy { queue_of_class: [0, 0, 0, 1, 0, 0, 0, 0], pause, watchdog, ..port(queues) }
}

/// A weight so small that a frame takes seven turns, 89 us, and pauses more often than that: the
/// queue keeps its savings, and has its share of the turns in which it could take part.
#[test]
fn pauses_do_not_take_what_a_queue_has_saved() {
    let mut policy = obedient(None);
    (policy.queues[0].service, policy.queues[1].service) = (Service::Dwrr(990), Service::Dwrr(10));
    let mut switch = switch(1 << 40, vec![policy], true);
    let mut notes = Notebook::default();
    for n in 0..25_000 {
        switch.handle_frame(ns(0), 0, &mut of(LAN, n), &mut notes);
        switch.handle_frame(ns(0), 0, &mut of(SAN, n), &mut notes);
    }
    // Every 50 us a pause of 10.24 us.
    (0..400).for_each(|n| {
        switch.handle_frame(ns(50_000 * n), 0, &mut pause(1 << SAN, 200), &mut notes)
    });
    switch.handle_timeout(ns(20_000_000), &mut notes);
    let (san, all) =
        (notes.sent.iter().filter(|(_, _, sent)| sent.priority == SAN).count(), notes.sent.len());
    // 1 % of the 79.5 % of 25 000 frames that are sent outside of pauses: 199.
    assert!((190..=200).contains(&san) && (25_000..=25_001).contains(&all), "{san} of {all}");
}

/// Frames and pauses sent by a port, in order: nanoseconds and frame, or the quanta of a pause for
/// [`SAN`].
fn story(notes: &Notebook, port: PortNo) -> Vec<(u64, String)> {
    let mut sent: Vec<_> = notes.sent.iter().filter(|sent| sent.1 == port).collect();
    sent.sort_by_key(|sent| sent.0);
    let describe = |pause: Pause| {
        let kind = if pause.is_link_pause { "link" } else { "priorities" };
        format!("{kind} {:#04x}: {}", pause.classes, pause.quanta[usize::from(SAN)])
    };
    sent.iter()
        .map(|(at, _, frame)| {
            (at / 1_000, frame.pause.map_or_else(|| format!("frame {}", frame.id), describe))
        })
        .collect()
}
fn owned(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
    lines.iter().map(|&(at, what)| (at, what.to_owned())).collect()
}

#[test]
fn a_resume_is_noticed_at_once() {
    let mut switch = switch(1 << 20, vec![obedient(None)], true);
    let mut notes = Notebook::default();
    switch.handle_frame(ns(0), 0, &mut pause(1 << SAN, 1_000), &mut notes);
    switch.handle_frame(ns(100), 0, &mut of(SAN, 1), &mut notes);
    switch.handle_timeout(ns(5_000), &mut notes);
    assert_eq!(switch.poll_timeout(), ns(PAUSE_NS));
    switch.handle_frame(ns(9_000), 0, &mut pause(1 << SAN, 0), &mut notes);
    assert_eq!(story(&notes, 0), owned(&[(9_000, "frame 1")]));
}

/// Frames that wait behind a pause of their own must not hold back a newcomer of another priority:
/// it goes when the line is free, here at the end of the pause frame that the port itself is
/// sending.
#[test]
fn a_newcomer_goes_after_the_pause_frame_on_the_wire_and_not_after_the_pause() {
    let lossless = Some(Lossless { xon_offset_bytes: 0, headroom_bytes: 100_000 });
    let limit = Limit::Bytes(0);
    let groups = vec![
        GroupPolicy { priorities: 1 << SAN, reserved_bytes: 0, limit, lossless },
        GroupPolicy {
            priorities: !(1 << SAN),
            reserved_bytes: 0,
            limit: Limit::Bytes(1 << 20),
            lossless: None,
        },
    ];
    let mut switch = switch(1 << 21, vec![obedient(None), obedient(None)], true);
    switch.account_ingress(vec![(groups, PausePolicy::default()); 2]);
    let mut notes = Notebook::default();
    // Both neighbours have paused this priority; a frame of it waits at port 0, and another at port
    // 1, from port 0.
    switch.handle_frame(ns(0), 0, &mut pause(1 << SAN, QUANTA_MAX), &mut notes);
    switch.handle_frame(ns(0), 1, &mut pause(1 << SAN, QUANTA_MAX), &mut notes);
    switch.handle_frame(ns(100), 1, &mut of(SAN, 1), &mut notes);
    switch.handle_frame(ns(1_000), 0, &mut TestFrame { destination: 1, ..of(SAN, 2) }, &mut notes);
    // Its group is above XOFF at once: port 0 pauses its neighbour from 1 000 to 1 067.2 ns.
    // Meanwhile a frame comes.
    switch.handle_frame(ns(1_020), 1, &mut of(LAN, 3), &mut notes);
    switch.handle_timeout(ns(10_000), &mut notes);
    let expected = owned(&[(1_000, "priorities 0x08: 65535"), (1_067, "frame 3")]);
    assert_eq!(story(&notes, 0), expected);
}

/// A lossless group of port 1 holds nothing, so its first frame that waits orders a pause there.
/// Port 1 is busy.
fn pausing(policy: PausePolicy) -> Notebook {
    let lossless = Some(Lossless { xon_offset_bytes: 0, headroom_bytes: 100_000 });
    let limit = Limit::Bytes(0);
    let mut switch =
        switch(1 << 21, vec![fifo(Limit::Bytes(1 << 20)), fifo(Limit::Bytes(1 << 20))], true);
    let groups = vec![GroupPolicy { priorities: u8::MAX, reserved_bytes: 0, limit, lossless }];
    let open = vec![GroupPolicy {
        priorities: u8::MAX,
        reserved_bytes: 0,
        limit: Limit::Bytes(1 << 20),
        lossless: None,
    }];
    switch.account_ingress(vec![(open, policy), (groups, policy)]);
    let mut notes = Notebook::default();
    (10..14).for_each(|id| {
        switch.handle_frame(ns(0), 0, &mut TestFrame { destination: 1, ..of(LAN, id) }, &mut notes)
    });
    // 0 is sent at once, 1 and 2 wait
    (0..3).for_each(|id| switch.handle_frame(ns(100), 1, &mut of(SAN, id), &mut notes));
    switch.handle_timeout(ns(20_000), &mut notes);
    notes
}

#[test]
fn pause_frames_go_before_what_waits_and_after_what_is_on_the_wire() {
    let notes = pausing(PausePolicy::default());
    let expected = owned(&[
        (0, "frame 10"),
        (800, "priorities 0xff: 65535"),
        (867, "frame 11"),
        (1_667, "frame 12"),
        // Frame 2 has left port 0 at 1 700 ns.
        (2_467, "priorities 0xff: 0"),
        (2_534, "frame 13"),
    ]);
    assert_eq!(story(&notes, 1), expected);
}

#[test]
fn ports_of_802_3x_send_pauses_of_the_link_and_renew_them_as_such() {
    let sent: Vec<String> = story(&pausing(PausePolicy { is_link_pause: true, quanta: 20 }), 1)
        .into_iter()
        .map(|(_, what)| what)
        .filter(|what| !what.starts_with("frame"))
        .collect();
    // Renewed when the time of 2 * 8 * 84 bytes has passed since the order, 20 quanta being
    // shorter.
    assert_eq!(sent, ["link 0xff: 20", "link 0xff: 20", "link 0xff: 0"]);
}

/// The first pause has no effect until its response time is over; later frames wait.
#[test]
fn a_frame_is_not_sent_at_a_time_before_it_has_come() {
    let pause_state = PauseState::new(1 << SAN, true, Span::from_us(1));
    let mut switch =
        switch(1 << 20, vec![PortPolicy { pause: Some(pause_state), ..obedient(None) }], true);
    let mut notes = Notebook::default();
    switch.handle_frame(ns(0), 0, &mut pause(1 << SAN, 1_000), &mut notes);
    switch.handle_frame(ns(5_000), 0, &mut of(SAN, 1), &mut notes);
    switch.handle_timeout(ns(100_000), &mut notes);
    assert_eq!(story(&notes, 0), owned(&[(PAUSE_NS, "frame 1")]));
}

const WATCHDOG: Watchdog =
    Watchdog { detection: Span::from_us(20), restoration: Span::from_us(10) };

/// A pause at 0 for 51.2 us; frames of the paused priority at these times.
fn watched(frames_at_ns: &[u64]) -> (Switch<TestFrame>, Notebook) {
    let mut switch = switch(1 << 20, vec![obedient(Some(WATCHDOG))], true);
    let mut notes = Notebook::default();
    switch.handle_frame(ns(0), 0, &mut pause(1 << SAN, 1_000), &mut notes);
    for (id, &at) in frames_at_ns.iter().enumerate() {
        switch.handle_frame(ns(at), 0, &mut of(SAN, id as u64), &mut notes);
    }
    (switch, notes)
}
fn dropped(notes: &Notebook) -> Vec<(u64, u64)> {
    assert!(notes.dropped.iter().all(|drop| drop.3 == DropCause::Watchdog));
    notes.dropped.iter().map(|&(at, _, id, _)| (at / 1_000, id)).collect()
}

#[test]
fn a_watchdog_waits_for_its_detection_time_and_then_flushes() {
    let (mut switch, mut notes) = watched(&[1_000, 2_000]);
    assert_eq!(
        switch.poll_timeout(),
        ns(20_000),
        "it asks to be called, although everything is paused"
    );
    switch.handle_timeout(ns(19_999), &mut notes);
    assert_eq!((switch.storms(0), dropped(&notes)), ((0, 0), vec![]));
    switch.handle_timeout(ns(20_000), &mut notes);
    assert_eq!((switch.storms(0), dropped(&notes)), ((1, 0), vec![(20_000, 0), (20_000, 1)]));
    assert_eq!(switch.buffer().free_bytes(), 1 << 20);
    assert_eq!(notes.sent, []);
}

#[test]
fn a_storm_drops_what_arrives_until_the_restoration_time_has_passed_without_a_pause() {
    // The pause ends at 51 200 ns; 10 000 later the queue works again.
    let (switch, notes) = watched(&[1_000, 30_000, 52_000, 61_199, 61_200]);
    assert_eq!(dropped(&notes), [(20_000, 0), (30_000, 1), (52_000, 2), (61_199, 3)]);
    assert_eq!(story(&notes, 0), owned(&[(61_200, "frame 4")]));
    assert_eq!(switch.storms(0), (1, 1));
}

#[test]
fn a_pause_shorter_than_the_detection_time_is_no_storm() {
    let mut switch = switch(1 << 20, vec![obedient(Some(WATCHDOG))], true);
    let mut notes = Notebook::default();
    for round in 0..5 {
        switch.handle_frame(ns(round * 20_000), 0, &mut pause(1 << SAN, 300), &mut notes); // 15.36 us
        switch.handle_frame(ns(round * 20_000 + 1), 0, &mut of(SAN, round), &mut notes);
    }
    switch.handle_timeout(ns(200_000), &mut notes);
    assert_eq!((switch.storms(0), dropped(&notes), notes.sent.len()), ((0, 0), vec![], 5));
}

/// A lossy group may take its share of the bytes that no group has set aside, and no more.
#[test]
fn reserves_and_headroom_are_kept_free_for_their_groups() {
    let lossless = Some(Lossless { xon_offset_bytes: 0, headroom_bytes: 20_000 });
    let limit = Limit::Bytes(1 << 20);
    let groups = vec![
        GroupPolicy {
            priorities: 1 << SAN,
            reserved_bytes: 10_000,
            limit: Limit::Bytes(0),
            lossless,
        },
        GroupPolicy { priorities: !(1 << SAN), reserved_bytes: 0, limit, lossless: None },
    ];
    let mut switch =
        switch(100_000, vec![fifo(Limit::Bytes(1 << 20)), fifo(Limit::Bytes(1 << 20))], true);
    switch.account_ingress(vec![(groups, PausePolicy::default()); 2]);
    let mut notes = Notebook::default();
    (0..80).for_each(|id| switch.handle_frame(ns(0), 1, &mut frame(id, 1_000, 0), &mut notes));
    // One on the wire; 100 000 bytes less twice 30 000 are shared.
    assert_eq!(notes.dropped.len(), 39);
    assert!(notes.dropped.iter().all(|drop| drop.3 == DropCause::IngressFull));
    // Both lossless groups have their reserved bytes.
    for port in [0, 1] {
        (0..30).for_each(|id| {
            switch.handle_frame(
                ns(0),
                port,
                &mut TestFrame { priority: SAN, ..frame(100 + id, 1_000, 3) },
                &mut notes,
            )
        });
    }
    assert_eq!(notes.dropped.len(), 39);
}
