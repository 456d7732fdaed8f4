//! Outputs: write boundaries, bursts, buffers, small queues, and windows that were not used.

use tailrace_transport::tcp::{
    Buffer, CongestionControl, SlowStartExit, SmallQueueBound, TcpConfig,
};
use tailrace_units::{Span, Time};
use tailrace_wire::Flags;

use crate::harness::World;
use crate::pipe::Path;

const DELAY: Span = Span::from_us(50);
/// Payload bytes of a segment.
const MSS: u32 = 1000;

fn config() -> TcpConfig {
    TcpConfig {
        slow_start_exit: SlowStartExit::None,
        congestion_control: CongestionControl::NewReno,
        send_buffer: Buffer { initial: 64 << 20, maximum: 64 << 20 },
        receive_buffer: Buffer { initial: 64 << 20, maximum: 64 << 20 },
        ..TcpConfig::linux(MSS)
    }
}

fn sizes(world: &World) -> Vec<(u16, bool)> {
    world
        .data_from(0)
        .map(|s| (s.packet.payload_bytes, s.packet.flags.contains(Flags::PSH)))
        .collect()
}

#[test]
fn without_corking_every_write_leaves_at_once_and_ends_with_a_push() {
    let mut world = World::new(&TcpConfig { autocorking: false, ..config() }, Path::new(10, DELAY));
    world.open();
    for bytes in [300, 2500, 1000] {
        world.write(0, bytes);
    }
    world.run_to_quiet(100);
    assert_eq!(
        sizes(&world),
        [(300, true), (1000, false), (1000, false), (500, true), (1000, true)]
    );
}

/// At a low pace two short bursts may wait in the NIC and no third, unless the unacknowledged bytes
/// are one burst (Linux `tcp_small_queue_check`: the memory of the next burst counts, and not that
/// of the largest).
#[test]
fn two_bursts_as_short_as_the_next_wait_in_the_nic() {
    // A round trip of 80 ms: the pace of ten segments is 150 bytes in a millisecond.
    let config = TcpConfig { autocorking: false, ..config() };
    let mut world = World::new(&config, Path::new(1, Span::from_ms(40)));
    world.open();
    for _ in 0..5 {
        world.write(0, 500);
    }
    world.run_to_quiet(100);
    assert_eq!(
        sizes(&world).into_iter().map(|(bytes, _)| bytes).collect::<Vec<_>>(),
        [500, 500, 1000, 500]
    );
    let mut world = World::new(&config, Path::new(1, Span::from_ms(40)));
    world.open();
    for bytes in [2000, 300, 300] {
        world.write(0, bytes);
    }
    world.run_to_quiet(100);
    let at: Vec<_> = world.data_from(0).map(|s| (s.packet.payload_bytes, s.at)).collect();
    assert_eq!(at[2], (300, at[0].1), "one burst waits, however long");
    assert!(at[3].1 > at[0].1, "two bursts wait that are longer");
}

/// Payload bytes of the segments of 24 writes of 5500 bytes, 128 kB, in one instant.
fn small_writes(autocorking: bool, path: Path) -> Vec<u16> {
    let config = TcpConfig { autocorking, initial_window_segments: 64, mss: 8948, ..config() };
    let mut world = World::new(&config, path);
    world.open();
    for _ in 0..24 {
        world.write(0, 5500);
    }
    world.run_to_quiet(1000);
    sizes(&world).into_iter().map(|(bytes, _)| bytes).collect()
}

/// Bytes that wait in the NIC hold back a write that is not longer than they are: bursts of 1, 2,
/// 4, 8 and 9 writes. Linux 6.1 sends 17 segments too (`docs/validation.md`, the Cisco scenario).
#[test]
fn small_writes_are_joined_while_the_nic_is_busy() {
    let corked = small_writes(true, Path::new(10, DELAY));
    assert_eq!(corked[..6], [5500, 8948, 2052, 8948, 8948, 4104]);
    assert_eq!(corked.len(), 18, "one of them is cut where the peer's first window ends");
    assert_eq!(corked.iter().map(|bytes| u32::from(*bytes)).sum::<u32>(), 24 * 5500);
    // The peer's first window holds eleven.
    assert_eq!(small_writes(false, Path::new(10, DELAY))[..11], [5500; 11]);
}

