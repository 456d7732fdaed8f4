//! A hypervisor alone: its switch sends each frame to the port that the frame names, and the test
//! sets whether machines have work.

use super::*;
use crate::cpu::{CoreSet, GroupConfig, Kind, ProcessorConfig, SchedulerConfig, weight_of};
use tailrace_units::RandomStream;

const UPLINK: usize = 0;
const MACHINE: usize = 1;

/// The environment of the hypervisor.
#[derive(Default)]
struct Around {
    forwarded: Vec<(Time, Packet)>,
    delivered: Vec<(Time, Packet)>,
    dropped: u64,
    has_work: bool,
    was_interrupted: bool,
    received: usize,
}

impl HypervisorOutputs for Around {
    fn forward(&mut self, now: Time, _: usize, packet: &Packet) {
        self.forwarded.push((now, *packet));
    }
    fn deliver(&mut self, now: Time, _: usize, packet: &Packet) {
        self.delivered.push((now, *packet));
    }
    fn dropped(&mut self, _: Time, _: usize, _: &Packet) {
        self.dropped += 1;
    }
    fn received(&self, _: usize) -> usize {
        self.received
    }
    fn has_work(&self, _: usize, _: usize) -> bool {
        self.has_work
    }
    fn take_interrupt(&mut self, _: usize, _: usize) -> bool {
        std::mem::take(&mut self.was_interrupted)
    }
    fn sender(&self, _: usize) -> Option<usize> {
        Some(0)
    }
}

fn group(cores: impl IntoIterator<Item = u32>) -> GroupConfig {
    GroupConfig { cores: cores.into_iter().collect::<CoreSet>(), weight: weight_of(0), quota: None }
}

/// An uplink on core 0, and a machine with one virtual core, which may run anywhere.
fn config(switching: Switching, cores: u32) -> HypervisorConfig {
    HypervisorConfig {
        processor: ProcessorConfig {
            cores: cores as usize,
            scheduler: SchedulerConfig {
                slice: Span::from_ms(3),
                tick: Span::from_ms(4),
                context_switch: Span::ZERO,
            },
            steal: None,
            groups: vec![group(0..cores), group([0])],
            owners: 4,
            depth_bin: Span::ZERO,
            depth_bins: 0,
        },
        costs: HypervisorCosts { switch: Span::from_ns(900), ..HypervisorCosts::default() },
        switching,
        merge_bytes: 0,
        ports: vec![PortConfig::Uplink, PortConfig::Machine { cores: vec![0], vhost: 0 }],
        irq_cores: vec![0],
        polling: if switching == Switching::Polling { vec![1] } else { Vec::new() },
        backlog_frames: 1_000,
        tap_frames: 1_000,
        sent_frames: 256,
        guest_ring_frames: 256,
        uplink_ring_frames: 512,
        coalesce: Span::ZERO,
        halt_poll: Span::ZERO,
        neighbours: Vec::new(),
    }
}

fn frame(number: u64) -> Packet {
    Packet { seq: number, frame_bytes: 60, payload_bytes: 10, ..Packet::default() }
}

/// Runs everything that is due before `until`.
fn run_until(hypervisor: &mut Hypervisor, around: &mut Around, until: Time) {
    while hypervisor.poll_timeout() < until {
        let due = hypervisor.poll_timeout();
        hypervisor.run(due, around);
    }
}

/// Frames come to the uplink, one every so often on average, for so long.
fn offer(
    hypervisor: &mut Hypervisor,
    around: &mut Around,
    gaps: &mut impl FnMut() -> Span,
    end: Time,
) -> Vec<Time> {
    let (mut now, mut came) = (Time::ZERO, Vec::new());
    while now < end {
        run_until(hypervisor, around, now);
        hypervisor.handle_frame(UPLINK, &frame(came.len() as u64), now, around);
        hypervisor.run(now, around);
        came.push(now);
        now += gaps();
    }
    run_until(hypervisor, around, end);
    hypervisor.processor_mut().settle_all(end);
    came
}

#[test]
fn one_core_switches_as_many_frames_as_its_cost_says_and_the_rest_overruns() {
    for (switching, ns) in [(Switching::Kernel, 900), (Switching::Polling, 88)] {
        let mut config = config(switching, 1);
        config.costs.switch = Span::from_ns(ns);
        let (mut hypervisor, mut around) = (Hypervisor::new(config), Around::default());
        let end = Time::ZERO + Span::from_ms(20);
        let came = offer(&mut hypervisor, &mut around, &mut || Span::from_ns(67), end).len() as u64;
        let switched = around.forwarded.len() as u64;
        assert!(switched.abs_diff(20_000_000 / ns) <= 32, "{switched} in 20 ms of {ns} ns each");
        let overruns = hypervisor.overruns(UPLINK).received;
        assert_eq!(
            came,
            switched + overruns + hypervisor.frames(),
            "every frame is switched, waits, or overruns"
        );
        assert_eq!(overruns, around.dropped);
        assert!(around.forwarded.windows(2).all(|pair| pair[0].1.seq < pair[1].1.seq));
    }
}

