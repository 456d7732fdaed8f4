//! Loss, reordering, timeouts: how fast segments are repaired, and events that are not mistaken for
//! loss.

use tailrace_transport::tcp::{Buffer, CongestionControl, SlowStartExit, State, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

use crate::harness::World;
use crate::pipe::{self, Fate, Path};
use crate::script::{linux, play};

const DELAY: Span = Span::from_us(50);
/// Payload bytes of a segment: a round number makes the timelines readable.
const MSS: u32 = 1000;

fn config() -> TcpConfig {
    TcpConfig {
        slow_start_exit: SlowStartExit::None,
        congestion_control: CongestionControl::NewReno,
        delayed_ack: Span::ZERO,
        tso_bytes: 0,
        send_buffer: Buffer { initial: 8 << 20, maximum: 8 << 20 },
        receive_buffer: Buffer { initial: 8 << 20, maximum: 8 << 20 },
        ..TcpConfig::linux(MSS)
    }
}

/// Loses the first transmission of the segments (counted from 0) in `lost`.
fn losing(lost: &[u64]) -> impl FnMut(usize, u64, &Packet) -> Fate + use<> {
    pipe::losing(lost.iter().map(|n| 1 + n * u64::from(MSS)).collect::<Vec<_>>())
}

/// Opens and writes `segments` at once; returns the world and when it wrote.
fn written(
    config: &TcpConfig,
    segments: u64,
    fate: impl FnMut(usize, u64, &Packet) -> Fate + 'static,
) -> (World, Time) {
    let mut world = World::with_fate(config, Path::new(10, DELAY), fate);
    world.open();
    let start = world.now;
    world.write(0, segments * u64::from(MSS));
    (world, start)
}

/// When the last byte was acknowledged, after running to the end.
fn finished(world: &mut World, segments: u64) -> Time {
    while world.acked[0] < segments * u64::from(MSS) {
        assert!(world.step(), "stuck");
    }
    let end = world.now;
    world.run_to_quiet(10_000);
    end
}

#[test]
fn one_loss_is_repaired_in_one_round_trip_without_a_timeout() {
    let (mut world, start) = written(&config(), 10, losing(&[2]));
    let end = finished(&mut world, 10);
    let expected = "   150.2 us A 1+1000 ack 1 ACK
   150.2 us A 1001+1000 ack 1 ACK
   150.2 us A 2001+1000 ack 1 ACK lost
   150.2 us A 3001+1000 ack 1 ACK
   150.2 us A 4001+1000 ack 1 ACK
   150.2 us A 5001+1000 ack 1 ACK
   150.2 us A 6001+1000 ack 1 ACK
   150.2 us A 7001+1000 ack 1 ACK
   150.2 us A 8001+1000 ack 1 ACK
   150.2 us A 9001+1000 ack 1 ACK|PSH
";
    let timeline = world.timeline(start);
    assert!(timeline.starts_with(expected), "{timeline}");
    let stats = world.ends[0].stats();
    assert_eq!(
        (stats.retransmits, stats.timeouts, stats.fast_recoveries, stats.tail_loss_probes),
        (1, 0, 1, 0),
        "{timeline}"
    );
    assert!(end.since(start) < Span::from_us(250), "{:?}", end.since(start));
    assert_eq!(world.ends[0].state(), State::Open);
}

#[test]
fn a_lost_tail_is_probed_not_timed_out() {
    for lost in [&[8, 9][..], &[5, 6, 7, 8, 9], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] {
        let (mut world, start) = written(&config(), 10, losing(lost));
        let end = finished(&mut world, 10);
        let stats = world.ends[0].stats();
        assert_eq!(
            (stats.timeouts, stats.tail_loss_probes),
            (0, 1),
            "{lost:?}: {}",
            world.timeline(start)
        );
        assert!(end.since(start) < Span::from_ms(4), "{lost:?}: {:?}", end.since(start));
        assert_eq!(stats.retransmits, lost.len() as u64);
    }
}

/// Linux's timers expire with a tick: a probe after 2 ms leaves 4 to 8 ms later, depending on when
/// in the tick it was set.
#[test]
fn with_a_clock_tick_a_lost_tail_is_probed_at_the_end_of_the_next_tick() {
    for phase_us in [0, 1000, 2000, 3000] {
        let config =
            TcpConfig { tick: Span::from_ms(4), tick_phase: Span::from_us(phase_us), ..config() };
        let (mut world, start) = written(&config, 10, losing(&[8, 9]));
        let end = finished(&mut world, 10);
        let took = end.since(start);
        let probe = world.data_from(0).nth(10).expect("a probe").at;
        assert_eq!(
            probe.since(Time::from_ps(phase_us * 1_000_000)).ps() % Span::from_ms(4).ps(),
            0,
            "it leaves with a tick"
        );
        assert!(took > Span::from_ms(4) && took < Span::from_us(8_400), "{took:?}");
    }
}

/// RFC 8985 section 7.2: the acknowledgement of a single segment may be delayed, so the probe
/// allows for that.
#[test]
fn a_single_lost_segment_is_probed_when_a_delayed_acknowledgement_would_have_come() {
    let (mut world, start) = written(&config(), 10, losing(&[9]));
    let end = finished(&mut world, 10);
    let stats = world.ends[0].stats();
    assert_eq!((stats.timeouts, stats.tail_loss_probes), (0, 1));
    assert!(
        end.since(start) > Span::from_ms(200) && end.since(start) < Span::from_ms(202),
        "{:?}",
        end.since(start)
    );
}

#[test]
fn without_probes_a_lost_tail_waits_for_the_timeout() {
    let (mut world, start) =
        written(&TcpConfig { tail_loss_probe: false, ..config() }, 10, losing(&[9]));
    let end = finished(&mut world, 10);
    assert_eq!(world.ends[0].stats().timeouts, 1);
    assert!(end.since(start) > Span::from_ms(200), "{:?}", end.since(start));
}

#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window_and_a_needless_one_does_not() {
    let (mut world, _) = written(&config(), 10, losing(&[9]));
    finished(&mut world, 10);
    world.write(0, 1000);
    world.run_to_quiet(1000);
    assert!(world.ends[0].cwnd() <= 15, "{}", world.ends[0].cwnd());

    // All acknowledgements of the tail are late: the probe is needless.
    let late = |side: usize, _: u64, p: &Packet| {
        if side == 1 && p.ack > 1 { Fate::Late(Span::from_ms(20)) } else { Fate::Deliver }
    };
    let (mut world, start) = written(&config(), 10, late);
    finished(&mut world, 10);
    world.run_to_quiet(1000);
    let stats = world.ends[0].stats();
    assert_eq!(
        (stats.tail_loss_probes, stats.spurious_retransmits, stats.timeouts),
        (1, 1, 0),
        "{}",
        world.timeline(start)
    );
    assert!(world.ends[0].cwnd() >= 20, "{}", world.ends[0].cwnd());
}

