//! Whatever the network loses, delays, repeats or marks: everything arrives once and in order, and
//! both ends fall silent.

use proptest::prelude::*;
use tailrace_transport::tcp::{Buffer, CongestionControl, Failure, SlowStartExit, Tcp, TcpConfig};
use tailrace_units::{Probability, RandomStream, Span, Time};
use tailrace_wire::Packet;

use crate::harness::World;
use crate::pipe::{Fate, Path};

/// Frames that the network may mistreat; later ones are delivered.
const MISTREATED: u64 = 3_000;
/// Events after which a run counts as stuck.
const EVENTS_MAX: u32 = 400_000;

#[derive(Clone, Debug)]
struct Mistreatment {
    seed: u64,
    loss_percent: u64,
    late_percent: u64,
    twice_percent: u64,
    mark_percent: u64,
    late_us: u64,
}

impl Mistreatment {
    fn fate(&self) -> impl FnMut(usize, u64, &Packet) -> Fate + use<> {
        let mut random = RandomStream::new(self.seed, "fate");
        let this = self.clone();
        move |_, index, _| {
            let mut happens = |percent: u64| random.happens(Probability::ratio(percent, 100));
            if index > MISTREATED {
                Fate::Deliver
            } else if happens(this.loss_percent) {
                Fate::Drop
            } else if happens(this.late_percent) {
                Fate::Late(Span::from_us(this.late_us))
            } else if happens(this.twice_percent) {
                Fate::Twice(Span::from_us(this.late_us))
            } else if happens(this.mark_percent) {
                Fate::Mark
            } else {
                Fate::Deliver
            }
        }
    }
}

fn mistreatment() -> impl Strategy<Value = Mistreatment> {
    (any::<u64>(), 0..40_u64, 0..40_u64, 0..20_u64, 0..30_u64, 1..3_000_u64).prop_map(
        |(seed, loss_percent, late_percent, twice_percent, mark_percent, late_us)| Mistreatment {
            seed,
            loss_percent,
            late_percent,
            twice_percent,
            mark_percent,
            late_us,
        },
    )
}

fn config() -> impl Strategy<Value = TcpConfig> {
    let control = prop_oneof![
        Just(CongestionControl::Cubic),
        Just(CongestionControl::NewReno),
        Just(CongestionControl::Dctcp),
        Just(CongestionControl::Bbr)
    ];
    let exit = prop_oneof![
        Just(SlowStartExit::None),
        Just(SlowStartExit::Hystart),
        Just(SlowStartExit::HystartPlusPlus)
    ];
    let sizes = (
        prop_oneof![Just(536_u32), Just(1448), Just(8948)],
        prop_oneof![Just(0_u32), Just(65_536)],
    );
    let switches =
        (any::<bool>(), any::<bool>(), any::<bool>(), prop_oneof![Just(0_u64), Just(1), Just(40)]);
    let buffers = (
        prop_oneof![Just(1_000_u64), Just(30_000), Just(1 << 20)],
        prop_oneof![Just(600_u64), Just(40_000), Just(1 << 20)],
    );
    (control, exit, sizes, switches, buffers).prop_map(
        |(
            congestion_control,
            slow_start_exit,
            (mss, tso_bytes),
            (ecn, sack, tail_loss_probe, delayed_ms),
            (send, receive),
        )| {
            TcpConfig {
                congestion_control,
                slow_start_exit,
                tso_bytes,
                ecn,
                sack,
                tail_loss_probe,
                delayed_ack: Span::from_ms(delayed_ms),
                send_buffer: Buffer { initial: send, maximum: send * 4 },
                receive_buffer: Buffer { initial: receive, maximum: receive * 4 },
                ..TcpConfig::linux(mss)
            }
        },
    )
}

fn path() -> impl Strategy<Value = Path> {
    (
        prop_oneof![Just(0_u64), Just(1), Just(10)],
        1..2_000_u64,
        prop_oneof![Just(u64::MAX), Just(40_000_u64)],
    )
        .prop_map(|(gbps, delay_us, queue_bytes)| Path {
            queue_bytes,
            ..Path::new(gbps, Span::from_us(delay_us))
        })
}

