//! Answers of a receiver in the Linux kernel's own tests (google/packetdrill, `gtests/net/tcp`,
//! and `tools/testing/selftests/net/packetdrill`, named beside each), replayed.

use tailrace_transport::tcp::{Buffer, TcpConfig};

use crate::script::{Opening, linux, play, play_after};

fn without_sack() -> TcpConfig {
    TcpConfig { sack: false, ..linux() }
}

/// `blocking/blocking-read`: a reader that waits for data is answered at once.
#[test]
fn who_waits_for_data_is_answered_at_once() {
    play(
        &without_sack(),
        100,
        32_896,
        "
        acks
        +100 < 1:2001 push
        > ack 2001
        +200 < 2001:4001 push
        > ack 4001
        +100 < 4001:6001 push
        > ack 6001
        ",
    );
}

/// `gro/gro-mss-option`, and what `inq/client`, `inq/server`, `ioctl/ioctl-siocinq-fin`,
/// `basic_server` and `tcp_info/tcp-info-last_data_recv` have before their ends: an aggregate, or
/// the first segment, is answered at once.
#[test]
fn what_comes_first_is_answered_at_once() {
    play(&linux(), 0, 40_960, "acks\n +0 < 1:10001\n > ack 10001");
    play(&linux(), 100, 20_000, "acks\n +0 < 1:1001 push\n > ack 1001");
    let client = Opening { ms: 30, window: 10_000, mss: 1000, is_active: true };
    play_after(&TcpConfig { mss: 1460, ..linux() }, &client, "+1000 < 1:1001");
    play_after(&TcpConfig { mss: 1460, ..linux() }, &client, "acks\n +1000 < 1:1001\n > ack 1001");
}

/// `epoll/epoll_in_edge`: an application that reads late, or not at all.
#[test]
fn what_is_not_read_is_answered_too() {
    play(
        &linux(),
        0,
        32_896,
        "
        late
        +0 < 1:4001 push
        > ack 4001
        +0 < 4001:10001 push
        > ack 10001
        read 1000
        +0 < 10001:12001 push
        > ack 12001
        ",
    );
}

/// `dsack_mult`: ranges held, latest first, and duplicates before them.
#[test]
fn ranges_held_and_what_came_twice() {
    play(
        &linux(),
        100,
        131_072,
        "
        acks
        +0 < 1001:2001 push
        > ack 1 sack 1001:2001
        +0 < 2001:3001 push
        > ack 1 sack 1001:3001
        +0 < 4001:5001 push
        > ack 1 sack 4001:5001 1001:3001
        +0 < 7001:8001 push
        > ack 1 sack 7001:8001 4001:5001 1001:3001
        +0 < 1:6001 push
        > ack 6001 dsack 1001:3001 7001:8001
        +0 < 6001:8001 push
        > ack 8001 dsack 7001:8001
        +0 < 1:1001 push
        > ack 8001 dsack 1:1001
        ",
    );
}

/// `ooo_rcv_mss`, `ooo-before-and-after-accept`: aggregates out of order are reported as one range
/// and read in one go. The sizes of the kernel's buffers, which these files check too, count the
/// memory of frames.
#[test]
fn aggregates_out_of_order_are_one_range() {
    play(
        &linux(),
        100,
        32_896,
        "acks\n +0 < 2001:11001\n > ack 1 sack 2001:11001\n +0 < 11001:21001\n > ack 1 sack 2001:21001",
    );
    play(
        &linux(),
        100,
        32_896,
        "
        acks
        +0 < 2001:41001
        > ack 1 sack 2001:41001
        +0 < 41001:101001
        > ack 1 sack 2001:101001
        +0 < 1:1001
        > ack 1001 sack 2001:101001
        +0 < 1001:2001
        > ack 101001
        ",
    );
}

/// `rcv_big_endseq`: a segment that ends beyond the window is refused whole, unless nothing waits
/// to be read.
#[test]
fn what_ends_beyond_the_window_is_refused_whole() {
    let config =
        TcpConfig { receive_buffer: Buffer { initial: 9_000, maximum: 9_000 }, ..without_sack() };
    play(
        &config,
        100,
        32_896,
        "
        late
        +0 < 1:4001 push
        > ack 4001 win 5000
        +0 < 4001:54001 push
        > ack 4001 win 5000
        +1000 < 5001:55001 push
        > ack 4001 win 5000
        +0 < 70001:80001 push
        > ack 4001 win 5000
        read 4000
        +0 < 4001:54001 push
        +40
        > ack 54001 win 0
        ",
    );
}
