//! Invariants of every plan.

use crate::common::*;
use crate::random_plan::plans;
use proptest::prelude::*;
use serde_json::{Value, json};
use tailrace_plan::*;
use tailrace_sim::{Control, Outcome, explain, run};

/// Random plans per property: all of this file runs in about ten seconds.
const CASES: u32 = 96;
/// Late enough for everything finite: retransmission timers double up to many seconds where losses
/// are heavy.
const LATE: u64 = 4_000 * S;

pub fn digest(outcome: &Outcome) -> String {
    outcome.summary()["digest"].as_str().expect("digests are on").to_owned()
}

fn list<'a>(outcome: &'a Outcome, key: &str) -> impl Iterator<Item = &'a Value> {
    outcome.summary()[key].as_array().expect("a list").iter()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every frame is delivered, dropped with a cause or still somewhere, and no buffer ever holds
    /// more than its size.
    #[test]
    fn every_frame_is_somewhere_and_no_buffer_overflows(plan in plans()) {
        let outcome = simulate(plan);
        let frames = &outcome.summary()["conservation"];
        let count = |key: &str| frames[key].as_u64().expect("a count");
        prop_assert_eq!(
            count("sent"),
            count("delivered") + count("dropped") + count("in_network"),
            "{}",
            frames
        );
        let by_cause: u64 = list(&outcome, "ports")
            .flat_map(|port| port["queues"].as_array().expect("a list"))
            .flat_map(|queue| queue["drops"].as_object().expect("a map").values())
            .map(|drops| drops["frames"].as_u64().expect("a count"))
            .sum();
        let at_hosts: u64 = list(&outcome, "hosts")
            .map(|host| {
                host["nic_queue_drops"].as_u64().unwrap() + host["rx_ring_drops"].as_u64().unwrap()
            })
            .sum();
        let early: u64 = list(&outcome, "switches")
            .flat_map(|switch| switch["early_drops"].as_object().expect("a map").values())
            .map(|drops| drops["frames"].as_u64().expect("a count"))
            .sum();
        prop_assert_eq!(count("dropped"), by_cause + early + at_hosts, "every drop has a cause");
        for switch in list(&outcome, "switches") {
            prop_assert!(
                switch["buffer_max_bytes"].as_u64() <= switch["buffer_bytes"].as_u64(),
                "{}",
                switch
            );
        }
    }

    /// Transport and programs come to an end on every network that lets any frame pass, with exact
    /// counts.
    #[test]
    fn finite_work_finishes_with_exact_counts(mut plan in plans()) {
        plan.stop_at_ps = LATE;
        // Full segments never pass a port that is too small for them.
        plan.switches
            .iter_mut()
            .for_each(|switch| (switch.mtu_bytes, switch.port_mtus) = (None, vec![]));
        let workloads = plan.workloads.clone();
        let outcome = simulate(plan);
        if outcome.summary()["deadlock"] != json!([]) {
            return Ok(()); // a circle of pauses never opens, and is named
        }
        prop_assert_eq!(&outcome.summary()["finished"], &Value::Bool(true), "{}", outcome.json());
        for (raw, done) in workloads.iter().zip(list(&outcome, "workloads")) {
            let number = |key: &str| done[key].as_u64().expect("a count");
            match &raw.body {
                RawBody::Oltp(oltp) => {
                    prop_assert_eq!(
                        number("transactions"),
                        u64::from(oltp.users) * oltp.transactions
                    );
                    prop_assert_eq!(
                        number("goodput_bytes"),
                        number("transactions") * oltp.round_trips[0].response_bytes
                    );
                }
                RawBody::Stream(stream) => {
                    prop_assert_eq!(
                        number("goodput_bytes"),
                        u64::from(stream.connections) * stream.bytes
                    );
                }
                RawBody::Flows(flows) => prop_assert_eq!(number("transactions"), flows.flows),
                RawBody::Datagrams(datagrams) => {
                    prop_assert!(number("transactions") <= datagrams.count)
                }
                RawBody::Requests(_)
                | RawBody::Blocks(_)
                | RawBody::Storage(_)
                | RawBody::Frames(_)
                | RawBody::Mpi(_)
                | RawBody::Replay(_) => unreachable!("random plans have none"),
            }
        }
    }

    /// The same plan gives the same digest, alone or beside another trial on another thread.
    #[test]
    fn the_digest_is_the_same_on_one_thread_and_on_two(plan in plans()) {
        let alone = digest(&simulate(plan.clone()));
        let (one, two) = std::thread::scope(|scope| {
            let run = || digest(&simulate(plan.clone()));
            let (one, two) = (scope.spawn(run), scope.spawn(run));
            (one.join().expect("it ran"), two.join().expect("it ran"))
        });
        prop_assert_eq!(&alone, &one);
        prop_assert_eq!(&alone, &two);
    }

    /// Looking at a run does not change it.
    #[test]
    fn a_watched_run_is_the_same_run(plan in plans(), period_us in 1_u64..5_000) {
        let watched = simulate_watched(plan.clone(), period_us * US, |_, _| {});
        prop_assert_eq!(digest(&simulate(plan)), digest(&watched));
    }

    /// Frames take the slow path onto every wire of a run that is explained: what the network does
    /// and counts is as in the run in which most take the fast path.
    #[test]
    fn on_the_slow_path_a_run_is_the_same_run(plan in plans()) {
        let plan = Plan::from_raw(plan).expect("the plan is sound");
        let fast = run(&plan, &Control::default());
        let slow = explain(&plan, &Control::default()).outcome;
        for key in ["digest", "packet_hops", "conservation", "ports", "switches"] {
            prop_assert_eq!(&fast.summary()[key], &slow.summary()[key]);
        }
    }

    /// Nothing is faster than light and the line: no transaction takes less than its bytes need on
    /// the slowest wire of its hosts, the propagation of its shortest possible path, and the
    /// server's time.
    #[test]
    fn no_transaction_is_faster_than_its_bytes(plan in plans()) {
        let workloads = plan.workloads.clone();
        let rate = |host: &str, plan: &RawPlan| {
            plan.links.iter().find(|link| link.a == host).expect("it has a link").rate_bps
        };
        let slowest: Vec<u64> = workloads
            .iter()
            .map(|work| match &work.body {
                RawBody::Oltp(oltp) => rate(&oltp.client, &plan).min(rate(&oltp.server, &plan)),
                RawBody::Stream(stream) => {
                    rate(&stream.source, &plan).min(rate(&stream.destination, &plan))
                }
                RawBody::Flows(_) => 8 * GBPS,
                RawBody::Datagrams(datagrams) => {
                    rate(&datagrams.source, &plan).min(rate(&datagrams.destination, &plan))
                }
                RawBody::Requests(_)
                | RawBody::Blocks(_)
                | RawBody::Storage(_)
                | RawBody::Frames(_)
                | RawBody::Mpi(_)
                | RawBody::Replay(_) => unreachable!("random plans have none"),
            })
            .collect();
        let outcome = simulate(plan);
        let (owner, latency) = (
            column(&outcome, "transactions", "workload"),
            column(&outcome, "transactions", "latency_ps"),
        );
        for (owner, latency) in owner.into_iter().zip(latency) {
            let owner = owner as usize;
            let (payload, server, crossings) = match &workloads[owner].body {
                RawBody::Oltp(oltp) => (
                    oltp.round_trips[0].request_bytes + oltp.round_trips[0].response_bytes,
                    100 * US,
                    2,
                ),
                RawBody::Stream(_) | RawBody::Flows(_) => (1, 0, 3),
                RawBody::Datagrams(_) => (1, 0, 1),
                RawBody::Requests(_)
                | RawBody::Blocks(_)
                | RawBody::Storage(_)
                | RawBody::Frames(_)
                | RawBody::Mpi(_)
                | RawBody::Replay(_) => unreachable!("random plans have none"),
            };
            // Clocks may be a thousandth fast; two wires of 1 us lie on every path.
            let bytes = payload * 8_000 / 1_001 * 1_000 / (slowest[owner] / GBPS) / 1_000 * 1_000;
            let least = bytes + server + crossings * 2 * US;
            prop_assert!(
                latency >= least,
                "{latency} ps is less than {least}: {:?}",
                workloads[owner]
            );
        }
    }
}

