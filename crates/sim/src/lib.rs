//! Virtual time: the plan becomes a world of hosts, wires and switches, and the agenda says what happens next.
//!
//! One trial runs on one thread and is a pure function of its plan: same plan, same digest, on any machine. Trials run
//! side by side on as many threads as there are.

mod agenda;
mod bridging;
mod build;
mod control;
mod generate;
mod hosted;
mod links;
mod observe;
mod outcome;
mod sockets;
mod trace;
mod warm_up;
mod watch;
mod workloads;
mod world;

pub use build::SERVER_PORT;
pub use control::Control;
pub use hosted::{HostedProgram, run_with};
pub use outcome::{Column, Outcome, Table};
pub use trace::{Trace, trace};
pub use watch::{Connection, watch};

use tailrace_plan::Plan;

/// Runs one trial. `control` shows how far it is and can end it early.
pub fn run(plan: &Plan, control: &Control) -> Outcome {
    let started = std::time::Instant::now();
    let mut world = build::build(plan);
    world.run(control);
    let wall = started.elapsed();
    outcome::gather(plan, &world, wall)
}
