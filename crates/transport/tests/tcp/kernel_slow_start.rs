//! Slow start in the Linux kernel's own tests (google/packetdrill, `gtests/net/tcp`, named beside
//! each), replayed. The scripts that set `tcp_tso_win_divisor` wait for no larger burst: TSO is off
//! here.

use tailrace_transport::tcp::TcpConfig;

use crate::script::{linux, play};

fn unhurried() -> TcpConfig {
    TcpConfig { tso_bytes: 0, ..linux() }
}

/// `slow_start/slow-start-ack-per-1pkt`: two segments for each acknowledged one.
#[test]
fn one_acknowledgement_per_segment_doubles_the_window() {
    play(
        &unhurried(),
        100,
        32_896,
        "
        write 30000
        > 1:10001
        cwnd 10
        +105 < 1001
        > 10001:12001
        +0 < 2001
        > 12001:14001
        +5 < 3001
        > 14001:16001
        +0 < 4001
        > 16001:18001
        +5 < 5001
        > 18001:20001
        +0 < 6001
        > 20001:22001
        +5 < 7001
        > 22001:24001
        +0 < 8001
        > 24001:26001
        +5 < 9001
        > 26001:28001
        +0 < 10001
        > 28001:30001
        cwnd 20
        ",
    );
}

/// `slow_start/slow-start-ack-per-2pkt`: four for two.
#[test]
fn one_acknowledgement_per_two_segments_doubles_the_window() {
    play(
        &unhurried(),
        100,
        32_896,
        "
        write 30000
        > 1:10001
        cwnd 10
        +105 < 2001
        > 10001:14001
        +5 < 4001
        > 14001:18001
        +5 < 6001
        > 18001:22001
        +5 < 8001
        > 22001:26001
        +5 < 10001
        > 26001:30001
        cwnd 20
        ",
    );
}

/// `slow_start/slow-start-ack-per-4pkt`: eight for four; stretched acknowledgements lose nothing.
#[test]
fn one_acknowledgement_per_four_segments_doubles_the_window() {
    play(
        &unhurried(),
        100,
        32_896,
        "
        write 30000
        > 1:10001
        cwnd 10
        +110 < 4001
        > 10001:18001
        +10 < 8001
        > 18001:26001
        +5 < 10001
        > 26001:30001
        cwnd 20
        ",
    );
}

/// `slow_start/slow-start-app-limited-9-packets-out`: nine of ten used, and growth ends at twice of
/// that.
#[test]
fn nine_of_ten_used_grow_the_window_to_eighteen() {
    play(
        &linux(),
        100,
        32_896,
        "
        write 9000
        > 1:9001
        cwnd 10
        +105 < 2001
        cwnd 12
        +5 < 4001
        cwnd 14
        +5 < 6001
        cwnd 16
        +5 < 8001
        cwnd 18
        +5 < 9001
        cwnd 18
        ",
    );
}
