//! Nothing is lost in a lossless class whose headroom is computed, over random trees, rates and
//! work.

use super::*;
use proptest::prelude::*;

const HOSTS: usize = 6;
const SWITCHES: usize = 3;
/// The fastest line, for which the headroom is computed; slower ones need less.
const FASTEST_BPS: u64 = 10 * GBPS;

/// A tree of switches with hosts anywhere; every frame in the lossless priority.
fn trees() -> impl Strategy<Value = RawPlan> {
    let hosts = proptest::collection::vec(
        (0..SWITCHES, prop_oneof![Just(1), Just(2), Just(10_u64)]),
        3..=HOSTS,
    );
    let work = proptest::collection::vec(((0..HOSTS, 1..HOSTS), any::<bool>(), 1_u64..10), 1..8);
    let group = (2_000_u64..60_000, 0_u64..40_000);
    (hosts, proptest::collection::vec(0..SWITCHES, SWITCHES), work, group, 0_u64..1_000).prop_map(
        |(hosts, parents, work, (xoff_bytes, xon_offset_bytes), seed)| {
            let mut policy = lossless_policy(computed_headroom(1500));
            policy.groups[0].limit = RawLimit::Bytes(xoff_bytes);
            policy.groups[0].lossless.as_mut().expect("it is lossless").xon_offset_bytes =
                xon_offset_bytes;
            let mut plan = lossless_star(hosts.len(), policy.clone());
            plan.seed = seed;
            plan.switches = (0..SWITCHES)
                .map(|i| switch(&format!("s{i}"), BUFFER_BYTES, policy.clone()))
                .collect();
            for (link, (at, gbps)) in plan.links.iter_mut().zip(&hosts) {
                (link.b, link.rate_bps) = (format!("s{at}"), gbps * GBPS);
            }
            let joins = (1..SWITCHES).map(|i| {
                link(&format!("s{}", parents[i] % i), &format!("s{i}"), FASTEST_BPS, DELAY_PS)
            });
            plan.links.extend(joins);
            plan.observe.ports.clear();
            plan.workloads = work
                .iter()
                .enumerate()
                .map(|(i, work)| workload_of(i, *work, hosts.len()))
                .collect();
            plan.stop_at_ps = 20 * MS;
            plan
        },
    )
}

/// A stream, or datagrams of up to 10 Gbit/s.
fn workload_of(
    number: usize,
    ((from, ahead), is_stream, amount): ((usize, usize), bool, u64),
    hosts: usize,
) -> RawWorkload {
    let from = from % hosts;
    let to = (from + 1 + ahead % (hosts - 1)) % hosts;
    let (source, destination) = (format!("h{from}"), format!("h{to}"));
    if is_stream {
        let mut work = stream(&format!("w{number}"), &source, &destination, amount as u32, 0);
        work.header.priority = SAN;
        return RawWorkload::from(work);
    }
    let mut work = constant(&source, &destination, SAN, amount * GBPS);
    work.header.name = format!("w{number}");
    work
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_lossless_class_with_computed_headroom_loses_nothing(plan in trees()) {
        let outcome = simulate(plan);
        let in_switches = total(&outcome.summary()["ports"], |port| {
            total(&port["queues"], |queue| {
                queue["drops"]
                    .as_object()
                    .expect("a map")
                    .values()
                    .map(|drop| count(drop, "frames"))
                    .sum()
            })
        });
        prop_assert_eq!(
            in_switches + drops(&outcome, "headroom-full") + drops(&outcome, "ingress-full"),
            0
        );
        prop_assert_eq!(
            &outcome.summary()["deadlock"],
            &serde_json::json!([]),
            "a tree has no circles"
        );
    }
}
