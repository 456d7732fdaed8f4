//! What ports and switches report at the end, in the shape that every engine's outcome has.

mod deadlock;
mod ports;
mod tables;

pub use deadlock::deadlock;
pub use ports::{Counted, interface_summary, ports, switch_summaries};
pub use tables::{port_series, queue_depth};
