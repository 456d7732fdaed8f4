//! When acknowledgements are sent, their reports, and how the window opens and closes.

use tailrace_transport::tcp::{Buffer, CongestionControl, SlowStartExit, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::{Ecn, Flags, Packet};

use crate::harness::World;
use crate::pipe::{Fate, Path, losing};
use crate::script::{linux, play};

const DELAY: Span = Span::from_us(50);
const MSS: u32 = 1000;

fn config() -> TcpConfig {
    TcpConfig {
        slow_start_exit: SlowStartExit::None,
        congestion_control: CongestionControl::NewReno,
        send_buffer: Buffer { initial: 8 << 20, maximum: 8 << 20 },
        receive_buffer: Buffer { initial: 1 << 20, maximum: 1 << 20 },
        ..TcpConfig::linux(MSS)
    }
}

#[test]
fn after_the_quick_start_every_second_segment_is_acknowledged() {
    let mut world = World::new(
        &TcpConfig { receive_buffer: Buffer { initial: 60_000, maximum: 60_000 }, ..config() },
        Path::new(10, DELAY),
    );
    world.open();
    world.write(0, 2_000_000);
    world.run_to_quiet(100_000);
    let (data, acks) = (world.data_from(0).count(), world.acks_from(1).count());
    assert_eq!(data, 2000);
    // Sixteen at the start at once, then every second, and the last of each burst.
    assert!((1000..=1060).contains(&acks), "{acks} acknowledgements of {data} segments");
}

#[test]
fn with_merged_frames_every_aggregate_is_acknowledged() {
    let mut world = World::new(&config(), Path::new(10, DELAY));
    world.merge = (Span::from_us(20), 65_536);
    world.open();
    world.write(0, 20_000_000);
    world.run_to_quiet(200_000);
    let (data, acks) = (world.data_from(0).count(), world.acks_from(1).count());
    // 20 us at 10 Gbit/s are 23 frames.
    assert!(acks * 20 < data && acks * 30 > data, "{acks} acknowledgements of {data} segments");
}

#[test]
fn without_delay_every_segment_is_acknowledged() {
    let mut world =
        World::new(&TcpConfig { delayed_ack: Span::ZERO, ..config() }, Path::new(10, DELAY));
    world.open();
    world.write(0, 500_000);
    world.run_to_quiet(100_000);
    assert_eq!(world.acks_from(1).count(), 500);
}

/// One round of question and answer; returns when it was asked.
fn ask(world: &mut World, request: u64, response: u64) -> Time {
    let start = world.now;
    let (asked, answered) = (world.readable[1] + request, world.readable[0] + response);
    world.write(0, request);
    while world.readable[1] < asked {
        assert!(world.step());
    }
    world.run_for(Span::from_us(100));
    world.write(1, response);
    while world.readable[0] < answered {
        assert!(world.step());
    }
    start
}

#[test]
fn in_a_dialogue_acknowledgements_ride_on_data() {
    let mut world = World::new(&config(), Path::new(10, DELAY));
    world.open();
    for _ in 0..5 {
        ask(&mut world, 200, 800);
        world.run_for(Span::from_ms(5));
    }
    let start = ask(&mut world, 200, 800);
    world.run_for(Span::from_ms(5));
    let timeline = world.timeline(start);
    let (question, answer) =
        (timeline.lines().next().expect("a question"), timeline.lines().nth(1).expect("an answer"));
    assert!(question.contains("A 1001+200 ack 4001"), "{timeline}");
    assert!(answer.contains("B 4001+800 ack 1201"), "{timeline}");
    assert_eq!(timeline.lines().count(), 2, "no acknowledgement travels alone:\n{timeline}");
}

#[test]
fn with_a_clock_tick_acknowledgements_are_delayed_by_up_to_a_tick_more() {
    let config = TcpConfig { tick: Span::from_ms(4), tick_phase: Span::from_ms(1), ..config() };
    let mut world = World::new(&config, Path::new(10, DELAY));
    world.open();
    for _ in 0..5 {
        ask(&mut world, 200, 800);
    }
    let answered = world.now;
    world.run_to_quiet(100);
    let at = world.acks_from(0).last().expect("an acknowledgement").at;
    assert!(
        at.since(answered) > Span::from_ms(40) && at.since(answered) <= Span::from_ms(44),
        "{:?}",
        at.since(answered)
    );
    assert_eq!(at.since(Time::ZERO).ps() % Span::from_ms(4).ps(), Span::from_ms(1).ps());
}

#[test]
fn the_last_answer_of_a_dialogue_is_acknowledged_after_forty_milliseconds() {
    let mut world = World::new(&config(), Path::new(10, DELAY));
    world.open();
    for _ in 0..5 {
        ask(&mut world, 200, 800);
    }
    let answered = world.now;
    world.run_to_quiet(100);
    let last = world.acks_from(0).last().expect("an acknowledgement");
    assert_eq!(last.at.since(answered), Span::from_ms(40));
    assert_eq!(world.ends[1].stats().retransmits, 0, "the delay is within the probe's patience");
}

#[test]
fn a_single_write_without_a_dialogue_is_acknowledged_at_once() {
    let mut world = World::new(&config(), Path::new(0, DELAY));
    world.open();
    for _ in 0..40 {
        world.write(0, 100);
        world.run_for(Span::from_ms(1));
    }
    let start = world.now;
    world.write(0, 100);
    world.run_for(Span::from_ms(1));
    assert_eq!(world.timeline(start).lines().count(), 2, "{}", world.timeline(start));
}

#[test]
fn a_hole_and_its_filling_are_acknowledged_at_once() {
    let mut drops = 0;
    let fate = move |_: usize, _: u64, p: &Packet| {
        drops += u64::from(p.seq == 4001 && p.payload_bytes > 0);
        if p.seq == 4001 && p.payload_bytes > 0 && drops == 1 { Fate::Drop } else { Fate::Deliver }
    };
    let mut world = World::with_fate(&config(), Path::new(10, DELAY), fate);
    world.open();
    let start = world.now;
    world.write(0, 8000);
    world.run_to_quiet(1000);
    let acks: Vec<String> = world
        .timeline(start)
        .lines()
        .filter(|l| l.contains(" B "))
        .map(|l| l[14..].to_string())
        .collect();
    let expected = [
        "ack 1001 ACK",
        "ack 2001 ACK",
        "ack 3001 ACK",
        "ack 4001 ACK",
        "ack 4001 ACK [5001..6001]",
        "ack 4001 ACK [5001..7001]",
        "ack 4001 ACK [5001..8001]",
        "ack 8001 ACK",
    ];
    assert_eq!(acks, expected, "{}", world.timeline(start));
}

#[test]
fn what_arrives_twice_is_reported_once() {
    let fate = |side: usize, _: u64, p: &Packet| {
        if side == 0 && p.seq == 1 && p.payload_bytes > 0 {
            Fate::Twice(Span::from_us(500))
        } else {
            Fate::Deliver
        }
    };
    let mut world = World::with_fate(&config(), Path::new(10, DELAY), fate);
    world.open();
    let start = world.now;
    world.write(0, 3000);
    world.run_to_quiet(1000);
    let last = world.timeline(start).lines().last().expect("something").to_string();
    assert!(last.ends_with("ack 3001 ACK|DSACK [1..1001]"), "{last}");
    assert_eq!(world.readable[1], 3000);
    assert_eq!(world.ends[0].stats().spurious_retransmits, 0, "the network made the copy");
}

#[test]
fn the_window_starts_at_64_kib_opens_with_what_arrives_and_never_shrinks() {
    let mut drops = 0;
    let fate = move |side: usize, _: u64, p: &Packet| {
        drops += u64::from(side == 0 && p.payload_bytes > 0);
        if side == 0 && p.payload_bytes > 0 && drops.is_multiple_of(97) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    };
    let mut world = World::with_fate(&config(), Path::new(10, DELAY), fate);
    world.open();
    world.write(0, 10_000_000);
    world.run_to_quiet(1_000_000);
    let syn = world.sent().iter().find(|s| s.side == 1).expect("an answer").packet;
    assert_eq!(syn.window, 65_000, "whole segments");
    let mut edge = 0;
    let mut widest = 0;
    for sent in world.acks_from(1) {
        let right = sent.packet.ack + u64::from(sent.packet.window);
        assert!(right >= edge, "the right edge went back from {edge} to {right}");
        edge = right;
        widest = widest.max(sent.packet.window);
    }
    // But for the segment that has just arrived.
    assert!(((1 << 20) - 1_200..1 << 20).contains(&widest), "{widest}");
}

#[test]
fn an_autotuned_receive_buffer_grows_until_it_does_not_limit() {
    // 10 Gbit/s and 4 ms: 5 MB fill the path.
    let path = Path::new(10, Span::from_ms(2));
    let goodput = |buffer: Buffer| {
        let config = TcpConfig {
            receive_buffer: buffer,
            send_buffer: Buffer { initial: 64 << 20, maximum: 64 << 20 },
            ..config()
        };
        let mut world = World::new(&config, path);
        world.merge = (Span::from_us(20), 65_536);
        world.open();
        world.write(0, 400_000_000);
        world.run_for(Span::from_ms(200));
        world.readable[1] as f64 * 8.0 / 0.2 / 1e9
    };
    let fixed = goodput(Buffer { initial: 131_072, maximum: 131_072 });
    let tuned = goodput(Buffer { initial: 131_072, maximum: 32 << 20 });
    assert!(fixed < 0.28, "131072 bytes per 4 ms are 0.26 Gbit/s, not {fixed}");
    assert!(tuned > 7.0, "{tuned}");
}

#[test]
fn a_mark_is_echoed_until_the_sender_has_reduced_once() {
    let config = TcpConfig { ecn: true, ..config() };
    let fate = |side: usize, _: u64, p: &Packet| {
        if side == 0 && p.seq == 20_001 { Fate::Mark } else { Fate::Deliver }
    };
    let mut world = World::with_fate(&config, Path::new(10, DELAY), fate);
    world.open();
    world.write(0, 200_000);
    world.run_to_quiet(10_000);
    let stats = world.ends[0].stats();
    assert_eq!((stats.ecn_reductions, stats.retransmits), (1, 0));
    let echoes = world.acks_from(1).filter(|s| s.packet.flags.contains(Flags::ECE)).count();
    assert!((2..40).contains(&echoes), "{echoes}");
    assert_eq!(world.data_from(0).filter(|s| s.packet.flags.contains(Flags::CWR)).count(), 1);
    assert!(world.data_from(0).all(|s| s.packet.ecn == Ecn::Ect0));
    assert!(world.acks_from(1).all(|s| s.packet.ecn == Ecn::NotEct));
}

#[test]
fn dctcp_echoes_every_change_of_state() {
    let receive_buffer = Buffer { initial: 60_000, maximum: 60_000 };
    let config = TcpConfig {
        ecn: true,
        congestion_control: CongestionControl::Dctcp,
        receive_buffer,
        ..config()
    };
    let fate = |side: usize, _: u64, p: &Packet| {
        if side == 0 && (41_001..=45_001).contains(&p.seq) { Fate::Mark } else { Fate::Deliver }
    };
    let mut world = World::with_fate(&config, Path::new(10, DELAY), fate);
    world.open();
    world.write(0, 100_000);
    world.run_to_quiet(10_000);
    // Bytes acknowledged with the echo set are exactly the marked ones.
    let mut before = 1;
    let mut echoed = 0;
    for ack in world.acks_from(1) {
        if ack.packet.flags.contains(Flags::ECE) {
            echoed += ack.packet.ack - before;
        }
        before = ack.packet.ack;
    }
    assert_eq!(echoed, 5000);
}

/// Reports that B sends while a segment of A is missing, over a path of 10 Gbit/s where a segment
/// arrives every 0.84 us, and the time of each.
fn reports(config: &TcpConfig, delay: Span) -> Vec<Time> {
    let mut world = World::with_fate(config, Path::new(10, delay), losing([600_001]));
    world.open();
    world.write(0, 3_000_000);
    world.run_to_quiet(100_000);
    world
        .acks_from(1)
        .filter(|sent| sent.packet.ack == 600_001 && sent.packet.sack[0].bytes > 0)
        .map(|sent| sent.at)
        .collect()
}

/// Linux `tcp_comp_sack_nr`: three reports at once, then one for 45 arrivals.
#[test]
fn of_many_held_segments_every_forty_fifth_is_reported() {
    let times = reports(&config(), DELAY);
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1].since(pair[0]).ps() / 1_000).collect();
    assert!(gaps.len() >= 4, "{gaps:?}");
    assert!(gaps[..2].iter().all(|ns| *ns < 1_000), "{gaps:?}");
    // at 10 Gbit/s, with headers and gaps of a little under 90 bytes
    let frame_ns = u64::from(MSS + 90) * 8 / 10;
    for gap in &gaps[2..gaps.len() - 1] {
        assert!(
            (44 * frame_ns..=46 * frame_ns).contains(gap),
            "{gap} ns of {frame_ns} ns each: {gaps:?}"
        );
    }
}

