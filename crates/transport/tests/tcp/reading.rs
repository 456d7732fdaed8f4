//! An application that reads late: how its buffer fills, its window closes and opens, and which
//! windows are announced to the peer.

use tailrace_transport::tcp::{Buffer, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

use crate::harness::World;
use crate::pipe::{Fate, Path};
use crate::script::{linux, play};

const DELAY: Span = Span::from_us(50);

/// The kernel's defaults with a fixed receive buffer, in which a byte takes a byte off the window.
fn buffer(bytes: u64) -> TcpConfig {
    let config = linux();
    TcpConfig {
        receive_buffer: Buffer { initial: bytes, maximum: bytes },
        segment_memory: 2 * config.mss,
        ..config
    }
}

/// Two ends of which B leaves unread what A has written.
fn left_unread(config: &TcpConfig, bytes: u64) -> World {
    let mut world = World::new(config, Path::new(10, DELAY));
    world.open();
    world.ends[1].leave_unread();
    world.write(0, bytes);
    world
}

/// Linux `__tcp_select_window` ends the quick acknowledgements of a new connection when half of the
/// buffer is full; then full segments wait for the reader (`__tcp_ack_snd_check`), at most as long
/// as any other.
#[test]
fn beyond_half_a_buffer_acknowledgements_wait_for_the_reader() {
    play(
        &buffer(20_000),
        0,
        32_896,
        "
        late
        +0 < 1:4001
        > ack 4001 win 16000
        +0 < 4001:8001
        > ack 8001 win 12000
        +0 < 8001:9001
        > ack 9001 win 11000
        +0 < 9001:12001
        +0 < 12001:14001
        +40 > ack 14001 win 6000
        +0 < 14001:20001
        read 1000
        > ack 20001 win 0
        ",
    );
}

/// Linux `tcp_cleanup_rbuf`: a window is worth a segment of its own when it is twice what the peer
/// has left, and `__tcp_select_window`: less than a segment and less than a sixteenth of the buffer
/// are no window.
#[test]
fn a_closed_window_opens_by_a_segment_or_a_sixteenth_and_then_by_doubling() {
    let closed = "
        late
        +0 < 1:16001
        > ack 16001 win 24000
        +0 < 16001:40001
        +40 > ack 40001 win 0
        ";
    let opening = "
        read 2499
        read 1
        > ack 40001 win 2500
        read 2499
        read 1
        > ack 40001 win 5000
        read 4999
        read 1
        > ack 40001 win 10000
        ";
    play(&buffer(40_000), 0, 32_896, &format!("{closed}{opening}"));
    let a_segment =
        "late\n +0 < 1:8001\n +40 > ack 8001 win 0\n read 999\n read 1\n > ack 8001 win 1000";
    play(&buffer(8_000), 0, 32_896, a_segment);
}

/// A short segment outside a dialogue is answered when it is read and nothing is left (Linux
/// `tcp_cleanup_rbuf`).
#[test]
fn a_short_segment_is_acknowledged_when_everything_is_read() {
    play(
        &buffer(3_000),
        0,
        32_896,
        "
        late
        +0 < 1:1001
        > ack 1001 win 2000
        +0 < 1001:2001
        > ack 2001 win 1000
        +0 < 2001:2101 push
        read 500
        read 1500
        > ack 2101 win 2000
        +0 < 2101:2201 push
        read 100
        read 100
        > ack 2201 win 2000
        ",
    );
}

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let mut world = left_unread(&buffer(20_000), 50_000);
    let start = world.now;
    world.run_for(Span::from_secs(7));
    assert_eq!(
        (world.readable[1], world.ends[0].unacked(), world.ends[0].unsent()),
        (20_000, 0, 30_000)
    );
    let probes: Vec<u64> =
        world.acks_from(0).skip(1).map(|s| s.at.since(start).ps() / 1_000_000_000).collect();
    assert_eq!(probes, [202, 603, 1405, 3008, 6214], "each twice as late as the one before");
    // The application reads, and the peer hears of it at once.
    let opened = world.now;
    world.read(1, 20_000);
    world.run_for(Span::from_ms(1));
    assert_eq!(world.readable[1], 40_000, "{}", world.timeline(opened));
}

#[test]
fn a_lost_update_of_the_window_costs_no_more_than_the_next_probe() {
    let is_update = |side: usize, p: &Packet| side == 1 && p.ack == 20_001 && p.window == 19_000;
    let mut lost = 0;
    let fate = move |side: usize, _: u64, p: &Packet| {
        lost += u64::from(is_update(side, p));
        if is_update(side, p) && lost == 1 { Fate::Drop } else { Fate::Deliver }
    };
    let mut world = World::with_fate(&buffer(20_000), Path::new(10, DELAY), fate);
    world.open();
    world.ends[1].leave_unread();
    world.write(0, 50_000);
    world.run_for(Span::from_ms(100));
    world.read(1, 20_000);
    world.run_for(Span::from_ms(100));
    assert_eq!(world.readable[1], 20_000);
    world.run_for(Span::from_ms(50));
    assert_eq!((world.readable[1], world.ends[0].stats().window_probes), (40_000, 1));
}

/// 4 MB need a shift of 6: announced windows are multiples of 64 bytes, and the right edge never
/// moves back.
#[test]
fn a_scaled_window_is_announced_in_whole_units() {
    let mut world = left_unread(&buffer(4_000_000), 6_000_000);
    while world.readable[1] < 6_000_000 {
        world.run_for(Span::from_us(300));
        let some = world.ends[1].unread().min(77_777);
        world.read(1, some);
    }
    let mut edge = 0;
    for sent in world.acks_from(1) {
        assert_eq!(sent.packet.window % 64, 0, "{}", sent.packet.window);
        let right = sent.packet.ack + u64::from(sent.packet.window);
        assert!(right >= edge, "the right edge went back from {edge} to {right}");
        edge = right;
    }
    assert!(world.data_from(0).all(|s| s.packet.seq < edge));
}

/// The buffer is tuned to the bytes that are read, not to those that arrive.
#[test]
fn a_buffer_does_not_grow_for_a_reader_that_is_slow() {
    let tuned =
        TcpConfig { receive_buffer: Buffer { initial: 65_536, maximum: 6 << 20 }, ..linux() };
    let grown = |piece: u64| {
        let mut world = left_unread(&tuned, 4_000_000);
        let end = world.now + Span::from_ms(20);
        while world.now < end {
            world.run_for(Span::from_us(10));
            let some = world.ends[1].unread().min(piece);
            world.read(1, some);
        }
        world.ends[1].buffers().1
    };
    assert!(grown(u64::MAX) > 500_000, "a reader that keeps up: {}", grown(u64::MAX));
    assert!(grown(100) < 100_000, "80 Mbit/s: {}", grown(100));
}

#[test]
fn who_reads_at_once_of_his_own_accord_is_answered_as_who_always_does() {
    let timeline = |is_late: bool| {
        let mut world = World::new(&linux(), Path::new(10, DELAY));
        world.merge = (Span::from_us(20), 65_536);
        world.open();
        if is_late {
            world.ends[1].leave_unread();
        }
        world.write(0, 3_000_000);
        while world.step() {
            let unread = world.ends[1].unread();
            world.read(1, unread);
        }
        assert_eq!(world.readable[1], 3_000_000);
        world.timeline(Time::ZERO)
    };
    assert_eq!(timeline(true), timeline(false));
}
