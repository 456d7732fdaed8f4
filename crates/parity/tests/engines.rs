//! The simulator and the fabric use one network. Whatever hosts send, both must treat it alike:
//! departures, drops with their causes, marks, notifications and pauses with their tags, and the
//! reports of ports.
//!
//! The simulator runs a plan. The frames of its hosts enter the fabric's network at the same
//! moments, in virtual time, without interfaces or rights; then the timelines of all ports are
//! compared.

use proptest::prelude::*;
use tailrace_lab::frame::LiveFrame;
use tailrace_lab::network::Network;
use tailrace_lab::network::outcome;
use tailrace_network::{PortEvent, address_of};
use tailrace_outcome::{NetworkOutcome, Outcome, Port, Switch};
use tailrace_plan::*;
use tailrace_sim::{Trace, trace};
use tailrace_units::Time;
use tailrace_wire::{Flags, FlowKey, Packet, Protocol};

#[path = "../../sim/tests/checks/common/mod.rs"]
#[expect(dead_code, reason = "plans are made as for the simulator's tests, which need more")]
mod common;
#[path = "../../sim/tests/checks/random_bridging.rs"]
mod random_bridging;
#[path = "../../sim/tests/checks/random_plan.rs"]
mod random_plan;

use common::*;

/// A frame as the fabric would have parsed it. No rule of these plans asks for ports.
fn live(from_host: u32, packet: Packet) -> LiveFrame {
    let protocol = if packet.flags.contains(Flags::UDP) { Protocol::Udp } else { Protocol::Tcp };
    let (source, destination) = (address_of(from_host), address_of(u32::from(packet.to_host)));
    let key = FlowKey { source, destination, source_port: 0, destination_port: 0, protocol };
    LiveFrame { key: Some(key), from_host: from_host as u16, ..LiveFrame::bare(packet) }
}

/// Feeds the frames that hosts sent in a trace to the fabric's network; returns events by observed
/// port, and the outcome.
fn carried(plan: &Plan, traced: &Trace) -> (Vec<Vec<PortEvent>>, NetworkOutcome) {
    let mut network = Network::new(plan, None);
    network.keep_events();
    traced.entered.iter().for_each(|&(arrival, host, packet)| {
        network.enter_at(host as usize, live(host, packet), arrival)
    });
    // The counts of both are compared at the end of the simulated trial, which can be over before
    // its time.
    let end = Time::from_ps(simulated(traced).end_ps);
    network.advance(end);
    network.settle(end);
    (
        network.events().into_iter().map(<[PortEvent]>::to_vec).collect(),
        outcome(plan, &network, end),
    )
}

/// All ports are observed, and all their counters are compared.
fn observed(mut raw: RawPlan) -> Plan {
    let plan = Plan::from_raw(raw.clone()).expect("the plan is sound");
    let (graph, switches) = (&plan.graph, plan.graph.hosts..plan.graph.names.len());
    let ports = switches.flat_map(|node| graph.ports[node].iter().map(move |end| (node, end.peer)));
    raw.observe.ports =
        ports.map(|(node, peer)| (graph.names[node].clone(), graph.names[peer].clone())).collect();
    Plan::from_raw(raw).expect("only ports of switches can be observed")
}

/// The outcome of the simulator.
fn simulated(traced: &Trace) -> Outcome {
    serde_json::from_str(traced.outcome.json()).expect("it is an outcome")
}

/// The reports of ports and switches. The workloads of frames are left out: a real frame carries
/// its hosts and not its workload.
fn reported(mut ports: Vec<Port>, mut switches: Vec<Switch>) -> (Vec<Port>, Vec<Switch>) {
    ports.iter_mut().for_each(|port| port.traffic = None);
    switches.iter_mut().for_each(|switch| switch.losses = None);
    (ports, switches)
}

/// By time: a late engine reports a drop at an entrance before it reports earlier departures by the
/// same port.
fn in_time(mut events: Vec<PortEvent>) -> Vec<PortEvent> {
    events.sort_by_key(|event| match event {
        PortEvent::Sent(at, _, packet) => (*at, 0, packet.flow_hash, packet.seq),
        PortEvent::Dropped(at, _, packet) => (*at, 1, packet.flow_hash, packet.seq),
        PortEvent::Marked(at, packet) => (*at, 2, packet.flow_hash, packet.seq),
        PortEvent::Notified(at, _, packet) => (*at, 3, packet.flow_hash, packet.seq),
    });
    events
}

