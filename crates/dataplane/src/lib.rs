//! The switch: a state machine that receives frames with the time, and returns frames with the
//! times at which they leave.
//!
//! It knows no clock, socket, thread or engine. The simulator drives it with virtual time, the
//! fabric with real time. Modules are listed in the order in which a frame passes them.
//!
//! Decisions are made at the moment they are due, however late the call: a port that should have
//! sent three frames by `now` sends them at their own times when it is next asked. So an engine may
//! call late, and the simulator calls only when something depends on the answer.

mod frame;
mod outputs;
mod progress;

mod classify;
mod forwarding;
mod line;
mod mtu;
mod vlans;

mod policer;

mod admit;
mod ingress;

mod aqm;
mod dpp;
mod etrap;
mod flow_tag;
mod periods;
mod qcn;
mod queue;

mod schedule;
mod shaper;

mod counters;
mod port;
mod switch;

pub use admit::{Limit, Room, SharedBuffer};
pub use aqm::*;
pub use classify::{Classifier, FlowMatch, Match};
pub use counters::{DppCounters, DropCause, Dropped, Drops, QueueCounters, SILENCES, TrapCounters};
pub use dpp::{DppPolicy, DppReset, WhenFull};
pub use etrap::EtrapPolicy;
pub use forwarding::Forwarding;
pub use frame::Frame;
pub use ingress::{
    GroupCounters, GroupPolicy, Lossless, PausePolicy, REFRESH_WIRE_BYTES_MIN, headroom_bytes,
};
pub use line::LineLoss;
pub use mtu::MtuDrops;
pub use outputs::{Outputs, PortNo, QueueNo};
pub use policer::Policer;
pub use port::{PortPolicy, QueuePolicy, Watchdog};
pub use qcn::{CongestionPoint, Notification, QcnPolicy};
pub use schedule::{Scheduler, Service};
pub use shaper::Shaper;
pub use switch::Switch;
pub use vlans::Vlans;
