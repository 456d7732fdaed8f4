//! Blocks and messages over sockets: the same programs as in the simulator.

use crate::net::{DELAY, Trial, run};
use crate::plans::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_units::Span;

/// Transactions of all nodes, each of two blocks and a message.
fn plan(nodes: &[&str], users: u32, transactions: u64, change: impl FnOnce(&mut RawBlocks)) -> Plan {
    let mut raw = star(nodes.len(), 9_000, GBPS, US, switch("sw", 1 << 20, fifo(1 << 20)));
    let mut drawn = blocks("w", nodes, users);
    (drawn.clients, drawn.transactions) = (drawn.nodes.clone(), transactions);
    (drawn.blocks_milli, drawn.messages_milli) = (2_000, 1_000);
    change(&mut drawn);
    (raw.stop_at_ps, raw.workloads) = (10 * S, vec![RawWorkload::from(drawn)]);
    Plan::from_raw(raw).expect("the plan is sound")
}

fn own(trial: &Trial) -> &Value {
    &trial.merged.summary["workloads"][0]
}

fn counted(trial: &Trial, key: &str) -> u64 {
    own(trial)["block_counts"][key].as_u64().expect("a count")
}

#[test]
fn every_block_comes_and_is_timed() {
    for (nodes, users) in [(&["h0", "h1"][..], 4), (&["h0", "h1", "h2"], 0)] {
        let trial = run(&plan(nodes, users, 30, |_| {}));
        let whole = 30 * u64::from(users.max(1));
        assert_eq!((trial.merged.summary["finished"].as_bool(), own(&trial)["transactions"].as_u64()), (Some(true), Some(whole)));
        assert_eq!(
            (counted(&trial, "received_blocks"), counted(&trial, "messages"), counted(&trial, "lost_blocks")),
            (2 * whole, whole, 0)
        );
        assert_eq!(own(&trial)["block_latency"]["count"], 2 * whole);
        assert_eq!(own(&trial)["goodput_bytes"], whole * (2 * 8_192 + 200), "what nodes ask for");
        let [block, all] = ["block_latency", "latency"].map(|key| own(&trial)[key]["min_ps"].as_u64().expect("a time"));
        assert!(block.abs_diff(DELAY.times(2).ps()) < US && all.abs_diff(DELAY.times(6).ps()) < US, "{block} and {all} ps");
    }
}

#[test]
fn a_block_that_takes_too_long_is_asked_for_again_and_its_transaction_fails() {
    let trial = run(&plan(&["h0", "h1"], 2, 5, |drawn| {
        (drawn.timeout_ps, drawn.retries) = (3 * MS, 1);
        drawn.block_service = serving(RawDistribution::Constant(Span::from_ms(10).ps()), 0);
    }));
    assert_eq!(
        (counted(&trial, "received_blocks"), counted(&trial, "lost_blocks"), counted(&trial, "failed_blocks")),
        (0, 20, 10)
    );
    assert_eq!(own(&trial)["request_counts"]["failed"], 10);
}