#[test]
fn every_second_segment_lost_is_repaired_without_a_timeout() {
    let lost: Vec<u64> = (40..140).step_by(2).collect();
    let (mut world, start) = written(&config(), 400, losing(&lost));
    let end = finished(&mut world, 400);
    let stats = world.ends[0].stats();
    assert_eq!((stats.timeouts, stats.retransmits, stats.spurious_retransmits), (0, 50, 0));
    assert!(end.since(start) < Span::from_ms(4), "{:?}", end.since(start));
}

#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    let mut times = 0;
    let fate = move |side: usize, _: u64, p: &Packet| {
        let is_dropped = side == 0 && p.seq == 2001 && times < 3;
        times += u64::from(is_dropped);
        if is_dropped { Fate::Drop } else { Fate::Deliver }
    };
    let (mut world, start) = written(&config(), 300, fate);
    finished(&mut world, 300);
    let stats = world.ends[0].stats();
    assert_eq!((stats.timeouts, stats.retransmits), (0, 3), "{}", world.timeline(start));
}

#[test]
fn the_timeout_doubles_until_something_arrives() {
    let fate = |side: usize, _: u64, p: &Packet| {
        if side == 0 && p.payload_bytes > 0 { Fate::Drop } else { Fate::Deliver }
    };
    let (mut world, start) = written(&TcpConfig { tail_loss_probe: false, ..config() }, 1, fate);
    world.run_for(Span::from_secs(7));
    let sent: Vec<u64> =
        world.data_from(0).map(|s| s.at.since(start).ps() / 1_000_000_000).collect();
    assert_eq!(sent, [0, 200, 600, 1400, 3001, 6203]);
    assert_eq!(world.ends[0].cwnd(), 1);
    assert_eq!(world.ends[0].state(), State::Loss);
}

