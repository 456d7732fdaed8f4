//! The record of a flow beside its duration: its size, and the least time for that size on an empty
//! path.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::Outcome;

fn flows(bytes: u64, number: u64) -> RawWorkload {
    RawWorkload::from(flows_between(
        "flows",
        [vec!["h1".into()], vec!["h0".into()]],
        RawDistribution::Constant(bytes),
        RawDistribution::Constant(100 * MS),
        number,
    ))
}

/// Three flows alone, one after the other, between hosts that delay nothing.
fn alone(bytes: u64, switching: RawSwitching) -> Outcome {
    let mut plan = star(2, 1500, 10 * GBPS, 5 * US, switch("sw", 8_000_000, fifo(4_000_000)));
    plan.switches[0].switching = switching;
    plan.switches[0].latency_ps = US;
    plan.clock_offset_ppb = 0;
    plan.hosts.iter_mut().for_each(bare);
    plan.workloads = vec![flows(bytes, 3)];
    simulate(plan)
}

/// 69 full segments and one of 88 bytes, with 90 bytes of headers and gap each: 85.04 us at the
/// first link, the last frame again at the second (0.1424 us), 5 us on each wire and 1 us in the
/// switch. Cut through, the last frame is sent only once.
#[test]
fn the_least_time_is_that_of_the_wire() {
    for (switching, ideal_ps) in
        [(RawSwitching::StoreAndForward, 96_182_400), (RawSwitching::CutThrough, 96_040_000)]
    {
        let outcome = alone(100_000, switching);
        assert_eq!(column(&outcome, "transactions", "size_bytes"), [100_000; 3]);
        assert_eq!(column(&outcome, "transactions", "ideal_ps"), [ideal_ps; 3]);
    }
}

/// A flow of one segment takes the handshake longer than the least time: two crossings, there and
/// back, of opening segments, and the acknowledgement that leaves before the data.
#[test]
fn a_flow_alone_takes_the_handshake_longer() {
    let outcome = alone(1_000, RawSwitching::StoreAndForward);
    let ideal = column(&outcome, "transactions", "ideal_ps");
    // 1090 bytes on each of two links, two wires, one switch.
    assert_eq!(ideal, [2 * 1_090 * 800 + 10_000_000 + 1_000_000; 3]);
    for (latency, ideal) in column(&outcome, "transactions", "latency_ps").into_iter().zip(ideal) {
        // SYN and SYN-ACK: 98 bytes on each link; the acknowledgement: 90 on the first.
        assert_eq!(latency - ideal, 2 * (2 * 98 * 800 + 11_000_000) + 90 * 800);
    }
}

#[test]
fn transactions_that_are_no_flows_have_no_size() {
    let mut plan = star(3, 1500, 10 * GBPS, 5 * US, switch("sw", 8_000_000, fifo(4_000_000)));
    plan.workloads =
        vec![RawWorkload::from(oltp("oltp", "h2", "h1", 2, 3, 8_000)), flows(10_000, 2)];
    let outcome = simulate(plan);
    assert_eq!(column(&outcome, "transactions", "workload"), [0, 0, 0, 0, 0, 0, 1, 1]);
    assert_eq!(column(&outcome, "transactions", "size_bytes"), [0, 0, 0, 0, 0, 0, 10_000, 10_000]);
}
