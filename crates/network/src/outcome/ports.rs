//! The ports and switches of a trial.

use crate::{Losses, NetworkFrame, SwitchNode};
use tailrace_dataplane::{
    DppCounters, DropCause, Frame, GroupCounters, MtuDrops, QueueCounters, Switch, TrapCounters,
};
use tailrace_host::nic::LosslessNic;
use tailrace_outcome as outcome;
use tailrace_outcome::{
    Dpp, Dropped, Drops, Elephants, Group, LosslessInterface, Pause, Port, Qcn, Queue,
    SourceLosses, SourceTraffic,
};
use tailrace_plan::{Plan, PortEnd, RawPolicy, RawSwitch};
use tailrace_record::Traffic;
use tailrace_units::{Span, Time};
use tailrace_wire::PauseState;

/// The interval of the counts, and the sources of the traffic.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// Numbers of the workloads of each source of traffic.
    pub sources: &'a [Vec<usize>],
    /// The end.
    pub now: Time,
    /// How long.
    pub run: Span,
}

/// The counters of every port, by switch, one after the other: all at once are tens of megabytes in
/// a large network.
pub fn ports<'a, F: NetworkFrame>(
    plan: &'a Plan,
    nodes: &'a [SwitchNode<F>],
    counted: Counted<'a>,
) -> impl Iterator<Item = Port> {
    nodes.iter().enumerate().flat_map(move |(index, node)| {
        let ends = plan.graph.ports[plan.graph.hosts + index].iter().enumerate();
        ends.map(move |(port, end)| port_row(plan, (index, node), (port, end), counted))
    })
}

fn port_row<F: NetworkFrame>(
    plan: &Plan,
    (index, node): (usize, &SwitchNode<F>),
    (port, end): (usize, &PortEnd),
    counted: Counted<'_>,
) -> Port {
    let (graph, switch, policy) = (&plan.graph, &node.switch, plan.policy(index, port));
    let (mut tx_frames, mut tx_bytes) = (0, 0);
    let row = |queue: usize| {
        let counters = switch.counters(port, queue, counted.now);
        (tx_frames, tx_bytes) = (tx_frames + counters.tx_frames, tx_bytes + counters.tx_bytes);
        queue_row(&policy.queues[queue].name, switch, (port, queue), &counters, counted.run)
    };
    let queues: Vec<Queue> = (0..switch.queues(port)).map(row).collect();
    Port {
        dpp: Some(switch.dpp_counters(port).map(dpp)),
        elephants: Some(switch.elephants(port).map(elephants)),
        groups: Some(switch.groups(port).into_iter().map(group).collect()),
        mtu_drops: Some(switch.mtu_drops(port).map(mtu_drops)),
        node: plan.raw.switches[index].name.clone(),
        pause: Some(
            switch.pause_state(port).map(|state| pause(state, counted.now, switch.storms(port))),
        ),
        queues,
        rate_bps: graph.links[end.link].rate.bps(),
        towards: graph.names[end.peer].clone(),
        traffic: Some(
            node.record(port).map(|record| traffic(plan, policy, counted.sources, &record.traffic)),
        ),
        tx_bytes,
        tx_frames,
    }
}

/// Frames with data of each source by the queue of their class; sources that sent none are left
/// out.
fn traffic(
    plan: &Plan,
    policy: &RawPolicy,
    sources: &[Vec<usize>],
    traffic: &Traffic,
) -> Vec<SourceTraffic> {
    let mut rows = Vec::new();
    for (index, queue) in policy.queues.iter().enumerate() {
        for (source, workloads) in sources.iter().enumerate() {
            let tally = traffic
                .tally(source, |class| usize::from(policy.queue_of_priority[class]) == index);
            if tally.sent_frames + tally.dropped_frames > 0 {
                rows.push(SourceTraffic {
                    queue: queue.name.clone(),
                    workloads: names(plan, workloads),
                    sent_frames: tally.sent_frames,
                    dropped_frames: tally.dropped_frames,
                });
            }
        }
    }
    rows
}

/// Names of workloads, by their numbers.
fn names(plan: &Plan, workloads: &[usize]) -> Vec<String> {
    workloads.iter().map(|&number| plan.workloads[number].header.name.clone()).collect()
}

