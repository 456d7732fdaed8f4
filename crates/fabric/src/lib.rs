//! The live fabric: the plan's network for real programs. One network namespace for each host, one
//! switch program that executes the simulator's data plane by the clock, and nothing left behind.
//!
//! A frame's way: a program in its host → the host's TCP → `sys::tap` → `frame` → `plane` (edge,
//! network) → the TAP of another host. Processes: `supervisor` → `lab` → programs, with an
//! `cleanup` process beside them.

pub mod cgroup;
pub mod client;
pub mod clock;
pub mod commands;
pub mod lab;
pub mod log;
pub mod plane;
pub mod replay;

mod blast;
mod cleanup;
mod delays;
mod effect;
mod failure;
mod generator;
mod interface_counters;
mod lateness;
mod limits;
mod machine;
mod namespace_interface;
mod observe;
mod scratch;
mod supervisor;
mod sys;
