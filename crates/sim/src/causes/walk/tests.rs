//! Paths of frames by hand, with known stamps.

use super::super::cached_path::CachedPath;
use super::super::frames::{Frame, Prior};
use super::super::loss::{DroppedBy, Loss};
use super::super::pauses::Pausable;
use super::super::wires::Node;
use super::*;
use tailrace_units::BitRate;
use tailrace_wire::{PRIORITIES, Packet, Pause, PauseState};

const PS: fn(u64) -> Time = Time::from_ps;

/// A frame that passes one switch: handed, then start, end and arrival on both wires, then
/// delivered.
fn add(frames: &mut Frames, prior: Option<Prior>, stamps: [u64; 8]) -> FrameId {
    let [handed, start, end, arrival, next_start, next_end, next_arrival, delivered] =
        stamps.map(PS);
    let id = frames.add(Frame { delivered, ..Frame::new(handed, Packet::default(), prior) });
    frames.add_hop(id, Hop { before: 0, wire: 0, class: 0, start, end, arrival });
    frames.add_hop(
        id,
        Hop {
            before: 0,
            wire: 1,
            class: 0,
            start: next_start,
            end: next_end,
            arrival: next_arrival,
        },
    );
    id
}

fn after(frame: FrameId, entry: Entry, part: Part) -> Option<Prior> {
    Some(Prior { frame, entry, part, core_wait: Span::ZERO, waited: Span::ZERO, opens: None })
}

/// Explains an operation of this duration that was complete when this frame was delivered.
fn explained(
    (frames, wires): (&Frames, &Wires),
    (start, end): (u64, u64),
    frame: FrameId,
) -> Explanation {
    let last = Last::Frame { at: PS(end), frame, core_wait: Span::ZERO, work: Part::ClientWork };
    Walk::explain((frames, wires, false), None, (0, 0), (PS(start), PS(end)), (last, Part::Start))
}

fn parts(explanation: &Explanation) -> Vec<(Part, u64)> {
    let all = Part::ALL.iter().map(|&part| (part, explanation.parts.of(part).ps()));
    all.filter(|part| part.1 > 0).collect()
}

#[test]
fn every_stamp_divides_the_way_of_a_request_and_its_response() {
    let mut frames = Frames::default();
    let mut wires = Wires::new(&[Node::Switch(0), Node::Host(0), Node::Host(1), Node::Switch(0)]);
    let request = add(&mut frames, None, [10, 11, 21, 24, 29, 39, 42, 47]);
    let prior = after(request, Entry::Delivered, Part::ServerWork);
    let response = add(&mut frames, prior, [147, 150, 170, 174, 204, 224, 228, 236]);
    wires.push(1, (PS(160), PS(204), PS(207)), 9, 5);
    let found = Walk::explain(
        (&frames, &wires, false),
        None,
        (3, 4),
        (PS(7), PS(240)),
        (
            Last::Frame {
                at: PS(236),
                frame: response,
                core_wait: Span::ZERO,
                work: Part::ClientWork,
            },
            Part::Start,
        ),
    );
    let expected = [
        (Part::Start, 3),
        (Part::ClientWork, 4),
        (Part::ServerWork, 100),
        (Part::InterfaceQueue, 1 + 3),
        (Part::SwitchQueue, 5 + 30),
        (Part::Serialisation, 10 + 10 + 20 + 20),
        (Part::Propagation, 3 + 3 + 4 + 4),
        (Part::Receive, 5 + 8),
    ];
    assert_eq!(parts(&found), expected);
    assert_eq!(
        found.behind,
        BTreeMap::from([((Part::SwitchQueue, 5), Span::from_ps(30))]),
        "it stood behind workload 5"
    );
}