fn queue_row<F: Frame>(
    name: &str,
    switch: &Switch<F>,
    (port, queue): (usize, usize),
    counters: &QueueCounters,
    run: Span,
) -> Queue {
    let (notifications, feedback_sum) = switch.notifications(port, queue);
    Queue {
        depth_bytes: switch.depth_bytes(port, queue),
        depth_max_bytes: Some(counters.depth_max_bytes),
        depth_mean_bytes: Some(counters.byte_picoseconds as f64 / run.ps().max(1) as f64),
        drops: drops(counters),
        marked_frames: Some(counters.marked_frames),
        name: name.to_owned(),
        qcn: Some((notifications > 0).then_some(Qcn { notifications, feedback_sum })),
        tx_bytes: counters.tx_bytes,
        tx_frames: counters.tx_frames,
    }
}

/// Drops by cause.
fn drops(counters: &QueueCounters) -> Drops {
    let of = DropCause::ALL
        .iter()
        .map(|&cause| (cause, counters.drops.of(cause)))
        .filter(|(_, dropped)| dropped.frames > 0);
    of.map(|(cause, dropped)| {
        (cause.name().to_owned(), Dropped { frames: dropped.frames, bytes: Some(dropped.bytes) })
    })
    .collect()
}

fn pause(state: &PauseState, now: Time, (storms_detected, storms_ended): (u64, u64)) -> Pause {
    Pause {
        received: state.received,
        paused_ps: state.paused_by(now).map(Span::ps),
        storms_detected,
        storms_ended,
    }
}

fn group((priorities, counters): (u8, GroupCounters)) -> Group {
    let GroupCounters {
        xoff_sent,
        xon_sent,
        depth_bytes,
        bytes_max,
        headroom_max_bytes,
        drop_frames,
    } = counters;
    Group {
        priorities,
        xoff_sent,
        xon_sent,
        depth_bytes,
        bytes_max,
        headroom_max_bytes,
        drop_frames,
    }
}

fn elephants(trap: TrapCounters) -> Elephants {
    let TrapCounters { found, evictions, bytes, elephant_bytes, silences } = trap;
    Elephants { found, evictions, bytes, elephant_bytes, silences: silences.to_vec() }
}

fn mtu_drops(drops: MtuDrops) -> outcome::MtuDrops {
    outcome::MtuDrops { ingress: drops.ingress_frames, egress: drops.egress_frames }
}

fn dpp(counters: &DppCounters) -> Dpp {
    Dpp {
        prioritised_frames: counters.prioritised_frames,
        normal_frames: counters.normal_frames,
        new_flows: counters.new_flows,
        resets: counters.resets,
        deferred_resets: counters.deferred_resets,
        reordering_resets: counters.reordering_resets,
        evictions: counters.evictions,
        untracked_frames: counters.untracked_frames,
    }
}

/// The counters of every switch as a whole.
pub fn switch_summaries<F: NetworkFrame>(
    plan: &Plan,
    nodes: &[SwitchNode<F>],
    sources: &[Vec<usize>],
) -> Vec<outcome::Switch> {
    let outcome_of = |(raw, node): (&RawSwitch, &SwitchNode<F>)| {
        let switch = &node.switch;
        outcome::Switch {
            name: raw.name.clone(),
            buffer_bytes: raw.buffer_bytes,
            buffer_max_bytes: Some(switch.buffer().used_max_bytes()),
            early_drops: drops(switch.early_drops()),
            no_route_frames: Some(switch.early_drops().drops.of(DropCause::NoRoute).frames),
            losses: Some(losses(plan, node, sources)),
        }
    };
    plan.raw.switches.iter().zip(nodes).map(outcome_of).collect()
}

/// Drops of each source, for any cause; sources without losses are left out.
fn losses<F: NetworkFrame>(
    plan: &Plan,
    node: &SwitchNode<F>,
    sources: &[Vec<usize>],
) -> Vec<SourceLosses> {
    let outcome_of = |(source, workloads): (usize, &Vec<usize>)| {
        let Losses { frames, policed_frames, too_long_frames } = node.losses(source);
        (frames > 0).then(|| SourceLosses {
            workloads: names(plan, workloads),
            frames,
            policed_frames,
            too_long_frames,
        })
    };
    sources.iter().enumerate().filter_map(outcome_of).collect()
}

/// The counters of an interface that takes part in data-centre bridging.
pub fn interface_summary(nic: &LosslessNic, now: Time) -> LosslessInterface {
    LosslessInterface {
        pause: pause(nic.pause_state(), now, (0, 0)),
        queue_drops: nic.queue_drops,
        notifications: nic.notifications,
        unlimited_notifications: nic.unlimited_notifications,
        limiters: nic.limiters().map(|(_, rate_bps)| rate_bps).collect(),
    }
}
