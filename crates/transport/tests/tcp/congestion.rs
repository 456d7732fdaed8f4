//! Congestion control against theory.

use tailrace_transport::tcp::{Buffer, CongestionControl, SlowStartExit, State, TcpConfig};
use tailrace_units::Span;

use crate::harness::World;
use crate::pipe::{Fate, Path, losing};

const MSS: u32 = 1000;

fn config(congestion_control: CongestionControl) -> TcpConfig {
    TcpConfig {
        slow_start_exit: SlowStartExit::None,
        congestion_control,
        send_buffer: Buffer { initial: 64 << 20, maximum: 64 << 20 },
        receive_buffer: Buffer { initial: 64 << 20, maximum: 64 << 20 },
        ..TcpConfig::linux(MSS)
    }
}

#[test]
fn after_a_loss_cubic_follows_its_closed_form() {
    let rtt = Span::from_ms(40);
    let mut world = World::with_fate(
        &config(CongestionControl::Cubic),
        Path::new(0, rtt.part(2)),
        losing([1_000_001]),
    );
    world.open();
    world.write(0, 1_000_000_000);
    let mut w_max = 0;
    while world.ends[0].state() != State::Recovery {
        w_max = world.ends[0].cwnd();
        assert!(world.step());
    }
    while world.ends[0].state() == State::Recovery {
        assert!(world.step());
    }
    let start = world.now;
    assert_eq!(world.ends[0].cwnd(), w_max * 717 / 1024);
    let w_max = f64::from(w_max);
    let k = (w_max * 0.3 / 0.4).cbrt();
    for tenths in [20, 50, 80, 100, 120] {
        world.run_until(start + Span::from_ms(tenths * 100));
        let t = tenths as f64 / 10.0;
        let want = 0.4 * (t - k).powi(3) + w_max;
        let got = f64::from(world.ends[0].cwnd());
        assert!(
            (got / want - 1.0).abs() < 0.05,
            "after {t} s: {got}, closed form {want} (K = {k} s, from {w_max})"
        );
    }
}

#[test]
fn after_a_loss_newreno_halves_and_grows_by_one_per_round_trip() {
    let rtt = Span::from_ms(10);
    let mut world = World::with_fate(
        &config(CongestionControl::NewReno),
        Path::new(0, rtt.part(2)),
        losing([100_001]),
    );
    world.open();
    world.write(0, 100_000_000);
    let mut before = 0;
    while world.ends[0].state() != State::Recovery {
        before = world.ends[0].cwnd();
        assert!(world.step());
    }
    while world.ends[0].state() == State::Recovery {
        assert!(world.step());
    }
    let halved = world.ends[0].cwnd();
    assert_eq!(halved, before / 2);
    world.run_for(rtt.times(20));
    let grown = world.ends[0].cwnd() - halved;
    assert!((19..=21).contains(&grown), "{grown} in 20 round trips");
}

/// Goodput share of the link and mean queue (bytes) from 50 to 250 ms of one flow over 1 Gbit/s,
/// 100 us, with this queue and marking.
fn steady(config: &TcpConfig, queue_bytes: u64, mark_bytes: u64) -> (f64, u64, World) {
    // A fast NIC is not modelled here: the pipe's queue is the bottleneck, so small queues are off.
    let config = TcpConfig { small_queue: Span::ZERO, ..config.clone() };
    let path = Path { queue_bytes, mark_bytes, ..Path::new(1, Span::from_us(50)) };
    let mut world = World::with_fate(&config, path, |_, _, _| Fate::Deliver);
    world.open();
    world.write(0, 1_000_000_000);
    world.run_for(Span::from_ms(50));
    let before = world.readable[1];
    let mut deepest = 0;
    for _ in 0..2000 {
        world.run_for(Span::from_us(100));
        deepest = deepest.max(world.ends[0].unacked());
    }
    let share = (world.readable[1] - before) as f64 * 8.0 / 0.2 / 1e9 * 1066.0 / 1000.0;
    (share, deepest, world)
}

