//! Builds the data plane of a switch of the plan.

use crate::{address_of, pace_of};
use tailrace_dataplane::{
    Afd, Aqm, Classifier, Codel, CongestionPoint, DppPolicy, DppReset, EtrapPolicy, FlowMatch,
    Forwarding, Frame, GroupPolicy, Limit, LineLoss, Lossless, Match, PausePolicy, Policer,
    PortPolicy, QcnPolicy, QueuePolicy, Red, RedProfile, Room, Shaper, Step, Switch, Vlans,
    Watchdog, WhenFull,
};
use tailrace_plan::{
    Plan, PortEnd, RawAqm, RawDpp, RawDppReset, RawEtrap, RawGroup, RawLimit, RawPolice, RawPolicy,
    RawQueue, RawRule, RawSwitch, RawTableFull, SpanningTree,
};
use tailrace_units::{BitRate, Pace, Probability, RandomStream, Span, mix64};
use tailrace_wire::{PauseState, TAG_BYTES};

/// A shaped queue may send this much at line rate after a pause (assumed: two jumbo frames).
const SHAPER_BURST_BYTES: u64 = 2 * 9_230;

/// Whether the switch accounts the bytes that its ingress ports hold.
fn accounts_ingress(switch: &RawSwitch) -> bool {
    let own = switch.port_policies.iter().map(|port| &port.policy);
    own.chain([&switch.policy]).any(|policy| !policy.groups.is_empty())
}

/// The switches of a plan, in its order, with their policies and routes; observed ports report
/// their depth. The frames may be the simulator's packets or another engine's.
pub(crate) fn switches<F: Frame>(plan: &Plan) -> Vec<Switch<F>> {
    let notifies = notifies(plan);
    let mut switches: Vec<_> =
        (0..plan.raw.switches.len()).map(|index| build_switch(plan, index, notifies)).collect();
    fill_routes(plan, &mut switches);
    switches
}

fn build_switch<F: Frame>(plan: &Plan, index: usize, notifies: bool) -> Switch<F> {
    let graph = &plan.graph;
    let node = graph.hosts + index;
    let raw = &plan.raw.switches[index];
    let salt = mix64(node as u64);
    let mut switch = Switch::new(Forwarding::new(salt), raw.buffer_bytes);
    let accounts = accounts_ingress(raw);
    let mut ingress = Vec::new();
    for (port, end) in graph.ports[node].iter().enumerate() {
        let policy = plan.policy(index, port);
        let pace = pace_of(plan, node, port);
        let target = PolicyTarget {
            name: format!("{}/{}", raw.name, graph.names[end.peer]),
            pace,
            seed: plan.raw.seed,
        };
        switch.add_port(
            pace,
            plan.raw.framing.overhead_bytes,
            port_policy(policy, &target),
            accounts,
        );
        if let Some(police) = &policy.police {
            switch.police(port, policer(police));
        }
        ingress.push((policy.groups.iter().map(group).collect(), pausing(policy)));
        if plan.record_of(node, port).is_some() {
            switch.observe(port);
        }
    }
    if raw.mtu_bytes.is_some() || !raw.port_mtus.is_empty() {
        switch.limit_frames(
            (0..graph.ports[node].len()).map(|port| longest_frame(plan, index, port)).collect(),
        );
    }
    if graph.ports[node].iter().any(|end| plan.raw.links[end.link].loss_ppb > 0) {
        let ports = || graph.ports[node].iter();
        let name =
            |from: usize, to: usize| format!("{}>{}/loss", graph.names[from], graph.names[to]);
        let into = ports().map(|end| line_loss(plan, end.link, &name(end.peer, node))).collect();
        let to_hosts = |end: &PortEnd| {
            line_loss(plan, end.link, &name(node, end.peer)).filter(|_| end.peer < graph.hosts)
        };
        switch.lose(into, ports().map(to_hosts).collect());
    }
    switch.classify_by(Classifier::new(
        raw.classify.iter().map(|rule| classification(plan, node, rule)).collect(),
    ));
    if accounts {
        switch.account_ingress(ingress);
    }
    if notifies && is_beside_reacting_hosts(plan, node) {
        switch.report_every_departure();
    }
    switch
}

/// The losses of one direction of a link, with the address of its random stream; links between the
/// same nodes have streams of their own.
fn line_loss(plan: &Plan, link: usize, address: &str) -> Option<LineLoss> {
    let raw = &plan.raw.links[link];
    let random = || RandomStream::new(plan.raw.seed, &format!("{address}/{link}"));
    let share = Probability::ratio(raw.loss_ppb.into(), 1_000_000_000);
    (raw.loss_ppb > 0).then(|| LineLoss::new(share, raw.loses_later_fragments, random()))
}

/// The longest frame that the MTU of a port lets through. A trunk has room for a tag, as it has in
/// hardware and in Linux (`is_skb_forwardable`), whether the frame carries one or not.
fn longest_frame(plan: &Plan, switch: usize, port: usize) -> Option<u32> {
    let link = plan.graph.ports[plan.graph.hosts + switch][port].link;
    let tag_bytes = if plan.tagged_links[link] { u32::from(TAG_BYTES) } else { 0 };
    plan.port_mtu(switch, port).map(|mtu| mtu + plan.raw.framing.header_bytes + tag_bytes)
}

