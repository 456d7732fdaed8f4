//! Opening, segment sizes and what a write becomes in the Linux kernel's own tests
//! (google/packetdrill, `gtests/net/tcp`, and `tools/testing/selftests/net/packetdrill`, named
//! beside each), replayed.

use tailrace_transport::tcp::{Identity, Segment, Tcp, TcpConfig, Transmit};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet, SackBlock, Tag};

use crate::script::{Opening, linux, play, play_after};

fn with_mss(mss: u32) -> TcpConfig {
    TcpConfig { mss, ..linux() }
}

fn to_server(ms: u64, window: u32, mss: u32) -> Opening {
    Opening { ms, window, mss, is_active: true }
}

/// `blocking/blocking-accept`, `sendfile/sendfile-simple`, `zerocopy/small`, `zerocopy/basic`: a
/// write leaves at once, ended by PSH.
#[test]
fn a_write_leaves_at_once() {
    let plain = TcpConfig { sack: false, ..linux() };
    play(&plain, 100, 32_896, "+100 < 1 win 32897\n write 2000\n > 1:2001");
    play(&linux(), 0, 526_336, "write 5\n > 1:6");
    play(&linux(), 0, 32_896, "write 1\n > 1:2\n +0 < 2\n write 1\n > 2:3\n +0 < 3");
    play(
        &linux(),
        0,
        32_896,
        "write 4000\n > 1:4001\n +0 < 4001\n write 4000\n > 4001:8001\n +0 < 8001",
    );
}

/// `blocking/blocking-connect`, `accecn_clientside_disabled`: the answer of a server is
/// acknowledged.
#[test]
fn a_client_acknowledges_the_answer() {
    play_after(&with_mss(1460), &to_server(100, 5_792, 1460), "");
}

/// `zerocopy/client`, and `basic_client` up to its end.
#[test]
fn a_client_writes() {
    play_after(&with_mss(1460), &to_server(0, 32_792, 1000), "write 4000\n > 1:4001\n +0 < 4001");
    play_after(&with_mss(1460), &to_server(0, 32_792, 1460), "write 1000\n > 1:1001\n +0 < 1001");
}

/// `timestamping/client-only-last-byte` and `timestamping/server`: the bytes of the window, then
/// the rest; writes that follow each other.
#[test]
fn writes_that_follow_each_other() {
    let client = to_server(10, 20_000, 1000);
    play_after(
        &with_mss(1460),
        &client,
        "write 11000\n > 1:10001\n +10 < 10001 win 4000\n > 10001:11001\n +10 < 11001 win 4000",
    );
    play(
        &linux(),
        10,
        526_336,
        "write 2000\n write 2000\n > 1:2001\n > 2001:4001\n +10 < 2001\n +10 < 4001",
    );
}

/// `mss/mss-getsockopt-tcp_maxseg-server`, `mss/mss-setsockopt-tcp_maxseg-client` and `...-server`:
/// the smaller size counts.
#[test]
fn the_smaller_segment_size_counts_on_both_sides() {
    let plain = |mss| TcpConfig { sack: false, ..with_mss(mss) };
    let by_peer = Opening { ms: 100, window: 65_792, mss: 1100, is_active: false };
    play_after(&plain(1460), &by_peer, "write 3300\n > 1:3301");
    play_after(&plain(1100), &to_server(100, 32_792, 1460), "write 12000\n > 1:11001");
    let by_peer = Opening { ms: 100, window: 32_896, mss: 1300, is_active: false };
    play_after(&plain(1100), &by_peer, "write 12000\n > 1:11001");
}

/// `nagle/https_client`: a client that writes small pieces and has switched Nagle's algorithm off.
#[test]
fn small_writes_of_a_client_do_not_wait() {
    play_after(
        &TcpConfig { mss: 1460, tso_bytes: 0, ..linux() },
        &to_server(100, 5_792, 974),
        "
        acks
        write 517
        > 1:518
        +100 < 518 win 29312
        +0 < 1:144 push
        > ack 144
        write 51
        > 518:569
        +30
        write 2002
        > 569:2571
        +100 < 2571
        ",
    );
}

