//! Limits of a sender: a scenario for each cause, and that the times add up.

use tailrace_transport::tcp::{Buffer, CongestionControl, Limit, Limits, TcpConfig};
use tailrace_units::{Span, Time};

use crate::harness::World;
use crate::pipe::{Fate, Path};

const MSS: u32 = 1000;
const DELAY: Span = Span::from_us(500);
const MUCH: u64 = 1 << 40;
const ALL: [Limit; 8] = [
    Limit::Application,
    Limit::SendBuffer,
    Limit::ReceiveWindow,
    Limit::Congestion,
    Limit::Recovery,
    Limit::Pacing,
    Limit::Interface,
    Limit::Processor,
];

fn config() -> TcpConfig {
    let large = Buffer { initial: 64 << 20, maximum: 64 << 20 };
    TcpConfig { send_buffer: large, receive_buffer: large, ..TcpConfig::linux(MSS) }
}

/// The limits of A in the second half of 200 ms in which it wanted to send much.
fn limits_of(mut world: World) -> Limits {
    world.open();
    world.write(0, MUCH);
    run(&mut world, |_| {})
}

fn run(world: &mut World, mut each_ms: impl FnMut(&mut World)) -> Limits {
    let mut before = Limits::default();
    for ms in 0..200 {
        each_ms(world);
        world.run_for(Span::from_ms(1));
        if ms == 99 {
            before = world.ends[0].limits(world.now);
        }
    }
    world.ends[0].limits(world.now).since(&before)
}

fn percent(limits: &Limits, limit: Limit) -> u64 {
    100 * limits.of(limit).ps() / limits.total().ps()
}

#[track_caller]
fn assert_mostly(limits: &Limits, limit: Limit) {
    assert_eq!(limits.total(), Span::from_ms(100), "every moment has one limit");
    assert!(percent(limits, limit) >= 90, "{limits:?}");
}

#[test]
fn a_window_that_is_small_for_the_round_trip_limits() {
    let small =
        TcpConfig { receive_buffer: Buffer { initial: 40_000, maximum: 40_000 }, ..config() };
    let limits = limits_of(World::new(&small, Path::new(10, DELAY)));
    assert_mostly(&limits, Limit::ReceiveWindow);
    assert_eq!(limits.reader_late, Span::ZERO);
}

#[test]
fn a_send_buffer_that_is_small_for_the_round_trip_limits() {
    let small = TcpConfig { send_buffer: Buffer { initial: 40_000, maximum: 40_000 }, ..config() };
    assert_mostly(&limits_of(World::new(&small, Path::new(10, DELAY))), Limit::SendBuffer);
}

/// Of a round trip, what is above its minimum is waiting: it lasts many milliseconds with 300 kB at
/// 100 Mbit/s, on a path of 1 ms. NewReno, because CUBIC leaves slow start when the round trip
/// grows.
#[test]
fn time_in_queues_of_the_path_is_counted_beside_that_of_a_full_buffer_and_without_queues_there_is_none()
 {
    let buffer = |bytes| TcpConfig {
        send_buffer: Buffer { initial: bytes, maximum: bytes },
        congestion_control: CongestionControl::NewReno,
        small_queue: Span::ZERO,
        ..config()
    };
    let slow = Path { ps_per_byte: 80_000, ..Path::new(1, DELAY) };
    for (bytes, path, band) in [(40_000, Path::new(10, DELAY), 0..10), (300_000, slow, 85..100)] {
        let limits = limits_of(World::new(&buffer(bytes), path));
        assert_mostly(&limits, Limit::SendBuffer);
        let share = 100 * limits.queued.ps() / limits.of(Limit::SendBuffer).ps();
        assert!(band.contains(&share), "{share} % of the time in queues: {limits:?}");
    }
}

