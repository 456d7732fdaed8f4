//! Final reports of ports and switches, in the common format of outcomes.

mod deadlock;
mod netstat;
mod ports;
mod tables;

pub use deadlock::deadlock;
pub use netstat::{InterfaceCounts, InterfaceRow, OnWires, switch_rows};
pub use ports::{Counted, PortRow, interface_summary, ports, switch_summaries};
pub use tables::{port_series, queue_depth};
