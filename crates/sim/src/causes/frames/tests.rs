//! Kept and forgotten frames among many.

use super::super::loss::DroppedBy;
use super::*;

const PS: fn(u64) -> Time = Time::from_ps;

/// This many frames, each delivered 10 after it was handed over, and with a hop; one is not
/// delivered.
fn frames(count: u64, under_way: u64) -> Frames {
    let mut frames = Frames::default();
    for at in 0..count {
        let delivered = if at == under_way { Time::NEVER } else { PS(at + 10) };
        let id = frames.add(Frame { delivered, ..Frame::new(PS(at), Packet::default(), None) });
        frames.add_hop(
            id,
            Hop {
                before: 0,
                wire: 7,
                class: 0,
                start: PS(at),
                end: PS(at + 1),
                arrival: PS(at + 2),
            },
        );
        frames.pack_old();
    }
    frames
}

#[test]
fn frames_that_were_over_are_forgotten_with_their_hops_and_the_others_keep_theirs() {
    let count = 3 * FRAMES_MIN;
    let mut frames = frames(count, u64::MAX);
    let by = PS(count / 2);
    frames.forget(by);
    let first = frames.first();
    assert!(first > count / 2 - 2 * PIECE as u64 && first < count / 2, "{first} of {count}");
    assert!(frames.was_over(first - 1, by) && !frames.was_over(first, by));
    assert!(
        !frames.was_over(first - 1, PS(count / 2 - 1)),
        "for what began earlier it is not known"
    );
    for id in [first, count - 1] {
        let mut hops = Vec::new();
        let record = frames.read_with_hops(id, &mut hops).expect("it is kept");
        assert_eq!((record.handed, hops.len(), hops[0].start), (PS(id), 1, PS(id)));
    }
    let loose = count - (LOOSE_PIECES * PIECE) as u64 - PIECE as u64;
    assert_eq!(
        (frames.frames.first(), frames.hops.first()),
        (loose, loose),
        "the latest are not packed: one hop each"
    );
}

#[test]
fn a_frame_under_way_keeps_those_behind_it_and_some_are_always_kept() {
    let mut frames = frames(3 * FRAMES_MIN, 5 * PIECE as u64 + 3);
    frames.forget(Time::NEVER);
    assert_eq!(frames.first(), 5 * PIECE as u64);
    frames.get_mut(5 * PIECE as u64 + 3).expect("it is kept").lost =
        Some(Loss { at: PS(9), wire: 1, by: DroppedBy::Interface });
    frames.forget(Time::NEVER);
    assert_eq!(frames.next() - frames.first(), FRAMES_MIN);
    assert_eq!(
        frames.loss_of(5 * PIECE as u64 + 3).map(|lost| lost.wire),
        Some(1),
        "its repetition asks for it"
    );
}

#[test]
fn what_is_under_way_when_others_are_packed_goes_on() {
    let mut frames = frames(5 * PIECE as u64, 3);
    assert!(frames.get(2).is_none() && frames.read(2).is_some(), "it is packed");
    frames.add_hop(
        3,
        Hop { before: 0, wire: 8, class: 1, start: PS(50), end: PS(51), arrival: PS(52) },
    );
    frames.get_mut(3).expect("it is kept whole").delivered = PS(60);
    let mut hops = Vec::new();
    let record = frames.read_with_hops(3, &mut hops).expect("it is kept");
    assert_eq!((record.delivered, record.is_whole), (PS(60), true));
    assert_eq!(
        (hops.iter().map(|hop| hop.wire).collect::<Vec<_>>(), frames.last_wire(3)),
        (vec![8, 7], Some(8))
    );
    frames.keeps_packets = true;
    let first = frames.frames.first();
    (0..4 * PIECE)
        .for_each(|_| assert!(frames.add(Frame::new(PS(9), Packet::default(), None)) > first));
    frames.pack_old();
    assert_eq!(frames.frames.first(), first, "no more are packed");
    frames.keeps_packets = false;
    frames.add(Frame::new(PS(9), Packet::default(), None));
    assert_eq!(frames.frames.first(), first, "nor within an event");
    frames.pack_old();
    assert!(frames.frames.first() > first);
}

#[test]
fn what_found_no_room_is_not_taken_for_over() {
    let mut frames = frames(FRAMES_MAX as u64 + 2 * PIECE as u64, 3);
    frames.forget(PS(100));
    assert_eq!(frames.first(), 2 * PIECE as u64);
    assert!(!frames.was_over(5, Time::NEVER));
    frames.forget(Time::NEVER);
    assert_eq!(frames.next() - frames.first(), FRAMES_MIN);
}

#[test]
fn the_loss_of_a_fragment_is_that_of_its_datagram_also_when_both_are_forgotten() {
    let lost = Loss { at: PS(9), wire: 1, by: DroppedBy::Interface };
    let mut frames = Frames::default();
    for id in 0..3 * FRAMES_MIN {
        let of = if (5..8).contains(&id) { 5 } else { NOT_KEPT };
        let frame = Frame { of, delivered: PS(20), ..Frame::new(PS(10), Packet::default(), None) };
        frames.add(Frame { lost: (id == 7).then_some(lost), ..frame });
        frames.pack_old();
    }
    assert_eq!(frames.loss_of(5), Some(lost));
    frames.forget(Time::NEVER);
    assert!(frames.get(7).is_none());
    assert_eq!(frames.loss_of(5), Some(lost));
}
