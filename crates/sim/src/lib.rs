//! Virtual time: the plan becomes a world of hosts, wires and switches, and the agenda says what happens next.
//!
//! One trial runs on one thread and is a pure function of its plan: same plan, same digest, on any machine. Trials run
//! side by side on as many threads as there are.

mod agenda;
mod attachment;
mod bridging;
mod build;
mod causes;
mod control;
mod explain;
mod generator;
mod hypervisors;
mod interfaces;
mod limits;
mod links;
mod looks;
mod observe;
mod outcome;
mod timeline;
mod trace;
mod traced;
mod warm_up;
mod watch;
mod windows;
mod workloads;
mod world;

pub use causes::{Explanation, Loss, Part, Parts, Step};
pub use control::Control;
pub use explain::{Explained, Unexplained, explain, unexplained};
pub use outcome::{Column, Outcome, Table};
pub use tailrace_workloads::SERVER_PORT;
pub use timeline::Wanted;
pub use trace::{Trace, trace};
pub use traced::traced;
pub use watch::{ConnectionState, watch};
pub use world::HostedProgram;

use tailrace_plan::Plan;

/// Runs one trial. `control` shows how far it is and can end it early.
pub fn run(plan: &Plan, control: &Control) -> Outcome {
    run_with(plan, Vec::new(), control)
}

/// Runs one trial with these programs beside those of the plan. It ends at the plan's time or when the plan's finite workloads are
/// complete.
///
/// # Panics
/// When a host or a workload does not exist.
pub fn run_with(plan: &Plan, programs: Vec<HostedProgram>, control: &Control) -> Outcome {
    let started = std::time::Instant::now();
    let mut world = build::build_with(plan, programs);
    looks::run_and_look(plan, &mut world, control);
    let wall = started.elapsed();
    outcome::gather(plan, &mut world, wall)
}
