//! The counters of interfaces: what one end of a link sends, the other one receives.

use crate::common::*;
use crate::random_plan::plans;
use proptest::prelude::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::{Column, Outcome};

/// Random plans per property.
const CASES: u32 = 96;

fn rows(outcome: &Outcome) -> impl Iterator<Item = &Value> {
    outcome.summary()["netstat"].as_array().expect("a list").iter()
}

fn row<'a>(outcome: &'a Outcome, node: &str, towards: Option<&str>) -> &'a Value {
    let is_it = |row: &&Value| row["node"] == node && row["towards"].as_str() == towards;
    rows(outcome).find(is_it).expect("the interface has a row")
}

fn count(row: &Value, key: &str) -> u64 {
    row[key].as_u64().expect("a count")
}

fn dropped(value: &Value) -> u64 {
    value
        .as_object()
        .expect("a map")
        .values()
        .map(|drops| drops["frames"].as_u64().expect("a count"))
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    /// The frames that a switch has received have been sent on or dropped, or wait in a queue; the
    /// frames that a host has sent and received are those that its neighbours count.
    #[test]
    fn what_a_switch_receives_it_sends_or_drops_or_holds(plan in plans()) {
        let outcome = simulate(plan);
        let summary = outcome.summary();
        // Everything is written in the order of names, rows that are no values too.
        prop_assert_eq!(outcome.json().replace(",\n  ", ","), summary.to_string());
        let list = |key: &str| summary[key].as_array().expect("a list").iter();
        // Notifications of congestion are the only frames that switches make.
        let notifications = |switch: &Value| -> u64 {
            let ports = list("ports").filter(|port| port["node"] == switch["name"]);
            ports
                .flat_map(|port| port["queues"].as_array().expect("a list"))
                .filter_map(|queue| queue["qcn"]["notifications"].as_u64())
                .sum()
        };
        let mut held = 0;
        for switch in list("switches") {
            let ports: Vec<&Value> = rows(&outcome)
                .filter(|row| row["node"] == switch["name"] && !row["towards"].is_null())
                .collect();
            let sum = |key: &str| -> u64 { ports.iter().map(|row| count(row, key)).sum() };
            let too_long: u64 = ports.iter().filter_map(|row| row["rx_errors"].as_u64()).sum();
            let received = sum("rx_frames") + too_long + notifications(switch);
            let left = sum("tx_frames") + sum("tx_dropped") + dropped(&switch["early_drops"]);
            prop_assert!(
                received >= left,
                "{} received less than it sent: {:?}",
                switch["name"],
                ports
            );
            held += received - left;
        }
        let sent: u64 = list("hosts")
            .map(|host| count(host, "tx_frames") + count(host, "nic_queue_drops"))
            .sum();
        let frames = &summary["conservation"];
        let made: u64 = list("switches").map(notifications).sum();
        // Frames that an interface that obeys pauses still holds are sent by the host's transport
        // and not by the interface.
        let waiting = count(frames, "sent") as i64 - (sent + made) as i64;
        let can_wait = list("hosts").any(|host| !host["interface"].is_null());
        prop_assert!(
            waiting == 0 || can_wait && waiting > 0,
            "{} frames were made by no host",
            waiting
        );
        held += waiting as u64;
        prop_assert!(
            held <= count(frames, "in_network"),
            "{} frames are in queues: {}",
            held,
            frames
        );
        for host in list("hosts") {
            let own = row(&outcome, host["name"].as_str().expect("a name"), None);
            for (key, of) in [
                ("rx_frames", "rx_frames"),
                ("rx_ring_drops", "rx_overruns"),
                ("nic_queue_drops", "tx_dropped"),
            ] {
                prop_assert_eq!(&host[key], &own[of]);
            }
            prop_assert!(
                own["rx_errors"].is_null(),
                "nothing damages frames: that is not counted, and not zero"
            );
        }
    }
}

/// A hundred frames are on the long link at any time: those of the warm-up that arrive after it are
/// received after it.
#[test]
fn frames_that_are_on_a_wire_when_counting_begins_are_received_after_it() {
    let mut plan = star(2, 1_500, GBPS, 10 * MS, switch("sw", 4_000_000, fifo(1_000_000)));
    plan.stop_at_ps = 200 * MS;
    plan.observe.warm_up_ps = 100 * MS;
    plan.workloads.push(RawWorkload::from(datagrams(
        "sent",
        "h0",
        "h1",
        1_000,
        RawDistribution::Constant(100 * US),
    )));
    let outcome = simulate(plan);
    let sent = count(row(&outcome, "h0", None), "tx_frames");
    let received = count(row(&outcome, "sw", Some("h0")), "rx_frames");
    assert!((999..=1_001).contains(&sent), "{sent} in a tenth of a second");
    assert!(sent.abs_diff(received) <= 1, "sent {sent}, received {received}");
    assert!(received.abs_diff(count(row(&outcome, "h1", None), "rx_frames")) <= 1);
}

