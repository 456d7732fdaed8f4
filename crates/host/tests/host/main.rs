//! The whole host, without a network between two of them: transports beside each other above one
//! receive stage.

mod engine;
mod failures;
mod fragments;
#[path = "../support/per_request.rs"]
mod per_request;
mod processor;
mod programs;
mod threads;

use engine::{Cable, DELAY, MODERATION, run};
use tailrace_host::nic::{Nic, PlainNic};
use tailrace_host::{Host, HostConfig, HostCounters, NewSocket, NewUdpSocket, ReceivePolicy};
use tailrace_programs::{App, StreamSink, StreamSource};
use tailrace_transport::ip::{Identity, ReassemblyPolicy};
use tailrace_transport::tcp::TcpConfig;
use tailrace_units::{BitRate, Span, Time};
use tailrace_wire::Tag;

/// 8 bits at 10 Gbit/s.
const PS_PER_BYTE: u64 = 800;
const OVERHEAD_BYTES: u64 = 24;
const HEADERS: u32 = 42;
const WORK_PER_PACKET: Span = Span::from_us(3);
const WORK_PER_BYTE_FS: u64 = 2_000_000;

fn host(side: usize, ring_frames: usize) -> Host<usize> {
    Host::new(config(side, ring_frames))
}

fn config(side: usize, ring_frames: usize) -> HostConfig<usize> {
    HostConfig {
        attachment: side,
        number: side as u16,
        nic: Nic::Plain(PlainNic::new(
            BitRate::from_gbps(10).pace(0),
            OVERHEAD_BYTES as u32,
            16 << 20,
        )),
        receive: ReceivePolicy {
            per_packet: WORK_PER_PACKET,
            per_byte_fs: WORK_PER_BYTE_FS,
            ring_frames,
            gro_bytes: 65_536,
        },
        program_cores: 0,
        time_slice: Span::ZERO,
        processor: None,
        tcp: TcpConfig::linux(1448),
        mtu_bytes: 1_500,
        reassembly: ReassemblyPolicy::LINUX,
    }
}

fn identity(flow_hash: u32, to: usize) -> Identity {
    Identity { flow_hash, to_endpoint: 0, to_host: to as u16, tag: Tag::default(), dscp: 0 }
}

/// Sockets 0 of both hosts for datagrams, of owner 7.
fn with_datagrams(ring_frames: usize) -> [Host<usize>; 2] {
    let mut hosts = [host(0, ring_frames), host(1, ring_frames)];
    for (side, host) in hosts.iter_mut().enumerate() {
        let (hash, expects) = (10 + side as u32, 11 - side as u32);
        host.open_udp(NewUdpSocket {
            identity: identity(hash, 1 - side),
            expects,
            owner: 7,
            header_bytes: HEADERS,
            program: None,
        });
    }
    hosts
}

#[test]
fn a_datagram_waits_for_its_poll_and_for_the_work_of_receiving() {
    let (mut hosts, mut cable) = (with_datagrams(4_096), Cable::default());
    hosts[0].send_datagram(Time::ZERO, 0, 1_000, &mut cable);
    run(&mut hosts, &mut cable, Time::ZERO + Span::from_ms(1));
    let on_wire = Span::from_ps((1_000 + u64::from(HEADERS) + OVERHEAD_BYTES) * PS_PER_BYTE);
    let work = WORK_PER_PACKET + Span::from_us(2); // 2 ns for each of 1000 bytes
    let [(at, owner, datagram)] = cable.datagrams[..] else { panic!("one datagram arrives") };
    assert_eq!(
        (at, owner, datagram.sent),
        (Time::ZERO + on_wire + DELAY + MODERATION + work, 7, Time::ZERO)
    );
    assert_eq!((hosts[1].counters().rx_frames, hosts[1].counters().receive_busy), (1, work));
}

