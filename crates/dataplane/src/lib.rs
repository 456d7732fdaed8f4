//! The switch: a state machine that is handed frames and the time, and hands back frames and the time they leave.
//!
//! It knows no clock, socket, thread or engine. The simulator drives it with virtual time, the fabric with real time.
//! Modules stand in the order in which a frame meets them.
//!
//! Decisions are made at the moment they are due, however late the call: a port that should have sent three frames by
//! `now` sends them at their own times when it is next asked. So an engine may call late, and the simulator calls only
//! when something depends on the answer.

mod frame;
mod outside;

mod forwarding;

mod admit;
mod aqm;
mod dpp;
mod queue;
mod schedule;

mod counters;
mod port;
mod switch;

pub use admit::{Limit, SharedBuffer};
pub use aqm::{Aqm, Codel, Red, Step};
pub use counters::{DppCounters, DropCause, QueueCounters};
pub use dpp::{DppPolicy, DppReset, WhenFull};
pub use forwarding::Forwarding;
pub use frame::Frame;
pub use outside::{Outside, PortNo, QueueNo};
pub use port::{PortPolicy, QueuePolicy};
pub use schedule::Service;
pub use switch::Switch;
