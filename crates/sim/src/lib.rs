//! Virtual time: the plan becomes a world of hosts, wires and switches, and the agenda says what happens next.
//!
//! One trial runs on one thread and is a pure function of its plan: same plan, same digest, on any machine. Trials run
//! side by side on as many threads as there are.

mod agenda;
mod bridging;
mod build;
mod control;
mod cores;
mod generate;
mod observe;
mod outcome;
mod receive;
mod ring;
mod socket;
mod surroundings;
mod warm_up;
mod watch;
mod wire;
mod workloads;
mod world;

pub use build::{Flight, SERVER_PORT, address_of, flight, lossless_nics, pace_of, switches};
pub use control::Control;
pub use observe::PortRecord;
pub use outcome::{Column, Outcome, Recorded, Table, interface_summary, port_series, ports, queue_depth, switch_summaries};
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