/// Whether any switch sends congestion notifications.
pub fn notifies(plan: &Plan) -> bool {
    let policies = plan
        .raw
        .switches
        .iter()
        .flat_map(|raw| raw.port_policies.iter().map(|port| &port.policy).chain([&raw.policy]));
    policies.flat_map(|policy| &policy.queues).any(|queue| queue.qcn.is_some())
}

/// Whether notifications may leave here for an interface that acts on them.
fn is_beside_reacting_hosts(plan: &Plan, node: usize) -> bool {
    let acts =
        |host: usize| plan.raw.hosts.get(host).is_some_and(|host| host.nic.lossless.is_some());
    plan.graph.ports[node].iter().any(|end| acts(end.peer))
}

/// Where a policy applies: for addresses of random streams, and rates.
struct PolicyTarget {
    name: String,
    pace: Pace,
    seed: u64,
}

/// Fills in the forwarding tables of all switches: shortest paths, or those of the first tree;
/// where there are VLANs, a table for each tree after the first.
fn fill_routes<F: Frame>(plan: &Plan, switches: &mut [Switch<F>]) {
    let hosts = plan.graph.hosts;
    switches.iter_mut().for_each(|switch| switch.forwarding_mut().expect_destinations(hosts));
    let forwards = |link: usize| plan.trees.first().is_none_or(|tree| tree.forwards[link]);
    plan.graph.each_route(forwards, |switch, hosts, ports| {
        switches[switch].forwarding_mut().set_destinations(hosts, ports)
    });
    if !plan.has_vlans {
        return;
    }
    let mut vlans: Vec<Vlans> =
        (0..switches.len()).map(|index| Vlans::new(tagged_ports(plan, index))).collect();
    for tree in plan.trees.iter().skip(1) {
        let tables = tree_tables(plan, tree, switches.len());
        vlans
            .iter_mut()
            .zip(tables)
            .for_each(|(vlans, table)| vlans.forward_by(&tree.settings.vlans, table));
    }
    switches.iter_mut().zip(vlans).for_each(|(switch, vlans)| switch.look_at_vlans(vlans));
}

/// By port of a switch: whether its link is a trunk.
fn tagged_ports(plan: &Plan, index: usize) -> Vec<bool> {
    plan.graph.ports[plan.graph.hosts + index]
        .iter()
        .map(|end| plan.tagged_links[end.link])
        .collect()
}

/// By switch, the paths of one tree. A tree has one path to every destination, so that no flow is
/// hashed.
fn tree_tables(plan: &Plan, tree: &SpanningTree, switches: usize) -> Vec<Forwarding> {
    let mut tables = vec![Forwarding::new(0); switches];
    tables.iter_mut().for_each(|table| table.expect_destinations(plan.graph.hosts));
    plan.graph.each_route(
        |link| tree.forwards[link],
        |switch, hosts, ports| tables[switch].set_destinations(hosts, ports),
    );
    tables
}

fn port_policy(raw: &RawPolicy, target: &PolicyTarget) -> PortPolicy {
    let afd_period =
        raw.etrap.as_ref().map_or(Span::ZERO, |etrap| Span::from_ps(etrap.afd_period_ps));
    PortPolicy {
        queues: raw.queues.iter().map(|queue| queue_policy(queue, target, afd_period)).collect(),
        queue_of_class: raw.queue_of_priority,
        dpp: raw.dpp.as_ref().map(dpp_policy),
        etrap: raw.etrap.as_ref().map(|etrap| (etrap_policy(etrap), afd_period)),
        pause: raw.pause.as_ref().map(|pause| {
            PauseState::new(pause.obeys, pause.obeys_link_pause, Span::from_ps(pause.response_ps))
        }),
        watchdog: raw.pause.as_ref().and_then(|pause| pause.watchdog).map(|watchdog| Watchdog {
            detection: Span::from_ps(watchdog.detection_ps),
            restoration: Span::from_ps(watchdog.restoration_ps),
        }),
    }
}

fn queue_policy(raw: &RawQueue, target: &PolicyTarget, afd_period: Span) -> QueuePolicy {
    let shaper =
        |bps: u64| BitRate::from_bps(bps).map(|rate| Shaper::new(rate.pace(0), SHAPER_BURST_BYTES));
    QueuePolicy {
        service: super::service(raw.service),
        room: Room { reserved_bytes: raw.reserved_bytes, limit: limit(raw.limit) },
        aqm: aqm(raw, target, afd_period),
        ceiling: shaper(raw.shape_max_bps),
        floor: shaper(raw.shape_min_bps),
        congestion_point: raw.qcn.map(|qcn| {
            let random =
                RandomStream::new(target.seed, &format!("{}/{}/qcn", target.name, raw.name));
            CongestionPoint::new(
                QcnPolicy { set_point_bytes: qcn.set_point_bytes, weight: qcn.weight },
                random,
            )
        }),
    }
}