/// A switch of another one: both ends of a trunk tell the same.
#[test]
fn both_ends_of_a_trunk_count_the_same_frames() {
    let mut plan = star(2, 1_500, GBPS, US, switch("sw", 4_000_000, fifo(1_000_000)));
    plan.switches.push(switch("far", 4_000_000, fifo(1_000_000)));
    plan.links[1].b = "far".into();
    plan.links.push(link("sw", "far", GBPS, US));
    plan.workloads.push(RawWorkload::from(stream("copy", "h0", "h1", 1, 1_000_000)));
    let outcome = simulate(plan);
    let (near, far) = (row(&outcome, "sw", Some("far")), row(&outcome, "far", Some("sw")));
    assert!(count(near, "tx_frames") >= 685, "1460 bytes to a segment");
    assert_eq!(near["tx_frames"], far["rx_frames"]);
    assert_eq!(near["rx_frames"], far["tx_frames"]);
}

/// Twice what a trunk carries, in 10 ms from an empty queue on, and in the last 5 of them from a
/// full one on: half a megabyte waits before it at the end. It carries what its rate allows and no
/// more, and its other end has received as much but for what is on the line.
#[test]
fn what_waits_before_a_full_trunk_is_neither_sent_nor_received() {
    for warm_up_ms in [0, 5] {
        let mut plan = star(3, 1_500, GBPS, US, switch("sw", 4_000_000, fifo(500_000)));
        plan.switches.push(switch("far", 4_000_000, fifo(1_000_000)));
        plan.links[2].b = "far".into();
        plan.links.push(link("sw", "far", GBPS, US));
        for (name, source) in [("one", "h0"), ("two", "h1")] {
            plan.workloads.push(RawWorkload::from(datagrams(
                name,
                source,
                "h2",
                1_000,
                RawDistribution::Constant(9 * US),
            )));
        }
        (plan.observe.warm_up_ps, plan.stop_at_ps) = (warm_up_ms * MS, 10 * MS);
        let outcome = simulate(plan);
        let trunk = port(&outcome, "sw", "far");
        assert!(count(&trunk["queues"][0], "depth_bytes") > 400_000, "the queue is full");
        let (frame_bytes, counted_bits) = (
            count(trunk, "tx_bytes") / count(trunk, "tx_frames"),
            (10 - warm_up_ms) * GBPS / 1_000,
        );
        // checksum, preamble and gap: IEEE 802.3
        let whole = counted_bits / (8 * (frame_bytes + 24));
        // The first frame comes after its gap of 9 us and its time on the first link.
        assert!(
            whole.abs_diff(count(trunk, "tx_frames")) <= 3,
            "{whole} frames of {frame_bytes} bytes, and {trunk}"
        );
        let (near, far) = (row(&outcome, "sw", Some("far")), row(&outcome, "far", Some("sw")));
        assert!(count(near, "tx_frames").abs_diff(count(far, "rx_frames")) <= 1, "{near} {far}");
    }
}

/// Datagrams at a constant rate: after each tenth of a second a hundred more were sent, and reading
/// changes nothing.
#[test]
fn readings_over_time_count_on_and_change_nothing() {
    let run = |interfaces_ps: u64, windows_ps: u64| {
        let mut plan = star(2, 1_500, GBPS, US, switch("sw", 4_000_000, fifo(1_000_000)));
        plan.stop_at_ps = 450 * MS;
        (plan.observe.interfaces_ps, plan.observe.windows_ps) = (interfaces_ps, windows_ps);
        plan.workloads.push(RawWorkload::from(datagrams(
            "sent",
            "h0",
            "h1",
            1_000,
            RawDistribution::Constant(MS),
        )));
        simulate(plan)
    };
    let (read, unread) = (run(100 * MS, 70 * MS), run(0, 0));
    assert_eq!(read.summary()["digest"], unread.summary()["digest"]);
    assert!(unread.tables().iter().all(|table| table.name != "interface_series"));
    let table = read
        .tables()
        .iter()
        .find(|table| table.name == "interface_series")
        .expect("it was asked for");
    let values = |name: &str| match &table
        .columns
        .iter()
        .find(|column| column.0 == name)
        .expect("a column")
        .1
    {
        Column::U64(values) => values.clone(),
        Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
        Column::F64(_) => unreachable!("counters are whole"),
    };
    // Two hosts and two ports at each time: four whole intervals, and the end.
    assert_eq!(values("interface"), [0, 1, 2, 3].repeat(5));
    let times: Vec<u64> = values("at_ps").into_iter().step_by(4).map(|at| at / MS).collect();
    assert_eq!(times, [100, 200, 300, 400, 450]);
    for (at, sent) in times.iter().zip(values("tx_frames").into_iter().step_by(4)) {
        assert!(sent.abs_diff(*at) <= 1, "{sent} datagrams in {at} ms");
    }
}
