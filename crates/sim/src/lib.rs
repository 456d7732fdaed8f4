//! Virtual time: the plan becomes a world of hosts, wires and switches, and the agenda orders the
//! events.
//!
//! One trial is a pure function of its plan: same plan, same digest, on any machine. It runs on one
//! thread, and trials run side by side on as many threads as there are; [`run_on`] runs one on
//! several.

mod agenda;
mod attachment;
mod boundary;
mod bridging;
mod build;
mod causes;
mod clock;
mod control;
mod core_logs;
mod explain;
pub mod failure;
mod generator;
mod huge_pages;
mod hypervisors;
mod interfaces;
mod limits;
mod links;
mod observe;
mod outcome;
mod parallel;
mod part_flows;
mod sampling;
mod timeline;
mod trace;
mod traced;
mod trigger;
mod warm_up;
mod watch;
mod windows;
mod workload_events;
mod workloads;
mod world;

pub use causes::{DroppedBy, Explanation, Loss, Part, Parts, TimedPart};
pub use control::Control;
pub use explain::{Explained, explain, unexplained};
pub use outcome::{Column, Outcome, Table};
pub use parallel::{
    Cores, Course, PARTS_MAX, Partition, Refusal, cost_of_a_window, run_on, run_parted,
};
pub use timeline::{Wanted, WantedTransaction};
pub use trace::{Trace, trace};
pub use traced::traced;
pub use watch::{ConnectionState, watch};
pub use world::HostedProgram;

use clock::Stopwatch;
use tailrace_plan::Plan;

/// Runs one trial. `control` shows its progress and can end it early.
pub fn run(plan: &Plan, control: &Control) -> Outcome {
    run_with(plan, Vec::new(), control)
}

/// Runs one trial with these programs beside those of the plan. It ends at the plan's time or when
/// the plan's finite workloads are complete.
///
/// # Panics
/// When a host or a workload does not exist.
pub fn run_with(plan: &Plan, programs: Vec<HostedProgram>, control: &Control) -> Outcome {
    let started = Stopwatch::start();
    let mut world = build::build_with(plan, programs);
    sampling::run_sampled(plan, &mut world, control);
    let wall = started.elapsed();
    outcome::gather(plan, &mut world, wall, control)
}