#[test]
fn what_is_sent_while_a_class_is_paused_is_not_what_its_frames_stand_behind() {
    let (mut frames, mut wires) =
        (Frames::default(), Wires::new(&[Node::Switch(0), Node::Host(0)]));
    let pace = BitRate::from_bps(512_000_000_000).expect("a quantum takes 1 ns").pace(0);
    wires.put_pausable(1, Pausable::new(PauseState::new(1, false, Span::ZERO), pace));
    let pause = Pause { classes: 1, quanta: [50; PRIORITIES], is_link_pause: false };
    wires.pausable_mut(1).expect("it obeys").note(PS(40_000), &pause);
    for (start, end, workload) in [(30_000, 40_000, 4), (50_000, 80_000, 5), (90_000, 120_000, 6)] {
        wires.push(1, (PS(start), PS(end), PS(end)), 9, workload);
    }
    let only = add(&mut frames, None, [0, 0, 10_000, 30_000, 120_000, 130_000, 131_000, 131_000]);
    let last =
        Last::Frame { at: PS(131_000), frame: only, core_wait: Span::ZERO, work: Part::ClientWork };
    let found = Walk::explain(
        (&frames, &wires, false),
        None,
        (0, 0),
        (PS(0), PS(131_000)),
        (last, Part::Start),
    );
    assert_eq!(
        (found.parts.of(Part::Paused).ps(), found.parts.of(Part::SwitchQueue).ps()),
        (50_000, 40_000)
    );
    assert_eq!(
        found.behind,
        BTreeMap::from([
            ((Part::SwitchQueue, 4), Span::from_ps(10_000)),
            ((Part::SwitchQueue, 6), Span::from_ps(30_000))
        ])
    );
}

#[test]
fn a_repetition_is_waited_for_since_the_first_copy_was_handed_over() {
    let mut frames = Frames::default();
    let wires = Wires::new(&[]);
    let lost = frames.add(Frame {
        lost: Some(Loss { at: PS(110), wire: 6, by: DroppedBy::Interface }),
        ..Frame::new(PS(100), Packet::default(), None)
    });
    let again = add(
        &mut frames,
        after(lost, Entry::Handed, Part::Timeout),
        [300, 300, 310, 311, 311, 321, 322, 322],
    );
    frames.get_mut(again).expect("it is kept").repeats = Some(lost);
    let found = explained((&frames, &wires), (90, 322), again);
    assert_eq!(
        parts(&found),
        [
            (Part::Start, 10),
            (Part::Serialisation, 20),
            (Part::Propagation, 2),
            (Part::Timeout, 200)
        ]
    );
    assert_eq!(found.losses, [Loss { at: PS(110), wire: 6, by: DroppedBy::Interface }]);
}

#[test]
fn a_round_trip_for_a_window_is_counted_until_what_the_program_wrote() {
    let mut frames = Frames::default();
    let wires = Wires::new(&[]);
    let request = add(&mut frames, None, [0, 0, 1, 2, 2, 3, 4, 4]);
    let data = add(
        &mut frames,
        after(request, Entry::Delivered, Part::ServerWork),
        [10, 10, 11, 12, 12, 13, 14, 14],
    );
    let ack = add(
        &mut frames,
        after(data, Entry::Delivered, Part::DelayedAck),
        [54, 54, 55, 56, 56, 57, 58, 58],
    );
    let released = Prior {
        frame: ack,
        entry: Entry::Delivered,
        part: Part::SenderHold,
        core_wait: Span::ZERO,
        waited: Span::ZERO,
        opens: Some(Window::Congestion),
    };
    let rest = add(&mut frames, Some(released), [58, 58, 59, 60, 60, 61, 62, 62]);
    let found = explained((&frames, &wires), (0, 62), rest);
    assert_eq!(
        parts(&found),
        [
            (Part::ServerWork, 6),
            (Part::Serialisation, 8),
            (Part::Propagation, 8),
            (Part::DelayedAck, 40)
        ]
    );
    assert_eq!(
        (found.windowed.ps(), found.window_rounds),
        (48, 1),
        "from the write at 10 to the release at 58"
    );
}

