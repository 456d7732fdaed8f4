//! Datagrams above the MTU: cut by one host, put together by the other.

use crate::engine::{Cable, run};
use crate::processor::{self, COSTS};
use crate::{HEADERS, OVERHEAD_BYTES, WORK_PER_PACKET, config, identity};
use proptest::prelude::*;
use tailrace_host::nic::{Nic, PlainNic};
use tailrace_host::{Host, HostConfig, NewUdpSocket};
use tailrace_transport::ip::{Identity, IpCounters, ReassemblyPolicy};
use tailrace_units::{BitRate, Span, Time};
use tailrace_wire::{Fragment, Packet};

/// Memory that Linux charges for a fragment of a whole frame of 1500 bytes, and for an incomplete
/// datagram.
const FRAGMENT_MEMORY: u64 = 2_304;
const RECORD_MEMORY: u64 = 200;
/// Fragments of 8192 bytes at an MTU of 1500.
const OF_A_BLOCK: u64 = 6;
const OTHER_HOST: u16 = 2;
const TO_SECOND: Identity = Identity {
    flow_hash: 30,
    to_endpoint: 1,
    to_host: 1,
    tag: tailrace_wire::Tag::new(0, 0),
    dscp: 0,
};

fn with_mtu(mtu_bytes: u32, reassembly: ReassemblyPolicy) -> [Host<usize>; 2] {
    [0, 1].map(|side| {
        let mut host = Host::new(HostConfig { mtu_bytes, reassembly, ..config(side, 4_096) });
        let identity = identity(10 + side as u32, 1 - side);
        host.open_udp(NewUdpSocket {
            identity,
            expects: 11 - side as u32,
            owner: 7,
            header_bytes: HEADERS,
            program: None,
        });
        host
    })
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// The fragments of so many datagrams of 8192 bytes, as they come out of a host with an MTU of
/// 1500.
fn blocks(count: u64) -> Vec<Packet> {
    let [mut host, _] = with_mtu(1_500, ReassemblyPolicy::LINUX);
    let mut cable = Cable::default();
    (0..count).for_each(|number| host.send_datagram(at(number), 0, 8_192, &mut cable));
    cable.sent
}

/// The fragments of so many datagrams of 8192 bytes of another host, for the second socket of
/// `with_two_sources`.
fn blocks_of_another_host(count: u64) -> Vec<Packet> {
    let mut host = Host::new(HostConfig { number: OTHER_HOST, ..config(0, 4_096) });
    host.open_udp(NewUdpSocket {
        identity: TO_SECOND,
        expects: 0,
        owner: 7,
        header_bytes: HEADERS,
        program: None,
    });
    let mut cable = Cable::default();
    (0..count).for_each(|number| host.send_datagram(at(number), 0, 8_192, &mut cable));
    cable.sent
}

/// A host with a socket for each of two others.
fn with_two_sources() -> Host<usize> {
    let [_, mut host] = with_mtu(1_500, ReassemblyPolicy::LINUX);
    let expects = TO_SECOND.flow_hash;
    host.open_udp(NewUdpSocket {
        identity: identity(20, 2),
        expects,
        owner: 8,
        header_bytes: HEADERS,
        program: None,
    });
    host
}

/// Hands frames to a host one by one at this time. Returns how many datagrams were whole.
fn receive(host: &mut Host<usize>, now: Time, frames: &[Packet]) -> usize {
    let mut cable = Cable::default();
    frames.iter().for_each(|packet| host.handle_frame(now, packet, &mut cable));
    cable.datagrams.len()
}

/// modelling reference B11: fragments, and bytes with Ethernet headers, overhead included.
#[test]
fn fragments_and_bytes_on_the_wire_are_those_of_the_formula() {
    for (payload, mtu, fragments, wire) in [
        (200, 1_500, 1, 266),
        (1_472, 1_500, 1, 1_538),
        (1_473, 1_500, 2, 1_538 + 59),
        (8_192, 1_500, 6, 8_548),
        (8_192, 9_000, 1, 8_258),
        (16_384, 1_500, 12, 17_088),
        (16_384, 9_000, 2, 16_508),
        (32_768, 1_500, 23, 34_110),
        (32_768, 9_000, 4, 33_008),
        (65_507, 1_500, 45, 65_515 + 45 * 58),
    ] {
        let (mut hosts, mut cable) = (with_mtu(mtu, ReassemblyPolicy::LINUX), Cable::default());
        hosts[0].send_datagram(Time::ZERO, 0, payload, &mut cable);
        let bytes: u64 =
            cable.sent.iter().map(|packet| u64::from(packet.frame_bytes) + OVERHEAD_BYTES).sum();
        assert_eq!((cable.sent.len(), bytes), (fragments, wire), "{payload} bytes at {mtu}");
        assert_eq!(
            hosts[0].ip_counters().frag_oks,
            u64::from(fragments > 1),
            "what fits is not cut"
        );
        run(&mut hosts, &mut cable, at(10));
        let [(_, 7, datagram)] = cable.datagrams[..] else { panic!("one datagram arrives") };
        assert_eq!(
            (datagram.payload_bytes, datagram.number, datagram.sent),
            (payload, 0, Time::ZERO)
        );
    }
}

#[test]
fn each_fragment_is_work_and_both_sides_count() {
    let (mut hosts, mut cable) = (with_mtu(1_500, ReassemblyPolicy::LINUX), Cable::default());
    (0..3).for_each(|_| hosts[0].send_datagram(Time::ZERO, 0, 8_192, &mut cable));
    run(&mut hosts, &mut cable, at(10));
    let sent = IpCounters { frag_oks: 3, frag_creates: 18, ..IpCounters::default() };
    let received = IpCounters { reasm_reqds: 18, reasm_oks: 3, ..IpCounters::default() };
    assert_eq!([hosts[0].ip_counters(), hosts[1].ip_counters()], [sent, received]);
    let bytes = Span::from_ns(2 * 3 * 8_192);
    assert_eq!(hosts[1].counters().receive_busy, WORK_PER_PACKET.times(18) + bytes);
    assert_eq!(hosts[1].reassembly_memory().0, 0);
    hosts.iter_mut().for_each(|host| host.begin_counting(at(10)));
    assert_eq!(
        [0, 1].map(|side| hosts[side].ip_counters()),
        [IpCounters::default(); 2],
        "the warm-up is not counted"
    );
    assert_eq!(hosts[1].reassembly_memory().1, 0);
}

#[test]
fn one_lost_fragment_loses_the_datagram_and_its_memory_comes_back_after_the_timeout() {
    let [_, mut host] = with_mtu(1_500, ReassemblyPolicy::LINUX);
    let frames = blocks(2);
    let lost = &frames[..5];
    assert_eq!(receive(&mut host, at(0), lost), 0);
    assert_eq!(host.reassembly_memory().0, RECORD_MEMORY + 5 * FRAGMENT_MEMORY);
    assert_eq!(
        receive(&mut host, at(1), &frames[6..]),
        1,
        "another datagram has memory of its own"
    );
    host.settle(at(29_999), &mut Cable::default());
    assert_eq!(host.ip_counters().reasm_timeout, 0);
    host.settle(at(30_000), &mut Cable::default());
    let expected = IpCounters {
        reasm_reqds: 11,
        reasm_oks: 1,
        reasm_fails: 1,
        reasm_timeout: 1,
        ..IpCounters::default()
    };
    assert_eq!((host.ip_counters(), host.reassembly_memory().0), (expected, 0));
    assert_eq!(
        receive(&mut host, at(30_001), &frames[5..6]),
        0,
        "the missing fragment comes too late"
    );
    let most = 2 * (RECORD_MEMORY + 5 * FRAGMENT_MEMORY);
    assert_eq!(
        host.reassembly_memory(),
        (RECORD_MEMORY + FRAGMENT_MEMORY, most),
        "what there is, and the most that there was"
    );
}

/// Linux refuses every fragment above the threshold, those of datagrams that are nearly complete
/// too.
#[test]
fn above_the_threshold_nothing_is_put_together_until_time_is_over() {
    let policy = ReassemblyPolicy {
        memory_bytes: 1 << 16,
        timeout: Span::from_secs(1),
        ..ReassemblyPolicy::LINUX
    };
    let [_, mut host] = with_mtu(1_500, policy);
    let frames = blocks(20);
    let datagrams: Vec<&[Packet]> = frames.chunks(OF_A_BLOCK as usize).collect();
    // Of six datagrams all but one fragment, 11 720 bytes each; the last two of the sixth find the
    // threshold passed.
    let whole: usize = datagrams[..6].iter().map(|own| receive(&mut host, at(0), &own[1..])).sum();
    assert_eq!((whole, host.reassembly_memory().0), (0, 6 * RECORD_MEMORY + 28 * FRAGMENT_MEMORY));
    assert_eq!(receive(&mut host, at(1), datagrams[6]), 0);
    assert_eq!(receive(&mut host, at(2), &datagrams[0][..1]), 0, "the missing fragment is refused");
    assert_eq!(host.ip_counters().reasm_fails, 2 + OF_A_BLOCK + 1);
    assert_eq!(receive(&mut host, at(1_000), datagrams[7]), 1, "their time is over");
}

/// Linux's timers are as coarse as an eighth of their length: of 30 s with ticks of 4 ms as 512
/// ticks.
#[test]
fn what_began_to_wait_within_two_seconds_is_given_up_together() {
    let mut own = HostConfig { reassembly: ReassemblyPolicy::LINUX, ..config(1, 4_096) };
    own.tcp.tick = Span::from_ms(4);
    let mut host = Host::new(own);
    host.open_udp(NewUdpSocket {
        identity: identity(11, 0),
        expects: 10,
        owner: 7,
        header_bytes: HEADERS,
        program: None,
    });
    let frames = blocks(3);
    for (ms, number) in [(0, 0), (700, 1), (800, 2)] {
        receive(&mut host, at(ms), &frames[6 * number..6 * number + 5]);
    }
    let given_up = [30_719, 30_720, 32_767, 32_768].map(|ms| {
        host.settle(at(ms), &mut Cable::default());
        host.ip_counters().reasm_timeout
    });
    assert_eq!(given_up, [0, 2, 2, 3]);
}

#[test]
fn a_wrapped_identification_meets_what_is_left_of_an_old_datagram() {
    let old = blocks(1);
    for (distance, whole) in [(64, 1), (0, 0)] {
        let [_, mut host] =
            with_mtu(1_500, ReassemblyPolicy { distance, ..ReassemblyPolicy::LINUX });
        receive(&mut host, at(0), &old[..5]);
        // 65 536 datagrams later the same identification comes again, within 30 s; here as soon as
        // enough others have come.
        let others = blocks(12);
        receive(&mut host, at(10), &others[OF_A_BLOCK as usize..]);
        // The old fragments are given up, or else all but the last are taken for duplicates and the
        // last completes a mixture, which the checksum of UDP refuses; it would be delivered here.
        let same_again = blocks(1);
        let first = receive(&mut host, at(20), &same_again[..5]);
        let last = receive(&mut host, at(20), &same_again[5..]);
        assert_eq!(first, 0);
        assert_eq!(usize::from(host.ip_counters().reasm_fails == 1), whole, "distance {distance}");
        assert_eq!(last, 1);
    }
}

#[test]
fn identifications_begin_again_after_65_536_datagrams() {
    let [mut host, _] = with_mtu(576, ReassemblyPolicy::LINUX);
    let mut seen = Vec::new();
    for number in 0..65_537_u64 {
        let mut cable = Cable::default();
        host.send_datagram(at(number), 0, 600, &mut cable);
        let ids: Vec<u16> =
            cable.sent.iter().filter_map(Fragment::of).map(|fragment| fragment.id).collect();
        assert_eq!((ids.len(), ids[0]), (2, ids[1]));
        seen.push(ids[0]);
    }
    assert_eq!((seen[0], seen[65_535], seen[65_536]), (0, 65_535, 0));
}

#[test]
fn fragments_of_all_sockets_between_two_hosts_have_one_hash_and_identifications_count_by_destination()
 {
    let [mut host, _] = with_mtu(1_500, ReassemblyPolicy::LINUX);
    for (flow_hash, to) in [(77, 1), (88, 2)] {
        let identity = identity(flow_hash, to);
        host.open_udp(NewUdpSocket {
            identity,
            expects: 0,
            owner: 7,
            header_bytes: HEADERS,
            program: None,
        });
    }
    let mut cable = Cable::default();
    for (step, socket) in (0..).zip([0, 1, 2, 2, 0]) {
        host.send_datagram(at(step), socket, 2_000, &mut cable);
    }
    let identity = |packet: &Packet| {
        (packet.to_host, Fragment::of(packet).expect("a fragment").id, packet.flow_hash)
    };
    let seen: Vec<_> = cable.sent.iter().map(identity).collect();
    let [near, far] = [seen[0].2, seen[4].2];
    let once = [(1, 0, near), (1, 1, near), (2, 0, far), (2, 1, far), (1, 2, near)];
    assert_eq!(seen, once.map(|own| [own; 2]).concat());
    assert!(
        near != far && ![10, 77, 88].contains(&near),
        "a hash of addresses, not of ports: {near}, {far}"
    );
}

/// The queue has room for two whole frames behind the one on the wire.
#[test]
fn a_fragment_that_does_not_fit_the_queue_ends_its_datagram() {
    let nic =
        Nic::Plain(PlainNic::new(BitRate::from_gbps(10).pace(0), OVERHEAD_BYTES as u32, 4_000));
    let mut host = Host::new(HostConfig { nic, ..config(0, 4_096) });
    host.open_udp(NewUdpSocket {
        identity: identity(10, 1),
        expects: 11,
        owner: 7,
        header_bytes: HEADERS,
        program: None,
    });
    let mut cable = Cable::expecting_drops();
    host.send_datagram(Time::ZERO, 0, 8_192, &mut cable);
    assert_eq!((cable.sent.len(), cable.queue_drops), (3, Some(1)));
    assert_eq!(
        host.ip_counters(),
        IpCounters { frag_creates: 3, frag_fails: 1, ..IpCounters::default() }
    );
}

/// With a processor the sender works on every fragment, and makes one system call.
#[test]
fn each_fragment_is_work_for_its_sender() {
    let busy = |payload: u32| {
        let mut hosts = [0, 1].map(|side| processor::host(side, processor::policy(1, COSTS)));
        for (side, host) in hosts.iter_mut().enumerate() {
            let (identity, expects) = (identity(10 + side as u32, 1 - side), 11 - side as u32);
            host.open_udp(NewUdpSocket {
                identity,
                expects,
                owner: 7,
                header_bytes: HEADERS,
                program: None,
            });
        }
        let mut cable = Cable::default();
        hosts[0].send_datagram(Time::ZERO, 0, payload, &mut cable);
        run(&mut hosts, &mut cable, at(10));
        assert_eq!(cable.datagrams.len(), 1);
        hosts[0].counters().program_busy
    };
    let copied = Span::from_ps((8_192 - 1_000) * COSTS.write_byte_fs / 1_000);
    assert_eq!(busy(8_192).less(busy(1_000)), COSTS.per_send.times(OF_A_BLOCK - 1) + copied);
}

#[test]
fn fragments_of_two_hosts_with_the_same_identification_are_two_datagrams() {
    let (mut host, near, far) = (with_two_sources(), blocks(1), blocks_of_another_host(1));
    assert_eq!(receive(&mut host, at(0), &near[..3]) + receive(&mut host, at(0), &far[3..]), 0);
    let mut cable = Cable::default();
    far[..3]
        .iter()
        .chain(&near[3..])
        .for_each(|packet| host.handle_frame(at(1), packet, &mut cable));
    let owners: Vec<u32> = cable.datagrams.iter().map(|&(_, owner, _)| owner).collect();
    assert_eq!((owners, host.ip_counters().reasm_oks), (vec![8, 7], 2));
}

/// Linux `ip_frag_too_far`: the difference of two counts, with the fragment itself. Fragments of
/// other senders do not count.
#[test]
fn a_datagram_is_given_up_by_the_64th_fragment_of_its_own_source() {
    let (others, strangers) = (blocks(12), blocks_of_another_host(12));
    for (from_source, whole) in [(63, 1), (64, 0)] {
        let mut host = with_two_sources();
        receive(&mut host, at(0), &others[..5]);
        receive(&mut host, at(1), &strangers);
        receive(&mut host, at(2), &others[6..6 + from_source]);
        assert_eq!(
            receive(&mut host, at(3), &others[5..6]),
            whole,
            "after {from_source} fragments"
        );
    }
}

#[test]
fn what_comes_after_old_fragments_were_given_up_waits_for_the_whole_time() {
    let [_, mut host] = with_mtu(1_500, ReassemblyPolicy::LINUX);
    let frames = blocks(12);
    receive(&mut host, at(0), &frames[..5]);
    receive(&mut host, at(10_000), &frames[6..]);
    receive(&mut host, at(20_000), &frames[..5]);
    let given_up = [49_999, 50_000].map(|ms| {
        host.settle(at(ms), &mut Cable::default());
        host.ip_counters().reasm_timeout
    });
    assert_eq!(given_up, [0, 1]);
}

#[test]
fn memory_at_the_threshold_takes_one_more_and_above_it_none() {
    let threshold = RECORD_MEMORY + 5 * FRAGMENT_MEMORY;
    for (memory_bytes, whole) in [(threshold, 1), (threshold - 1, 0)] {
        let [_, mut host] =
            with_mtu(1_500, ReassemblyPolicy { memory_bytes, ..ReassemblyPolicy::LINUX });
        assert_eq!(receive(&mut host, at(0), &blocks(1)), whole, "{memory_bytes} bytes");
    }
}

#[test]
fn a_fragment_that_overlaps_gives_its_datagram_up_and_the_next_one_begins_anew() {
    let ([_, mut host], frames) = (with_mtu(1_500, ReassemblyPolicy::LINUX), blocks(1));
    let fragment = Fragment::of(&frames[1]).expect("a fragment");
    let mut shifted = fragment.undo(&frames[1]);
    Fragment { offset: fragment.offset - 8, ..fragment }.write(&mut shifted);
    shifted.flow_hash = frames[1].flow_hash;
    assert_eq!(receive(&mut host, at(0), &[frames[0], shifted]), 0);
    assert_eq!((host.ip_counters().reasm_fails, host.reassembly_memory().0), (1, 0));
    assert_eq!(receive(&mut host, at(1), &frames), 1);
}

/// Ticks of 4 ms that count from 3 ms: timers of 30 s expire 3 ms later than with ticks from zero.
#[test]
fn timers_expire_with_the_ticks_of_their_host() {
    let mut own = HostConfig { reassembly: ReassemblyPolicy::LINUX, ..config(1, 4_096) };
    (own.tcp.tick, own.tcp.tick_phase) = (Span::from_ms(4), Span::from_ms(3));
    let mut host = Host::new(own);
    host.open_udp(NewUdpSocket {
        identity: identity(11, 0),
        expects: 10,
        owner: 7,
        header_bytes: HEADERS,
        program: None,
    });
    receive(&mut host, at(100), &blocks(1)[..5]);
    let given_up = [30_722, 30_723].map(|ms| {
        host.settle(at(ms), &mut Cable::default());
        host.ip_counters().reasm_timeout
    });
    assert_eq!(given_up, [0, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    /// Whatever is lost, doubled or out of order: every datagram comes whole and once, or is given
    /// up once, and memory returns to zero.
    #[test]
    fn every_datagram_comes_whole_once_or_is_lost_once(
        count in 1_u64..12,
        lost in proptest::collection::vec(proptest::bool::weighted(0.08), 72),
        swaps in proptest::collection::vec((0_usize..72, 0_usize..72), 0..20),
        doubled in proptest::collection::vec(0_usize..72, 0..6),
    ) {
        let policy =
            ReassemblyPolicy { memory_bytes: 1 << 24, timeout: Span::from_secs(1), distance: 0 };
        let [_, mut host] = with_mtu(1_500, policy);
        let frames = blocks(count);
        let mut kept: Vec<(usize, Packet)> =
            frames.iter().copied().enumerate().filter(|&(at, _)| !lost[at]).collect();
        for &(a, b) in &swaps {
            if a < kept.len() && b < kept.len() {
                kept.swap(a, b);
            }
        }
        let mut order: Vec<Packet> = Vec::new();
        let mut cable = Cable::default();
        for (attachment, &(number, packet)) in kept.iter().enumerate() {
            order.push(packet);
            // A copy of a fragment whose datagram still waits is a duplicate.
            let block = number as u64 / OF_A_BLOCK;
            let waits =
                kept[attachment + 1..].iter().any(|&(other, _)| other as u64 / OF_A_BLOCK == block);
            if doubled.contains(&number) && waits {
                order.push(packet);
            }
        }
        order.iter().for_each(|packet| host.handle_frame(Time::ZERO, packet, &mut cable));
        let mut numbers: Vec<u64> =
            cable.datagrams.iter().map(|(_, _, datagram)| datagram.number).collect();
        numbers.sort_unstable();
        let of = |number: u64| {
            lost[(number * OF_A_BLOCK) as usize..((number + 1) * OF_A_BLOCK) as usize]
                .iter()
                .filter(|lost| **lost)
                .count() as u64
        };
        let whole: Vec<u64> = (0..count).filter(|&number| of(number) == 0).collect();
        let partial =
            (0..count).filter(|&number| (1..OF_A_BLOCK).contains(&of(number))).count() as u64;
        prop_assert_eq!(numbers, whole);
        host.settle(at(1_000), &mut cable);
        let counted = host.ip_counters();
        prop_assert_eq!(
            (counted.reasm_reqds, counted.reasm_oks),
            (order.len() as u64, cable.datagrams.len() as u64)
        );
        prop_assert_eq!((counted.reasm_timeout, counted.reasm_fails), (partial, partial));
        prop_assert_eq!(host.reassembly_memory().0, 0);
    }
}
