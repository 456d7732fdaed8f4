//! Facts on which the lab and the simulator must agree, from the code that decides them.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use tailrace_dataplane::{DropCause, REFRESH_WIRE_BYTES_MIN};
use tailrace_plan::RawDistribution;

/// Names of the causes of drops, in the order of results.
#[pyfunction]
pub fn drop_causes() -> Vec<&'static str> {
    DropCause::ALL.iter().map(|cause| cause.name()).collect()
}

/// Names of the components that drop frames in explanations, in the order of their numbers: hosts
/// and hypervisors, then the causes of switches.
#[pyfunction]
pub fn dropped_by() -> Vec<&'static str> {
    tailrace_sim::DroppedBy::names()
}

/// Names of the distributions of a plan.
#[pyfunction]
pub fn distributions() -> &'static [&'static str] {
    tailrace_plan::variants::<RawDistribution>()
}

/// Limits and constants by name; the unit ends the name.
#[pyfunction]
pub fn limits() -> BTreeMap<&'static str, u64> {
    tailrace_plan::limits()
        .into_iter()
        .chain([("pause_refresh_wire_bytes_min", REFRESH_WIRE_BYTES_MIN)])
        .collect()
}
