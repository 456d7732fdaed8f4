//! BBR against its description: Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM
//! Queue 14(5), 2016.

use tailrace_transport::tcp::{Buffer, CongestionControl, TcpConfig};
use tailrace_units::{Probability, RandomStream, Span, Time};
use tailrace_wire::Packet;

use crate::harness::World;
use crate::pipe::{Fate, Path};

const MSS: u32 = 1000;
/// Bytes of a full frame.
const FRAME: u64 = 1066;
/// 100 Mbit/s.
const PS_PER_BYTE: u64 = 80_000;
/// Bytes of payload that the link carries in a second.
const GOODPUT: u64 = 1_000_000_000_000 / PS_PER_BYTE * MSS as u64 / FRAME;
/// From end to end and back without queue.
const ROUND_TRIP: Span = Span::from_ms(20);
/// Segments that the path holds.
const PRODUCT: u64 = GOODPUT / 50 / MSS as u64;

fn config() -> TcpConfig {
    TcpConfig {
        congestion_control: CongestionControl::Bbr,
        send_buffer: Buffer { initial: 64 << 20, maximum: 64 << 20 },
        receive_buffer: Buffer { initial: 64 << 20, maximum: 64 << 20 },
        small_queue: Span::ZERO,
        seed: 1,
        ..TcpConfig::linux(MSS)
    }
}

fn path(queue_frames: u64) -> Path {
    Path {
        ps_per_byte: PS_PER_BYTE,
        queue_bytes: queue_frames * FRAME,
        ..Path::new(1, ROUND_TRIP.part(2))
    }
}

/// A stream that never ends, over a path with this queue and this fate of frames.
fn stream(queue_frames: u64, fate: impl FnMut(usize, u64, &Packet) -> Fate + 'static) -> World {
    let mut world = World::with_fate(&config(), path(queue_frames), fate);
    world.open();
    world.write(0, 10_000_000_000);
    world
}

fn deliver(_: usize, _: u64, _: &Packet) -> Fate {
    Fate::Deliver
}

fn losing_percent(percent: u64) -> impl FnMut(usize, u64, &Packet) -> Fate {
    let mut random = RandomStream::new(7, "loss");
    move |side, _, _| {
        if side == 0 && random.happens(Probability::ratio(percent, 100)) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    }
}

/// Bytes per second that arrive in so many milliseconds.
fn goodput(world: &mut World, ms: u64) -> u64 {
    let before = world.readable[1];
    world.run_for(Span::from_ms(ms));
    (world.readable[1] - before) * 1000 / ms
}

/// The gain of start-up is 2 / ln 2 = 2.885: with it the rate doubles in each round. The first
/// segments are not paced, and the third round makes up for that.
#[test]
fn the_start_sends_twice_as_much_in_each_round() {
    let mut world = stream(10_000, deliver);
    let mut sent = vec![0];
    for _ in 0..6 {
        world.run_for(ROUND_TRIP + Span::from_us(200));
        sent.push(world.ends[0].stats().segments_sent);
    }
    let of_round: Vec<f64> = sent.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    for pair in of_round[2..].windows(2) {
        assert!((1.75..2.25).contains(&(pair[1] / pair[0])), "{of_round:?}");
    }
}

/// Section "Steady-state behavior": the link is full, and in flight is what the path holds, with no
/// queue but that of the probes.
#[test]
fn in_the_steady_state_the_link_is_full_and_its_queue_is_short() {
    let mut world = stream(10_000, deliver);
    world.run_for(Span::from_secs(2));
    let begun = world.readable[1];
    let (mut sum, mut most) = (0, 0);
    for _ in 0..2000 {
        world.run_for(Span::from_ms(1));
        let in_flight = u64::from(world.ends[0].in_flight());
        sum += in_flight;
        most = most.max(in_flight);
    }
    let share = (world.readable[1] - begun) as f64 / (2 * GOODPUT) as f64;
    let mean = sum / 2000;
    assert!(share > 0.96, "{share}");
    assert!(
        (PRODUCT * 95 / 100..PRODUCT * 130 / 100).contains(&mean),
        "{mean} in flight, the path holds {PRODUCT}"
    );
    assert!(most < PRODUCT * 2 + 40, "{most}");
    assert_eq!(world.ends[0].stats().retransmits, 0);
}

