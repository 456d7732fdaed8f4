//! Counts of whole captures.

use crate::files::{Captured, ETHERNET, LITTLE, column, profile, profile_with, whole};
use crate::frames::{ACK, Segment, ethernet, ipv4, ipv6, udp};
use proptest::prelude::*;
use serde_json::{Value, json};
use tailrace_capture::{Options, Profile};

const US: u64 = 1_000;
const START_NS: u64 = 1_700_000_000_000_000_000;

fn file(frames: &[Captured]) -> Vec<u8> {
    LITTLE.pcap(true, ETHERNET, frames)
}

fn with(frames: &[Captured], options: Options) -> (Value, Profile) {
    profile_with(file(frames), options)
}

/// A frame of this length on the wire with a datagram between these ports.
fn datagram(at_ns: u64, ports: (u16, u16), wire_bytes: usize) -> Captured {
    whole(
        at_ns,
        ethernet(
            &[],
            0x0800,
            &ipv4([1, 1, 1, 1], [2, 2, 2, 2], 17, 0, 0, &udp(ports, wire_bytes - 42)),
        ),
    )
}

#[test]
fn intervals_hold_what_came_in_them_and_a_burst_is_a_run_of_full_ones() {
    // 84 bytes of the line in each frame of 60: 125 of them in 100 µs are 840 Mbit/s.
    let burst = |start_us: u64, count: u64| {
        (0..count).map(move |number| datagram(START_NS + start_us * US + number * 800, (1, 2), 60))
    };
    let frames: Vec<_> = burst(0, 375).chain(burst(5_000, 125)).chain(burst(9_000, 50)).collect();
    let (report, _) =
        with(&frames, Options { line_bps: Some(1_000_000_000), ..Options::default() });
    let rates = &report["rates"]["all"];
    let interval = |place: usize, key: &str| rates["intervals"][place][key].clone();
    assert_eq!(interval(3, "width_ns"), 100_000);
    assert_eq!((interval(3, "intervals"), interval(2, "intervals")), (json!(91), json!(10)));
    assert_eq!(interval(3, "max_bps"), json!(8.4e8));
    assert_eq!(interval(3, "line_bytes")["max"], 125 * 84);
    assert_eq!(interval(3, "share_above_80_percent"), json!(4.0 / 91.0));
    assert_eq!(interval(3, "share_above_95_percent"), json!(0.0));
    assert_eq!(interval(2, "frames")["max"], 375);
    assert_eq!(interval(0, "frames")["max"], 550);
    assert_eq!(rates["bursts"]["bursts"], 2);
    assert_eq!(
        (
            rates["bursts"]["duration_ns"]["min"].as_u64(),
            rates["bursts"]["duration_ns"]["max"].as_u64()
        ),
        (Some(100_000), Some(300_000))
    );
    assert_eq!(report["capture"]["line_bps"], 1_000_000_000_u64);
}

proptest! {
    /// Frames that are late by less than 12.8 ms fall into the intervals in which they came.
    #[test]
    fn rates_do_not_depend_on_the_order_of_frames(
        times in proptest::collection::vec(0_u64..12_000, 1..60),
        seed: u64,
    ) {
        let mut ordered = times;
        ordered.sort_unstable();
        ordered[0] = 0;
        let mut mixed = ordered.clone();
        // The first frame is the origin; the others are exchanged.
        for place in 2..mixed.len() {
            let other = 1 + (seed.rotate_left(place as u32) as usize) % place;
            mixed.swap(place, other);
        }
        let rates = |times: &[u64]| {
            let frames: Vec<_> =
                times.iter().map(|&at| datagram(START_NS + at * US, (1, 2), 60)).collect();
            profile(file(&frames))["rates"]["all"].clone()
        };
        prop_assert_eq!(rates(&ordered), rates(&mixed));
    }

    /// Sizes are counted exactly, and every frame is in one bin.
    #[test]
    fn sizes_are_exact(sizes in proptest::collection::vec(60_usize..9_600, 1..40)) {
        let frames: Vec<_> = sizes.iter().map(|&size| datagram(START_NS, (1, 2), size)).collect();
        let report = profile(file(&frames));
        let bins: u64 = report["frame_sizes"]["bins"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|bin| bin["frames"].as_u64().expect("a count"))
            .sum();
        let total: usize = sizes.iter().sum();
        prop_assert_eq!(
            (bins, report["capture"]["frame_bytes"].as_u64()),
            (sizes.len() as u64, Some(total as u64))
        );
        prop_assert_eq!(
            report["frame_sizes"]["max_bytes"].as_u64(),
            sizes.iter().max().map(|&size| size as u64)
        );
    }
}

