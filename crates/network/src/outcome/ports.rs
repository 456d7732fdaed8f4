//! The ports and switches of a trial as JSON.

use crate::{Losses, NetworkFrame, SwitchNode};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tailrace_dataplane::{DppCounters, DropCause, Dropped, Frame, GroupCounters, MtuDrops, QueueCounters, Switch, TrapCounters};
use tailrace_endpoint::nic::LosslessNic;
use tailrace_plan::{Plan, PortEnd, RawPolicy};
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

/// The counters of a port, with its members in the order of their names, as outcomes have them.
#[derive(Clone, Debug, Serialize)]
pub struct PortRow<'a> {
    dpp: Option<Value>,
    elephants: Option<Value>,
    groups: Vec<Value>,
    mtu_drops: Option<Value>,
    node: &'a str,
    pause: Option<Value>,
    queues: Vec<QueueRow<'a>>,
    rate_bps: u64,
    towards: &'a str,
    traffic: Option<Vec<Value>>,
    tx_bytes: u64,
    tx_frames: u64,
}

/// Those of a queue.
#[derive(Clone, Debug, Serialize)]
struct QueueRow<'a> {
    depth_bytes: u64,
    depth_max_bytes: u64,
    depth_mean_bytes: f64,
    drops: BTreeMap<&'static str, Value>,
    marked_frames: u64,
    name: &'a str,
    qcn: Option<Value>,
    tx_bytes: u64,
    tx_frames: u64,
}

/// The counters of every port, by switch, one after the other: all at once are tens of megabytes in a large network.
pub fn ports<'a, F: NetworkFrame>(
    plan: &'a Plan,
    nodes: &'a [SwitchNode<F>],
    counted: Counted<'a>,
) -> impl Iterator<Item = PortRow<'a>> {
    nodes.iter().enumerate().flat_map(move |(index, node)| {
        let ends = plan.graph.ports[plan.graph.hosts + index].iter().enumerate();
        ends.map(move |(port, end)| port_row(plan, (index, node), (port, end), counted))
    })
}

fn port_row<'a, F: NetworkFrame>(
    plan: &'a Plan,
    (index, node): (usize, &'a SwitchNode<F>),
    (port, end): (usize, &'a PortEnd),
    counted: Counted<'a>,
) -> PortRow<'a> {
    let (graph, switch, policy) = (&plan.graph, &node.switch, plan.policy(index, port));
    let (mut tx_frames, mut tx_bytes) = (0, 0);
    let row = |queue: usize| {
        let counters = switch.counters(port, queue, counted.now);
        (tx_frames, tx_bytes) = (tx_frames + counters.tx_frames, tx_bytes + counters.tx_bytes);
        queue_row(&policy.queues[queue].name, switch, (port, queue), &counters, counted.run)
    };
    let queues: Vec<QueueRow> = (0..switch.queues(port)).map(row).collect();
    PortRow {
        dpp: switch.dpp_counters(port).map(dpp),
        elephants: switch.elephants(port).map(elephants),
        groups: switch.groups(port).into_iter().map(group).collect(),
        mtu_drops: switch.mtu_drops(port).map(mtu_drops),
        node: &plan.raw.switches[index].name,
        pause: switch.pause_state(port).map(|state| pause(state, counted.now, switch.storms(port))),
        queues,
        rate_bps: graph.links[end.link].rate.bps(),
        towards: &graph.names[end.peer],
        traffic: node.record(port).map(|record| traffic(plan, policy, counted.sources, &record.traffic)),
        tx_bytes,
        tx_frames,
    }
}

/// Frames with data of each source by the queue of their class; sources that sent none are left out.
fn traffic(plan: &Plan, policy: &RawPolicy, sources: &[Vec<usize>], traffic: &Traffic) -> Vec<Value> {
    let mut rows = Vec::new();
    for (index, queue) in policy.queues.iter().enumerate() {
        for (source, workloads) in sources.iter().enumerate() {
            let tally = traffic.tally(source, |class| usize::from(policy.queue_of_priority[class]) == index);
            if tally.sent_frames + tally.dropped_frames > 0 {
                rows.push(json!({
                    "queue": queue.name,
                    "workloads": names(plan, workloads),
                    "sent_frames": tally.sent_frames,
                    "dropped_frames": tally.dropped_frames,
                }));
            }
        }
    }
    rows
}

/// Names of workloads, by their numbers.
fn names<'a>(plan: &'a Plan, workloads: &[usize]) -> Vec<&'a str> {
    workloads.iter().map(|&number| plan.workloads[number].header.name.as_str()).collect()
}