/// The interface is faster than the path: a queue of 8 frames at 100 Mbit/s.
#[test]
fn a_bottleneck_with_losses_limits_by_congestion() {
    let path = Path { ps_per_byte: 80_000, queue_bytes: 8 * 1066, ..Path::new(1, DELAY) };
    let faster = TcpConfig { small_queue: Span::ZERO, ..config() };
    let mut world = World::new(&faster, path);
    world.open();
    world.write(0, MUCH);
    let limits = run(&mut world, |_| {});
    assert!(
        percent(&limits, Limit::Congestion) + percent(&limits, Limit::Recovery) >= 90,
        "{limits:?}"
    );
    assert!(
        world.ends[0].limits(world.now).of(Limit::Recovery) > Span::from_ms(1),
        "the start has lost some"
    );
}

#[test]
fn the_line_of_the_interface_limits() {
    assert_mostly(
        &limits_of(World::new(&config(), Path::new(1, Span::from_us(5)))),
        Limit::Interface,
    );
}

#[test]
fn a_paced_sender_is_limited_by_its_pace() {
    let path = Path { ps_per_byte: 80_000, queue_bytes: 1000 * 1066, ..Path::new(1, DELAY) };
    let paced = TcpConfig {
        congestion_control: CongestionControl::Bbr,
        small_queue: Span::ZERO,
        seed: 1,
        ..config()
    };
    let limits = limits_of(World::new(&paced, path));
    assert!(percent(&limits, Limit::Pacing) >= 60, "{limits:?}");
}

#[test]
fn an_application_that_writes_little_limits() {
    let mut world = World::new(&config(), Path::new(10, Span::from_us(50)));
    world.open();
    assert_mostly(&run(&mut world, |world| world.write(0, 20_000)), Limit::Application);
    assert_eq!(
        world.ends[1].limits(world.now).of(Limit::Application),
        world.ends[1].limits(world.now).total()
    );
}

/// The sender sees the window of the peer, the receiver why it is closed.
#[test]
fn a_reader_that_is_late_limits_and_says_so() {
    let buffer =
        TcpConfig { receive_buffer: Buffer { initial: 200_000, maximum: 200_000 }, ..config() };
    let mut world = World::new(&buffer, Path::new(10, Span::from_us(50)));
    world.open();
    world.ends[1].leave_unread();
    world.write(0, MUCH);
    let limits = run(&mut world, |world| {
        let unread = world.ends[1].unread();
        world.read(1, unread.min(10_000));
    });
    assert_mostly(&limits, Limit::ReceiveWindow);
    assert!(world.ends[1].limits(world.now).reader_late > Span::from_ms(180));
}

/// Everything was sent; the last segments and their retransmission are lost.
#[test]
fn the_wait_for_a_timeout_is_one_for_a_repair() {
    let lost = |side: usize, number: u64, packet: &tailrace_wire::Packet| {
        if side == 0 && packet.payload_bytes > 0 && number > 3 && number < 15 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    };
    let mut world = World::with_fate(&config(), Path::new(10, DELAY), lost);
    world.open();
    world.write(0, 20_000);
    world.run_to_quiet(10_000);
    let limits = world.ends[0].limits(world.now);
    assert_eq!(world.ends[0].stats().timeouts, 1, "a timer has expired");
    assert_eq!(world.acked[0], 20_000);
    assert!(percent(&limits, Limit::Recovery) >= 90, "{limits:?}");
}

#[test]
fn time_before_the_opening_and_after_the_closing_does_not_count() {
    let mut world = World::new(&config(), Path::new(10, DELAY));
    world.run_for(Span::from_ms(7));
    world.open();
    let opened = world.connected[0].expect("it is open");
    world.write(0, 5_000);
    world.run_for(Span::from_ms(3));
    world.shut_down(0);
    let closed = world.now;
    world.run_for(Span::from_ms(50));
    assert_eq!(world.ends[0].limits(world.now).total(), closed.since(opened));
    let sum: Span = ALL
        .into_iter()
        .fold(Span::ZERO, |sum, limit| sum + world.ends[0].limits(world.now).of(limit));
    assert_eq!(
        (sum, world.ends[0].limits(Time::ZERO).of(Limit::Closed)),
        (closed.since(opened), Span::ZERO)
    );
}