/// A host and its work that share no wire with the others leave their random draws alone: what the
/// others do is the same to the picosecond, because every random stream has an address of its own.
#[test]
fn unrelated_hosts_and_work_leave_the_random_streams_of_others_alone() {
    let mut plan = star(4, 1500, 10 * GBPS, US, switch("sw", 300_000, fifo(300_000)));
    for i in 1..4 {
        plan.workloads.push(RawWorkload::from(oltp(
            &format!("w{i}"),
            "h0",
            &format!("h{i}"),
            5,
            40,
            60_000,
        )));
    }
    let exponential = |mean| RawDistribution::Exponential { mean };
    let mut arriving = datagrams("arriving", "h1", "h2", 100, exponential(100 * US));
    (arriving.sizes, arriving.count) = (exponential(500), 100);
    plan.workloads.push(RawWorkload::from(arriving));
    let hosts: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
    plan.workloads.push(RawWorkload::from(flows_between(
        "flows",
        [hosts.clone(), hosts],
        exponential(20_000),
        exponential(100 * US),
        100,
    )));
    let mut larger = plan.clone();
    larger.hosts.extend([host("x0", 1500), host("x1", 1500)]);
    larger.switches.push(switch("other", 300_000, fifo(300_000)));
    larger.links.extend([link("x0", "other", GBPS, US), link("x1", "other", GBPS, US)]);
    larger.workloads.insert(0, RawWorkload::from(oltp("new", "x0", "x1", 5, 40, 60_000)));
    let (alone, beside) = (simulate(plan), simulate(larger));
    for name in ["w1", "w2", "w3", "arriving", "flows"] {
        assert_eq!(workload(&alone, name), workload(&beside, name));
    }
}
