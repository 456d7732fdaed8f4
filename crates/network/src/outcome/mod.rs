//! Final reports of ports and switches, in the common format of outcomes.

mod deadlock;
mod netstat;
mod ports;
mod tables;

pub use deadlock::deadlock;
pub use netstat::{InterfaceCounts, OnWires, interface_row, switch_rows};
pub use ports::{Counted, interface_summary, ports, switch_summaries};
pub use tables::{port_series, queue_depth};
