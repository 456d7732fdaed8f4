//! Blocks and messages over sockets: the same programs as in the simulator.

use crate::net::{DELAY, Trial, run};
use crate::plans::*;
use tailrace_outcome::{BlockCounts, Workload};
use tailrace_plan::*;
use tailrace_units::Span;

/// Transactions of all nodes, each of two blocks and a message.
fn plan(
    nodes: &[&str],
    users: u32,
    transactions: u64,
    change: impl FnOnce(&mut RawBlocks),
) -> Plan {
    let mut raw = star(nodes.len(), 9_000, GBPS, US, switch("sw", 1 << 20, fifo(1 << 20)));
    let mut drawn = blocks("w", nodes, users);
    (drawn.clients, drawn.transactions) = (drawn.nodes.clone(), transactions);
    (drawn.blocks_milli, drawn.messages_milli) = (2_000, 1_000);
    change(&mut drawn);
    (raw.stop_at_ps, raw.workloads) = (10 * S, vec![RawWorkload::from(drawn)]);
    Plan::from_raw(raw).expect("the plan is sound")
}

fn own(trial: &Trial) -> &Workload {
    &trial.merged.summary.workloads[0]
}

fn counted(trial: &Trial) -> &BlockCounts {
    own(trial).block_counts.as_ref().expect("blocks are counted")
}

#[test]
fn every_block_comes_and_is_timed() {
    for (nodes, users) in [(&["h0", "h1"][..], 4), (&["h0", "h1", "h2"], 0)] {
        let trial = run(&plan(nodes, users, 30, |_| {}));
        let whole = 30 * u64::from(users.max(1));
        assert_eq!((trial.merged.summary.finished, own(&trial).transactions), (true, whole));
        let counts = counted(&trial);
        assert_eq!(
            (counts.received_blocks, counts.messages, counts.lost_blocks),
            (2 * whole, whole, 0)
        );
        let of_blocks = own(&trial).block_latency.clone().flatten().expect("blocks came");
        assert_eq!(of_blocks.count, 2 * whole);
        assert_eq!(own(&trial).goodput_bytes, whole * (2 * 8_192 + 200), "what nodes ask for");
        let (block, all) =
            (of_blocks.min_ps, own(&trial).latency.as_ref().expect("all came").min_ps);
        assert!(
            block.abs_diff(DELAY.times(2).ps()) < US && all.abs_diff(DELAY.times(6).ps()) < US,
            "{block} and {all} ps"
        );
    }
}

#[test]
fn a_block_that_takes_too_long_is_asked_for_again_and_its_transaction_fails() {
    let trial = run(&plan(&["h0", "h1"], 2, 5, |drawn| {
        (drawn.timeout_ps, drawn.retries) = (3 * MS, 1);
        drawn.block_service = serving(RawDistribution::Constant(Span::from_ms(10).ps()), 0);
    }));
    let counts = counted(&trial);
    assert_eq!((counts.received_blocks, counts.lost_blocks, counts.failed_blocks), (0, 20, 10));
    assert_eq!(own(&trial).request_counts.as_ref().map(|counts| counts.failed), Some(10));
}
