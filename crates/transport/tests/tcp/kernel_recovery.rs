//! Repairs in the Linux kernel's own tests (google/packetdrill, `gtests/net/tcp`, named beside
//! each), replayed.

use tailrace_transport::tcp::TcpConfig;

use crate::script::{linux, play};

/// `fast_recovery/prr-ss-10pkt-lost-1`: one of ten is lost, and recovery sends one segment per
/// delivered one.
#[test]
fn one_of_ten_lost() {
    play(
        &linux(),
        100,
        40_960,
        "
        write 10000
        > 1:10001
        +110 < 1 sack 1001:2001
        +10 < 1 sack 1001:3001
        +10 < 1 sack 1001:4001
        > 1:1001
        state Recovery
        cwnd 7
        ssthresh 7
        write 7000
        +10 < 1 sack 1001:5001
        > 10001:11001
        +10 < 1 sack 1001:6001
        > 11001:12001
        +10 < 1 sack 1001:7001
        > 12001:13001
        +10 < 1 sack 1001:8001
        > 13001:14001
        +10 < 1 sack 1001:9001
        > 14001:15001
        +10 < 1 sack 1001:10001
        > 15001:16001
        +20 < 10001
        > 16001:17001
        state Open
        cwnd 7
        ssthresh 7
        +30 < 12001
        +20 < 14001
        +20 < 16001
        +20 < 17001
        ",
    );
}

/// `fast_recovery/prr-ss-30pkt-lost1_4`: after recovery a window of the threshold is sent at once.
#[test]
fn the_first_four_of_ten_lost() {
    play(
        &linux(),
        10,
        40_960,
        "
        write 10000
        > 1:10001
        +10 < 1 sack 4001:5001
        +2 < 1 sack 4001:6001
        +0 < 1 sack 4001:7001
        > 1:1001
        +0 < 1 sack 4001:8001
        > 1001:2001
        +0 < 1 sack 4001:9001
        > 2001:3001
        +0 < 1 sack 4001:10001
        > 3001:4001
        +10 < 1001 sack 4001:10001
        +0 < 2001 sack 4001:10001
        +0 < 3001 sack 4001:10001
        +0 < 10001
        write 10000
        > 10001:17001
        ",
    );
}

/// `fast_recovery/prr-ss-30pkt-lost-1_4-11_16`: two holes; proportional reduction, then the
/// slow-start bound, then conservation.
#[test]
fn two_holes_of_twenty() {
    play(
        &linux(),
        10,
        40_960,
        "
        write 20000
        > 1:10001
        +10 < 1 sack 4001:5001
        > 10001:11001
        +2 < 1 sack 4001:6001
        > 11001:12001
        +2 < 1 sack 4001:7001
        > 1:1001
        +2 < 1 sack 4001:8001
        > 1001:2001
        +2 < 1 sack 4001:9001
        > 2001:3001
        +2 < 1 sack 4001:10001
        > 3001:4001
        +2 < 1 sack 4001:11001
        > 12001:13001
        +2 < 1 sack 4001:12001
        > 13001:14001
        +10 < 1001 sack 4001:12001
        > 14001:16001
        +2 < 1001 sack 2001:12001
        > 1001:2001
        > 16001:17001
        +2 < 1001 sack 2001:13001
        > 17001:18001
        +2 < 1001 sack 2001:14001
        > 18001:19001
        ",
    );
}

/// `fast_recovery/prr-ss-ack-below-snd_una-cubic`: blocks of an overtaken acknowledgement count.
#[test]
fn blocks_of_an_overtaken_acknowledgement() {
    play(
        &linux(),
        10,
        81_920,
        "
        write 10000
        > 1:10001
        +10 < 1 sack 1001:2001
        +0 < 1 sack 1001:3001
        +0 < 1 sack 1001:3001 8001:9001
        > 1:1001
        +12 < 4001 sack 8001:9001
        > 4001:7001
        write 10000
        +2 < 3001 sack 5001:7001
        > 7001:8001
        > 10001:11001
        ",
    );
}

/// `limited_transmit/limited-transmit-sack`: two held segments, then it was reordering.
#[test]
fn limited_transmit() {
    play(
        &linux(),
        100,
        40_960,
        "
        write 15000
        > 1:10001
        +110 < 1 sack 1001:2001
        > 10001:11001
        +10 < 1 sack 1001:3001
        > 11001:12001
        +10 < 3001
        > 12001:14001
        +20 < 5001
        > 14001:15001
        +20 < 7001
        +20 < 9001
        +20 < 11001
        +20 < 13001
        +20 < 15001
        ",
    );
}

/// `limited_transmit/limited-transmit-no-sack`: the same by duplicates alone.
#[test]
fn limited_transmit_without_sack() {
    play(
        &TcpConfig { sack: false, ..linux() },
        100,
        40_960,
        "
        write 15000
        > 1:10001
        +110 < 1
        > 10001:11001
        +10 < 1
        > 11001:12001
        +10 < 3001
        > 12001:14001
        +20 < 5001
        > 14001:15001
        +20 < 7001
        +20 < 9001
        +20 < 11001
        +20 < 13001
        +20 < 15001
        ",
    );
}

/// `fast_retransmit/fr-4pkt-sack` and `fr-4pkt`: the first of four is lost.
#[test]
fn the_first_of_four_lost() {
    let script = "write 4000\n > 1:4001\n +100 < 1 sack 1001:2001\n +0 < 1 sack 1001:3001\n +0 < 1 sack 1001:4001\n > 1:1001\n +100 < 4001";
    play(&linux(), 100, 32_896, script);
    let script = "write 4000\n > 1:4001\n +100 < 1\n +0 < 1\n +0 < 1\n > 1:1001\n +100 < 4001";
    play(&TcpConfig { sack: false, ..linux() }, 100, 32_896, script);
}

/// `sack/sack-shift-sacked-2-6-8-3-9-nofack`: islands grow and merge, and late originals are not
/// taken for lost.
#[test]
fn islands_that_grow() {
    play(
        &linux(),
        100,
        131_072,
        "
        write 10000
        > 1:10001
        +100 < 1 win 32896 sack 2001:3001
        +1 < 1 sack 2001:3001 6001:7001
        +1 < 1 sack 2001:3001 6001:7001 8001:9001
        > 1:1001
        state Recovery
        lost 6
        +7 < 1 sack 2001:4001 6001:7001 8001:9001
        > 1001:2001
        lost 5
        +10 < 1 sack 2001:4001 6001:7001 8001:10001
        lost 5
        ignore
        +83 < 1001 sack 2001:4001 6001:7001 8001:10001
        lost 4
        ignore
        +17 < 4001 sack 6001:7001 8001:10001
        lost 3
        ignore
        +10 < 7001 sack 8001:10001
        ignore
        +100 < 10001
        state Open
        lost 0
        ",
    );
}