/// Runs both engines and compares. Returns the simulator's events of all ports.
fn compare(raw: RawPlan) -> Vec<PortEvent> {
    let plan = observed(raw);
    let traced = trace(&plan);
    let (events, outcome) = carried(&plan, &traced);
    assert_eq!(traced.events.len(), plan.observed.len(), "every port has a timeline");
    for ((simulated, live), &(node, port)) in traced.events.iter().zip(&events).zip(&plan.observed)
    {
        let place = format!(
            "{}>{}",
            plan.graph.names[node], plan.graph.names[plan.graph.ports[node][port].peer]
        );
        let (simulated, live) = (in_time(simulated.clone()), in_time(live.clone()));
        let differs = simulated.iter().zip(&live).find(|(simulated, live)| simulated != live);
        assert_eq!(differs, None, "the first difference at {place}, simulated and live");
        assert_eq!(simulated.len(), live.len(), "events at {place}");
    }
    let simulated = simulated(&traced);
    assert_eq!(
        reported(simulated.ports, simulated.switches),
        reported(outcome.ports, outcome.switches)
    );
    let frames = outcome.conservation.expect("all frames are counted");
    assert_eq!(
        frames.sent,
        frames.delivered + frames.dropped + frames.in_network,
        "no frame is lost without a word"
    );
    traced.events.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn both_engines_do_the_same_with_the_same_frames(raw in random_plan::plans()) {
        compare(raw);
    }
}

/// A VLAN with a tree of its own; the others have the common one.
const VLAN: u16 = 20;

/// Three switches in a ring, of which the common tree blocks another link than that of [`VLAN`].
/// The host of the first and that of the second send too much to that of the third, in both kinds
/// of VLAN.
fn notifying_ring() -> RawPlan {
    let mut policy = fifo(400_000);
    policy.queues[0].qcn = Some(RawQcn { set_point_bytes: 20_000, weight: 2 });
    let mut plan = star(3, 1500, 10 * GBPS, US, switch("s0", 1_000_000, policy.clone()));
    plan.observe.ports.clear();
    plan.switches = (0..3).map(|i| switch(&format!("s{i}"), 1_000_000, policy.clone())).collect();
    plan.links = (0..3)
        .map(|i| link(&format!("s{i}"), &format!("s{}", (i + 1) % 3), 10 * GBPS, US))
        .collect();
    plan.links.extend((0..3).map(|i| link(&format!("h{i}"), &format!("s{i}"), 10 * GBPS, US)));
    let tree = |instance: u16, vlans: Vec<u16>, root: usize| RawTree {
        instance,
        vlans,
        bridge_priority: (0..3).map(|at| if at == root { 0 } else { 32_768 }).collect(),
        path_cost: vec![2_000; 6],
        port_priority: vec![(128, 128); 6],
    };
    let trees = vec![tree(0, vec![], 0), tree(1, vec![VLAN], 2)];
    plan.spanning_tree = Some(RawSpanningTree { trees, disjoint: false });
    let gap = RawDistribution::Constant(US);
    plan.workloads = [("h0", VLAN), ("h0", 10), ("h1", VLAN), ("h1", 10)]
        .map(|(source, vlan)| {
            let name = format!("{source}:{vlan}");
            let mut workload = datagrams(&name, source, "h2", 1_000, gap.clone());
            workload.header.vlan = vlan;
            RawWorkload::from(workload)
        })
        .into();
    plan.stop_at_ps = 5 * MS;
    plan
}

#[test]
fn notifications_take_the_tree_of_the_sampled_frame_in_both_engines() {
    let events = compare(notifying_ring());
    let notified = |vlan: u16| {
        let of = |event: &&PortEvent| matches!(event, PortEvent::Notified(_, _, sampled) if sampled.tag.vlan() == vlan);
        events.iter().filter(of).count()
    };
    assert!(notified(VLAN) > 20 && notified(10) > 20, "{} and {}", notified(VLAN), notified(10));
    let sent: Vec<&Packet> = events
        .iter()
        .filter_map(|event| match event {
            PortEvent::Sent(_, _, packet) => packet.flags.contains(Flags::CNM).then_some(packet),
            PortEvent::Dropped(..) | PortEvent::Marked(..) | PortEvent::Notified(..) => None,
        })
        .collect();
    assert!(
        sent.iter()
            .all(|packet| [VLAN, 10].contains(&packet.tag.vlan()) && packet.tag.priority() == 7)
    );
    // On a trunk with its tag, and at least one in each VLAN.
    assert!([VLAN, 10].iter().all(|&vlan| {
        sent.iter().any(|packet| packet.tag.vlan() == vlan && packet.frame_bytes == 64)
    }));
}
