//! Five small scenarios whose digests are on record: any change to what happens, by a picosecond,
//! shows here.
//!
//! When a change is meant, run `TAILRACE_ACCEPT=1 cargo test -p tailrace-sim --test checks golden`,
//! look at what else moved (the summary beside each digest says in which direction), and say in the
//! commit why the behaviour changed.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// The digests at the last review.
const RECORD: &str = include_str!("golden.txt");

/// A few OLTP users beside a bulk stream at a tail-drop port.
fn fifo_mix() -> RawPlan {
    let mut plan = star(4, 9000, 10 * GBPS, 5 * US, switch("sw", 2_000_000, fifo(500_000)));
    plan.workloads = vec![
        RawWorkload::from(oltp("oltp", "h0", "h1", 8, 20, 64_000)),
        RawWorkload::from(stream("bulk", "h2", "h0", 4, 0)),
    ];
    plan.stop_at_ps = 200 * MS;
    plan
}

/// The same with prioritisation of first packets and a second, weighted class.
fn dpp_mix() -> RawPlan {
    let mut plan = fifo_mix();
    plan.switches[0].policy = RawPolicy {
        dpp: Some(RawDpp {
            max_packets: 20,
            age_ps: 5 * MS,
            express_queue: 0,
            reset: RawDppReset::OrderSafe,
            table_entries: 1_024,
            classes: u8::MAX,
            when_full: RawTableFull::EvictOldest,
        }),
        ..prioritised([200_000, 500_000, 500_000])
    };
    let mut other = stream("other", "h3", "h0", 2, 0);
    other.header.priority = 1;
    plan.workloads.push(RawWorkload::from(other));
    plan
}

/// DCTCP flows of random sizes over two cut-through switches with dynamic thresholds and step
/// marking.
fn dctcp_flows() -> RawPlan {
    let mut policy = fifo(0);
    (policy.queues[0].limit, policy.queues[0].aqm) =
        (RawLimit::AlphaMilli(2_000), RawAqm::Step { threshold_bytes: 60_000 });
    let mut plan = star(6, 1500, 10 * GBPS, 2 * US, switch("a", 1_000_000, policy.clone()));
    plan.switches.push(switch("b", 1_000_000, policy));
    for (i, link) in plan.links.iter_mut().enumerate() {
        link.b = if i % 2 == 0 { "a".into() } else { "b".into() };
    }
    plan.links.push(link("a", "b", 10 * GBPS, 2 * US));
    plan.switches.iter_mut().for_each(|switch| switch.switching = RawSwitching::CutThrough);
    for host in &mut plan.hosts {
        (host.tcp.congestion_control, host.tcp.ecn) = (RawCongestionControl::Dctcp, true);
    }
    let names: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
    plan.workloads = vec![RawWorkload::from(flows_between(
        "flows",
        [names.clone(), names],
        RawDistribution::LogNormal { median: 20_000, sigma_milli: 2_000 },
        RawDistribution::Exponential { mean: 50 * US },
        1_000,
    ))];
    plan.observe.ports = vec![("a".into(), "b".into())];
    plan
}

/// Small answers behind two streams of their server with grown windows: what waits there is bounded
/// by the pace of each connection alone, as in Linux and in what scenarios lower to. The plans
/// above keep the line as a second bound.
fn sender_queue() -> RawPlan {
    let mut plan = star(3, 9000, GBPS, 5 * US, switch("sw", 2_000_000, fifo(500_000)));
    for host in &mut plan.hosts {
        (host.tcp.small_queue_by_pace, host.tcp.slow_start_exit) = (true, RawSlowStartExit::None);
    }
    plan.workloads = vec![
        RawWorkload::from(oltp("oltp", "h0", "h1", 4, 20, 64_000)),
        RawWorkload::from(stream("bulk", "h1", "h2", 2, 0)),
    ];
    plan.stop_at_ps = 200 * MS;
    plan
}

/// Blocks in fragments between three nodes, beside datagrams of two fragments, over a line that
/// loses some of both.
fn fragments() -> RawPlan {
    let mut plan = star(3, 1500, GBPS, 5 * US, switch("sw", 2_000_000, fifo(500_000)));
    plan.links[0].loss_ppb = 20_000_000;
    let mut rac = blocks("rac", &["h0", "h1", "h2"], 6);
    (rac.clients, rac.blocks_milli, rac.messages_milli, rac.timeout_ps) =
        (rac.nodes.clone(), 1_560, 500, 20 * MS);
    rac.block_service = serving(RawDistribution::Exponential { mean: 50 * US }, 2);
    let gap = RawDistribution::Exponential { mean: MS };
    plan.workloads =
        vec![RawWorkload::from(rac), RawWorkload::from(datagrams("pairs", "h2", "h0", 2_000, gap))];
    plan.stop_at_ps = 200 * MS;
    plan
}

fn line(name: &str, outcome: &Outcome) -> String {
    let summary = outcome.summary();
    let frames = &summary["conservation"];
    let digest = summary["digest"].as_str().expect("digests are on");
    format!(
        "{name} {digest} sent {} dropped {} end {} us\n",
        frames["sent"],
        frames["dropped"],
        summary["end_ps"].as_u64().expect("a time") / US
    )
}

#[test]
fn the_digests_are_those_on_record() {
    let plans = [
        ("fifo-mix", fifo_mix()),
        ("dpp-mix", dpp_mix()),
        ("dctcp-flows", dctcp_flows()),
        ("sender-queue", sender_queue()),
        ("fragments", fragments()),
    ];
    let now: String = plans.into_iter().map(|(name, plan)| line(name, &simulate(plan))).collect();
    if std::env::var_os("TAILRACE_ACCEPT").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/checks/golden.txt");
        std::fs::write(path, &now).expect("the record can be written");
        return;
    }
    assert_eq!(now, RECORD, "what happens has changed: see the head of this file");
}
