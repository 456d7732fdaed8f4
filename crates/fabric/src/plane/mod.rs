//! The data plane of a lab: switches and links that are driven by the clock.
//!
//! [`network`] is a function of its inputs and their times, and knows no clock: live and in a
//! replay the same events happen at the same times. `run` is the thread that reads hosts, lets time
//! pass, and writes to hosts.

pub mod handle;
pub mod question;

mod bridged;
mod edge;
mod fidelity;
mod host_port;
mod run;
mod wait;

pub(crate) use wait::TICK;