#[test]
fn datagrams_beyond_the_receive_ring_are_dropped_and_each_of_the_others_is_work() {
    let (mut hosts, mut cable) = (with_datagrams(4), Cable::default());
    // Ten come within one moderation time.
    (0..10).for_each(|_| hosts[0].send_datagram(Time::ZERO, 0, 100, &mut cable));
    run(&mut hosts, &mut cable, Time::ZERO + Span::from_ms(1));
    assert_eq!(
        (cable.datagrams.len(), cable.ring_drops, hosts[1].counters().rx_ring_drops),
        (4, 6, 6)
    );
    let numbers: Vec<u64> =
        cable.datagrams.iter().map(|(_, _, datagram)| datagram.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3], "the latest are dropped");
    assert_eq!(
        hosts[1].counters().receive_busy,
        (WORK_PER_PACKET + Span::from_ns(200)).times(4),
        "datagrams are not merged"
    );
}

#[test]
fn a_datagram_of_another_flow_is_not_for_the_socket_of_its_number() {
    let (mut hosts, mut cable) = (with_datagrams(4_096), Cable::default());
    let stranger = NewUdpSocket {
        identity: identity(99, 1),
        expects: 0,
        owner: 7,
        header_bytes: HEADERS,
        program: None,
    };
    let number = hosts[0].open_udp(stranger);
    hosts[0].send_datagram(Time::ZERO, number, 100, &mut cable);
    run(&mut hosts, &mut cable, Time::ZERO + Span::from_ms(1));
    assert_eq!((hosts[1].counters().rx_frames, cable.datagrams.len()), (1, 0));
}

/// A stream of so many bytes from the first host to the second. Returns the numbers of its sockets.
fn open_stream(hosts: &mut [Host<usize>; 2], bytes: u64) -> [u32; 2] {
    let source = App::StreamSource(StreamSource::new(Time::ZERO, bytes));
    let sink = App::StreamSink(StreamSink::new(0, Time::ZERO, bytes));
    let mut open = |side: usize, app| {
        hosts[side].open(NewSocket {
            identity: identity(20 + side as u32, 1 - side),
            expects: 21 - side as u32,
            app,
            owner: 5,
            timer: 1_000 * side as u32,
            port: 0,
            counts_goodput: side == 1,
            is_transient: false,
        })
    };
    [open(0, source), open(1, sink)]
}

#[test]
fn tcp_and_udp_share_a_host() {
    let (mut hosts, mut cable) = (with_datagrams(4_096), Cable::default());
    assert_eq!(
        open_stream(&mut hosts, 1_000_000),
        [0, 0],
        "sockets of each protocol have numbers of their own"
    );
    hosts[0].handle_socket_timeout(Time::ZERO, 0, &mut cable);
    (0..20).for_each(|_| hosts[0].send_datagram(Time::ZERO, 0, 1_000, &mut cable));
    run(&mut hosts, &mut cable, Time::ZERO + Span::from_secs(1));
    assert_eq!(
        (cable.received[&5], cable.completed.len(), cable.datagrams.len()),
        (1_000_000, 1, 20)
    );
}

/// Segments that are merged are one piece of work, whose bytes all count.
#[test]
fn the_work_of_receiving_is_for_each_aggregate_and_each_byte() {
    let (mut hosts, mut cable) = ([host(0, 4_096), host(1, 4_096)], Cable::default());
    let bytes = 10 * 1_448;
    open_stream(&mut hosts, bytes);
    hosts[0].handle_socket_timeout(Time::ZERO, 0, &mut cable);
    run(&mut hosts, &mut cable, Time::ZERO + Span::from_secs(1));
    assert_eq!(cable.received[&5], bytes);
    let HostCounters { rx_frames, receive_busy, .. } = hosts[1].counters();
    // The SYN; the ACK; of the first burst all five segments; three of the second in the same poll,
    // and the other two.
    assert_eq!(
        (rx_frames, receive_busy),
        (12, WORK_PER_PACKET.times(5) + Span::from_ns(2).times(bytes))
    );
}

/// The workload for which a late packet of a closed connection counts does not depend on later
/// connections.
#[test]
fn the_number_of_a_socket_is_used_again_for_the_same_owner_only() {
    let (mut hosts, mut cable) = ([host(0, 4_096), host(1, 4_096)], Cable::default());
    let [number, _] = open_stream(&mut hosts, 1_000);
    hosts[0].release(Time::ZERO, number, &mut cable);
    assert_eq!([5, 6].map(|owner| hosts[0].next_socket(owner)), [number, number + 1]);
    assert_eq!(open_stream(&mut hosts, 1_000)[0], number);
}