#[test]
fn classes_are_those_of_the_outer_tag_and_of_the_packet() {
    let packet = |class: u8| ipv4([1; 4], [2; 4], 17, class, 0, &udp((1, 2), 30));
    let frames = [
        whole(START_NS, ethernet(&[(0x8100, 0xA00C)], 0x0800, &packet(0xB8))),
        whole(START_NS, ethernet(&[(0x88A8, 7), (0x8100, 8)], 0x0800, &packet(0xBB))),
        whole(START_NS, ethernet(&[], 0x0800, &packet(0x02))),
        whole(START_NS, ethernet(&[], 0x86DD, &ipv6(17, &udp((1, 2), 30)))),
        whole(START_NS, ethernet(&[], 0x0806, &[0; 28])),
    ];
    let report = profile(file(&frames));
    let values = |key: &str| -> Vec<(u64, u64)> {
        let of = report["classes"][key].as_array().expect("a list").iter();
        of.map(|one| {
            (one["value"].as_u64().expect("a class"), one["frames"].as_u64().expect("a count"))
        })
        .collect()
    };
    assert_eq!(values("vlan"), [(7, 1), (12, 1)]);
    assert_eq!(values("priority"), [(0, 1), (5, 1)]);
    assert_eq!(values("dscp"), [(0, 1), (46, 3)]);
    let ecn = |key: &str| report["classes"]["ecn"][key]["frames"].as_u64();
    assert_eq!(
        (ecn("not_capable"), ecn("ect0"), ecn("congestion_experienced")),
        (Some(2), Some(1), Some(1))
    );
    assert_eq!(
        (
            report["classes"]["untagged"]["frames"].as_u64(),
            report["protocols"]["arp"]["frames"].as_u64()
        ),
        (Some(3), Some(1))
    );
}

#[test]
fn fragments_belong_to_the_flow_of_the_first() {
    let fragment = |place: u16, carried: &[u8]| {
        whole(START_NS, ethernet(&[], 0x0800, &ipv4([1; 4], [2; 4], 17, 0, place, carried)))
    };
    let frames = [
        fragment(0x2000, &udp((5_000, 53), 1_472)),
        fragment(185, &[0; 100]),
        fragment(0x2000 | 400, &[0; 8]),
    ];
    let (report, profile) = with(&frames, Options::default());
    assert_eq!(
        (report["fragments"]["frames"].as_u64(), report["fragments"]["packets"].as_u64()),
        (Some(3), Some(1))
    );
    assert_eq!(column(&profile, "datagram_flows", "sent_frames"), [3]);
    assert_eq!(column(&profile, "datagram_flows", "destination_port"), [53]);
    let (report, profile) = with(&frames[1..], Options::default());
    assert_eq!(report["fragments"]["frames_without_first"], 2);
    assert!(column(&profile, "datagram_flows", "sent_frames").is_empty());
}

#[test]
fn extension_headers_lead_to_the_transport() {
    let headers =
        [&[60, 0, 0, 0, 0, 0, 0, 0][..], &[51, 0, 0, 0, 0, 0, 0, 0], &[17, 4, 0, 0], &[0; 20]]
            .concat();
    let frames =
        [whole(START_NS, ethernet(&[], 0x86DD, &ipv6(0, &[headers, udp((7, 53), 12)].concat())))];
    let (report, profile) = with(&frames, Options::default());
    assert_eq!(column(&profile, "datagram_flows", "destination_port"), [53]);
    assert_eq!(column(&profile, "datagram_flows", "sent_payload_bytes"), [12]);
    assert_eq!(report["protocols"]["ip_protocols"][0]["number"], 17);
}

#[test]
fn the_flow_seen_longest_ago_makes_room_and_is_counted() {
    let frames: Vec<_> = [1, 2, 3, 1, 4, 2]
        .iter()
        .enumerate()
        .map(|(at, &port)| datagram(START_NS + at as u64, (port, 9), 60))
        .collect();
    let (report, profile) = with(&frames, Options { flows_max: 3, ..Options::default() });
    // 4 replaces 2, and 2 replaces 3.
    assert_eq!(report["flow_summary"]["evicted"], 2);
    assert_eq!(column(&profile, "datagram_flows", "source_port"), [1, 2, 3, 4, 2]);
    assert_eq!(column(&profile, "datagram_flows", "sent_frames"), [2, 1, 1, 1, 1]);
}