/// Four segments for 200 ms and a round, after ten seconds without a shorter round trip.
#[test]
fn the_round_trip_is_probed_once_in_ten_seconds() {
    let mut world = stream(10_000, deliver);
    let mut probes: Vec<(Time, Time)> = Vec::new();
    for _ in 0..26_000 {
        world.run_for(Span::from_ms(1));
        let is_probing = world.ends[0].cwnd() <= 4;
        match probes.last_mut() {
            Some((_, end)) if is_probing && world.now.since(*end) <= Span::from_ms(2) => {
                *end = world.now
            }
            _ if is_probing => probes.push((world.now, world.now)),
            _ => {}
        }
    }
    assert_eq!(probes.len(), 2, "{probes:?}");
    for (begin, end) in &probes {
        let lasted = end.since(*begin);
        assert!((Span::from_ms(200)..Span::from_ms(290)).contains(&lasted), "{lasted:?}");
    }
    let apart = probes[1].0.since(probes[0].1);
    assert!((Span::from_ms(9_900)..Span::from_ms(10_150)).contains(&apart), "{apart:?}");
}

/// Figure 8: losses that are not those of a full queue hardly matter, where CUBIC has a few per
/// cent of the link left.
#[test]
fn random_losses_hardly_matter() {
    let mut bbr = stream(200, losing_percent(1));
    bbr.run_for(Span::from_secs(1));
    let rate = goodput(&mut bbr, 4000);
    assert!(rate > GOODPUT * 85 / 100, "{rate} of {GOODPUT}");
    let cubic = TcpConfig { congestion_control: CongestionControl::Cubic, ..config() };
    let mut world = World::with_fate(&cubic, path(200), losing_percent(1));
    world.open();
    world.write(0, 10_000_000_000);
    world.run_for(Span::from_secs(1));
    let rate = goodput(&mut world, 4000);
    assert!(rate < GOODPUT / 4, "{rate} of {GOODPUT}");
}

/// A queue of a tenth of the path's capacity is enough, although the start overruns it.
#[test]
fn a_shallow_queue_does_not_cost_the_link() {
    let mut world = stream(PRODUCT / 10, deliver);
    world.run_for(Span::from_secs(2));
    let rate = goodput(&mut world, 3000);
    assert!(rate > GOODPUT * 92 / 100, "{rate} of {GOODPUT}");
}

/// Linux's internal pacing: no more than a burst leaves at a time, and bursts are a pace apart.
#[test]
fn bursts_leave_at_the_pace() {
    let mut world = stream(10_000, deliver);
    world.run_for(Span::from_secs(2));
    let from = world.sent().len();
    let pace = world.ends[0].pacing_rate().expect("it is paced");
    world.run_for(Span::from_ms(15));
    let sent: Vec<(Time, u64)> = world.sent()[from..]
        .iter()
        .filter(|s| s.side == 0)
        .map(|s| (s.at, u64::from(s.packet.payload_bytes)))
        .collect();
    let mut at = sent[0].0;
    let mut burst = 0;
    for &(when, bytes) in &sent {
        if when != at {
            assert!(burst <= 12_000, "{burst} bytes at once: a millisecond holds {}", pace / 1000);
            (at, burst) = (when, 0);
        }
        burst += bytes;
    }
}

/// An application that has little to write does not make the model slow.
#[test]
fn a_rate_that_the_application_limits_is_not_that_of_the_path() {
    let mut world = World::with_fate(&config(), path(10_000), deliver);
    world.open();
    world.write(0, 20_000_000);
    world.run_for(Span::from_secs(3));
    assert_eq!(world.readable[1], 20_000_000);
    let pace = world.ends[0].pacing_rate();
    for _ in 0..100 {
        world.write(0, 10_000);
        world.run_for(Span::from_ms(50));
    }
    let later = world.ends[0].pacing_rate();
    assert!(
        later.zip(pace).is_some_and(|(later, pace)| later * 10 > pace * 6),
        "{pace:?} became {later:?}"
    );
}
