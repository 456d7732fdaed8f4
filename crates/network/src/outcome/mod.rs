//! Final reports of ports and switches, as outcomes have them.

mod deadlock;
mod netstat;
mod ports;
mod tables;

pub use deadlock::deadlock;
pub use netstat::{OnWires, switch_rows};
pub use ports::{Counted, interface_summary, ports, switch_summaries};
pub use tables::{port_series, queue_depth};
