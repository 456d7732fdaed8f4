//! A peer that does not answer: how long an end goes on.

use tailrace_transport::tcp::{Buffer, Close, Failure, SlowStartExit, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

use crate::harness::World;
use crate::pipe::{Fate, Path};
use std::cell::Cell;
use std::rc::Rc;

const DELAY: Span = Span::from_us(50);
/// Of the timeout: the smoothed round trip is added to the smallest one.
const ROUND_TRIP: Span = Span::from_us(100);

fn plain() -> TcpConfig {
    TcpConfig {
        slow_start_exit: SlowStartExit::None,
        delayed_ack: Span::ZERO,
        tail_loss_probe: false,
        ..TcpConfig::linux(1448)
    }
}

/// An open connection, of which one direction or both can be cut.
fn open(config: &TcpConfig) -> (World, Rc<Cell<[bool; 2]>>) {
    let is_cut = Rc::new(Cell::new([false; 2]));
    let cut = Rc::clone(&is_cut);
    let fate = move |side: usize, _: u64, _: &Packet| {
        if cut.get()[side] { Fate::Drop } else { Fate::Deliver }
    };
    let mut world = World::with_fate(config, Path::new(0, DELAY), fate);
    world.open();
    world.run_to_quiet(100);
    (world, is_cut)
}

/// After so many timeouts, each twice the one before, of 200 ms and a round trip, up to 120 s.
fn after(timeouts: u32) -> Span {
    let timeout = |number: u32| {
        (Span::from_ms(200) + ROUND_TRIP).times(1_u64 << number).min(Span::from_secs(120))
    };
    (0..timeouts).fold(Span::ZERO, |sum, number| sum + timeout(number))
}

fn frames(world: &World, side: usize, flag: Flags) -> usize {
    world.sent().iter().filter(|sent| sent.side == side && sent.packet.flags.contains(flag)).count()
}

/// Linux with a `tcp_retries2` of 15: the first timeout that comes 924.6 s or more after the first
/// retransmission.
#[test]
fn data_without_an_answer_are_given_up_after_a_quarter_of_an_hour() {
    let (mut world, is_cut) = open(&plain());
    is_cut.set([true, false]);
    let start = world.now;
    world.write(0, 1_000);
    world.run_to_quiet(100);
    assert_eq!(world.ends[0].failure(), Some(Failure::TimedOut));
    assert_eq!(world.now.since(start), after(17));
    let bound = after(1) + Span::from_ms(924_600);
    assert!(after(16) < bound && bound <= after(17));
    assert_eq!((world.data_from(0).count(), world.ends[0].stats().timeouts), (1 + 16, 16));
    assert_eq!(
        (world.ends[1].failure(), world.ends[1].closing()),
        (None, Close::Open),
        "the other end hears nothing of it"
    );
}

#[test]
fn an_answer_in_between_begins_the_time_anew() {
    let (mut world, is_cut) = open(&plain());
    for _ in 0..3 {
        is_cut.set([true, false]);
        world.write(0, 1_000);
        world.run_for(Span::from_secs(900));
        is_cut.set([false, false]);
        world.run_for(Span::from_secs(200));
    }
    assert_eq!((world.ends[0].failure(), world.readable[1]), (None, 3_000));
}

/// Linux with a `tcp_orphan_retries` of 0: 102.2 s.
#[test]
fn an_unanswered_fin_is_given_up_sooner_when_no_program_waits() {
    for (is_orphan, timeouts) in [(true, 10), (false, 17)] {
        let (mut world, is_cut) = open(&plain());
        is_cut.set([true, false]);
        let start = world.now;
        if is_orphan {
            world.close(0);
        } else {
            world.shut_down(0);
        }
        world.run_to_quiet(1_000);
        assert_eq!(
            (world.ends[0].failure(), world.now.since(start)),
            (Some(Failure::TimedOut), after(timeouts))
        );
        assert_eq!(frames(&world, 0, Flags::FIN), timeouts as usize);
    }
}

/// Linux `tcp_fin_timeout`.
#[test]
fn an_end_without_a_program_waits_a_minute_for_the_peer_to_close_and_one_with_a_program_for_ever() {
    let (mut world, _) = open(&plain());
    let start = world.now;
    world.close(0);
    world.run_to_quiet(100);
    assert_eq!(world.now, start + ROUND_TRIP + Span::from_secs(60));
    assert_eq!((world.ends[0].closing(), world.ends[0].failure()), (Close::Closed, None));
    assert_eq!(world.ends[1].closing(), Close::CloseWait, "the peer is not informed");
    let (mut world, _) = open(&plain());
    world.shut_down(0);
    world.run_to_quiet(100);
    assert_eq!(
        (world.ends[0].closing(), world.ends[0].poll_timeout()),
        (Close::FinWait2, Time::NEVER)
    );
    world.close(0);
    world.run_to_quiet(100);
    assert_eq!(
        world.ends[0].closing(),
        Close::Closed,
        "then its program closes the other direction too"
    );
}

/// A receiver that does not read closes its window.
fn with_closed_window() -> (World, Rc<Cell<[bool; 2]>>) {
    let buffer = Buffer { initial: 20_000, maximum: 20_000 };
    let (mut world, is_cut) = open(&TcpConfig { receive_buffer: buffer, ..plain() });
    world.leave_unread(1);
    world.write(0, 100_000);
    world.run_for(Span::from_ms(100));
    assert_eq!(world.ends[0].in_flight(), 0);
    (world, is_cut)
}

#[test]
fn a_closed_window_is_probed_for_ever_while_the_peer_answers_and_fifteen_times_while_it_does_not() {
    let (mut world, is_cut) = with_closed_window();
    world.run_for(Span::from_secs(10_000));
    assert_eq!(world.ends[0].failure(), None);
    let probes = world.ends[0].stats().window_probes;
    assert!(probes > 80, "{probes} probes, at most 120 s apart");
    is_cut.set([true, false]);
    world.run_for(Span::from_secs(15 * 120));
    assert_eq!(world.ends[0].failure(), None);
    world.run_for(Span::from_secs(120));
    assert_eq!(
        (world.ends[0].failure(), world.ends[0].stats().window_probes),
        (Some(Failure::TimedOut), probes + 16 - 1)
    );
}

#[test]
fn a_closed_window_holds_an_end_without_a_program_until_probes_are_two_minutes_apart() {
    let (mut world, _) = with_closed_window();
    world.close(0);
    world.run_for(after(11));
    assert_eq!(world.ends[0].failure(), None);
    world.run_for(Span::from_secs(2));
    assert_eq!(
        (world.ends[0].failure(), world.ends[0].closing()),
        (Some(Failure::TimedOut), Close::Closed)
    );
}