fn queue_row<'a, F: Frame>(
    name: &'a str,
    switch: &Switch<F>,
    (port, queue): (usize, usize),
    counters: &QueueCounters,
    run: Span,
) -> QueueRow<'a> {
    let (sent, feedback_sum) = switch.notifications(port, queue);
    QueueRow {
        depth_bytes: switch.depth_bytes(port, queue),
        depth_max_bytes: counters.depth_max_bytes,
        depth_mean_bytes: counters.byte_picoseconds as f64 / run.ps().max(1) as f64,
        drops: drops(counters),
        marked_frames: counters.marked_frames,
        name,
        qcn: (sent > 0).then(|| json!({ "notifications": sent, "feedback_sum": feedback_sum })),
        tx_bytes: counters.tx_bytes,
        tx_frames: counters.tx_frames,
    }
}

/// Drops by cause.
fn drops(counters: &QueueCounters) -> BTreeMap<&'static str, Value> {
    DropCause::ALL
        .iter()
        .map(|&cause| (cause, counters.drops.of(cause)))
        .filter(|(_, dropped)| dropped.frames > 0)
        .map(|(cause, Dropped { frames, bytes })| (cause.name(), json!({ "frames": frames, "bytes": bytes })))
        .collect()
}

fn pause(state: &PauseState, now: Time, (detected, ended): (u64, u64)) -> Value {
    json!({
        "received": state.received,
        "paused_ps": state.paused_by(now).map(Span::ps),
        "storms_detected": detected,
        "storms_ended": ended,
    })
}

fn group((priorities, counters): (u8, GroupCounters)) -> Value {
    json!({
        "priorities": priorities,
        "xoff_sent": counters.xoff_sent,
        "xon_sent": counters.xon_sent,
        "depth_bytes": counters.depth_bytes,
        "bytes_max": counters.bytes_max,
        "headroom_max_bytes": counters.headroom_max_bytes,
        "drop_frames": counters.drop_frames,
    })
}

fn elephants(trap: TrapCounters) -> Value {
    json!({
        "found": trap.found,
        "evictions": trap.evictions,
        "bytes": trap.bytes,
        "elephant_bytes": trap.elephant_bytes,
        "silences": trap.silences,
    })
}

fn mtu_drops(drops: MtuDrops) -> Value {
    json!({ "ingress": drops.ingress_frames, "egress": drops.egress_frames })
}

fn dpp(counters: &DppCounters) -> Value {
    json!({
        "prioritised_frames": counters.prioritised_frames,
        "normal_frames": counters.normal_frames,
        "new_flows": counters.new_flows,
        "resets": counters.resets,
        "deferred_resets": counters.deferred_resets,
        "reordering_resets": counters.reordering_resets,
        "evictions": counters.evictions,
        "untracked_frames": counters.untracked_frames,
    })
}

/// The counters of every switch as a whole.
pub fn switch_summaries<F: NetworkFrame>(plan: &Plan, nodes: &[SwitchNode<F>], sources: &[Vec<usize>]) -> Vec<Value> {
    let both = plan.raw.switches.iter().zip(nodes);
    both.map(|(raw, node)| {
        let switch = &node.switch;
        json!({
            "name": raw.name,
            "buffer_bytes": raw.buffer_bytes,
            "buffer_max_bytes": switch.buffer().used_max_bytes(),
            "early_drops": drops(switch.early_drops()),
            "no_route_frames": switch.early_drops().drops.of(DropCause::NoRoute).frames,
            "losses": losses(plan, node, sources),
        })
    })
    .collect()
}

/// What was dropped of each source, for whatever reason; those without losses are left out.
fn losses<F: NetworkFrame>(plan: &Plan, node: &SwitchNode<F>, sources: &[Vec<usize>]) -> Vec<Value> {
    let told = |(source, workloads): (usize, &Vec<usize>)| {
        let Losses { frames, policed_frames } = node.losses(source);
        (frames > 0).then(|| json!({ "workloads": names(plan, workloads), "frames": frames, "policed_frames": policed_frames }))
    };
    sources.iter().enumerate().filter_map(told).collect()
}

/// The counters of an interface that takes part in data-centre bridging.
pub fn interface_summary(nic: &LosslessNic, now: Time) -> Value {
    json!({
        "pause": pause(nic.pause_state(), now, (0, 0)),
        "queue_drops": nic.queue_drops,
        "notifications": nic.notifications,
        "unlimited_notifications": nic.unlimited_notifications,
        "limiters": nic.limiters().map(|(_, rate_bps)| rate_bps).collect::<Vec<u64>>(),
    })
}
