//! How the window grows and shrinks in the Linux kernel's own tests (google/packetdrill,
//! `gtests/net/tcp`, named beside each), replayed.

use tailrace_transport::tcp::TcpConfig;

use crate::script::{linux, play};

/// `slow_start/slow-start-app-limited`: ten of ten used doubles the window.
#[test]
fn a_window_that_is_just_used_grows() {
    play(
        &linux(),
        100,
        32_896,
        "
        write 10000
        > 1:10001
        +105 < 2001
        cwnd 12
        +5 < 4001
        cwnd 14
        +5 < 6001
        cwnd 16
        +5 < 8001
        cwnd 18
        +5 < 10001
        cwnd 20
        ",
    );
}

/// `slow_start/slow-start-ack-per-2pkt-send-5pkt` and `...-send-6pkt`: five of ten used change
/// nothing, six of ten grow it to twelve.
#[test]
fn a_window_that_is_half_used_does_not_grow() {
    play(
        &linux(),
        0,
        32_896,
        "write 5000\n > 1:5001\n +0 < 2001\n cwnd 10\n +0 < 4001\n cwnd 10\n +0 < 5001\n cwnd 10",
    );
    play(
        &linux(),
        0,
        32_896,
        "write 6000\n > 1:6001\n +0 < 2001\n cwnd 12\n +0 < 4001\n cwnd 12\n +0 < 6001\n cwnd 12",
    );
}

/// `slow_start/slow-start-after-idle`: two seconds of silence, then the initial window.
#[test]
fn slow_start_after_idle() {
    play(
        &linux(),
        100,
        65_408,
        "
        write 26000
        > 1:10001
        cwnd 10
        +100 < 10001
        cwnd 20
        > 10001:26001
        +100 < 26001
        cwnd 36
        +2000 < 26001
        write 20000
        cwnd 10
        > 26001:36001
        ",
    );
}

/// `slow_start/slow-start-after-win-update`, with a right edge that never moves back: a closed
/// window opens after three probes, and the start is slow again.
#[test]
fn a_closed_window_and_its_opening() {
    play(
        &linux(),
        100,
        26_000,
        "
        write 26000
        > 1:10001
        +100 < 10001 win 16000
        > 10001:26001
        +100 < 26001 win 0
        cwnd 36
        write 20000
        +2900 < 26001 win 65408
        cwnd 10
        > 26001:36001
        ",
    );
}

/// `cubic/cubic-rto-ss-ca-cwnd-bump`: probe, timeout, slow start to seven, then one segment per
/// twenty.
#[test]
fn cubic_after_a_timeout() {
    play(
        &TcpConfig { tso_bytes: 0, ..linux() },
        100,
        32_896,
        "
        write 1000
        > 1:1001
        +100 < 1001
        cwnd 10
        write 1000
        > 1001:2001
        +300 > 1001:2001
        +300 > 1001:2001
        +100 < 2001
        cwnd 2
        ssthresh 7
        write 200000
        > 2001:4001
        +100 < 3001
        > 4001:6001
        cwnd 3
        +2 < 4001
        > 6001:8001
        cwnd 4
        +98 < 5001
        > 8001:10001
        cwnd 5
        +2 < 6001
        > 10001:12001
        cwnd 6
        +2 < 7001
        > 12001:14001
        cwnd 7
        +2 < 8001
        > 14001:15001
        +98 < 9001
        > 15001:16001
        +2 < 10001
        > 16001:17001
        +2 < 11001
        > 17001:18001
        +2 < 12001
        > 18001:19001
        +2 < 13001
        > 19001:20001
        +2 < 14001
        > 20001:21001
        +2 < 15001
        > 21001:22001
        +98 < 16001
        > 22001:23001
        cwnd 7
        +3 < 17001
        > 23001:24001
        +2 < 18001
        > 24001:25001
        +2 < 19001
        > 25001:26001
        +2 < 20001
        > 26001:27001
        +2 < 21001
        > 27001:28001
        +2 < 22001
        > 28001:29001
        +98 < 23001
        > 29001:31001
        cwnd 8
        ",
    );
}

/// `cubic/cubic-hystart-delay-rtt-jumps-upward`: the ninth late answer of a round ends slow start.
#[test]
fn hystart_sees_the_delay_rise() {
    play(
        &linux(),
        200,
        32_896,
        "
        write 30000
        > 1:10001
        +200 < 10001
        > 10001:30001
        cwnd 20
        +240 < 12001
        cwnd 22
        +1 < 14001
        cwnd 24
        +1 < 16001
        +1 < 18001
        +1 < 20001
        cwnd 30
        +1 < 22001
        +1 < 24001
        +1 < 26001
        cwnd 36
        ssthresh 2147483647
        +1 < 28001
        ssthresh 36
        cwnd 36
        +1 < 30001
        cwnd 36
        ",
    );
}

/// `cubic/cubic-hystart-delay-min-rtt-jumps-downward`: one sample as fast as ever in the round, and
/// slow start goes on.
#[test]
fn hystart_takes_the_smallest_delay_of_a_round() {
    play(
        &linux(),
        200,
        32_896,
        "
        write 28000
        > 1:10001
        +200 < 10001
        > 10001:28001
        cwnd 20
        +180 < 10001 win 32897
        write 2000
        > 28001:30001
        +20 < 12001
        +1 < 14001
        +1 < 16001
        +1 < 18001
        +1 < 20001
        +1 < 22001
        +1 < 24001
        +1 < 26001
        +1 < 28001
        cwnd 38
        +1 < 30001
        cwnd 40
        ssthresh 2147483647
        ",
    );
}

/// `cwnd_moderation/cwnd-moderation-disorder-no-moderation`.
#[test]
fn disorder_keeps_the_window() {
    play(
        &linux(),
        100,
        40_960,
        "write 4000\n > 1:4001\n +100 < 1 sack 1001:2001\n state Disorder\n cwnd 10",
    );
}

/// `cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700`: a mark reduces by
/// proportional rate reduction too. The file states a window of 4; newer kernels allow one segment
/// more when an acknowledgement advances and nothing is newly lost.
#[test]
fn a_mark_reduces_in_proportion() {
    play(
        &TcpConfig { ecn: true, ..linux() },
        100,
        40_960,
        "write 4000\n > 1:4001\n +100 < 1001 ece\n state Cwr\n cwnd 5\n ssthresh 7",
    );
}
