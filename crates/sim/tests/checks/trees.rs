//! Spanning trees and VLANs in a running network.

use crate::common::*;
use serde_json::Value;
use tailrace_plan::*;
use tailrace_sim::Outcome;

/// 8 bits at 10 Gbit/s.
const PS_PER_BYTE: u64 = 800;
/// IEEE 802.1Q-2018 table 13-4: 20 Tbit/s over 10 Gbit/s.
const COST: u32 = 2_000;
const BRIDGE_PRIORITY: u16 = 32_768;
const PORT_PRIORITY: u8 = 128;

/// A tree with the standard's defaults.
fn tree(plan: &RawPlan, instance: u16, vlans: Vec<u16>) -> RawTree {
    RawTree {
        instance,
        vlans,
        bridge_priority: vec![BRIDGE_PRIORITY; plan.switches.len()],
        path_cost: vec![COST; plan.links.len()],
        port_priority: vec![(PORT_PRIORITY, PORT_PRIORITY); plan.links.len()],
    }
}

/// Switches `s0..` in a ring, host `h0..` at each: the smallest looped drawing is the one with
/// three.
fn ring(switches: usize) -> RawPlan {
    let mut plan = star(switches, 1500, 10 * GBPS, US, switch("s0", 1_000_000, fifo(1_000_000)));
    plan.switches =
        (0..switches).map(|i| switch(&format!("s{i}"), 1_000_000, fifo(1_000_000))).collect();
    let between =
        |i: usize| link(&format!("s{i}"), &format!("s{}", (i + 1) % switches), 10 * GBPS, US);
    plan.links = (0..switches).map(between).collect();
    plan.links
        .extend((0..switches).map(|i| link(&format!("h{i}"), &format!("s{i}"), 10 * GBPS, US)));
    plan.hosts.iter_mut().for_each(prompt);
    plan.clock_offset_ppb = 0;
    plan.observe.ports.clear();
    plan.stop_at_ps = 20 * MS;
    plan
}

fn with_trees(mut plan: RawPlan, trees: Vec<RawTree>) -> RawPlan {
    plan.spanning_tree = Some(RawSpanningTree { trees, disjoint: false });
    plan
}

/// One datagram of `payload` bytes.
fn single(source: &str, destination: &str, vlan: u16, payload: u64) -> RawWorkload {
    let name = format!("{source}>{destination}:{vlan}");
    let mut sent = datagrams(&name, source, destination, payload, RawDistribution::Constant(US));
    (sent.count, sent.header.vlan) = (1, vlan);
    RawWorkload::from(sent)
}

fn in_vlan_10(mut work: Drawn<RawStream>) -> RawWorkload {
    work.header.vlan = 10;
    RawWorkload::from(work)
}

fn latencies(outcome: &Outcome) -> Vec<u64> {
    column(outcome, "transactions", "latency_ps")
}

/// Frames on a link between two switches, both ways together.
fn carried(outcome: &Outcome, a: &str, b: &str) -> u64 {
    count(port(outcome, a, b), "tx_frames") + count(port(outcome, b, a), "tx_frames")
}

/// Switch and neighbour of each blocked port of a tree.
fn blocked(tree: &Value) -> Vec<(&str, &str)> {
    let ports = tree["blocked"].as_array().expect("a list").iter();
    ports
        .map(|port| {
            (port["node"].as_str().expect("a name"), port["towards"].as_str().expect("a name"))
        })
        .collect()
}

