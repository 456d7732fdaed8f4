//! The kinds of the segments of a connection, by their order and times.

use crate::files::{Captured, ETHERNET, LITTLE, column, profile, profile_with, whole};
use crate::frames::{ACK, FIN, RST, SYN, Segment};
use serde_json::Value;
use tailrace_capture::Options;

const MS: u64 = 1_000_000;
const START_NS: u64 = 1_700_000_000_000_000_000;

/// A connection, segment by segment; times are in microseconds after the start.
#[derive(Default)]
struct Story(Vec<Captured>);

impl Story {
    /// A handshake of 1 ms: 600 µs on the server's side, 400 µs on the client's.
    fn open() -> Story {
        let options =
            |mss: u16| [vec![2, 4], mss.to_be_bytes().to_vec(), vec![1, 3, 3, 7]].concat();
        Story::default()
            .then(0, Segment { options: options(1_460), ..Segment::new(true, SYN, 999, 0, 0) })
            .then(
                600,
                Segment {
                    options: options(8_960),
                    ..Segment::new(false, SYN | ACK, 4_999, 1_000, 0)
                },
            )
            .then(1_000, Segment::new(true, ACK, 1_000, 5_000, 0))
    }

    fn then(mut self, at_us: u64, segment: Segment) -> Story {
        self.0.push(whole(START_NS + at_us * 1_000, segment.frame()));
        self
    }

    /// Data or an acknowledgement of the client.
    fn client(self, at_us: u64, seq: u32, ack: u32, payload: usize) -> Story {
        self.then(at_us, Segment::new(true, ACK, seq, ack, payload))
    }

    /// The same of the server.
    fn server(self, at_us: u64, seq: u32, ack: u32, payload: usize) -> Story {
        self.then(at_us, Segment::new(false, ACK, seq, ack, payload))
    }

    fn file(&self) -> Vec<u8> {
        LITTLE.pcap(true, ETHERNET, &self.0)
    }

    fn tcp(&self) -> Value {
        profile(self.file())["tcp"].clone()
    }

    /// Counts that are not zero, of those that are no plain statistics.
    fn oddities(&self) -> Vec<(String, u64)> {
        let plain = [
            "segments",
            "payload_bytes",
            "syns",
            "syn_acks",
            "fins",
            "resets",
            "mss_other",
            "window_scale_absent",
        ];
        let tcp = self.tcp();
        let counts = tcp.as_object().expect("an object").iter();
        let counts = counts.filter_map(|(name, value)| Some((name.clone(), value.as_u64()?)));
        counts.filter(|(name, count)| *count > 0 && !plain.contains(&name.as_str())).collect()
    }
}

fn counted(of: &[(&str, u64)]) -> Vec<(String, u64)> {
    let mut all: Vec<_> = of.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
    all.sort();
    all
}

#[test]
fn a_clean_connection_has_no_oddities_and_its_times() {
    let story = Story::open()
        .client(2_000, 1_000, 5_000, 100)
        .server(2_700, 5_000, 1_100, 0)
        .server(3_000, 5_000, 1_100, 500)
        .client(3_300, 1_100, 5_500, 0)
        .then(4_000, Segment::new(true, ACK | FIN, 1_100, 5_500, 0))
        .then(4_500, Segment::new(false, ACK | FIN, 5_500, 1_101, 0))
        .client(4_600, 1_101, 5_501, 0);
    assert_eq!(story.oddities(), []);
    let tcp = story.tcp();
    for (name, expected) in [
        ("handshake_rtt_ns", 1_000_000),
        ("handshake_server_side_rtt_ns", 600_000),
        ("handshake_client_side_rtt_ns", 400_000),
        ("server_side_rtt_ns", 700_000),
        ("client_side_rtt_ns", 300_000),
    ] {
        assert_eq!(
            (tcp[name]["count"].as_u64(), tcp[name]["min"].as_u64()),
            (Some(1), Some(expected)),
            "{name}"
        );
    }
    assert_eq!(tcp["mss_bytes"], serde_json::json!([[1_460, 1], [8_960, 1]]));
    assert_eq!(tcp["window_scale"], serde_json::json!([[7, 2]]));
    assert_eq!((tcp["payload_bytes"].as_u64(), tcp["segments"].as_u64()), (Some(600), Some(10)));
}

#[test]
fn data_that_comes_again_late_is_a_retransmission() {
    let story = Story::open().client(2_000, 1_000, 5_000, 100).client(202_000, 1_000, 5_000, 100);
    assert_eq!(story.oddities(), counted(&[("retransmissions", 1)]));
    assert_eq!(story.tcp()["payload_bytes"], 100);
    assert_eq!(profile(story.file())["flow_summary"]["with_retransmissions"], 1);
}

#[test]
fn a_retransmission_is_not_timed() {
    let story = Story::open()
        .client(2_000, 1_000, 5_000, 100)
        .client(202_000, 1_000, 5_000, 100)
        .server(203_000, 5_000, 1_100, 0);
    assert_eq!(story.tcp()["server_side_rtt_ns"]["count"], 0);
}