#[test]
fn a_timeout_collapses_the_window_and_slow_start_repairs() {
    // The first twelve frames with payload are lost: the window, the probe and the first
    // retransmission.
    let mut frames = 0;
    let fate = move |side: usize, _: u64, p: &Packet| {
        frames += u64::from(side == 0 && p.payload_bytes > 0);
        if side == 0 && p.payload_bytes > 0 && frames <= 12 { Fate::Drop } else { Fate::Deliver }
    };
    let (mut world, _) = written(&config(), 30, fate);
    finished(&mut world, 30);
    let stats = world.ends[0].stats();
    assert!(stats.timeouts >= 1, "{stats:?}");
    assert_eq!(world.readable[1], 30_000);
    assert!(world.ends[0].ssthresh() <= 7);
}

#[test]
fn a_spurious_timeout_is_taken_back() {
    // A stall of 300 ms on the way: nothing is lost, everything is late.
    let stall = |side: usize, _: u64, p: &Packet| {
        if side == 0 && (30_001..70_001).contains(&p.seq) {
            Fate::Late(Span::from_ms(300))
        } else {
            Fate::Deliver
        }
    };
    let config =
        TcpConfig { tail_loss_probe: false, window_cap_bytes: 40 * u64::from(MSS), ..config() };
    let (mut world, start) = written(&config, 400, stall);
    let before = 40;
    finished(&mut world, 400);
    let stats = world.ends[0].stats();
    assert_eq!(stats.timeouts, 1, "{}", world.timeline(start));
    assert_eq!(stats.undone_reductions, 1, "{}", world.timeline(start));
    assert!(world.ends[0].cwnd() >= before, "{}", world.ends[0].cwnd());
    assert!(stats.retransmits <= 2, "{stats:?} {}", world.timeline(start));
}

/// Delays every tenth segment by a quarter more than a round trip.
fn reordering(extra: Span) -> impl FnMut(usize, u64, &Packet) -> Fate {
    let mut data = 0_u64;
    move |side, _, p| {
        data += u64::from(side == 0 && p.payload_bytes > 0);
        if side == 0 && p.payload_bytes > 0 && data.is_multiple_of(10) {
            Fate::Late(extra)
        } else {
            Fate::Deliver
        }
    }
}

#[test]
fn slight_reordering_retransmits_nothing() {
    let mut world = World::with_fate(&config(), Path::new(10, DELAY), reordering(Span::from_us(2)));
    world.open();
    world.write(0, 2_000_000);
    world.run_to_quiet(100_000);
    let stats = world.ends[0].stats();
    assert!(world.ends[1].stats().out_of_order > 100);
    assert_eq!((stats.retransmits, stats.timeouts, stats.fast_recoveries), (0, 0, 0), "{stats:?}");
}

