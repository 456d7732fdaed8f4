//! Rare turns of recovery, as scripts.

use tailrace_transport::tcp::TcpConfig;

use crate::script::{linux, play};

/// Seven are in flight and the threshold is seven: the first retransmission goes all the same
/// (Linux `tcp_cwnd_reduction`).
#[test]
fn the_first_retransmission_is_never_held_back() {
    play(
        &linux(),
        100,
        40_960,
        "
        write 10000
        > 1:10001
        +100 < 1 sack 1001:2001
        +0 < 1 sack 1001:3001
        state Disorder
        +27 > 1:1001
        state Recovery
        ssthresh 7
        cwnd 8
        ",
    );
}

/// The hole was only late: its retransmission is reported as a duplicate after recovery, and the
/// reduction is taken back.
#[test]
fn a_needless_recovery_is_taken_back_when_the_duplicate_is_reported() {
    play(
        &linux(),
        100,
        40_960,
        "
        write 10000
        > 1:10001
        +100 < 1 sack 1001:2001
        +0 < 1 sack 1001:3001
        +0 < 1 sack 1001:4001
        > 1:1001
        +1 < 10001
        state Open
        cwnd 8
        +99 < 10001 dsack 1:1001
        state Open
        cwnd 10
        ",
    );
}

/// Without SACK, what a timeout's retransmission and originals did together is no evidence that the
/// timeout was spurious.
#[test]
fn without_sack_progress_past_a_retransmission_is_no_evidence() {
    play(
        &TcpConfig { sack: false, tso_bytes: 0, ..linux() },
        100,
        40_960,
        "
        write 10000
        > 1:10001
        +300 > 1:1001
        state Loss
        cwnd 1
        +100 < 5001
        state Loss
        > 5001:7001
        ",
    );
}

/// Segments sent just before the timer expired are not overdue: they still count as in flight.
#[test]
fn a_timeout_leaves_recent_segments_alone() {
    play(
        &TcpConfig { tail_loss_probe: false, ..linux() },
        100,
        40_960,
        "
        write 1000
        > 1:1001
        +100 < 1001
        write 1000
        > 1001:2001
        +299 < 1001 win 40961
        write 1000
        > 2001:3001
        +1 > 1001:2001
        state Loss
        cwnd 2
        +100 < 3001
        ",
    );
}

/// Linux `tcp_cwnd_reduction`: below the threshold a segment more leaves than was delivered when an
/// acknowledgement advances, but not when it shows another loss. Six were delivered in all, four of
/// them now, and two sent: four leave, not five.
#[test]
fn proportional_reduction_does_not_grow_on_another_loss() {
    play(
        &linux(),
        10,
        40_960,
        "
        write 20000
        > 1:10001
        +10 < 1 sack 1001:2001
        > 10001:11001
        +2 < 1 sack 1001:3001
        > 11001:12001
        +2 < 1 sack 1001:4001
        > 1:1001
        state Recovery
        ssthresh 7
        lost 1
        +2 < 1 sack 1001:4001 7001:8001
        lost 4
        > 4001:5001
        +8 < 4001 sack 7001:8001 9001:12001
        lost 4
        cwnd 5
        > 5001:7001
        > 8001:9001
        > 12001:13001
        +1
        ",
    );
}

/// The same without another loss: seven were delivered and six sent, and two leave.
#[test]
fn proportional_reduction_grows_by_a_segment_when_nothing_else_is_lost() {
    play(
        &linux(),
        10,
        40_960,
        "
        write 20000
        > 1:10001
        +10 < 1 sack 1001:2001
        > 10001:11001
        +2 < 1 sack 1001:3001
        > 11001:12001
        +2 < 1 sack 1001:4001
        > 1:1001
        +2 < 1 sack 1001:4001 7001:12001
        cwnd 6
        > 4001:7001
        > 12001:14001
        +8 < 4001 sack 7001:12001
        lost 3
        cwnd 7
        > 14001:16001
        +1
        ",
    );
}