/// A write that is held back leaves when the first frame of its connection has left the NIC, long
/// before an acknowledgement.
#[test]
fn a_corked_write_leaves_when_the_nic_has_sent_what_it_has() {
    let mut world = World::new(&config(), Path::new(1, Span::from_ms(10)));
    world.open();
    for _ in 0..2 {
        world.write(0, 500);
    }
    world.run_to_quiet(100);
    let sent: Vec<_> = world.data_from(0).map(|s| (s.packet.payload_bytes, s.at)).collect();
    assert_eq!(sent.len(), 2);
    let frame = u64::from(world.data_from(0).next().expect("one").packet.frame_bytes);
    assert_eq!(sent[1].1.since(sent[0].1), Span::from_ps(8000 * frame));
}

/// Of several bursts in the NIC, the first to leave it is the one that counts.
#[test]
fn a_corked_write_does_not_wait_for_all_that_is_in_the_nic() {
    let mut world = World::new(&config(), Path::new(1, Span::from_ms(10)));
    world.open();
    for bytes in [500, 800, 800] {
        world.write(0, bytes);
    }
    world.run_to_quiet(100);
    let sent: Vec<_> = world.data_from(0).map(|s| (s.packet.payload_bytes, s.at)).collect();
    assert_eq!(sent.iter().map(|(bytes, _)| *bytes).collect::<Vec<_>>(), [500, 800, 800]);
    assert_eq!(sent[1].1, sent[0].1, "it is longer than what waits");
    let frame = u64::from(world.data_from(0).next().expect("one").packet.frame_bytes);
    assert_eq!(sent[2].1.since(sent[0].1), Span::from_ps(8000 * frame));
}

#[test]
fn writes_that_wait_for_the_window_are_joined() {
    let mut world = World::new(&TcpConfig { autocorking: false, ..config() }, Path::new(10, DELAY));
    world.open();
    for _ in 0..20 {
        world.write(0, 300);
    }
    world.run_to_quiet(100);
    let sizes = sizes(&world);
    assert_eq!(
        &sizes[..10],
        [(300, true); 10],
        "the initial window is used up by ten short segments"
    );
    assert_eq!(&sizes[10..], [(1000, false), (1000, false), (1000, true)]);
}

/// Most frames handed to the NIC at one instant after the first `skip` ones.
fn longest_burst(world: &World, skip: usize) -> usize {
    let times: Vec<Time> = world.data_from(0).skip(skip).map(|s| s.at).collect();
    times.chunk_by(|a, b| a == b).map(<[Time]>::len).max().unwrap_or(0)
}

#[test]
fn tso_makes_bursts_of_up_to_64_kib_and_its_absence_pairs() {
    for (tso_bytes, bursts) in [(0, 1..=4), (16_384, 10..=40), (65_536, 40..=140)] {
        let config = TcpConfig { tso_bytes, window_cap_bytes: 1_000_000, ..config() };
        let mut world = World::new(&config, Path::new(10, Span::from_us(400)));
        world.open();
        world.write(0, 20_000_000);
        world.run_to_quiet(1_000_000);
        let longest = longest_burst(&world, 15_000);
        assert!(bursts.contains(&longest), "with {tso_bytes} bytes the longest burst is {longest}");
    }
}