#[test]
fn strong_reordering_widens_the_window_and_the_reductions_are_taken_back() {
    let mut world = World::with_fate(&config(), Path::new(1, DELAY), reordering(Span::from_us(90)));
    world.open();
    world.write(0, 20_000_000);
    let mut widest = 0;
    while world.step() {
        widest = widest.max(world.ends[0].reordering_steps());
    }
    let stats = *world.ends[0].stats();
    assert!(widest > 1, "the reordering window never widened: {stats:?}");
    assert!(stats.undone_reductions > 0, "{stats:?}");
    assert_eq!(stats.timeouts, 0, "{stats:?}");
    // Of 2000 late segments only the first few are sent again.
    assert!(stats.retransmits < 100, "{stats:?}");
    assert_eq!(world.readable[1], 20_000_000);
}

#[test]
fn proportional_rate_reduction_sends_in_proportion_and_ends_at_the_threshold() {
    let lost: Vec<u64> = (200..210).collect();
    let (mut world, _) = written(&config(), 4000, losing(&lost));
    let mut during = Vec::new();
    let (mut prior, mut at_entry) = (0, 0);
    while world.step() {
        let end = &world.ends[0];
        if end.state() == State::Recovery {
            if during.is_empty() {
                at_entry = prior;
            }
            during.push((end.in_flight(), end.cwnd(), end.ssthresh()));
        } else {
            prior = end.cwnd();
        }
        if !during.is_empty() && end.state() != State::Recovery {
            break;
        }
    }
    let ssthresh = during[0].2;
    assert_eq!(ssthresh, at_entry / 2);
    assert_eq!(world.ends[0].cwnd(), ssthresh, "the window after recovery");
    // The pipe falls smoothly to the threshold and not below: never a silence of half a window (as
    // Reno's recovery has).
    let lowest = during.iter().map(|d| d.0).min().expect("recovery was entered");
    assert!(lowest + 3 >= ssthresh - 10, "in flight fell to {lowest}, threshold {ssthresh}");
    assert!(during.iter().all(|(in_flight, cwnd, _)| in_flight <= cwnd));
}

#[test]
fn without_sack_three_duplicates_start_recovery_and_partial_acknowledgements_drive_it() {
    let config = TcpConfig { sack: false, ..config() };
    let (mut world, start) = written(&config, 60, losing(&[20, 25, 28]));
    let end = finished(&mut world, 60);
    let stats = world.ends[0].stats();
    assert_eq!(
        (stats.timeouts, stats.retransmits, stats.fast_recoveries),
        (0, 3, 1),
        "{}",
        world.timeline(start)
    );
    assert!(world.acks_from(1).all(|s| s.packet.sack[0].bytes == 0));
    // One segment per round trip: three losses, three round trips and a little.
    assert!(
        end.since(start) > Span::from_us(500) && end.since(start) < Span::from_us(1200),
        "{:?}",
        end.since(start)
    );
}

#[test]
fn lost_acknowledgements_cost_nothing() {
    let mut acks = 0_u64;
    let fate = move |side: usize, _: u64, p: &Packet| {
        acks += u64::from(side == 1 && p.ack > 1);
        if side == 1 && p.ack > 1 && !acks.is_multiple_of(3) && p.ack < 2_900_000 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    };
    let (mut world, _) = written(&config(), 3000, fate);
    finished(&mut world, 3000);
    let stats = world.ends[0].stats();
    assert_eq!((stats.retransmits, stats.timeouts), (0, 0), "{stats:?}");
}

/// Acknowledgements let four segments go, and a report of the same instant has another one repeated
/// after them: the first three are no sign that the repetition was lost, the last is (Linux checks
/// segments in the order in which they were sent).
#[test]
fn what_left_before_a_repetition_in_the_same_instant_does_not_prove_it_lost() {
    play(
        &linux(),
        100,
        40_960,
        "
        write 20000
        > 1:10001
        +110 < 1001
        > 10001:12001
        +0 < 1001 sack 2001:3001
        +0 < 1001 sack 2001:4001
        > 12001:14001
        +0 < 1001 sack 2001:5001
        > 1001:2001
        ignore
        +110 < 1001 sack 2001:13001
        > 14001:19001
        +0 < 1001 sack 2001:14001
        > 1001:2001
        ",
    );
}
