//! Checks of the processors of a plan.

use crate::error::require;
use crate::{PlanError, RawControlGroup, RawProcessor};

/// Most cores of a host; the model keeps sets of them in four words.
pub(crate) const CORES_MAX: u32 = 256;
pub(super) const NICE_RANGE: std::ops::RangeInclusive<i32> = -20..=19;

pub(super) fn check_processor(processor: &RawProcessor, location: &str) -> Result<(), PlanError> {
    let cores = processor.cores;
    require((1..=CORES_MAX).contains(&cores), location, "cpu.processor.cores must be 1 to 256")?;
    require(processor.slice_ps > 0, location, "cpu.processor.slice_ps must be above 0")?;
    require(
        processor.budget_frames > 0 && processor.budget_ps > 0,
        location,
        "budgets of cpu.processor must be above 0",
    )?;
    for (list, what) in
        [(&processor.irq_cores, "irq_cores"), (&processor.program_cores, "program_cores")]
    {
        require(
            are_cores(list, cores),
            location,
            &format!("cpu.processor.{what} must name cores of the host"),
        )?;
    }
    if let Some(steal) = &processor.steal {
        let sound = steal.slice_ps > 0 && steal.slice_ps < steal.every_ps;
        require(sound, location, "cpu.processor.steal must leave a part of every core")?;
    }
    processor.groups.iter().try_for_each(|group| {
        check_group(group, cores, &format!("{location}, group {}", group.name))
    })
}

pub(super) fn are_cores(list: &[u32], cores: u32) -> bool {
    !list.is_empty() && list.iter().all(|&core| core < cores)
}

fn check_group(group: &RawControlGroup, cores: u32, location: &str) -> Result<(), PlanError> {
    require(are_cores(&group.cores, cores), location, "cores must name cores of the host")?;
    require(NICE_RANGE.contains(&group.nice), location, "nice must be -20 to 19")?;
    require(
        group.quota_ps.is_some() == group.period_ps.is_some(),
        location,
        "a quota needs a period, and a period a quota",
    )?;
    require(
        group.quota_ps != Some(0) && group.period_ps != Some(0),
        location,
        "quota and period must be above 0",
    )
}
