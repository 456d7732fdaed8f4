//! Observers: what is kept of a run. Nothing here decides anything; everything here is bounded in memory.

mod depth;
mod digest;
mod latency;
mod series;
mod table;
mod traffic;

pub use depth::DepthHistogram;
pub use digest::Digest;
pub use latency::Latency;
pub use series::Series;
pub use table::{Column, Table};
pub use traffic::{Tally, Traffic};
