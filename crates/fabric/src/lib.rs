//! The live fabric: the plan's network for real programs. One network namespace for each host, one
//! switch program that executes the simulator's data plane by the clock, and nothing left behind.
//!
//! A frame's way: a program in its host → the host's TCP → `sys::tap` → `frame` → `plane` (edge,
//! network, links) → the TAP of another host. Processes: `guardian` → `lab` → programs, with an
//! `undertaker` beside them.

pub mod capture;
pub mod cgroup;
pub mod client;
pub mod clock;
pub mod commands;
pub mod frame;
pub mod lab;
pub mod log;
pub mod netlink;
pub mod plane;
pub mod replay;
pub mod vlans;

mod blast;
mod delays;
mod effect;
mod failure;
mod generator;
mod guardian;
mod interface_counters;
mod lateness;
mod limits;
mod machine;
pub mod measured_plan;
mod observe;
pub mod options;
mod pcapng;
mod place;
mod scratch;
mod sys;
mod undertaker;

pub use tailrace_network::address;