#[test]
fn a_looped_drawing_delivers_over_its_tree_and_a_blocked_link_carries_nothing() {
    let mut plan = ring(4);
    for (from, to) in
        (0..4).flat_map(|from| (0..4).map(move |to| (from, to))).filter(|(from, to)| from != to)
    {
        plan.workloads.push(RawWorkload::from(stream(
            &format!("{from}>{to}"),
            &format!("h{from}"),
            &format!("h{to}"),
            2,
            100_000,
        )));
    }
    let root_tree = tree(&plan, 0, vec![]);
    let outcome = simulate(with_trees(plan.clone(), vec![root_tree]));
    // s0 is the root; s2 is as far over s1 as over s3, and takes the lower bridge.
    assert_eq!(blocked(&outcome.summary()["spanning_trees"][0]), [("s2", "s3")]);
    assert_eq!(carried(&outcome, "s2", "s3"), 0);
    for (a, b) in [("s0", "s1"), ("s1", "s2"), ("s3", "s0")] {
        assert!(carried(&outcome, a, b) > 0, "{a}-{b} is in the tree");
    }
    assert!(outcome.summary()["finished"].as_bool().expect("a truth"), "all streams are complete");
    let without = simulate(plan);
    assert!(carried(&without, "s2", "s3") > 0, "shortest paths use all links");
    assert_eq!(without.summary()["spanning_trees"], Value::Array(vec![]));
}

#[test]
fn a_frame_takes_the_tree_of_its_vlan() {
    let mut plan = ring(3);
    plan.workloads.extend([0, 10, 20].map(|vlan| single("h0", "h1", vlan, 100)));
    let mut trees =
        vec![tree(&plan, 0, vec![]), tree(&plan, 1, vec![10]), tree(&plan, 2, vec![20, 30])];
    // Rooted at s2, the link between s0 and s1 is the one that closes the loop.
    trees[1].bridge_priority[2] = 4096;
    let outcome = simulate(with_trees(plan, trees));
    let summary = &outcome.summary()["spanning_trees"];
    assert_eq!(
        [0, 1, 2].map(|tree| blocked(&summary[tree])),
        [[("s2", "s1")], [("s1", "s0")], [("s2", "s1")]]
    );
    assert_eq!(
        (
            carried(&outcome, "s0", "s1"),
            carried(&outcome, "s0", "s2"),
            carried(&outcome, "s1", "s2")
        ),
        (2, 1, 1)
    );
}

/// IEEE 802.1Q clause 9.4: four bytes more between switches, and none at the hosts, whose frames
/// are of one VLAN.
#[test]
fn a_frame_of_a_vlan_is_four_bytes_longer_between_switches() {
    let latency = |vlan| {
        let mut plan = ring(3);
        plan.workloads.push(single("h0", "h1", vlan, 1000));
        latencies(&simulate(plan))
    };
    let plain = 3 * (wire_bytes(1000) * PS_PER_BYTE + US);
    assert_eq!((latency(0), latency(10)), (vec![plain], vec![plain + 4 * PS_PER_BYTE]));
}

/// An MTU is of IP packets: a trunk has room for the tag beside a full one.
#[test]
fn a_trunk_carries_full_frames_with_their_tags() {
    let mut plan = ring(3);
    let mtu = plan.hosts[0].mtu_bytes;
    plan.switches.iter_mut().for_each(|switch| switch.mtu_bytes = Some(mtu));
    plan.workloads.push(single("h0", "h1", 10, u64::from(mtu) - 28));
    assert_eq!(latencies(&simulate(plan)).len(), 1);
}

/// A host of two VLANs can only tell by tags to which VLAN a frame belongs: its link is a trunk,
/// that of the other host is not.
#[test]
fn the_link_of_a_host_with_two_vlans_is_tagged() {
    let mut plan = ring(3);
    plan.workloads.push(single("h0", "h1", 10, 1000));
    let mut later = single("h0", "h2", 20, 1000);
    later.header.start_ps = MS;
    plan.workloads.push(later);
    let expected = 3 * (wire_bytes(1000) * PS_PER_BYTE + US) + 2 * 4 * PS_PER_BYTE;
    assert_eq!(latencies(&simulate(plan)), [expected, expected]);
}