#[test]
fn frames_wait_as_in_a_queue_with_constant_service() {
    // M/D/1: the mean wait is load * service / (2 * (1 - load)).
    let mut config = config(Switching::Kernel, 1);
    config.uplink_ring_frames = 100_000;
    let (mut hypervisor, mut around) = (Hypervisor::new(config), Around::default());
    let mut random = RandomStream::new(1, "arrivals");
    let (service, load) = (900.0, 0.8);
    let mut gap = || Span::from_ps((-(1.0 - random.unit()).ln() * service / load * 1_000.0) as u64);
    let end = Time::ZERO + Span::from_ms(400);
    let came = offer(&mut hypervisor, &mut around, &mut gap, end);
    let waits = around
        .forwarded
        .iter()
        .map(|(at, packet)| at.since(came[packet.seq as usize]).ps() as f64 / 1e3 - service);
    let mean = waits.sum::<f64>() / around.forwarded.len() as f64;
    let expected = load * service / (2.0 * (1.0 - load));
    assert!((mean / expected - 1.0).abs() < 0.05, "{mean} ns instead of {expected}");
}

#[test]
fn a_polling_thread_is_always_busy_and_wakes_no_thread() {
    let mut config = config(Switching::Polling, 2);
    config.ports.push(PortConfig::Uplink);
    let (mut hypervisor, mut around) = (Hypervisor::new(config), Around::default());
    let end = Time::ZERO + Span::from_ms(5);
    offer(&mut hypervisor, &mut around, &mut || Span::from_us(100), end);
    let busy = hypervisor.processor().busy(0);
    assert_eq!((busy.of(Kind::User), busy.of(Kind::Idle)), (Span::from_ms(5), Span::ZERO));
    assert_eq!(hypervisor.polled_for_frames(), Span::from_ns(900).times(50));
    assert_eq!(hypervisor.processor().switches().voluntary, 0);
}

#[test]
fn a_polling_thread_that_shares_its_core_switches_half() {
    let mut config = config(Switching::Polling, 1);
    config.neighbours = vec![Neighbour { tasks: 1, group: 0, work: None, wait: Span::ZERO }];
    let (mut hypervisor, mut around) = (Hypervisor::new(config), Around::default());
    let end = Time::ZERO + Span::from_ms(400);
    offer(&mut hypervisor, &mut around, &mut || Span::from_ns(500), end);
    let alone = 400_000_000 / 900;
    let share = around.forwarded.len() as f64 / f64::from(alone);
    assert!((0.48..0.52).contains(&share), "{share}");
}

#[test]
fn a_vhost_thread_is_woken_for_frames_and_waits_for_room() {
    let mut config = config(Switching::Kernel, 2);
    config.costs.vhost = Span::from_us(1);
    config.costs.switch = Span::ZERO;
    let (mut hypervisor, mut around) =
        (Hypervisor::new(config), Around { received: 256, ..Around::default() });
    let at = |us| Time::ZERO + Span::from_us(us);
    for number in 0..3 {
        hypervisor.handle_switched(MACHINE, &frame(number), at(1), &mut around);
    }
    hypervisor.run(at(1), &mut around);
    run_until(&mut hypervisor, &mut around, at(10));
    assert_eq!(around.delivered.len(), 0, "the ring of the machine is full");
    around.received = 0;
    hypervisor.run(at(10), &mut around);
    run_until(&mut hypervisor, &mut around, at(100));
    let times: Vec<u64> = around.delivered.iter().map(|(time, _)| time.ns()).collect();
    assert_eq!(times, [11_000, 12_000, 13_000]);
    assert_eq!(
        hypervisor.processor().switches().voluntary,
        2,
        "it slept when there was no room, and at the end"
    );
}

#[test]
fn a_sleeping_vhost_thread_costs_the_sender_an_exit_and_one_at_work_does_not() {
    let mut config = config(Switching::Kernel, 2);
    config.costs.vhost = Span::from_us(1);
    let (mut hypervisor, mut around) =
        (Hypervisor::new(config), Around { has_work: true, ..Around::default() });
    hypervisor.run(Time::ZERO, &mut around);
    for ns in [1_000, 1_100, 1_200] {
        let now = Time::ZERO + Span::from_ns(ns);
        run_until(&mut hypervisor, &mut around, now);
        hypervisor.handle_frame(MACHINE, &frame(ns), now, &mut around);
        hypervisor.run(now, &mut around);
    }
    run_until(&mut hypervisor, &mut around, Time::ZERO + Span::from_ms(1));
    assert_eq!((hypervisor.counters().notifications, around.forwarded.len()), (1, 3));
}