#[test]
fn a_round_trip_for_a_window_does_not_take_what_was_before_the_first_frame() {
    let mut frames = Frames::default();
    let wires = Wires::new(&[]);
    // The connection is opened at 50, after an attempt that was given up.
    let syn = add(&mut frames, None, [50, 50, 51, 52, 52, 53, 54, 54]);
    let answer = add(
        &mut frames,
        after(syn, Entry::Delivered, Part::DelayedAck),
        [54, 54, 55, 56, 56, 57, 58, 58],
    );
    let opens = Some(Window::Congestion);
    let prior =
        Prior { opens, ..after(answer, Entry::Delivered, Part::SenderHold).expect("it follows") };
    let rest = add(&mut frames, Some(prior), [58, 58, 59, 60, 60, 61, 62, 62]);
    let found = explained((&frames, &wires), (0, 62), rest);
    assert_eq!(parts(&found)[0], (Part::Start, 50));
    assert_eq!(
        (found.windowed.ps(), found.window_rounds),
        (8, 1),
        "from the opening at 50 to the release at 58"
    );
}

#[test]
fn what_was_forgotten_is_unknown() {
    let mut frames = Frames::default();
    let wires = Wires::new(&[]);
    let prior = after(99, Entry::Delivered, Part::ServerWork);
    let only = add(&mut frames, prior, [50, 50, 51, 52, 52, 53, 54, 54]);
    let found = explained((&frames, &wires), (0, 54), only);
    assert_eq!(
        parts(&found),
        [(Part::Serialisation, 2), (Part::Propagation, 2), (Part::Unknown, 50)]
    );
}

/// A user's three transactions without a pause, of which each begins at the last one's end and the
/// later ones were meant to start early.
#[test]
fn the_way_through_earlier_transactions_is_known_though_their_frames_are_forgotten() {
    let wires = Wires::new(&[]);
    let (mut frames, mut cached, mut prior) = (Frames::default(), CachedPath::default(), None);
    let mut found = Vec::new();
    for (at, start) in [(0, 0), (100, 3), (200, 3), (300, 150)] {
        let request =
            add(&mut frames, prior, [at, at, at + 1, at + 2, at + 2, at + 3, at + 4, at + 4]);
        let served = after(request, Entry::Delivered, Part::ServerWork);
        let answer = add(
            &mut frames,
            served,
            [at + 84, at + 84, at + 85, at + 90, at + 90, at + 91, at + 92, at + 94],
        );
        let last = Last::Frame {
            at: PS(at + 94),
            frame: answer,
            core_wait: Span::ZERO,
            work: Part::ClientWork,
        };
        let record = (&frames, &wires, false);
        found.push(Walk::explain(
            record,
            Some(&mut cached),
            (0, 0),
            (PS(start), PS(at + 97)),
            (last, Part::Start),
        ));
        prior = after(answer, Entry::Delivered, Part::ClientWork);
        // All frames but the answer, the latest.
        let mut others = Frames::default();
        for id in 0..=answer {
            let empty = Frame::new(PS(0), Packet::default(), None);
            others.add(if id == answer { *frames.get(id).expect("it was added") } else { empty });
        }
        frames = others;
    }
    let work = |one: &Explanation| {
        [Part::ClientWork, Part::ServerWork, Part::Receive].map(|part| one.parts.of(part).ps())
    };
    assert_eq!(work(&found[0]), [3, 80, 2]);
    assert_eq!(work(&found[1]), [3 + 6, 2 * 80, 2 * 2]);
    assert_eq!(work(&found[2]), [3 + 2 * 6, 3 * 80, 3 * 2]);
    assert_eq!(
        work(&found[3]),
        [3 + 6 + 6, 2 * 80, 3 * 2],
        "what the second server did when it was meant to start is the user's wait"
    );
    assert_eq!(found[3].parts.of(Part::Start), Span::from_ps(34));
}
