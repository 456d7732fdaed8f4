//! Opening a connection, the initial window, and the growth of the first round trips.

use tailrace_transport::tcp::{CongestionControl, Failure, SlowStartExit, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::Ecn;

use crate::harness::World;
use crate::pipe::{Fate, Path};

const DELAY: Span = Span::from_us(50);

fn plain(mss: u32) -> TcpConfig {
    TcpConfig { slow_start_exit: SlowStartExit::None, ..TcpConfig::linux(mss) }
}

#[test]
fn the_opening_takes_one_round_trip_and_a_half() {
    let mut world = World::new(&plain(1448), Path::new(0, DELAY));
    world.open();
    world.write(0, 100);
    world.run_to_quiet(100);
    let expected = "     0.0 us A 0+0 ack 0 SYN
    50.0 us B 0+0 ack 1 SYN|ACK
   100.0 us A ack 1 ACK
   150.0 us A 1+100 ack 1 ACK|PSH
   200.0 us B ack 101 ACK
";
    assert_eq!(world.timeline(Time::ZERO), expected);
    assert_eq!(world.readable, [0, 100]);
    assert_eq!(world.acked, [100, 0]);
    assert_eq!(world.ends[0].smoothed_rtt().map(Span::ps), Some(100_000_000));
}

/// Linux `tcp_ecn_send_syn`: a queue that marks does not drop it.
#[test]
fn the_opening_of_dctcp_can_be_marked() {
    for (congestion_control, expected) in
        [(CongestionControl::Dctcp, Ecn::Ect0), (CongestionControl::Cubic, Ecn::NotEct)]
    {
        let config = TcpConfig { ecn: true, congestion_control, ..plain(1000) };
        let mut world = World::new(&config, Path::new(10, Span::from_us(50)));
        world.open();
        let opening: Vec<Ecn> = world.sent().iter().take(2).map(|s| s.packet.ecn).collect();
        assert_eq!(opening, [expected, Ecn::NotEct]);
    }
}

#[test]
fn a_lost_opening_is_repeated_after_one_second_and_then_two() {
    let fate = |_: usize, index: u64, p: &tailrace_wire::Packet| {
        if p.seq == 0 && index < 2 && p.ack == 0 { Fate::Drop } else { Fate::Deliver }
    };
    let mut world = World::with_fate(&plain(1448), Path::new(0, DELAY), fate);
    world.open();
    assert_eq!(world.connected[0], Some(Time::from_ps(3_000_100_000_000)));
    assert_eq!(world.ends[0].stats().timeouts, 2);
    assert_eq!(world.ends[0].cwnd(), 1, "one segment after a repeated SYN");
}

#[test]
fn a_lost_answer_to_the_opening_is_repeated_by_the_peer() {
    let fate = |side: usize, index: u64, _: &tailrace_wire::Packet| {
        if side == 1 && index == 0 { Fate::Drop } else { Fate::Deliver }
    };
    let mut world = World::with_fate(&plain(1448), Path::new(0, DELAY), fate);
    world.open();
    world.write(0, 5000);
    world.run_to_quiet(1000);
    assert_eq!(world.readable[1], 5000);
}

#[test]
fn a_lost_last_acknowledgement_is_made_good_by_data() {
    let fate = |side: usize, index: u64, _: &tailrace_wire::Packet| {
        if side == 0 && index == 1 { Fate::Drop } else { Fate::Deliver }
    };
    let mut world = World::with_fate(&plain(1448), Path::new(0, DELAY), fate);
    world.connect();
    world.run_for(Span::from_ms(1));
    world.write(0, 5000);
    world.run_to_quiet(1000);
    assert_eq!(world.readable[1], 5000);
    assert!(world.connected[1].is_some());
}

#[test]
fn an_unanswered_opening_is_given_up() {
    let mut world = World::with_fate(&plain(1448), Path::new(0, DELAY), |_, _, _| Fate::Drop);
    world.connect();
    world.run_to_quiet(100);
    assert_eq!(world.ends[0].failure(), Some(Failure::TimedOut));
    assert_eq!(world.now, Time::ZERO + Span::from_secs(127), "after 1, 2, 4 ... 64 s");
    assert_eq!(world.sent().len(), 7, "a SYN and six repetitions");
}

#[test]
fn the_smaller_segment_size_counts() {
    let mut world =
        World::between(&plain(8948), &plain(1448), Path::new(0, DELAY), |_, _, _| Fate::Deliver);
    world.open();
    world.write(0, 20_000);
    world.write(1, 20_000);
    world.run_to_quiet(1000);
    assert_eq!((world.ends[0].mss(), world.ends[1].mss()), (1448, 1448));
    assert!(world.sent().iter().all(|s| s.packet.payload_bytes <= 1448));
    assert_eq!(world.readable, [20_000, 20_000]);
}

#[test]
fn ten_segments_are_sent_before_the_first_answer() {
    let mut world = World::new(&plain(1448), Path::new(10, DELAY));
    world.open();
    let start = world.now;
    world.write(0, 1_000_000);
    world.run_until(start + Span::from_us(90));
    assert_eq!(world.data_from(0).count(), 10);
}

/// Segments sent in each of the first round trips after the opening.
fn sent_per_round(config: &TcpConfig, rounds: u64) -> Vec<u64> {
    let mut world = World::new(config, Path::new(0, DELAY));
    world.open();
    let start = world.now;
    world.write(0, 100_000_000);
    world.run_until(start + Span::from_us(100 * rounds - 1));
    let mut counts = vec![0; rounds as usize];
    for sent in world.data_from(0) {
        counts[(sent.at.since(start).ps() / 100_000_000).min(rounds - 1) as usize] += 1;
    }
    counts
}

#[test]
fn slow_start_doubles_every_round_trip() {
    let config = TcpConfig { delayed_ack: Span::ZERO, tso_bytes: 0, ..plain(1448) };
    let config = TcpConfig {
        send_buffer: tailrace_transport::tcp::Buffer { initial: 64 << 20, maximum: 64 << 20 },
        ..config
    };
    let counts = sent_per_round(&config, 7);
    assert_eq!(counts[0], 10);
    for (round, count) in counts.iter().enumerate() {
        let doubled = 10_u64 << round;
        assert!(
            (doubled * 9 / 10..=doubled * 11 / 10).contains(count),
            "round {round}: {count}, doubling gives {doubled}"
        );
    }
}

#[test]
fn a_window_cap_limits_what_is_in_flight() {
    let config = TcpConfig { window_cap_bytes: 50 * 1448, tso_bytes: 0, ..plain(1448) };
    let mut world = World::new(&config, Path::new(0, DELAY));
    world.open();
    world.write(0, 10_000_000);
    while world.step() {
        assert!(world.ends[0].cwnd() <= 50);
        assert!(world.ends[0].unacked() <= 50 * 1448);
    }
    assert_eq!(world.readable[1], 10_000_000);
}
