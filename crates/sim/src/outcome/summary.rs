//! The summary of a trial as JSON.

use crate::build::policy_towards;
use crate::observe::WorkloadRecord;
use crate::world::{World, duration, frames_in_network};
use serde_json::{Value, json};
use std::time::Duration;
use tailrace_dataplane::{DppCounters, DropCause, GroupCounters, QueueCounters};
use tailrace_endpoint::transport::TcpStats;
use tailrace_plan::{Plan, Workload};
use tailrace_record::Latency;
use tailrace_units::{Span, Time};
use tailrace_wire::PauseState;

pub(super) fn summary(plan: &Plan, world: &World, wall: Duration) -> Value {
    let frames = world.roads.observe.frames;
    let in_network = frames_in_network(world);
    let rx_waiting = frames.sent - frames.delivered - frames.dropped - in_network;
    debug_assert_eq!(rx_waiting, 0, "every frame is delivered, dropped or somewhere");
    json!({
        "name": plan.raw.name,
        "seed": plan.raw.seed,
        "digest": world.roads.observe.digest().map(tailrace_record::Digest::hex),
        "finished": world.roads.observe.unfinished == 0,
        "cancelled": world.is_cancelled,
        "end_ps": world.now.ps(),
        "wall_s": wall.as_secs_f64(),
        "events": world.events,
        "packet_hops": world.roads.observe.packet_hops,
        "packets_delivered": world.roads.observe.packets_delivered,
        "conservation": {
            "sent": frames.sent,
            "delivered": frames.delivered,
            "dropped": frames.dropped,
            "in_network": in_network,
        },
        "spanning_trees": plan.trees_summary(),
        "deadlock": super::deadlock::deadlock(plan, world),
        "workloads": workloads(plan, world),
        "ports": ports(plan, world),
        "switches": switches(plan, world),
        "hosts": hosts(plan, world),
    })
}

fn workloads(plan: &Plan, world: &World) -> Vec<Value> {
    plan.workloads
        .iter()
        .enumerate()
        .map(|(index, workload)| {
            let record = &world.roads.observe.workloads[index];
            let (name, kind) = match workload {
                Workload::Oltp(oltp) => (&oltp.raw.name, "oltp"),
                Workload::Stream { raw, .. } => (&raw.name, "stream"),
                Workload::Flows { raw, .. } => (&raw.name, "flows"),
                Workload::Datagrams { raw, .. } => (&raw.name, "datagrams"),
            };
            let users: Vec<Option<u64>> = record.user_completion.iter().map(|at| at.map(Time::ps)).collect();
            json!({
                "name": name,
                "kind": kind,
                "completion_ps": record.completion.map(Time::ps),
                "transactions": record.transactions,
                "goodput_bytes": record.goodput_bytes,
                "latency": latency(&record.latency),
                "user_completion_ps": users,
                "connection_bytes": connection_bytes(world, index as u32, workload),
                "tcp": tcp(world, index as u32, record),
            })
        })
        .collect()
}

fn latency(latency: &Latency) -> Option<Value> {
    (latency.count() > 0).then(|| {
        json!({
            "count": latency.count(),
            "mean_ps": latency.mean_ps(),
            "min_ps": latency.min_ps(),
            "p50_ps": latency.percentile_ps(50.0),
            "p90_ps": latency.percentile_ps(90.0),
            "p95_ps": latency.percentile_ps(95.0),
            "p99_ps": latency.percentile_ps(99.0),
            "p99_9_ps": latency.percentile_ps(99.9),
            "max_ps": latency.max_ps(),
            "buckets": latency.buckets(),
        })
    })
}

/// What each connection of a stream has carried, in the order in which they start; `None` for other workloads, whose
/// connections carry what they are asked to or are gone.
fn connection_bytes(world: &World, index: u32, workload: &Workload) -> Option<Vec<u64>> {
    let is_stream = matches!(workload, Workload::Stream { .. });
    let receivers = || world.sockets.iter().filter(|socket| socket.owner.workload == index && socket.counts_goodput);
    is_stream.then(|| receivers().map(|socket| socket.tcp.received()).collect())
}

fn tcp(world: &World, workload: u32, record: &WorkloadRecord) -> Value {
    let mut sum: TcpStats = record.retired;
    let live = world.sockets.iter().filter(|socket| socket.owner.workload == workload && socket.expects != 0);
    live.for_each(|socket| sum.add(socket.tcp.stats()));
    json!({
        "segments_sent": sum.segments_sent,
        "acks_sent": sum.acks_sent,
        "retransmits": sum.retransmits,
        "timeouts": sum.timeouts,
        "tail_loss_probes": sum.tail_loss_probes,
        "fast_recoveries": sum.fast_recoveries,
        "spurious_retransmits": sum.spurious_retransmits,
        "ecn_reductions": sum.ecn_reductions,
        "out_of_order": sum.out_of_order,
    })
}