#[test]
fn a_virtual_core_enters_runs_and_halts() {
    let mut config = config(Switching::Kernel, 1);
    (config.costs.entry, config.costs.exit) = (Span::from_us(2), Span::from_us(3));
    config.processor.scheduler.context_switch = Span::from_us(1);
    config.neighbours = vec![Neighbour {
        tasks: 1,
        group: 0,
        work: Some(Span::from_us(50)),
        wait: Span::from_ms(1),
    }];
    let (mut hypervisor, mut around) = (Hypervisor::new(config), Around::default());
    let at = |us| Time::ZERO + Span::from_us(us);
    let mut seen = Vec::new();
    let mut step = |hypervisor: &mut Hypervisor, now: Time, around: &mut Around| {
        hypervisor.run(now, around);
        seen.extend(
            std::iter::from_fn(|| hypervisor.poll_gate()).map(|gate| (now.ns() / 1_000, gate.runs)),
        );
    };
    for (us, has_work) in [(60, true), (200, false), (900, false)] {
        while hypervisor.poll_timeout() < at(us) {
            let due = hypervisor.poll_timeout();
            step(&mut hypervisor, due, &mut around);
        }
        around.has_work = has_work;
        step(&mut hypervisor, at(us), &mut around);
    }
    // A switch and an entry after it wanted to run, it runs; when it halts, it has left.
    assert_eq!(seen, [(63, true), (200, false)]);
    assert_eq!((hypervisor.counters().exits, hypervisor.processor().switches().voluntary), (1, 2));
    assert_eq!(hypervisor.processor().owner(0).busy.of(Kind::User), Span::from_us(137));
}

#[test]
fn a_vhost_thread_serves_both_directions_in_turns_of_64_frames() {
    let mut config = config(Switching::Kernel, 2);
    (config.costs.vhost, config.costs.switch) = (Span::from_us(1), Span::ZERO);
    let (mut hypervisor, mut around) = (Hypervisor::new(config), Around::default());
    let at = |us| Time::ZERO + Span::from_us(us);
    for number in 0..100 {
        hypervisor.handle_switched(MACHINE, &frame(number), at(1), &mut around);
        hypervisor.handle_frame(MACHINE, &frame(number), at(1), &mut around);
    }
    hypervisor.run(at(1), &mut around);
    run_until(&mut hypervisor, &mut around, at(130));
    assert_eq!((around.forwarded.len(), around.delivered.len()), (64, 64));
    run_until(&mut hypervisor, &mut around, at(1_000));
    assert_eq!((around.forwarded.len(), around.delivered.len()), (100, 100));
}

#[test]
fn the_interrupt_of_a_machine_is_work_of_its_vhost_thread() {
    let mut config = config(Switching::Kernel, 2);
    (config.costs.vhost, config.costs.signal, config.costs.wake_up) =
        (Span::from_us(1), Span::from_us(2), Span::from_us(3));
    let (mut hypervisor, mut around) = (Hypervisor::new(config), Around::default());
    let at = |us| Time::ZERO + Span::from_us(us);
    hypervisor.handle_switched(MACHINE, &frame(0), at(10), &mut around);
    hypervisor.handle_switched(MACHINE, &frame(1), at(10), &mut around);
    run_until(&mut hypervisor, &mut around, at(12));
    around.was_interrupted = true;
    run_until(&mut hypervisor, &mut around, at(100));
    hypervisor.processor_mut().settle_all(at(100));
    assert_eq!(hypervisor.counters().signals, 1);
    assert_eq!(hypervisor.processor().owner(1).busy.of(Kind::System), Span::from_us(1 + 1 + 2 + 3));
}

#[test]
fn a_virtual_core_that_halts_is_watched_for_a_while() {
    let mut config = config(Switching::Kernel, 1);
    (config.costs.entry, config.costs.exit, config.halt_poll) =
        (Span::from_us(2), Span::from_us(3), Span::from_us(50));
    let (mut hypervisor, mut around) =
        (Hypervisor::new(config), Around { has_work: true, ..Around::default() });
    let at = |us| Time::ZERO + Span::from_us(us);
    hypervisor.run(at(0), &mut around);
    run_until(&mut hypervisor, &mut around, at(100));
    around.has_work = false;
    hypervisor.run(at(100), &mut around);
    run_until(&mut hypervisor, &mut around, at(152));
    assert_eq!(hypervisor.processor().switches().voluntary, 0, "it is watched");
    run_until(&mut hypervisor, &mut around, at(200));
    hypervisor.processor_mut().settle_all(at(200));
    assert_eq!(hypervisor.processor().switches().voluntary, 1);
    assert_eq!(hypervisor.processor().owner(0).busy.of(Kind::System), Span::from_us(2 + 3 + 50));
}

#[test]
fn a_flood_is_handed_to_a_thread_that_shares_the_core() {
    let mut config = config(Switching::Kernel, 1);
    config.neighbours = vec![Neighbour { tasks: 1, group: 0, work: None, wait: Span::ZERO }];
    let (mut hypervisor, mut around) = (Hypervisor::new(config), Around::default());
    let end = Time::ZERO + Span::from_ms(400);
    offer(&mut hypervisor, &mut around, &mut || Span::from_ns(500), end);
    let share = around.forwarded.len() as f64 / f64::from(400_000_000 / 900);
    assert!((0.48..0.56).contains(&share), "{share}");
    assert!(hypervisor.counters().handed_over > 0);
}