/// TCP over tagged links: the same segments are four bytes longer each between the switches than on
/// their way to the host, where they have their usual headers (Ethernet 14, IP 20, TCP 20 with 12
/// of timestamps, 8 more in the opening), whether their host has written the tag or the first
/// switch.
#[test]
fn every_segment_of_a_connection_carries_its_tag() {
    for is_trunk in [false, true] {
        let mut plan = ring(3);
        plan.workloads.push(in_vlan_10(stream("bulk", "h0", "h1", 1, 1_000_000)));
        if is_trunk {
            plan.workloads.push(single("h0", "h2", 20, 100));
        }
        let outcome = simulate(plan);
        let sent = |node, towards| {
            let port = port(&outcome, node, towards);
            (count(port, "tx_frames"), count(port, "tx_bytes"))
        };
        let ((frames, bytes), last) = (sent("s0", "s1"), sent("s1", "h1"));
        assert_eq!((frames, bytes), (last.0, last.1 + 4 * frames));
        assert_eq!(last.1, 1_000_000 + 66 * frames + 8);
    }
}

#[test]
fn a_rule_for_a_vlan_matches_its_frames_alone() {
    let mut plan = ring(3);
    let policy = policy(
        vec![
            queue("usual", RawService::Strict(2), 1_000_000),
            queue("fast", RawService::Strict(1), 1_000_000),
        ],
        [0, 0, 0, 0, 0, 1, 0, 0],
    );
    for node in &mut plan.switches {
        node.policy = policy.clone();
        node.classify = vec![RawRule { class: 5, vlan: Some(vec![10, 11]), ..RawRule::default() }];
    }
    plan.workloads.extend([0, 10, 11, 12].map(|vlan| single("h0", "h1", vlan, 100)));
    let outcome = simulate(plan);
    let frames =
        [0, 1].map(|queue| count(&port(&outcome, "s0", "s1")["queues"][queue], "tx_frames"));
    assert_eq!(frames, [2, 2]);
}

/// A switch gives back the bytes that it accounts at its entrance, although the frame has another
/// length when it leaves.
#[test]
fn accounts_at_the_entrance_balance_with_tags() {
    let mut plan = ring(3);
    let group = RawGroup {
        priorities: u8::MAX,
        reserved_bytes: 0,
        limit: RawLimit::Bytes(20_000),
        lossless: None,
    };
    plan.switches.iter_mut().for_each(|node| node.policy.groups = vec![group.clone()]);
    plan.workloads.push(in_vlan_10(stream("bulk", "h0", "h1", 4, 3_000_000)));
    plan.stop_at_ps = S;
    let outcome = simulate(plan);
    assert!(
        outcome.summary()["finished"].as_bool().expect("a truth"),
        "what is not given back would stop it for good"
    );
}

/// Four leaves under two spines, two VLANs: with chosen costs each VLAN has a spine of its own.
#[test]
fn disjoint_trees_of_two_vlans_share_no_link_that_carries_frames() {
    let mut plan = ring(4);
    plan.switches = ["l0", "l1", "l2", "l3", "t0", "t1"]
        .map(|name| switch(name, 1_000_000, fifo(1_000_000)))
        .into();
    plan.links = (0..4).map(|i| link(&format!("h{i}"), &format!("l{i}"), 10 * GBPS, US)).collect();
    for (leaf, spine) in (0..4).flat_map(|leaf| (0..2).map(move |spine| (leaf, spine))) {
        plan.links.push(link(&format!("l{leaf}"), &format!("t{spine}"), 10 * GBPS, US));
    }
    for vlan in [10, 20] {
        for (from, to) in
            (0..4).flat_map(|from| (0..4).map(move |to| (from, to))).filter(|(from, to)| from != to)
        {
            plan.workloads.push(single(&format!("h{from}"), &format!("h{to}"), vlan, 100));
        }
    }
    let trees = vec![tree(&plan, 0, vec![]), tree(&plan, 1, vec![10]), tree(&plan, 2, vec![20])];
    plan.spanning_tree = Some(RawSpanningTree { trees, disjoint: true });
    let outcome = simulate(plan);
    let by_leaf =
        |spine: &str| [0, 1, 2, 3].map(|leaf| carried(&outcome, &format!("l{leaf}"), spine));
    // Each host sends three frames of each VLAN and receives three.
    assert_eq!((by_leaf("t0"), by_leaf("t1")), ([6; 4], [6; 4]));
}
