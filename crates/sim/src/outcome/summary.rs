//! The summary of a trial as JSON.

use super::hypervisors::hypervisor_summaries;
use super::netstat::netstat;
use super::processors::processor_summary;
use super::text::Text;
use super::written::{self, List};
use crate::control::Control;
use crate::world::{World, counted};
use std::time::Duration;
use tailrace_host::nic::{BondedInterface, BondedNic};
use tailrace_network::{Counted, OnWires, deadlock, interface_summary, ports, switch_summaries};
use tailrace_outcome as outcome;
use tailrace_outcome::{CancelledOutcome, Conservation, Ip};
use tailrace_plan::{Plan, Workload};
use tailrace_transport::ip::IpCounters;
use tailrace_units::Span;
use tailrace_workloads::outcome::{
    Counts, CutOff, LimitCounts, limits_summary, tcp_summary, workload_summary,
};
use tailrace_workloads::{Before, has_lasting_connections, tells_connections};

/// The summary of a cancelled trial, which is no result.
pub(super) fn cancelled(plan: &Plan, world: &World, wall: Duration) -> Text {
    let known = CancelledOutcome {
        name: plan.raw.name.clone(),
        seed: plan.raw.seed,
        finished: false,
        cancelled: true,
        end_ps: world.now.ps(),
        wall_s: wall.as_secs_f64(),
        events: world.events - world.wakeups,
    };
    written::object(&known, Vec::new(), || false)
}

/// Frames on their way at the end, kept when their memory is needed no longer.
pub(super) struct OnTheirWay {
    pub(super) frames: u64,
    pub(super) on_wires: OnWires,
}

/// The summary of a trial; its lists end early when it is cancelled meanwhile.
pub(super) fn summary(
    plan: &Plan,
    world: &World,
    cut_off: &[CutOff],
    on_their_way: &OnTheirWay,
    wall: Duration,
    control: &Control,
) -> Text {
    let frames = world.links.observe.frames;
    let in_network = on_their_way.frames;
    let rx_waiting = frames.sent - frames.delivered - frames.dropped - in_network;
    let sources: Vec<Vec<usize>> = (0..plan.workloads.len()).map(|number| vec![number]).collect();
    let counted = Counted { sources: &sources, now: world.now, run: counted(world) };
    debug_assert_eq!(rx_waiting, 0, "every frame is delivered, dropped or somewhere");
    let head = outcome::Outcome {
        name: plan.raw.name.clone(),
        seed: plan.raw.seed,
        digest: world.links.observe.digest().map(tailrace_record::Digest::hex),
        finished: world.links.observe.unfinished == 0,
        cancelled: false,
        end_ps: world.now.ps(),
        counted_from_ps: Some(world.counted_from.ps()),
        wall_s: wall.as_secs_f64(),
        events: Some(world.events - world.wakeups),
        packet_hops: Some(world.links.observe.packet_hops),
        packets_delivered: Some(world.links.observe.packets_delivered),
        conservation: Some(Conservation {
            sent: frames.sent,
            delivered: frames.delivered,
            dropped: frames.dropped,
            in_network,
        }),
        spanning_trees: Some(plan.trees_summary()),
        deadlock: Some(deadlock(plan, &world.switches, world.now)),
        switches: switch_summaries(plan, &world.switches, &sources),
        ..outcome::Outcome::default()
    };
    let mut lists = vec![
        List::new("workloads", workloads(plan, world, cut_off)),
        List::new("ports", ports(plan, &world.switches, counted)),
        List::new("hosts", hosts(plan, world)),
        List::new("netstat", netstat(plan, world, &on_their_way.on_wires)),
    ];
    if !world.hypervisors.is_empty() {
        lists.push(List::new("hypervisors", hypervisor_summaries(plan, world)));
    }
    written::object(&head, lists, || control.is_cancelled())
}

