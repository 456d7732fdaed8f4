//! MTUs of switch ports.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// Two hosts with an MTU of 9000; `h1` sends a datagram of this payload each millisecond. `port`
/// has an MTU of 1500.
fn through_a_small_port(payload: u64, port: &str) -> Outcome {
    let mut own = switch("sw", 2_000_000, fifo(1_000_000));
    (own.mtu_bytes, own.port_mtus) =
        (Some(9_000), vec![RawPortMtu { towards: port.into(), mtu_bytes: 1_500 }]);
    let mut plan = star(2, 9_000, GBPS, US, own);
    plan.workloads.push(RawWorkload::from(datagrams(
        "probes",
        "h1",
        "h0",
        payload,
        RawDistribution::Constant(MS),
    )));
    plan.stop_at_ps = 100 * MS;
    simulate(plan)
}

fn received(outcome: &Outcome) -> u64 {
    count(workload(outcome, "probes"), "transactions")
}

#[test]
fn a_port_set_back_to_1500_drops_longer_frames_and_no_host_is_notified() {
    for (small, way) in [("h0", "egress"), ("h1", "ingress")] {
        let (fits, swallowed) =
            (through_a_small_port(1_472, small), through_a_small_port(1_473, small));
        assert!(received(&fits) > 95, "{:?}", fits.summary());
        assert_eq!(count(port(&fits, "sw", small), &format!("mtu_drops.{way}")), 0);
        assert_eq!(received(&swallowed), 0);
        let drops = &port(&swallowed, "sw", small)["mtu_drops"];
        assert!(
            count(drops, way) > 95
                && count(drops, "ingress") + count(drops, "egress") == count(drops, way),
            "{drops}"
        );
        let early = &swallowed.summary()["switches"][0]["early_drops"];
        assert_eq!(count(early, "mtu.frames"), count(drops, way));
        let mut rows = swallowed.summary()["netstat"].as_array().expect("a list").iter();
        let row = rows
            .find(|row| row["node"] == "sw" && row["towards"] == small)
            .expect("the port has a row");
        let errors = [count(row, "rx_errors"), count(row, "tx_errors")];
        assert_eq!(errors, [count(drops, "ingress"), count(drops, "egress")]);
        assert_eq!(
            (count(row, "rx_frames"), count(row, "tx_frames")),
            (0, 0),
            "errors are neither received nor sent"
        );
    }
}
