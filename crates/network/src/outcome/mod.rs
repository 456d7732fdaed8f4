//! Final reports of ports and switches, in the common format of outcomes.

mod deadlock;
mod ports;
mod tables;

pub use deadlock::deadlock;
pub use ports::{Counted, interface_summary, ports, switch_summaries};
pub use tables::{port_series, queue_depth};