fn ports(plan: &Plan, world: &World) -> Vec<Value> {
    let graph = &plan.graph;
    let mut ports = Vec::new();
    for (index, node) in world.switches.iter().enumerate() {
        let id = graph.hosts + index;
        let raw = &plan.raw.switches[index];
        for (port, end) in graph.ports[id].iter().enumerate() {
            let peer = &graph.names[end.peer];
            let policy = policy_towards(raw, peer);
            let queues: Vec<Value> = (0..node.switch.queues(port))
                .map(|queue| {
                    let mut summary = queue_summary(&policy.queues[queue].name, node.switch.counters(port, queue), world);
                    summary["depth_bytes"] = node.switch.depth_bytes(port, queue).into();
                    summary["qcn"] = qcn(node.switch.notifications(port, queue)).into();
                    summary
                })
                .collect();
            let sum = |of: fn(&QueueCounters) -> u64| -> u64 {
                (0..queues.len()).map(|queue| of(node.switch.counters(port, queue))).sum()
            };
            ports.push(json!({
                "node": raw.name,
                "towards": peer,
                "rate_bps": graph.links[end.link].rate.bps(),
                "tx_frames": sum(|counters| counters.tx_frames),
                "tx_bytes": sum(|counters| counters.tx_bytes),
                "queues": queues,
                "dpp": node.switch.dpp_counters(port).map(dpp),
                "pause": node.switch.pause_state(port).map(|state| pause(state, world.now, node.switch.storms(port))),
                "groups": node.switch.groups(port).into_iter().map(group).collect::<Vec<Value>>(),
                "elephants": elephants(node.switch.elephants(port)),
            }));
        }
    }
    ports
}

fn queue_summary(name: &str, counters: &QueueCounters, world: &World) -> Value {
    let run = duration(world).ps().max(1);
    json!({
        "name": name,
        "tx_frames": counters.tx_frames,
        "tx_bytes": counters.tx_bytes,
        "drops": drops(counters),
        "marked_frames": counters.marked_frames,
        "depth_max_bytes": counters.depth_max_bytes,
        "depth_mean_bytes": counters.byte_picoseconds as f64 / run as f64,
    })
}

fn qcn((sent, feedback_sum): (u64, u64)) -> Option<Value> {
    (sent > 0).then(|| json!({ "notifications": sent, "feedback_sum": feedback_sum }))
}

/// Drops by cause.
fn drops(counters: &QueueCounters) -> serde_json::Map<String, Value> {
    DropCause::ALL
        .iter()
        .filter(|&&cause| counters.drop_frames[cause as usize] > 0)
        .map(|&cause| {
            let (frames, bytes) = (counters.drop_frames[cause as usize], counters.drop_bytes[cause as usize]);
            (cause.name().to_owned(), json!({ "frames": frames, "bytes": bytes }))
        })
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

fn elephants((found, evictions): (u64, u64)) -> Option<Value> {
    (found > 0).then(|| json!({ "found": found, "evictions": evictions }))
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

fn switches(plan: &Plan, world: &World) -> Vec<Value> {
    let both = plan.raw.switches.iter().zip(&world.switches);
    both.map(|(raw, node)| {
        json!({
            "name": raw.name,
            "buffer_bytes": raw.buffer_bytes,
            "buffer_max_bytes": node.switch.buffer().used_max_bytes(),
            "early_drops": drops(node.switch.early_drops()),
            "no_route_frames": node.switch.early_drops().drop_frames[DropCause::NoRoute as usize],
        })
    })
    .collect()
}

fn interface(world: &World, host: usize) -> Option<Value> {
    let found = world.roads.bridging.interfaces.iter().find(|interface| interface.host as usize == host)?;
    Some(json!({
        "pause": pause(found.nic.pause_state(), world.now, (0, 0)),
        "queue_drops": found.nic.queue_drops,
        "notifications": found.nic.notifications,
        "unlimited_notifications": found.nic.unlimited_notifications,
        "limiters": found.nic.limiters().map(|(_, rate_bps)| rate_bps).collect::<Vec<u64>>(),
    }))
}

/// Frames that did not fit the queue of an interface that takes part in data-centre bridging.
fn interface_drops(world: &World, host: usize) -> u64 {
    let found = world.roads.bridging.interfaces.iter().find(|interface| interface.host as usize == host);
    found.map_or(0, |interface| interface.nic.queue_drops)
}

fn hosts(plan: &Plan, world: &World) -> Vec<Value> {
    let summary = |(host, raw): (usize, &tailrace_plan::RawHost)| {
        let stage = &world.roads.stages[host];
        json!({
            "name": raw.name,
            "rx_frames": stage.frames,
            "interface": interface(world, host),
            "nic_queue_drops": world.hosts[host].nic.queue_drops + interface_drops(world, host),
            "rx_ring_drops": stage.ring_drops,
            "cpu_busy_ps": stage.busy.ps(),
            "program_busy_ps": world.hosts[host].cores.busy.ps(),
        })
    };
    plan.raw.hosts.iter().enumerate().map(summary).collect()
}
