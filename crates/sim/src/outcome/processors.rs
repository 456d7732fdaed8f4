//! Time of the processors of hosts by activity.

use crate::world::World;
use tailrace_host::cpu::{Busy, Kind, OwnerCounters, Processor, Throttling};
use tailrace_outcome::{ControlGroup, CoreTimes, ProcessorWorkload};
use tailrace_plan::{Plan, RawProcessor};
use tailrace_record::{Column, Table};

/// Of the processor of a host that has one.
pub(super) fn processor_summary(
    plan: &Plan,
    world: &World,
    host: usize,
) -> Option<tailrace_outcome::Processor> {
    let (processor, raw) =
        world.hosts[host].processor().zip(plan.raw.hosts[host].cpu.processor.as_deref())?;
    let received = world.hosts[host].receive_counters();
    let (switches, depth) = (processor.switches(), processor.depth());
    Some(tailrace_outcome::Processor {
        cores: (0..processor.cores()).map(|core| times(processor.busy(core))).collect(),
        voluntary_switches: switches.voluntary,
        involuntary_switches: switches.involuntary,
        migrations: processor.migrations(),
        interrupts: received.interrupts,
        polls: received.polls,
        time_squeezes: received.squeezes,
        ksoftirqd_wakeups: received.handed_over,
        datagram_drops: received.datagram_drops,
        runnable_max: depth.most(),
        runnable_area_ps: depth.area_ps().to_string(),
        groups: groups(raw, processor),
        workloads: workloads(plan, processor),
    })
}

pub(super) fn times(busy: &Busy) -> CoreTimes {
    CoreTimes {
        user_ps: busy.of(Kind::User).ps(),
        system_ps: busy.of(Kind::System).ps(),
        softirq_ps: busy.of(Kind::Softirq).ps(),
        steal_ps: busy.of(Kind::Steal).ps(),
        idle_ps: busy.of(Kind::Idle).ps(),
    }
}

/// Groups with a quota.
fn groups(raw: &RawProcessor, processor: &Processor) -> Vec<ControlGroup> {
    let outcome_of = |(at, group): (usize, &tailrace_plan::RawControlGroup)| {
        let Throttling { periods, throttled, time } = processor.throttling(at + 1)?;
        Some(ControlGroup { name: group.name.clone(), periods, throttled, throttled_ps: time.ps() })
    };
    raw.groups.iter().enumerate().filter_map(outcome_of).collect()
}

/// Workloads whose programs ran here.
fn workloads(plan: &Plan, processor: &Processor) -> Vec<ProcessorWorkload> {
    let outcome_of = |(owner, workload): (usize, &tailrace_plan::Workload)| {
        let OwnerCounters { busy, switches } = processor.owner(owner);
        (switches.voluntary + switches.involuntary > 0 || busy.total().ps() > 0).then(|| {
            ProcessorWorkload {
                name: workload.header.name.clone(),
                user_ps: busy.of(Kind::User).ps(),
                system_ps: busy.of(Kind::System).ps(),
                voluntary_switches: switches.voluntary,
                involuntary_switches: switches.involuntary,
            }
        })
    };
    plan.workloads.iter().enumerate().filter_map(outcome_of).collect()
}

/// Tasks that run or wait, over time; none where no host has a processor.
pub(super) fn run_queues(plan: &Plan, world: &World) -> Option<Table> {
    let bin_ps = plan.raw.observe.series_bin_ps;
    let hosts = world
        .hosts
        .iter()
        .zip(0_u32..)
        .filter_map(|(host, number)| Some((number, host.processor()?)));
    let ended = world.now.ps().div_ceil(bin_ps.max(1)) as usize;
    let bins = |(host, processor): (u32, &Processor)| {
        let areas: Vec<(u32, u64)> =
            (0..).zip(processor.depth().bins().iter().take(ended).copied()).collect();
        areas.into_iter().map(move |(bin, area)| (host, bin, area))
    };
    let rows: Vec<(u32, u32, u64)> = hosts.flat_map(bins).collect();
    (!world.processors.is_empty()).then(|| Table {
        name: "run_queues",
        columns: vec![
            ("host", Column::U32(rows.iter().map(|row| row.0).collect())),
            ("bin", Column::U32(rows.iter().map(|row| row.1).collect())),
            ("start_ps", Column::U64(rows.iter().map(|row| u64::from(row.1) * bin_ps).collect())),
            (
                "runnable_mean",
                Column::F64(rows.iter().map(|row| row.2 as f64 / bin_ps as f64).collect()),
            ),
        ],
    })
}
