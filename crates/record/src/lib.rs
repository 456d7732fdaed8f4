//! Observers: the records of a run. They make no decisions, and their memory is bounded.

mod depth;
mod digest;
mod latency;
mod log_linear;
pub mod pcapng;
mod series;
mod table;
mod traffic;

pub use depth::DepthHistogram;
pub use digest::Digest;
pub use latency::Latency;
pub use log_linear::LogLinear;
pub use series::Series;
pub use table::{Column, Table, collect_tables};
pub use traffic::{Tally, Traffic};