#[test]
fn three_duplicates_and_a_retransmission_at_once_is_a_fast_one() {
    let story = Story::open()
        .client(2_000, 1_000, 5_000, 100)
        .client(2_010, 1_200, 5_000, 100)
        .client(2_020, 1_300, 5_000, 100)
        .client(2_030, 1_400, 5_000, 100)
        .server(3_000, 5_000, 1_100, 0)
        .server(3_010, 5_000, 1_100, 0)
        .server(3_020, 5_000, 1_100, 0)
        .server(3_030, 5_000, 1_100, 0)
        .client(3_500, 1_100, 5_000, 100);
    let expected = [
        ("after_gaps", 1),
        ("duplicate_acks", 3),
        ("retransmissions", 1),
        ("fast_retransmissions", 1),
    ];
    assert_eq!(story.oddities(), counted(&expected));
}

#[test]
fn a_segment_that_was_overtaken_within_the_handshakes_time_is_out_of_order() {
    let overtaken = |after_us: u64| {
        Story::open().client(2_000, 1_000, 5_000, 100).client(2_100, 1_200, 5_000, 100).client(
            2_100 + after_us,
            1_100,
            5_000,
            100,
        )
    };
    assert_eq!(overtaken(999).oddities(), counted(&[("after_gaps", 1), ("out_of_order", 1)]));
    assert_eq!(overtaken(1_000).oddities(), counted(&[("after_gaps", 1), ("retransmissions", 1)]));
}

#[test]
fn data_that_were_acknowledged_come_again_for_nothing() {
    let story = Story::open()
        .client(2_000, 1_000, 5_000, 100)
        .server(2_100, 5_000, 1_100, 0)
        .client(2_200, 1_000, 5_000, 100);
    assert_eq!(
        story.oddities(),
        counted(&[("retransmissions", 1), ("spurious_retransmissions", 1)])
    );
}

#[test]
fn a_closed_window_its_probes_and_its_opening_are_distinguished() {
    let window = |at_us: u64, window: u16, story: Story| {
        story.then(at_us, Segment { window, ..Segment::new(false, ACK, 5_000, 1_100, 0) })
    };
    let story = window(3_000, 0, Story::open().client(2_000, 1_000, 5_000, 100));
    let story = window(204_000, 0, story.client(203_000, 1_100, 5_000, 1));
    let story = window(300_000, 900, story).client(301_000, 1_100, 5_000, 100);
    assert_eq!(
        story.oddities(),
        counted(&[("zero_windows", 2), ("zero_window_probes", 1), ("window_updates", 1)])
    );
}

#[test]
fn a_keep_alive_and_its_answer_are_no_retransmission_and_no_duplicate() {
    let story = Story::open()
        .client(2_000, 1_000, 5_000, 100)
        .server(2_100, 5_000, 1_100, 0)
        .client(60_000_000, 1_099, 5_000, 1)
        .server(60_001_000, 5_000, 1_100, 0);
    assert_eq!(story.oddities(), counted(&[("keep_alives", 1)]));
}

#[test]
fn a_segment_longer_than_the_receivers_maximum_was_cut_by_an_interface() {
    let story = Story::open()
        .client(2_000, 1_000, 5_000, 8_960)
        .client(2_001, 9_960, 5_000, 8_961)
        .server(2_100, 5_000, 18_921, 1_461);
    assert_eq!(story.oddities(), counted(&[("beyond_mss", 2)]));
}

#[test]
fn numbers_that_wrap_are_in_order() {
    let story = Story::default()
        .client(0, u32::MAX - 149, 1, 100)
        .client(10, u32::MAX - 49, 1, 100)
        .server(100, 1, 50, 0)
        .client(200, 50, 1, 100);
    assert_eq!(story.oddities(), []);
    assert_eq!(story.tcp()["payload_bytes"], 300);
}

#[test]
fn bytes_that_were_overtaken_count_once_and_those_of_a_jump_do_not() {
    let reordered = Story::open()
        .client(2_000, 1_000, 5_000, 100)
        .client(2_100, 1_200, 5_000, 100)
        .client(2_200, 1_100, 5_000, 100);
    assert_eq!(reordered.tcp()["payload_bytes"], 300);
    let jump =
        Story::open().client(2_000, 1_000, 5_000, 100).client(3_000, 1_000_000_000, 5_000, 100);
    assert_eq!(jump.tcp()["payload_bytes"], 200);
}

#[test]
fn another_syn_with_another_number_opens_another_connection() {
    let again = |seq: u32| {
        Story::open()
            .then(5_000, Segment::new(true, RST, 1_000, 0, 0))
            .then(9_000, Segment::new(true, SYN, seq, 0, 0))
    };
    assert_eq!(profile(again(70_000).file())["flow_summary"]["connections"], 2);
    let repeated = profile(Story::open().then(9_000, Segment::new(true, SYN, 999, 0, 0)).file());
    assert_eq!(repeated["flow_summary"]["connections"], 1);
    assert_eq!(repeated["tcp"]["retransmissions"], 1);
}