#[test]
fn rows_beyond_the_limit_are_counted() {
    let mut frames: Vec<_> = (1..=5).map(|port| datagram(START_NS, (port, 9), 60)).collect();
    for port in 1..=4 {
        let segment =
            Segment { from: ([3; 4], 50_000 + port), ..Segment::new(true, ACK, 1, 1, 10) };
        frames.push(whole(START_NS, segment.frame()));
    }
    let (report, profile) = with(&frames, Options { rows_max: 3, ..Options::default() });
    let left = |key: &str| report["tables"][key].as_u64();
    assert_eq!(
        (left("connections_left_out"), left("exchanges_left_out"), left("datagram_flows_left_out")),
        (Some(1), Some(1), Some(2))
    );
    assert_eq!(column(&profile, "exchanges", "connection"), [0, 1, 2]);
    assert_eq!(report["flow_summary"]["connections"], 4);
}

#[test]
fn mice_and_elephants_have_their_shares_of_flows_and_bytes() {
    let mut frames: Vec<_> = (0..9).map(|port| datagram(START_NS, (100 + port, 9), 100)).collect();
    frames.extend((0..100).map(|number| datagram(START_NS + number, (50, 9), 1_000)));
    let report = profile(file(&frames));
    let classes = &report["flow_summary"]["sizes"]["classes"];
    let of = |place: usize| {
        (
            classes[place]["flow_count"].as_u64(),
            classes[place]["bytes"].as_u64(),
            classes[place]["below_bytes"].as_u64(),
        )
    };
    assert_eq!(of(0), (Some(9), Some(900), Some(1_000)));
    assert_eq!(of(3), (Some(1), Some(100_000), Some(1_000_000)));
    assert_eq!(classes[3]["share_of_flows"], json!(0.1));
    assert_eq!(report["flow_summary"]["largest"][0]["source_port"], 50);
}

#[test]
fn only_frames_within_the_times_that_were_asked_for_count() {
    let frames: Vec<_> =
        (0..10).map(|number| datagram(START_NS + number * 1_000_000, (1, 2), 60)).collect();
    let (report, _) = with(
        &frames,
        Options { from_ns: 2_000_000, until_ns: Some(5_000_000), ..Options::default() },
    );
    assert_eq!(
        (report["capture"]["frames"].as_u64(), report["capture"]["frames_left_out"].as_u64()),
        (Some(3), Some(7))
    );
    assert_eq!(report["capture"]["start_ns"], START_NS + 2_000_000);
}

#[test]
fn anonymous_addresses_share_their_prefixes_and_nothing_else_changes() {
    let frame = |last: u8| {
        whole(
            START_NS,
            ethernet(
                &[],
                0x0800,
                &ipv4([10, 1, 2, last], [10, 1, 9, 9], 17, 0, 0, &udp((7, 53), 30)),
            ),
        )
    };
    let frames = [frame(4), frame(5)];
    let key_hex = Some("000102030405060708090a0b0c0d0e0f".to_owned());
    let (plain, own) = with(&frames, Options::default());
    let (report, other) = with(&frames, Options { key_hex, ..Options::default() });
    let (before, after) = (column(&own, "addresses", "low"), column(&other, "addresses", "low"));
    assert_eq!(before[..2], [0xFFFF_0A01_0204, 0xFFFF_0A01_0909]);
    let common = |of: &[u64], a: usize, b: usize| (of[a] ^ of[b]).leading_zeros();
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        assert_eq!(common(&before, a, b), common(&after, a, b));
    }
    assert!(before.iter().zip(&after).all(|(before, after)| before != after));
    assert!(!report.to_string().contains("10.1.2"));
    assert_eq!(
        (report["tcp"].clone(), report["rates"].clone()),
        (plain["tcp"].clone(), plain["rates"].clone())
    );
}

#[test]
fn options_are_refused_when_they_make_no_sense() {
    let error = |json: &str| Options::parse(json).expect_err("it is wrong").to_string();
    assert!(error("{\"lines\": 1}").contains("lines"));
    assert!(error("{\"flows_max\": 0}").contains("flows_max"));
    assert!(error("{\"line_bps\": 0}").contains("line_bps"));
    assert!(error("{\"from_ns\": 5, \"until_ns\": 5}").contains("until_ns"));
    assert!(error("{\"key_hex\": \"12\"}").contains("32 hexadecimal digits"));
    assert!(Options::parse("{}").is_ok());
}