/// Whether an end has given up. With up to two of five frames lost, and acknowledgements as well,
/// fifteen in a row may be.
fn has_given_up(world: &World, mistreatment: &Mistreatment) -> bool {
    let failures: Vec<Failure> = world.ends.iter().filter_map(Tcp::failure).collect();
    let is_late = world.now > Time::ZERO + Span::from_secs(900);
    assert!(
        failures.is_empty() || (mistreatment.loss_percent > 10 && is_late),
        "{failures:?} at {:?}",
        world.now
    );
    assert!(failures.iter().all(|failure| *failure == Failure::TimedOut), "{failures:?}");
    !failures.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_once_and_both_ends_fall_silent(
        mistreatment in mistreatment(),
        config in config(),
        path in path(),
        writes in prop::collection::vec((0..2_usize, 1..200_000_u64, 0..20_000_u64), 1..12),
        merge_us in 0..20_u64,
    ) {
        let mut world = World::with_fate(&config, path, mistreatment.fate());
        world.merge = (Span::from_us(merge_us), 65_536);
        world.open_or_fail();
        prop_assume!(world.ends.iter().all(|end| end.failure().is_none()));
        let mut written = [0; 2];
        for (side, bytes, pause_us) in writes {
            world.write(side, bytes);
            written[side] += bytes;
            world.run_for(Span::from_us(pause_us));
        }
        world.run_to_quiet(EVENTS_MAX);
        if has_given_up(&world, &mistreatment) {
            return Ok(());
        }
        prop_assert_eq!(world.readable, [written[1], written[0]]);
        prop_assert_eq!(world.acked, written);
        for end in &world.ends {
            prop_assert_eq!((end.unsent(), end.unacked(), end.in_flight()), (0, 0, 0));
            prop_assert_eq!(end.poll_timeout(), Time::NEVER);
        }
    }

    #[test]
    fn a_late_reader_gets_everything_through_a_window_that_never_moves_back(
        mistreatment in mistreatment(),
        config in config(),
        path in path(),
        (bytes, piece, patience) in (1..300_000_u64, 300..50_000_u64, 1..50_u32),
    ) {
        let mut world = World::with_fate(&config, path, mistreatment.fate());
        world.open_or_fail();
        prop_assume!(world.ends.iter().all(|end| end.failure().is_none()));
        world.ends[1].leave_unread();
        world.write(0, bytes);
        let mut most_unread = 0;
        for event in 0..EVENTS_MAX {
            let has_stopped = !world.step();
            let unread = world.ends[1].unread();
            most_unread = most_unread.max(unread);
            if has_stopped && unread == 0 {
                break;
            }
            if has_stopped || event.is_multiple_of(patience) {
                world.read(1, unread.min(piece));
            }
        }
        if !has_given_up(&world, &mistreatment) {
            prop_assert_eq!(
                (world.readable[1], world.ends[1].unread(), world.acked[0]),
                (bytes, 0, bytes)
            );
        }
        // Each segment that announces the rest of an earlier window rounds it up to a unit of the
        // window scale, as in Linux.
        let buffer = config.receive_buffer.maximum.max(65_535);
        let unit =
            1 << (0..14).find(|shift| buffer >> shift <= 65_535).expect("buffers here are small");
        let announced = world.sent().iter().filter(|sent| sent.side == 1).count() as u64;
        // Payload takes half of its length off the window at least.
        prop_assert!(
            most_unread <= 2 * buffer + announced * (unit - 1),
            "{} bytes in the buffer",
            most_unread
        );
        let mut edge = 0;
        for sent in world.sent().iter().filter(|sent| sent.side == 1) {
            let right = sent.packet.ack + u64::from(sent.packet.window);
            prop_assert!(right >= edge, "{} after {}", right, edge);
            edge = right;
        }
    }

    #[test]
    fn a_late_or_early_call_of_the_timer_never_harms(
        mistreatment in mistreatment(),
        config in config(),
        path in path(),
        calls in prop::collection::vec(1..400_000_u64, 1..40),
    ) {
        let mut world = World::with_fate(&config, path, mistreatment.fate());
        world.open_or_fail();
        prop_assume!(world.ends.iter().all(|end| end.failure().is_none()));
        world.write(0, 300_000);
        for us in calls {
            // No end is called at its deadline: arrivals wait, then the timers find everything
            // overdue or nothing due.
            world.stall(Span::from_us(us));
        }
        world.run_to_quiet(EVENTS_MAX);
        if !has_given_up(&world, &mistreatment) {
            prop_assert_eq!(world.readable[1], 300_000);
        }
    }
}