#[test]
fn the_client_is_who_opened_it_or_else_who_has_the_higher_port() {
    let (opened, middle) = (
        Story::open().server(2_000, 5_000, 1_000, 7),
        Story::default().server(2_000, 5_000, 1_000, 7),
    );
    for (story, is_known) in [(opened, 1), (middle, 0)] {
        let (_, profile) = profile_with(story.file(), Options::default());
        let connections = &profile.tables()[0];
        let value = |wanted: &str| {
            connections
                .columns
                .iter()
                .find(|(name, _)| *name == wanted)
                .map(|(_, column)| format!("{column:?}"))
        };
        assert_eq!(value("client_port").as_deref(), Some("U32([40000])"));
        assert_eq!(value("server_payload_bytes").as_deref(), Some("U64([7])"));
        assert_eq!(value("is_client_known"), Some(format!("U32([{is_known}])")));
    }
}

#[test]
fn requests_and_their_times_are_those_at_the_point_of_capture() {
    let mut story = Story::open();
    for turn in 0..3_u32 {
        let (at_us, seq, ack) =
            (10_000 * (u64::from(turn) + 1), 1_000 + turn * 100, 5_000 + turn * 2_000);
        story = story
            .client(at_us, seq, ack, 100)
            .server(at_us + 2_000, ack, seq + 100, 1_000)
            .server(at_us + 2_100, ack + 1_000, seq + 100, 1_000)
            .client(at_us + 2_200, seq + 100, ack + 2_000, 0);
    }
    let exchanges = profile(story.file())["exchanges"].clone();
    assert_eq!(
        (exchanges["exchanges"].as_u64(), exchanges["unanswered"].as_u64()),
        (Some(3), Some(0))
    );
    for (name, count, expected) in [
        ("request_bytes", 3, 100),
        ("response_bytes", 3, 2_000),
        ("server_time_ns", 3, 2 * MS),
        ("exchange_time_ns", 3, 2 * MS + 100_000),
        ("think_time_ns", 2, 10 * MS - 2 * MS - 100_000),
    ] {
        let of = &exchanges["services"][0][name];
        assert_eq!(
            (of["count"].as_u64(), of["min"].as_u64(), of["max"].as_u64()),
            (Some(count), Some(expected), Some(expected)),
            "{name}"
        );
    }
    assert_eq!(exchanges["services"][0]["port"], 5_432);
    let waiting = profile(story.file())["concurrency"]["waiting_requests"].clone();
    let capture_ms = (30_000 + 2_200) as f64 / 1_000.0 - 10.0;
    assert_eq!(waiting["max"], 1);
    assert!((waiting["mean"].as_f64().expect("a number") - 6.0 / capture_ms).abs() < 1e-9);
}

#[test]
fn round_trips_are_of_handshakes_and_of_acknowledgements_without_data() {
    let story = Story::open()
        .client(10_000, 1_000, 5_000, 100)
        .server(12_000, 5_000, 1_100, 1_000) // answered with data: the program's time is in it
        .client(12_300, 1_100, 6_000, 0)
        .server(12_400, 6_000, 1_100, 1_000)
        .client(12_700, 1_100, 7_000, 0) // too soon after the last
        .client(20_000, 1_100, 7_000, 100)
        .server(20_800, 7_000, 1_200, 0);
    let (_, profile) = profile_with(story.file(), Options::default());
    let of = |name: &str| column(&profile, "round_trips", name);
    assert_eq!(of("rtt_ns"), [600_000, 400_000, 300_000, 800_000]);
    assert_eq!(of("is_server_side"), [1, 0, 0, 1]);
    let since = of("at_ns").iter().map(|at_ns| (at_ns - START_NS) / 1_000).collect::<Vec<_>>();
    assert_eq!(since, [600, 1_000, 12_300, 20_800]);
}

#[test]
fn a_reset_of_another_connection_does_not_move_the_numbers_of_this_one() {
    // The first SYN meets a server that still knows an old connection: it acknowledges that, and
    // the client resets it.
    let mut story = Story::default()
        .then(0, Segment::new(true, SYN, 1_000, 0, 0))
        .then(30_000, Segment::new(false, ACK, 7_777, 900_000_000, 0))
        .then(30_100, Segment::new(true, RST, 900_000_000, 0, 0))
        .then(3_000_000, Segment::new(true, SYN, 1_000, 0, 0))
        .then(3_030_000, Segment::new(false, SYN | ACK, 5_000, 1_001, 0))
        .then(3_030_100, Segment::new(true, ACK, 1_001, 5_001, 0));
    for at in 0..4 {
        let (at_us, seq) = (3_100_000 + u64::from(at) * 100_000, 1_001 + at * 100);
        story = story.client(at_us, seq, 5_001, 100).server(at_us + 30_000, 5_001, seq + 100, 0);
    }
    assert_eq!(story.oddities(), counted(&[("retransmissions", 1)]), "the SYN");
    assert_eq!(story.tcp()["payload_bytes"], 400);
}