fn limit(raw: RawLimit) -> Limit {
    match raw {
        RawLimit::Bytes(bytes) => Limit::Bytes(bytes),
        RawLimit::Frames(frames) => Limit::Frames(frames),
        RawLimit::AlphaMilli(milli) => Limit::Alpha(milli),
    }
}

fn group(raw: &RawGroup) -> GroupPolicy {
    GroupPolicy {
        priorities: raw.priorities,
        reserved_bytes: raw.reserved_bytes,
        limit: limit(raw.limit),
        lossless: raw.lossless.map(|lossless| Lossless {
            xon_offset_bytes: lossless.xon_offset_bytes,
            headroom_bytes: lossless.headroom_bytes,
        }),
    }
}

fn pausing(policy: &RawPolicy) -> PausePolicy {
    let pause = policy.pause.as_ref();
    pause.map_or_else(PausePolicy::default, |pause| PausePolicy {
        is_link_pause: pause.sends_link_pause,
        quanta: pause.quanta,
    })
}

fn policer(raw: &RawPolice) -> Policer {
    let rate = BitRate::from_bps(raw.rate_bps).expect("the plan refuses a zero rate");
    Policer::new(rate.pace(0), raw.burst_bytes, raw.classes, raw.per_flow)
}

fn classification(plan: &Plan, node: usize, raw: &RawRule) -> (Match, u8) {
    let host = |name: &Option<String>| {
        let name = name.as_ref()?;
        Some((
            address_of(plan.graph.host(name, "classify").expect("the plan knows the host") as u32),
            u32::MAX,
        ))
    };
    let flow = FlowMatch {
        source: host(&raw.source),
        destination: host(&raw.destination),
        protocol: raw.protocol,
        source_port: raw.source_port,
        destination_port: raw.destination_port,
    };
    let ingress = raw.ingress.as_ref().map(|name| {
        let peer = plan.graph.node(name, "classify").expect("the plan knows the neighbour");
        plan.graph.port_towards(node, peer).expect("the plan knows the link")
    });
    let flow = (flow != FlowMatch::default()).then_some(flow);
    (
        Match {
            pcp: raw.pcp.clone(),
            dscp: raw.dscp.clone(),
            vlan: raw.vlan.clone(),
            ingress,
            flow,
        },
        raw.class,
    )
}

fn aqm(raw: &RawQueue, target: &PolicyTarget, afd_period: Span) -> Aqm {
    let random = |what: &str| {
        RandomStream::new(target.seed, &format!("{}/{}/{what}", target.name, raw.name))
    };
    match raw.aqm {
        RawAqm::None => Aqm::None,
        RawAqm::Step { threshold_bytes } => Aqm::Step(Step { threshold_bytes }),
        RawAqm::Red {
            minimum_bytes,
            maximum_bytes,
            probability_milli,
            weight_exponent,
            ecn,
            not_capable,
            gentle,
        } => {
            let profile =
                RedProfile { minimum_bytes, maximum_bytes, probability_milli, is_gentle: gentle };
            let other =
                not_capable.map_or(profile, |(minimum_bytes, maximum_bytes, probability_milli)| {
                    RedProfile { minimum_bytes, maximum_bytes, probability_milli, ..profile }
                });
            Aqm::Red(Box::new(Red::new(
                profile,
                other,
                weight_exponent,
                ecn,
                random("red"),
                target.pace,
            )))
        }
        RawAqm::Codel { target_ps, interval_ps, ecn, ce_threshold_ps } => {
            let (target, interval) = (Span::from_ps(target_ps), Span::from_ps(interval_ps));
            Aqm::Codel(Box::new(Codel::new(target, interval, ecn, Span::from_ps(ce_threshold_ps))))
        }
        RawAqm::Afd { desired_bytes, ecn } => {
            let line_bytes = afd_period.ps() / target.pace.time_to_send(1).ps().max(1);
            Aqm::Afd(Box::new(Afd::new(
                desired_bytes,
                afd_period,
                line_bytes.max(1),
                ecn,
                random("afd"),
            )))
        }
    }
}

fn etrap_policy(raw: &RawEtrap) -> EtrapPolicy {
    EtrapPolicy {
        byte_count: raw.byte_count,
        age: Span::from_ps(raw.age_ps),
        bandwidth_threshold: raw.bandwidth_threshold_bytes,
        table_entries: raw.table_entries,
    }
}

fn dpp_policy(raw: &RawDpp) -> DppPolicy {
    DppPolicy {
        max_packets: raw.max_packets,
        age: Span::from_ps(raw.age_ps),
        express: usize::from(raw.express_queue),
        reset: match raw.reset {
            RawDppReset::OrderSafe => DppReset::OrderSafe,
            RawDppReset::Naive => DppReset::Naive,
        },
        table_entries: raw.table_entries,
        when_full: match raw.when_full {
            RawTableFull::EvictOldest => WhenFull::EvictOldest,
            RawTableFull::Untracked => WhenFull::Untracked,
        },
        classes: raw.classes,
    }
}
