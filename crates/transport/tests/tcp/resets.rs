//! Reset segments: which count, what they end, and when one is sent.

use tailrace_transport::tcp::{Close, Failure, SlowStartExit, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

use crate::harness::World;
use crate::pipe::Path;

const DELAY: Span = Span::from_us(50);

fn plain() -> TcpConfig {
    TcpConfig {
        slow_start_exit: SlowStartExit::None,
        delayed_ack: Span::ZERO,
        ..TcpConfig::linux(1448)
    }
}

fn open() -> World {
    let mut world = World::new(&plain(), Path::new(0, DELAY));
    world.open();
    world.run_to_quiet(100);
    world
}

fn reset(seq: u64) -> Packet {
    Packet { seq, flags: Flags::RST, ..Packet::default() }
}

/// Resets that were sent, by side.
fn resets(world: &World) -> [usize; 2] {
    [0, 1].map(|side| {
        world
            .sent()
            .iter()
            .filter(|sent| sent.side == side && sent.packet.flags.contains(Flags::RST))
            .count()
    })
}

#[test]
fn a_reset_with_the_number_that_is_expected_ends_the_connection_at_once() {
    let mut world = open();
    world.write(0, 100_000);
    world.inject(0, &reset(1));
    assert_eq!(
        (world.ends[0].failure(), world.ends[0].closing()),
        (Some(Failure::Reset), Close::Closed)
    );
    assert_eq!(world.ends[0].poll_timeout(), Time::NEVER);
    let sent = world.sent().len();
    world.write(0, 1_000);
    assert_eq!(
        (world.sent().len(), resets(&world)),
        (sent, [0, 0]),
        "a reset is not answered, and nothing more is sent"
    );
}

#[test]
fn a_reset_elsewhere_in_the_window_is_asked_about_and_one_outside_is_nothing() {
    let mut world = open();
    let sent = world.sent().len();
    world.inject(0, &reset(50_000_000));
    assert_eq!(world.sent().len(), sent);
    world.inject(0, &reset(1_000));
    assert_eq!(world.sent().len(), sent + 1);
    world.inject(0, &reset(2_000));
    assert_eq!(world.sent().len(), sent + 1, "no more than two answers in a second");
    let question = world.sent()[sent].packet;
    assert_eq!((question.flags, question.ack, world.ends[0].failure()), (Flags::ACK, 1, None));
}

#[test]
fn a_syn_that_is_reset_is_refused_if_the_reset_acknowledges_it() {
    let mut world = World::new(&plain(), Path::new(0, DELAY));
    world.connect();
    world.inject(0, &reset(0));
    world.inject(0, &Packet { ack: 5, flags: Flags::RST.with(Flags::ACK), ..Packet::default() });
    assert_eq!(world.ends[0].failure(), None);
    world.inject(0, &Packet { ack: 1, flags: Flags::RST.with(Flags::ACK), ..Packet::default() });
    assert_eq!(
        (world.ends[0].failure(), world.ends[0].poll_timeout()),
        (Some(Failure::Refused), Time::NEVER)
    );
}

#[test]
fn a_connection_that_is_not_yet_open_is_reset_too() {
    let mut world = World::new(&plain(), Path::new(0, DELAY));
    world.connect();
    world.run_for(DELAY);
    world.inject(1, &reset(7));
    assert_eq!(world.ends[1].failure(), None);
    world.inject(1, &reset(1));
    assert_eq!(
        (world.ends[1].failure(), world.ends[1].poll_timeout()),
        (Some(Failure::Reset), Time::NEVER)
    );
}

#[test]
fn data_for_an_end_that_is_closed_in_both_directions_reset_the_connection() {
    // The data come after the FIN, or pass it on the way: then the reset has the number of the FIN.
    for wait in [DELAY.times(3), Span::ZERO] {
        let mut world = open();
        world.close(0);
        world.run_for(wait);
        world.write(1, 1_000);
        world.run_for(DELAY.times(3));
        assert_eq!(resets(&world), [1, 0]);
        assert_eq!((world.ends[0].closing(), world.ends[0].failure()), (Close::Closed, None));
        assert_eq!((world.ends[1].failure(), world.readable[0]), (Some(Failure::Reset), 0));
        assert!(!world.step(), "nothing more happens");
    }
}

#[test]
fn data_that_are_sent_again_do_not_reset_a_closed_end() {
    let mut world = open();
    world.write(1, 1_000);
    world.run_to_quiet(10);
    world.close(0);
    world.run_for(DELAY.times(3));
    let again = world.data_from(1).next().expect("data were sent").packet;
    world.inject(0, &again);
    assert_eq!((world.ends[0].closing(), resets(&world)), (Close::FinWait2, [0, 0]));
}

#[test]
fn to_close_with_bytes_that_were_not_read_resets_the_connection() {
    let mut world = open();
    world.leave_unread(0);
    world.write(1, 5_000);
    world.run_to_quiet(100);
    world.read(0, 4_999);
    world.close(0);
    assert_eq!((world.ends[0].closing(), resets(&world)), (Close::Closed, [1, 0]));
    world.run_to_quiet(10);
    assert_eq!(world.ends[1].failure(), Some(Failure::Reset));
}

#[test]
fn a_syn_that_finds_an_earlier_connection_ends_it_and_is_sent_again() {
    let mut world = World::new(&plain(), Path::new(0, DELAY));
    world.connect();
    world.inject(0, &Packet { seq: 700, ack: 500, flags: Flags::ACK, ..Packet::default() });
    let sent = world.sent()[1].packet;
    assert_eq!((sent.flags, sent.seq), (Flags::RST, 500));
    assert_eq!(u32::from(sent.frame_bytes), 14 + 20 + 20, "it has no options");
    world.open_or_fail();
    assert_eq!(world.connected[0], Some(Time::ZERO + DELAY.times(2)), "this one was not dropped");
    let mut world = World::with_fate(&plain(), Path::new(0, DELAY), |side, index, _| {
        if side == 0 && index == 0 { crate::pipe::Fate::Drop } else { crate::pipe::Fate::Deliver }
    });
    world.connect();
    world.inject(0, &Packet { seq: 700, ack: 500, flags: Flags::ACK, ..Packet::default() });
    world.open_or_fail();
    assert_eq!(world.connected[0], Some(Time::ZERO + Span::from_ms(2) + DELAY.times(2)));
}
