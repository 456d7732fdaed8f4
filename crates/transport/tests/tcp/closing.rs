//! Closing a connection: both orders, both at once, with data outstanding, and with segments that
//! are lost.

use tailrace_transport::tcp::{Close, SlowStartExit, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

use crate::harness::World;
use crate::pipe::{Fate, Path, losing};

const DELAY: Span = Span::from_us(50);

fn plain() -> TcpConfig {
    TcpConfig {
        slow_start_exit: SlowStartExit::None,
        delayed_ack: Span::ZERO,
        ..TcpConfig::linux(1448)
    }
}

fn open(fate: impl FnMut(usize, u64, &Packet) -> Fate + 'static) -> World {
    let mut world = World::with_fate(&plain(), Path::new(0, DELAY), fate);
    world.open();
    world.run_to_quiet(100);
    world
}

fn closing(world: &World) -> [Close; 2] {
    [world.ends[0].closing(), world.ends[1].closing()]
}

/// Frames that carry a FIN, by side.
fn fins(world: &World) -> [usize; 2] {
    [0, 1].map(|side| {
        world
            .sent()
            .iter()
            .filter(|sent| sent.side == side && sent.packet.flags.contains(Flags::FIN))
            .count()
    })
}

#[test]
fn the_end_that_closes_first_waits_for_late_segments_and_the_other_does_not() {
    let mut world = open(|_, _, _| Fate::Deliver);
    let start = world.now;
    world.shut_down(0);
    world.run_for(DELAY.times(3));
    assert_eq!(closing(&world), [Close::FinWait2, Close::CloseWait]);
    let answer = world.now;
    world.shut_down(1);
    world.run_for(DELAY.times(3));
    assert_eq!(closing(&world), [Close::TimeWait, Close::Closed]);
    assert_eq!(world.ended, [Some(answer + DELAY), Some(start + DELAY)]);
    world.run_for(Span::from_secs(1));
    assert_eq!(closing(&world), [Close::Closed, Close::Closed]);
    assert!(!world.step(), "nothing more happens");
    assert_eq!(fins(&world), [1, 1]);
}

#[test]
fn acknowledgements_behind_a_fin_have_the_number_behind_it_so_that_four_frames_close_a_connection()
{
    let mut world = open(|_, _, _| Fate::Deliver);
    let before = world.sent().len();
    world.shut_down(0);
    world.run_for(DELAY.times(3));
    world.shut_down(1);
    world.run_for(DELAY.times(9));
    let frames: Vec<(usize, bool, u64, u64)> = world.sent()[before..]
        .iter()
        .map(|sent| {
            (sent.side, sent.packet.flags.contains(Flags::FIN), sent.packet.seq, sent.packet.ack)
        })
        .collect();
    assert_eq!(frames, [(0, true, 1, 1), (1, false, 1, 2), (1, true, 1, 2), (0, false, 2, 2)]);
}

#[test]
fn a_closed_end_sends_what_was_written_before_and_its_fin_comes_last() {
    let mut world = open(|_, _, _| Fate::Deliver);
    world.write(0, 100_000);
    world.shut_down(0);
    assert_eq!(fins(&world), [0, 0], "the window holds data back, and FIN comes behind them");
    world.run_for(Span::from_ms(10));
    assert_eq!((world.readable[1], world.acked[0]), (100_000, 100_000));
    assert_eq!(world.ends[1].received(), 100_000, "FIN is no byte");
    assert_eq!(closing(&world), [Close::FinWait2, Close::CloseWait]);
    assert_eq!(
        world
            .data_from(0)
            .last()
            .map(|sent| sent.packet.seq + u64::from(sent.packet.payload_bytes)),
        Some(100_001)
    );
}

#[test]
fn a_half_closed_connection_carries_data_the_other_way() {
    let mut world = open(|_, _, _| Fate::Deliver);
    world.shut_down(0);
    world.run_for(Span::from_ms(1));
    world.write(1, 50_000);
    world.run_for(Span::from_ms(10));
    assert_eq!((world.readable[0], world.acked[1]), (50_000, 50_000));
    assert_eq!(closing(&world), [Close::FinWait2, Close::CloseWait]);
    world.shut_down(1);
    world.run_to_quiet(100);
    assert_eq!(closing(&world), [Close::Closed, Close::Closed]);
}

#[test]
fn ends_that_close_at_once_both_wait() {
    let mut world = open(|_, _, _| Fate::Deliver);
    (0..2).for_each(|side| world.shut_down(side));
    world.run_for(DELAY);
    assert_eq!(closing(&world), [Close::Closing, Close::Closing]);
    world.run_for(DELAY.times(2));
    assert_eq!(closing(&world), [Close::TimeWait, Close::TimeWait]);
    world.run_to_quiet(100);
    assert_eq!(closing(&world), [Close::Closed, Close::Closed]);
}

/// Loses the first so many FINs of the opener.
fn losing_fins(count: u32) -> impl FnMut(usize, u64, &Packet) -> Fate {
    let mut left = count;
    move |side, _, packet| {
        let is_lost = side == 0 && packet.flags.contains(Flags::FIN) && left > 0;
        left -= u32::from(is_lost);
        if is_lost { Fate::Drop } else { Fate::Deliver }
    }
}

#[test]
fn a_lost_fin_is_sent_again_after_the_timeout_and_then_after_twice_that() {
    let mut world = open(losing_fins(2));
    let timeout = world.ends[0].retransmission_timeout();
    let start = world.now;
    world.shut_down(0);
    world.run_for(Span::from_secs(1));
    assert_eq!(world.ended[1], Some(start + timeout + timeout.times(2) + DELAY));
    assert_eq!((closing(&world)[0], fins(&world)[0]), (Close::FinWait2, 3));
}

#[test]
fn a_fin_that_overtakes_data_waits_for_them() {
    let mut is_first = true;
    let mut world = open(move |side, _, packet| {
        let is_late = side == 0 && packet.payload_bytes > 0 && std::mem::take(&mut is_first);
        if is_late { Fate::Late(Span::from_ms(1)) } else { Fate::Deliver }
    });
    let start = world.now;
    world.write(0, 1_000);
    world.shut_down(0);
    world.run_for(DELAY.times(3));
    assert_eq!((world.readable[1], world.ended[1], closing(&world)[1]), (0, None, Close::Open));
    world.run_for(Span::from_ms(1));
    assert_eq!(
        (world.readable[1], world.ended[1]),
        (1_000, Some(start + DELAY + Span::from_ms(1)))
    );
    assert_eq!(closing(&world), [Close::FinWait2, Close::CloseWait]);
}

#[test]
fn data_that_are_lost_are_repaired_although_the_end_was_closed() {
    let mut world = open(losing([1 + 3 * 1448]));
    world.write(0, 14_480);
    world.shut_down(0);
    world.run_for(Span::from_secs(2));
    assert_eq!((world.readable[1], closing(&world)[1]), (14_480, Close::CloseWait));
    assert_eq!(world.ends[0].stats().retransmits, 1);
}

#[test]
fn a_repeated_fin_is_acknowledged_again() {
    // The acknowledgement of the FIN is lost: it is the second of the peer's segments, behind the
    // answer to the opening.
    let mut world =
        open(|side, index, _| if side == 1 && index == 1 { Fate::Drop } else { Fate::Deliver });
    world.shut_down(0);
    world.run_for(Span::from_secs(1));
    assert_eq!((closing(&world), fins(&world)[0]), ([Close::FinWait2, Close::CloseWait], 2));
}

#[test]
fn an_end_that_closes_before_its_connection_is_open_is_closed_at_once() {
    let mut world = World::new(&plain(), Path::new(0, DELAY));
    world.shut_down(0);
    assert_eq!((closing(&world)[0], world.sent().len()), (Close::Closed, 0));
    world.connect();
    assert_eq!(world.sent().len(), 0, "a closed end does not connect");
    let mut world = World::new(&plain(), Path::new(0, DELAY));
    world.connect();
    world.shut_down(0);
    assert_eq!((closing(&world)[0], world.ends[0].poll_timeout()), (Close::Closed, Time::NEVER));
}
