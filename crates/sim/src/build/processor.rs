//! Builds the processor of a host of the plan.

use tailrace_host::cpu::{GroupConfig, ProcessorConfig, SchedulerConfig, Steal, weight_of};
use tailrace_host::{KernelCosts, ProcessorPolicy};
use tailrace_plan::{Plan, RawControlGroup, RawProcessor};
use tailrace_units::Span;

const NICE_DEFAULT: i32 = 0;

pub(super) fn processor_policy(
    plan: &Plan,
    host: usize,
    raw: &RawProcessor,
    receives_whole: bool,
) -> ProcessorPolicy {
    let groups: Vec<u32> =
        plan.workloads.iter().map(|workload| group_of(raw, &workload.header.name)).collect();
    ProcessorPolicy {
        processor: ProcessorConfig {
            cores: raw.cores as usize,
            scheduler: SchedulerConfig {
                slice: Span::from_ps(raw.slice_ps),
                tick: Span::from_ps(plan.raw.hosts[host].tcp.tick_ps),
                context_switch: Span::from_ps(raw.context_switch_ps),
            },
            steal: raw.steal.map(|steal| Steal {
                slice: Span::from_ps(steal.slice_ps),
                every: Span::from_ps(steal.every_ps),
            }),
            groups: groups_of(raw),
            owners: plan.workloads.len(),
            depth_bin: Span::from_ps(plan.raw.observe.series_bin_ps),
            depth_bins: plan.raw.observe.series_bins as usize,
        },
        costs: KernelCosts {
            per_frame: Span::from_ps(raw.per_frame_ps),
            per_poll: Span::from_ps(raw.per_poll_ps),
            per_interrupt: Span::from_ps(raw.per_interrupt_ps),
            per_send: Span::from_ps(raw.per_send_ps),
            system_call: Span::from_ps(raw.system_call_ps),
            read_byte_fs: raw.read_byte_fs,
            write_byte_fs: raw.write_byte_fs,
            wake_up: Span::from_ps(raw.wake_up_ps),
            idle_exit: Span::from_ps(raw.idle_exit_ps),
        },
        irq_cores: raw.irq_cores.clone(),
        groups,
        budget_frames: raw.budget_frames,
        budget: Span::from_ps(raw.budget_ps),
        receives_whole,
    }
}

/// Group 0 holds the programs that belong to no other.
fn groups_of(raw: &RawProcessor) -> Vec<GroupConfig> {
    let rest = GroupConfig {
        cores: raw.program_cores.iter().copied().collect(),
        weight: weight_of(NICE_DEFAULT),
        quota: None,
    };
    let named = |group: &RawControlGroup| GroupConfig {
        cores: group.cores.iter().copied().collect(),
        weight: weight_of(group.nice),
        quota: group
            .quota_ps
            .zip(group.period_ps)
            .map(|(quota, period)| (Span::from_ps(quota), Span::from_ps(period))),
    };
    std::iter::once(rest).chain(raw.groups.iter().map(named)).collect()
}

fn group_of(raw: &RawProcessor, workload: &str) -> u32 {
    let named =
        raw.groups.iter().position(|group| group.workloads.iter().any(|name| name == workload));
    named.map_or(0, |group| group as u32 + 1)
}
