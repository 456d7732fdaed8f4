//! Hosts whose kernel and programs take time of their cores.

use crate::engine::{Cable, PROGRAMS, run};
use crate::per_request::{Client, RESPONSE_BYTES, Server, WORK};
use crate::programs::{assert_all_came_back, logs};
use crate::{config, identity, open_stream};
use tailrace_host::cpu::{CoreSet, GroupConfig, Kind, ProcessorConfig, SchedulerConfig, weight_of};
use tailrace_host::{
    Host, HostConfig, KernelCosts, NewProgram, NewUdpSocket, ProcessorPolicy, Timer, Timers as _,
};
use tailrace_programs::Program;
use tailrace_units::{Span, Time};
use tailrace_wire::Tag;

pub const COSTS: KernelCosts = KernelCosts {
    per_frame: Span::from_ns(500),
    per_poll: Span::from_ns(200),
    per_interrupt: Span::from_us(1),
    per_send: Span::from_us(2),
    system_call: Span::from_ns(200),
    read_byte_fs: 95_000,
    write_byte_fs: 45_000,
    wake_up: Span::from_ns(300),
    idle_exit: Span::ZERO,
};

pub fn policy(cores: usize, costs: KernelCosts) -> ProcessorPolicy {
    let group = GroupConfig { cores: CoreSet::first(cores), weight: weight_of(0), quota: None };
    let scheduler = SchedulerConfig {
        slice: Span::from_ms(3),
        tick: Span::from_ms(4),
        context_switch: Span::from_ns(400),
    };
    ProcessorPolicy {
        processor: ProcessorConfig {
            cores,
            scheduler,
            steal: None,
            groups: vec![group],
            owners: 10,
            depth_bin: Span::ZERO,
            depth_bins: 0,
        },
        costs,
        irq_cores: vec![0],
        groups: vec![0; 10],
        budget_frames: 300,
        budget: Span::from_ms(8),
        receives_whole: false,
    }
}

pub fn host(side: usize, policy: ProcessorPolicy) -> Host<usize> {
    let mut config = HostConfig { processor: Some(policy), ..config(side, 4_096) };
    (config.receive.per_packet, config.receive.per_byte_fs) = (Span::from_ns(600), 0);
    Host::new(config)
}

fn assert_all_time_is_accounted_for(host: &mut Host<usize>, end: Time, cable: &mut Cable) {
    host.settle(end, cable);
    let processor = host.processor().expect("the host has a processor");
    for core in 0..processor.cores() {
        assert_eq!(processor.busy(core).total(), end.since(Time::ZERO), "core {core}");
    }
}

#[test]
fn a_stream_arrives_whole_and_its_bytes_are_copied_on_both_sides() {
    let bytes = 10_000_000;
    let (mut hosts, mut cable) =
        ([0, 1].map(|side| host(side, policy(2, COSTS))), Cable::default());
    open_stream(&mut hosts, bytes);
    hosts[0].handle_socket_timeout(Time::ZERO, 0, &mut cable);
    let end = Time::ZERO + Span::from_secs(1);
    run(&mut hosts, &mut cable, end);
    assert_eq!((cable.received[&5], cable.completed.len()), (bytes, 1));
    for (host, copy_fs) in hosts.iter_mut().zip([COSTS.write_byte_fs, COSTS.read_byte_fs]) {
        assert_all_time_is_accounted_for(host, end, &mut cable);
        let counted = host.processor().expect("it has one").owner(5);
        let copies = Span::from_ps(bytes * copy_fs / 1_000);
        assert!(
            counted.busy.of(Kind::System) > copies,
            "{:?} with {copies:?} of copies",
            counted.busy
        );
        assert!(counted.busy.of(Kind::System) < copies.times(3), "{:?}", counted.busy);
        assert!(counted.switches.voluntary > 0);
    }
}

#[test]
fn the_copy_of_the_receiver_bounds_a_stream() {
    // 1.6 ns for each byte that is read: half of what the line carries.
    let costs = KernelCosts { read_byte_fs: 1_600_000, ..KernelCosts::default() };
    let (mut hosts, mut cable) =
        ([host(0, policy(1, KernelCosts::default())), host(1, policy(1, costs))], Cable::default());
    open_stream(&mut hosts, 0);
    hosts[0].handle_socket_timeout(Time::ZERO, 0, &mut cable);
    run(&mut hosts, &mut cable, Time::ZERO + Span::from_secs(1));
    let busy = hosts[1].processor().expect("it has one").owner(5).busy.of(Kind::System);
    let read = busy.ps() / 1_600;
    assert!(busy.as_secs_f64() > 0.95, "the core copies all the time: {busy:?}");
    // The unread bytes fit the receive buffer.
    assert!(cable.received[&5].abs_diff(read) < 7_000_000, "{} of {read}", cable.received[&5]);
}