/// `ecn/ecn-uses-ect0`, `accecn_rfc3168_to_rfc3168`, `accecn_rfc3168_to_fallback`: data are
/// capable, by ECT(0).
#[test]
fn capable_segments_are_ect_0() {
    let ecn = TcpConfig { ecn: true, ..with_mss(1460) };
    play_after(&ecn, &to_server(2, 32_767, 1000), "write 1000\n > 1:1001 ect0");
    let by_peer = Opening { ms: 50, window: 81_920, mss: 1050, is_active: false };
    play_after(&ecn, &by_peer, "write 1000\n > 1:1001 ect0");
}

/// `tcp_info/tcp-info-rwnd-limited`, with a right edge that never moves back: nothing leaves into a
/// window of none or of ten bytes.
#[test]
fn a_write_waits_for_the_window() {
    play_after(
        &with_mss(1460),
        &to_server(10, 0, 1000),
        "
        write 1000
        +200 < 1 win 1000
        > 1:1001
        +30 < 1001 win 10
        write 1000
        +100 < 1001 win 2000
        > 1001:2001
        +20 < 2001
        ",
    );
}

#[derive(Default)]
struct Openings(Vec<Packet>);

impl Transmit for Openings {
    fn send(&mut self, packet: Packet) -> Option<Time> {
        self.0.push(packet);
        Some(Time::ZERO)
    }
}

fn answered(config: &TcpConfig, syn_payload: u16) -> (Tcp, Openings) {
    let identity =
        Identity { flow_hash: 0, to_endpoint: 0, to_host: 0, tag: Tag::default(), dscp: 0 };
    let (mut tcp, mut sent) = (Tcp::new(config, identity), Openings::default());
    let mut syn =
        Packet { flags: Flags::SYN, window: 1000, payload_bytes: syn_payload, ..Packet::default() };
    syn.sack[0] = SackBlock { offset: 1460, bytes: 1 };
    tcp.handle_segment(Time::ZERO, &Segment::single(&syn), &mut sent);
    (tcp, sent)
}

/// The second half of `rto_synack_rto_max`: the answer is repeated every second when no timeout may
/// be longer.
#[test]
fn an_answer_is_repeated_as_often_as_the_longest_timeout_says() {
    let (mut tcp, mut sent) =
        answered(&TcpConfig { rto_max: Span::from_secs(1), ..with_mss(1460) }, 0);
    for second in 1..=3 {
        assert_eq!(sent.0.len(), second);
        assert_eq!(tcp.poll_timeout(), Time::ZERO + Span::from_secs(second as u64));
        tcp.handle_timeout(tcp.poll_timeout(), &mut sent);
    }
    let opening =
        |p: &Packet| p.flags.contains(Flags::SYN) && p.flags.contains(Flags::ACK) && p.ack == 1;
    assert!(sent.0.iter().all(opening));
    let ack = Packet { seq: 1, ack: 1, window: 1000, flags: Flags::ACK, ..Packet::default() };
    assert!(
        tcp.handle_segment(Time::ZERO + Span::from_secs(3), &Segment::single(&ack), &mut sent)
            .connected
    );
}

/// `fastopen/server/basic-non-tfo-listener`: data on a SYN are not taken, and come again.
#[test]
fn data_on_an_opening_segment_are_not_taken() {
    let (mut tcp, mut sent) = answered(&with_mss(1460), 10);
    assert_eq!(sent.0[0].ack, 1);
    let data = Packet {
        seq: 1,
        ack: 1,
        window: 5840,
        flags: Flags::ACK,
        payload_bytes: 30,
        ..Packet::default()
    };
    let progress =
        tcp.handle_segment(Time::ZERO + Span::from_ms(300), &Segment::single(&data), &mut sent);
    assert_eq!((progress.connected, progress.readable), (true, 30));
}