fn workloads(
    plan: &Plan,
    world: &World,
    cut_off: &[CutOff],
) -> impl Iterator<Item = outcome::Workload> {
    let limited = world.limit_counts();
    let (stats, tallies, received) = (world.tcp_stats(), world.tallies(), world.received_bytes());
    let nothing = Before::default();
    let outcome_of = move |(index, workload): (usize, &Workload)| {
        let record = &world.links.observe.workloads[index];
        let before = record.before.as_deref().unwrap_or(&nothing);
        let (together, connections) = &limited[index];
        let was_open = together.limits.total() > Span::ZERO;
        let counts = Counts {
            connection_bytes: connection_bytes(&before.bytes, &received[index], workload),
            tcp: tcp_summary(&stats[index].since(&before.tcp)),
            limits: was_open.then(|| limits_summary(together, lasting(workload, connections))),
            tallies: tallies[index].since(&before.tallies),
        };
        workload_summary(workload, record, &cut_off[index], counts)
    };
    plan.workloads.iter().enumerate().map(outcome_of)
}

/// Flows come and go: open ones are not reported one by one.
fn lasting<'a>(workload: &Workload, connections: &'a [LimitCounts]) -> &'a [LimitCounts] {
    if has_lasting_connections(workload) { connections } else { &[] }
}

/// Bytes of each connection of a stream, in the order in which they start; `None` for other
/// workloads, whose connections carry what they are asked to or are closed.
fn connection_bytes(before: &[u64], received: &[u64], workload: &Workload) -> Option<Vec<u64>> {
    let before = before.iter().copied().chain(std::iter::repeat(0));
    let counted = || received.iter().zip(before).map(|(whole, before)| whole - before).collect();
    tells_connections(workload).then(counted)
}

/// Bytes of each interface of a bond, in the order of the links.
fn bond_summary(bond: &BondedNic) -> Vec<outcome::BondedInterface> {
    let outcome_of = |interface: &BondedInterface| outcome::BondedInterface {
        sent_frames: interface.sent_frames,
        sent_bytes: interface.sent_bytes,
        received_frames: interface.received_frames,
    };
    bond.interfaces().iter().map(outcome_of).collect()
}

/// Counters of fragmentation and reassembly of a host.
fn ip_summary(
    counted: IpCounters,
    (reassembly_memory_bytes, reassembly_memory_max_bytes): (u64, u64),
) -> Ip {
    Ip {
        frag_oks: counted.frag_oks,
        frag_fails: counted.frag_fails,
        frag_creates: counted.frag_creates,
        reasm_reqds: counted.reasm_reqds,
        reasm_oks: counted.reasm_oks,
        reasm_fails: counted.reasm_fails,
        reasm_timeout: counted.reasm_timeout,
        reassembly_memory_bytes,
        reassembly_memory_max_bytes,
    }
}

fn hosts(plan: &Plan, world: &World) -> impl Iterator<Item = outcome::Host> {
    let summary = move |(number, raw): (usize, &tailrace_plan::RawHost)| {
        let host = &world.hosts[number];
        let (counted, ip) = (host.counters(), host.ip_counters());
        outcome::Host {
            name: raw.name.clone(),
            counted_from_ps: Some(world.counted_from.ps()),
            rx_frames: counted.rx_frames,
            tx_frames: Some(counted.tx_frames),
            interface: Some(host.nic().lossless().map(|nic| interface_summary(nic, world.now))),
            bond: Some(host.nic().bonded().map(bond_summary)),
            nic_queue_drops: counted.nic_queue_drops,
            rx_ring_drops: counted.rx_ring_drops,
            listen_drops: Some(counted.listen_drops),
            cpu_busy_ps: counted.receive_busy.ps(),
            program_busy_ps: counted.program_busy.ps(),
            processor: Some(processor_summary(plan, world, number)),
            ip: (ip != IpCounters::default()).then(|| ip_summary(ip, host.reassembly_memory())),
            failures: None,
            late_max_ps: None,
            programs: None,
        }
    };
    plan.raw.hosts.iter().enumerate().map(summary)
}