/// Linux `tcp_comp_sack_delay_ns` and `tcp_comp_sack_slack_ns`: a report waits for a twentieth of
/// the round trip and 100 us; without a round trip to speak of for the last alone.
#[test]
fn a_report_waits_for_a_twentieth_of_the_round_trip() {
    let slow =
        TcpConfig { receive_buffer: Buffer { initial: 60_000, maximum: 60_000 }, ..config() };
    let times = reports(&slow, Span::from_ms(2));
    let wait = times[3].since(times[2]);
    assert!(
        wait > Span::from_us(100 + 4_000 / 20 - 5) && wait < Span::from_us(100 + 4_000 / 20 + 10),
        "{wait:?}"
    );
}

#[test]
fn without_selective_reports_nothing_is_compressed() {
    let plain = TcpConfig { sack: false, ..config() };
    let mut world = World::with_fate(&plain, Path::new(10, DELAY), losing([100_001]));
    world.open();
    world.write(0, 3_000_000);
    world.run_to_quiet(100_000);
    let repeated = world.acks_from(1).filter(|sent| sent.packet.ack == 100_001).count();
    let held = world.ends[1].stats().out_of_order as usize;
    assert_eq!(repeated, held + 1, "one for each that is held, and the first");
}

/// Forty segments in order, four above a gap, and what `then` says. Reports that are prompt are
/// over, and the window stays as it is.
fn play_gap(then: &str) {
    let fixed =
        TcpConfig { receive_buffer: Buffer { initial: 60_000, maximum: 60_000 }, ..linux() };
    let in_order: String =
        (0..40).map(|n| format!("+0 < {}:{}\n", n * 1000 + 1, n * 1000 + 1001)).collect();
    let above = "
        acks
        +0 < 41001:42001
        > ack 40001 sack 41001:42001
        +0 < 42001:43001
        > ack 40001 sack 41001:43001
        +0 < 43001:44001
        > ack 40001 sack 41001:44001
        +0 < 44001:45001
    ";
    play(&fixed, 1, 60_000, &format!("{in_order}{above}{then}"));
}

/// Linux `tcp_sack_compress_send_ack`: a report has room for three ranges, and none leaves it
/// unreported.
#[test]
fn a_third_range_sends_the_report_that_waits() {
    play_gap(
        "
        +0 < 46001:47001
        +0 < 48001:49001
        > ack 40001 sack 46001:47001 41001:45001
        +1
        > ack 40001 sack 48001:49001 46001:47001 41001:45001
        ",
    );
}

/// Bytes in order end the wait, and the next three reports are prompt again.
#[test]
fn an_advance_in_order_makes_reports_prompt_again() {
    play_gap(
        "
        +0 < 46001:47001
        +0 < 40001:41001
        > ack 45001 sack 46001:47001
        +0 < 47001:48001
        > ack 45001 sack 46001:48001
        +0 < 48001:49001
        > ack 45001 sack 46001:49001
        +0 < 49001:50001
        > ack 45001 sack 46001:50001
        +0 < 50001:51001
        +1
        > ack 45001 sack 46001:51001
        ",
    );
}
