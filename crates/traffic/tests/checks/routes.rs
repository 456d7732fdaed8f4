//! Routes of connections: addresses, ports and marks.

use crate::net::run;
use crate::plans::*;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use tailrace_plan::*;
use tailrace_traffic::duty::{Addresses, Congestion, Duty};
use tailrace_traffic::{Marks, Route};

fn plan(workloads: Vec<RawWorkload>) -> Plan {
    let mut raw = star(3, 1500, GBPS, US, switch("sw", 1 << 20, fifo(1 << 20)));
    raw.workloads = workloads;
    Plan::from_raw(raw).expect("the plan is sound")
}

/// Two users, a stream with other marks to the same server, and flows of two hosts.
fn mix() -> Plan {
    let users = oltp("users", "h0", "h1", 2, 2, 1_000);
    let mut copy = stream("copy", "h2", "h1", 1, 1_000_000);
    (copy.header.priority, copy.header.dscp) = (3, 10);
    let ends = [vec!["h0".into(), "h2".into()], vec!["h1".into()]];
    let mut web = flows_between(
        "web",
        ends,
        RawDistribution::Constant(5_000),
        RawDistribution::Constant(MS),
        8,
    );
    web.header.dscp = 10;
    plan(vec![users.into(), copy.into(), web.into()])
}

#[test]
fn both_ends_of_a_connection_have_the_ports_of_the_simulator() {
    let opened = run(&mix()).opened;
    for [client, server] in &opened {
        assert_eq!(
            (client.own, client.peer, client.marks),
            (server.peer, server.own, server.marks)
        );
    }
    let ports = |[client, _]: &[Route; 2]| (client.own.to_string(), client.peer.to_string());
    let lasting = [("1:32768", "5432"), ("1:32769", "5432"), ("3:32768", "5433")];
    // Flows take the next ports of their host. A listener's answers have its own marks.
    let flows =
        ["1:32770", "1:32771", "1:32772", "1:32773", "3:32769", "3:32770", "3:32771", "3:32772"]
            .map(|own| (own, "5434"));
    let full = |(own, port): (&str, &str)| (format!("10.77.0.{own}"), format!("10.77.0.2:{port}"));
    let expected: BTreeSet<_> = lasting.into_iter().chain(flows).map(full).collect();
    assert_eq!(opened.iter().map(ports).collect::<BTreeSet<_>>(), expected);
}

#[test]
fn packets_carry_the_marks_of_their_workload() {
    let opened = run(&mix()).opened;
    let marks: Vec<Marks> = opened.iter().map(|[client, _]| client.marks).collect();
    let of = |priority, dscp| marks.iter().filter(|own| **own == Marks { priority, dscp }).count();
    assert_eq!([of(0, 0), of(3, 10), of(0, 10)], [2, 1, 8]);
}

#[test]
fn each_vlan_has_a_network_of_its_own() {
    let mut tagged = oltp("tagged", "h0", "h1", 1, 1, 1_000);
    tagged.header.vlan = 300;
    let mut other = oltp("other", "h1", "h2", 1, 1, 1_000);
    other.header.vlan = 20;
    let opened = run(&plan(vec![
        tagged.into(),
        other.into(),
        oltp("plain", "h0", "h1", 1, 1, 1_000).into(),
    ]))
    .opened;
    let addresses: BTreeSet<(Ipv4Addr, Ipv4Addr)> =
        opened.iter().map(|[client, _]| (*client.own.ip(), *client.peer.ip())).collect();
    let ip = |network: u8, host: u8| Ipv4Addr::new(10, network, 0, host);
    assert_eq!(
        addresses,
        BTreeSet::from([(ip(79, 1), ip(79, 2)), (ip(78, 2), ip(78, 3)), (ip(77, 1), ip(77, 2))])
    );
}

#[test]
fn addresses_and_congestion_control_can_be_others() {
    let mut plan = mix();
    plan.raw.hosts[1].tcp.congestion_control = RawCongestionControl::Dctcp;
    let addresses = Addresses::from([((0, 0), Ipv4Addr::new(192, 0, 2, 7))]);
    let mut congestion = Congestion::default();
    congestion.of_workload.insert("copy".into(), "bbr".into());
    let duty = Duty::new(&plan, 1, addresses, &congestion);
    let address_of = |end: &tailrace_traffic::duty::LastingEnd| {
        (end.route.peer.ip().to_string(), end.route.congestion.clone())
    };
    let addresses: Vec<_> = duty.ends.iter().map(address_of).collect();
    let expected = [("192.0.2.7", "dctcp"), ("192.0.2.7", "dctcp"), ("10.77.0.3", "bbr")];
    assert_eq!(addresses, expected.map(|(ip, name)| (ip.to_owned(), Some(name.into()))));
    let listeners: BTreeSet<_> = duty
        .listeners()
        .into_iter()
        .map(|listener| (listener.own.port(), listener.congestion))
        .collect();
    let expected = [(5_432, "dctcp"), (5_433, "bbr"), (5_434, "dctcp")];
    assert_eq!(listeners, BTreeSet::from(expected.map(|(port, name)| (port, Some(name.into())))));
    let left = Congestion { is_systems: true, ..Congestion::default() };
    let duty = Duty::new(&plan, 1, Addresses::new(), &left);
    assert!(duty.ends.iter().all(|end| end.route.congestion.is_none()));
}

/// Ports of the connections of a host: its own and the peer's.
fn ports_of(duty: &Duty) -> Vec<(u16, u16)> {
    duty.ends.iter().map(|end| (end.route.own.port(), end.route.peer.port())).collect()
}

fn listening(duty: &Duty) -> BTreeSet<u16> {
    duty.listeners().into_iter().map(|listener| listener.own.port()).collect()
}

#[test]
fn workloads_have_the_ports_of_the_plan() {
    let mut plan = mix();
    (plan.workloads[0].header.port, plan.workloads[0].header.client_ports) =
        (3_306, Some((40_000, 40_009)));
    plan.workloads[1].header.port = 5_201;
    let duty = |host| Duty::new(&plan, host, Addresses::new(), &Congestion::default());
    assert_eq!(ports_of(&duty(0)), [(40_000, 3_306), (40_001, 3_306)]);
    assert_eq!(ports_of(&duty(1)), [(3_306, 40_000), (3_306, 40_001), (5_201, 32_768)]);
    assert_eq!(listening(&duty(1)), BTreeSet::from([3_306, 5_201, 5_432]));
}

#[test]
fn a_server_leaves_its_port_to_other_programs() {
    let others = BTreeSet::from([0]);
    let duty = |host| {
        Duty::without(others.clone(), &mix(), host, Addresses::new(), &Congestion::default())
    };
    assert_eq!((ports_of(&duty(0)), ports_of(&duty(1))), (vec![], vec![(5_433, 32_768)]));
    assert_eq!(listening(&duty(1)), BTreeSet::from([5_433, 5_434]));
    let moved = |name, port| {
        format!(
            "{name}: its server listens at port {port} and not 5432, where another program of its host listens"
        )
    };
    assert_eq!(duty(0).moved(&mix()), [moved("copy", 5_433), moved("web", 5_434)]);
}