#[test]
fn small_queues_bound_what_waits_in_the_nic() {
    // A NIC of 1 Gbit/s and a window of 2 MB, all of which would wait in the NIC.
    let waiting = |small_queue: Span, small_queue_bound| {
        let config =
            TcpConfig { small_queue, small_queue_bound, window_cap_bytes: 2_000_000, ..config() };
        let mut world = World::new(&config, Path::new(1, DELAY));
        world.open();
        world.write(0, 20_000_000);
        let (mut most, mut late) = (0, Vec::new());
        let mut departed = std::collections::VecDeque::new();
        let mut free_at = Time::ZERO;
        world.run_to_quiet(1_000_000);
        let mut bytes = 0;
        for sent in world.sent().iter().filter(|s| s.side == 0) {
            let frame = u64::from(sent.packet.frame_bytes);
            while departed.front().is_some_and(|(at, _)| *at <= sent.at) {
                bytes -= departed.pop_front().map_or(0, |(_, frame)| frame);
            }
            free_at = free_at.max(sent.at) + Span::from_ps(8000 * frame);
            departed.push_back((free_at, frame));
            bytes += frame;
            most = most.max(bytes);
            if sent.at.ps() > world.now.ps() / 2 {
                late.push(bytes);
            }
        }
        late.sort_unstable();
        (most, late[late.len() / 2], world.now, world.readable[1])
    };
    let (bounded, _, time, read) = waiting(Span::from_ms(1), SmallQueueBound::Line);
    // A millisecond of the line is 125 kB, but two bursts may always wait, and a burst that starts
    // below the limit is finished.
    assert!(bounded <= 3 * 65 * 1066, "{bounded}");
    assert_eq!(read, 20_000_000);
    assert!(time < Time::from_ps(180_000_000_000), "the link is never idle: {time:?}");
    let (_, by_pace, _, read) = waiting(Span::from_ms(1), SmallQueueBound::Pace);
    assert_eq!(read, 20_000_000);
    // The queue is a millisecond of the pace, and the pace is two windows W per round trip of the
    // queue, q / rate: q = (2 W rate 1 ms)^(1/2) = 707 kB, with a smoothed round trip that lags
    // behind.
    assert!(by_pace > 707_000 / 2 && by_pace < 707_000 * 2, "{by_pace}");
    let (unbounded, _, _, _) = waiting(Span::ZERO, SmallQueueBound::Pace);
    assert!(unbounded > 1_900_000, "{unbounded}");
}

#[test]
fn a_fixed_send_buffer_limits_what_is_in_flight() {
    let config = TcpConfig {
        send_buffer: Buffer { initial: 100_000, maximum: 100_000 },
        tso_bytes: 0,
        ..config()
    };
    let mut world = World::new(&config, Path::new(10, Span::from_ms(1)));
    world.open();
    world.write(0, 20_000_000);
    let mut most = 0;
    let start = world.now;
    while world.acked[0] < 20_000_000 {
        assert!(world.step());
        most = most.max(world.ends[0].unacked());
    }
    assert_eq!(most, 100_000);
    let rate = 20_000_000.0 / world.now.since(start).as_secs_f64();
    // Bytes that wait for room are let in when a third of the buffer is free.
    let bound = 100_000.0 / 0.002;
    assert!(
        rate < bound && rate > 2.0 / 3.0 * bound,
        "{rate} bytes/s, window over round trip is {bound}"
    );
}

#[test]
fn what_waits_for_room_is_let_in_when_a_third_of_the_buffer_is_free() {
    let config = TcpConfig {
        send_buffer: Buffer { initial: 90_000, maximum: 90_000 },
        tso_bytes: 0,
        ..config()
    };
    let mut world = World::new(&config, Path::new(10, Span::from_ms(1)));
    world.open();
    world.write(0, 20_000_000);
    let (mut before, mut falls) = (0, 0);
    while world.acked[0] < 19_000_000 {
        assert!(world.step());
        let in_flight = world.ends[0].unacked();
        falls += u32::from(in_flight < before && in_flight > 60_000);
        before = in_flight;
    }
    assert!(falls > 10, "{falls}");
}

#[test]
fn an_autotuned_send_buffer_is_twice_the_memory_of_the_window() {
    let config = TcpConfig {
        send_buffer: Buffer { initial: 16_384, maximum: 1 << 20 },
        window_cap_bytes: 200_000,
        ..config()
    };
    let mut world = World::new(&config, Path::new(10, Span::from_ms(1)));
    world.open();
    world.write(0, 10_000_000);
    world.run_to_quiet(1_000_000);
    assert_eq!(
        world.ends[0].buffers().0,
        2 * 200 * (2_048 + 256),
        "1000 bytes and 640 of headers, and a record"
    );
    assert_eq!(world.readable[1], 10_000_000);
}