#[test]
fn dctcp_keeps_the_queue_at_the_threshold_and_the_link_busy() {
    let dctcp = TcpConfig { ecn: true, tso_bytes: 0, ..config(CongestionControl::Dctcp) };
    let (share, most_unacked, world) = steady(&dctcp, u64::MAX, 20_000);
    assert!(share > 0.99, "{share}");
    // In flight: the path (12.5 kB), the threshold, and a few segments.
    assert!(most_unacked < 12_500 + 20_000 + 12_000, "{most_unacked}");
    let alpha = f64::from(world.ends[0].marked_share_1024().expect("dctcp")) / 1024.0;
    // Alizadeh 2010 section 3.3: alpha = sqrt(2 / W), W = (C x RTT + K) / segment.
    let theory = (2.0_f64 / ((12_500.0 + 20_000.0) / 1066.0)).sqrt();
    assert!(alpha > theory * 0.4 && alpha < theory * 1.6, "alpha {alpha}, theory {theory}");
    assert_eq!(world.ends[0].stats().retransmits, 0);
}

#[test]
fn classic_ecn_reduces_once_per_window_and_loses_nothing() {
    let ecn = TcpConfig { ecn: true, ..config(CongestionControl::NewReno) };
    let (share, _, world) = steady(&ecn, u64::MAX, 60_000);
    let stats = world.ends[0].stats();
    assert!(share > 0.99, "{share}");
    assert_eq!(stats.retransmits, 0);
    assert!(stats.ecn_reductions > 2 && stats.ecn_reductions < 60, "{stats:?}");
}

#[test]
fn a_tail_drop_queue_is_filled_and_losses_are_repaired_without_timeouts() {
    for control in [CongestionControl::Cubic, CongestionControl::NewReno] {
        let (share, _, world) = steady(&config(control), 100_000, u64::MAX);
        let stats = world.ends[0].stats();
        assert!(share > 0.98, "{control:?} {share}");
        assert_eq!((stats.timeouts, stats.spurious_retransmits), (0, 0), "{control:?} {stats:?}");
        assert!(stats.fast_recoveries > 2, "{control:?} {stats:?}");
    }
}

/// Frames lost in `ms` over 100 Mbit/s, 10 ms (117 frames) and a queue of this many frames, and the
/// threshold then.
fn slow_start(
    control: CongestionControl,
    exit: SlowStartExit,
    queue_frames: u64,
    ms: u64,
) -> (usize, u32) {
    let config = TcpConfig { slow_start_exit: exit, small_queue: Span::ZERO, ..config(control) };
    let path = Path {
        queue_bytes: queue_frames * 1066,
        ps_per_byte: 80_000,
        ..Path::new(1, Span::from_ms(5))
    };
    let mut world = World::with_fate(&config, path, |_, _, _| Fate::Deliver);
    world.open();
    world.write(0, 1_000_000_000);
    world.run_for(Span::from_ms(ms));
    (world.sent().iter().filter(|s| s.is_lost).count(), world.ends[0].ssthresh())
}

#[test]
fn hystart_ends_slow_start_when_the_path_is_full() {
    let (lost, _) = slow_start(CongestionControl::Cubic, SlowStartExit::None, 200, 150);
    assert!(lost > 50, "without an early exit slow start overruns the queue: {lost}");
    let (lost, threshold) = slow_start(CongestionControl::Cubic, SlowStartExit::Hystart, 200, 150);
    assert_eq!(lost, 0);
    assert!((60..240).contains(&threshold), "{threshold}");
}

/// Linux has it in `tcp_cubic.c`; `tcp_cong.c` (Reno) and `tcp_dctcp.c` have plain slow start.
#[test]
fn hystart_belongs_to_cubic_alone() {
    for control in [CongestionControl::NewReno, CongestionControl::Dctcp] {
        let plain = slow_start(control, SlowStartExit::None, 200, 150);
        assert!(plain.0 > 50, "{control:?}: slow start overruns the queue: {plain:?}");
        assert_eq!(slow_start(control, SlowStartExit::Hystart, 200, 150), plain, "{control:?}");
    }
}

#[test]
fn hystart_plus_plus_ends_slow_start_when_the_delay_rises() {
    let (lost, _) = slow_start(CongestionControl::NewReno, SlowStartExit::None, 2000, 1000);
    assert!(lost > 500, "without an early exit slow start overruns the queue: {lost}");
    let (lost, threshold) =
        slow_start(CongestionControl::NewReno, SlowStartExit::HystartPlusPlus, 2000, 1000);
    assert_eq!(lost, 0);
    assert!((117..2000).contains(&threshold), "{threshold}");
}