#[test]
fn connections_for_each_request_are_served_by_threads_and_leave_nothing_behind() {
    let logs = logs();
    let client: Box<dyn Program> =
        Box::new(Client::new(&logs[0], 1_000, 4, Span::from_ms(1), true));
    let server: Box<dyn Program> = Box::new(Server::new(&logs[1], false));
    let (mut hosts, mut cable) =
        ([0, 1].map(|side| host(side, policy(2, COSTS))), Cable::default());
    for (side, program) in [client, server].into_iter().enumerate() {
        let timer = 1_000 * side as u32 + PROGRAMS;
        let new = NewProgram {
            program,
            owner: side as u32,
            timer,
            tag: Tag::default(),
            dscp: 0,
            counts_goodput: side == 0,
        };
        let number = hosts[side].add_program(new);
        cable.arm(&side, Timer::Socket(timer), hosts[side].poll_program(number));
    }
    let end = Time::ZERO + Span::from_secs(100);
    run(&mut hosts, &mut cable, end);
    for (side, (log, host)) in logs
        .iter()
        .map(|log| log.read().expect("nothing panics with it"))
        .zip(&mut hosts)
        .enumerate()
    {
        assert_eq!((log.done, log.failures.len(), log.without_port), (1_000, 0, 0));
        let counted = *host.processor().expect("it has one").owner(side);
        assert_eq!(
            counted.busy.of(Kind::User),
            WORK.times(1_000),
            "the work of every request, and nothing else"
        );
        assert_all_time_is_accounted_for(host, end, &mut cable);
    }
    assert_eq!(cable.received[&0], 1_000 * RESPONSE_BYTES);
    assert_all_came_back(&hosts);
}

/// Datagrams of 100 bytes that come faster than the core receives them.
fn flooded(cores: usize, irq_cores: Vec<u32>) -> (Host<usize>, Cable, Time) {
    let costs = KernelCosts {
        per_frame: Span::from_us(2),
        system_call: Span::from_us(1),
        ..KernelCosts::default()
    };
    let receiver = ProcessorPolicy { irq_cores, ..policy(cores, costs) };
    let mut hosts = [crate::host(0, 4_096), host(1, receiver)];
    for (side, host) in hosts.iter_mut().enumerate() {
        for flow in 0..8 {
            let (hash, expects) = (10 + 2 * flow + side as u32, 11 + 2 * flow - side as u32);
            let mut identity = identity(hash, 1 - side);
            identity.to_endpoint = flow;
            host.open_udp(NewUdpSocket {
                identity,
                expects,
                owner: 7,
                header_bytes: 42,
                program: None,
            });
        }
    }
    let mut cable = Cable::default();
    let end = Time::ZERO + Span::from_ms(200);
    for sent in 0..200_000_u64 {
        let now = Time::ZERO + Span::from_us(sent);
        run(&mut hosts, &mut cable, now);
        hosts[0].send_datagram(now, (sent % 8) as u32, 100, &mut cable);
    }
    run(&mut hosts, &mut cable, end);
    let [_, receiver] = hosts;
    (receiver, cable, end)
}

#[test]
fn a_flood_takes_the_core_until_ksoftirqd_shares_it_with_the_programs() {
    let (mut host, mut cable, end) = flooded(1, vec![0]);
    assert_all_time_is_accounted_for(&mut host, end, &mut cable);
    let counted = host.receive_counters();
    assert!(counted.handed_over > 0 && counted.squeezes > 0, "{counted:?}");
    assert!(
        host.counters().rx_ring_drops > 10_000,
        "it cannot receive a million a second: {:?}",
        host.counters()
    );
    let processor = host.processor().expect("it has one");
    let softirq = processor.busy(0).of(Kind::Softirq).as_secs_f64() / 0.2;
    // Eight programs that could take the whole core, and ksoftirqd beside them: they are not
    // starved, and neither is it.
    assert!((0.1..0.9).contains(&softirq), "{softirq}");
    assert_eq!(
        processor.busy(0).of(Kind::Idle),
        Span::from_ps(processor.busy(0).of(Kind::Idle).ps().min(20_000_000))
    );
    assert!(cable.datagrams.len() > 1_000, "{}", cable.datagrams.len());
}

#[test]
fn flows_are_spread_over_receive_queues_and_their_cores() {
    let (host, cable, _) = flooded(4, vec![0, 1, 2, 3]);
    let processor = host.processor().expect("it has one");
    let softirq: Vec<Span> = (0..4).map(|core| processor.busy(core).of(Kind::Softirq)).collect();
    assert!(softirq.iter().filter(|&&busy| busy > Span::from_ms(20)).count() >= 3, "{softirq:?}");
    let (one, _, _) = flooded(4, vec![2]);
    let busy = |core| one.processor().expect("it has one").busy(core).of(Kind::Softirq);
    assert!(
        busy(2) > Span::from_ms(100) && busy(0) == Span::ZERO && busy(3) == Span::ZERO,
        "all on one core"
    );
    assert!(
        cable.datagrams.len() > 150_000,
        "four cores receive nearly all: {}",
        cable.datagrams.len()
    );
}