#[test]
fn the_link_is_filled() {
    let mut world = World::new(
        &TcpConfig { window_cap_bytes: 1_000_000, ..TcpConfig { mss: 1448, ..config() } },
        Path::new(10, DELAY),
    );
    world.open();
    world.write(0, 1_000_000_000);
    world.run_for(Span::from_ms(20));
    let before = world.readable[1];
    world.run_for(Span::from_ms(80));
    let goodput = (world.readable[1] - before) as f64 * 8.0 / 0.08;
    let bound = 10e9 * 1448.0 / 1514.0;
    assert!(goodput <= bound * 1.0001 && goodput > bound * 0.999, "{goodput}, bound {bound}");
}

#[test]
fn an_idle_connection_starts_slowly_again() {
    let after = |idle: Span, slow_start_after_idle: bool| {
        let mut world =
            World::new(&TcpConfig { slow_start_after_idle, ..config() }, Path::new(10, DELAY));
        world.open();
        world.write(0, 3_000_000);
        world.run_to_quiet(100_000);
        let before = world.ends[0].cwnd();
        world.run_for(idle);
        world.write(0, 1000);
        (before, world.ends[0].cwnd())
    };
    let (before, kept) = after(Span::from_ms(150), true);
    assert_eq!(before, kept, "less than one timeout");
    let (before, halved) = after(Span::from_ms(300), true);
    assert_eq!(halved, before / 2, "one timeout");
    assert_eq!(after(Span::from_secs(10), true).1, 10, "the initial window is the floor");
    let (before, kept) = after(Span::from_secs(10), false);
    assert_eq!(before, kept);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut world = World::new(&config(), Path::new(10, DELAY));
    world.open();
    for _ in 0..1000 {
        world.write(0, 4000);
        world.run_for(Span::from_us(300));
    }
    assert_eq!(world.ends[0].cwnd(), 10, "four of ten segments are used");
    for _ in 0..100 {
        world.write(0, 8000);
        world.run_for(Span::from_us(300));
    }
    let cwnd = world.ends[0].cwnd();
    assert!((12..=18).contains(&cwnd), "slow start grows to twice what is used at most: {cwnd}");
}

/// Linux `__tcp_transmit_skb`: the peer merges nothing more with segments that are sent at once.
#[test]
fn a_burst_ends_with_a_push() {
    let mut world = World::new(&config(), Path::new(10, DELAY));
    world.open();
    world.write(0, 40_000);
    world.run_for(Span::from_us(10));
    let pushed: Vec<bool> =
        world.data_from(0).map(|s| s.packet.flags.contains(Flags::PSH)).collect();
    assert_eq!(
        pushed,
        [false, false, false, false, true, false, false, false, false, true],
        "ten segments, five at a time"
    );
}

/// Linux `tcp_mss_split_point` without Nagle's algorithm: the peer's window is used to its last
/// byte, if a full segment fits besides.
#[test]
fn a_burst_ends_where_the_peers_window_does() {
    let receive_buffer = Buffer { initial: 4_500, maximum: 4_500 };
    let mut world = World::new(&TcpConfig { receive_buffer, ..config() }, Path::new(10, DELAY));
    world.open();
    world.write(0, 40_000);
    world.run_to_quiet(10_000);
    assert_eq!(world.readable[1], 40_000);
    let data: Vec<_> = world.data_from(0).map(|s| (s.packet.seq, s.packet.payload_bytes)).collect();
    let edges: Vec<u64> =
        world.acks_from(1).map(|s| s.packet.ack + u64::from(s.packet.window)).collect();
    let short = data
        .iter()
        .find(|segment| segment.1 < 1000)
        .expect("the window is no multiple of a segment");
    assert!(edges.contains(&(short.0 + u64::from(short.1))), "{short:?} {edges:?}");
}

#[test]
fn one_end_of_a_connection_fits_sixteen_cache_lines() {
    assert!(
        size_of::<tailrace_transport::tcp::Tcp>() <= 1024,
        "{}",
        size_of::<tailrace_transport::tcp::Tcp>()
    );
}
