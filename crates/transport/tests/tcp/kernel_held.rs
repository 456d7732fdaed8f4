//! Reactions to segments that the peer holds out of order in the Linux kernel's own tests
//! (google/packetdrill, `gtests/net/tcp`, named beside each), replayed.

use tailrace_transport::tcp::TcpConfig;

use crate::script::{Opening, linux, play, play_after};

/// `fast_retransmit/fr-4pkt-fack-last-byte`: a report of one byte counts for nothing, the probe
/// repeats the last segment, and the timeout counts from the probe on.
#[test]
fn a_report_of_a_single_byte_leaves_it_to_probe_and_timeout() {
    play(
        &linux(),
        100,
        40_960,
        "
        write 4000
        > 1:4001
        +100 < 1 sack 4000:4001
        +100 > 3001:4001
        +300 > 1:1001
        +500 < 1001 sack 4000:4001
        > 1001:3001
        +100 < 3001 sack 4000:4001
        > 3001:4001
        +100 < 4001
        ",
    );
}

/// `fast_retransmit/fr-4pkt-fack-last-mss`: one held segment, and a quarter of the round trip for
/// the others to turn up.
#[test]
fn the_last_of_four_is_held_and_the_first_three_get_a_quarter_of_a_round_trip() {
    play(
        &linux(),
        100,
        40_960,
        "write 4000\n > 1:4001\n +100 < 1 sack 3001:4001\n +27 > 1:1001\n state Recovery\n lost 3",
    );
}

/// `sack/sack-shift-sacked-7-3-4-8-9-fack`: seven are taken for lost, and two of them turn up. The
/// file checks the fourth retransmission 2 ms after it is due, within packetdrill's tolerance,
/// and not at the fifth.
#[test]
fn seven_are_taken_for_lost_and_two_turn_up() {
    play(
        &linux(),
        100,
        131_072,
        "
        write 10000
        > 1:10001
        +100 < 1 win 32896 sack 7001:8001
        +27 > 1:1001
        state Recovery
        lost 7
        reordering 3
        +2 < 1 sack 3001:4001 7001:8001
        > 1001:2001
        lost 6
        reordering 5
        +2 < 1 sack 3001:5001 7001:8001
        > 2001:3001
        lost 5
        +2 < 1 sack 3001:5001 7001:9001
        > 5001:6001
        +2 < 1 sack 3001:5001 7001:10001
        ignore
        +100 < 10001
        state Open
        lost 0
        ",
    );
}

/// `sack/sack-shift-sacked-7-5-6-8-9-fack`: the holes before a block close from behind.
#[test]
fn seven_are_taken_for_lost_and_the_block_grows_both_ways() {
    play(
        &linux(),
        100,
        131_072,
        "
        write 10000
        > 1:10001
        +100 < 1 win 32896 sack 7001:8001
        +27 > 1:1001
        state Recovery
        lost 7
        reordering 3
        +0 < 1 sack 5001:6001 7001:8001
        > 1001:2001
        lost 6
        reordering 3
        +0 < 1 sack 5001:8001
        > 2001:3001
        lost 5
        +0 < 1 sack 5001:9001
        > 3001:4001
        +0 < 1 sack 5001:10001
        > 4001:5001
        +100 < 10001
        state Open
        lost 0
        ",
    );
}

/// `sack/sack-route-refresh-ip-tos`: two holes of two segments are filled at once.
#[test]
fn two_holes_of_two_are_filled_at_once() {
    play_after(
        &TcpConfig { mss: 1460, ..linux() },
        &Opening { ms: 10, window: 262_140, mss: 1460, is_active: true },
        "
        write 5840
        > 1:5841
        +10 < 5841
        write 5840
        > 5841:11681
        +10 < 11681
        write 14600
        > 11681:26281
        +10 < 13141 sack 16061:17521 20441:26281
        > 13141:16061
        > 17521:20441
        +10 < 26281
        ",
    );
}
