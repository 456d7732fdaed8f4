//! Quantities: time in integer picoseconds, bytes, bit rates, probabilities, and random streams
//! that are addressed by name.
//!
//! No clock and no operating-system randomness: everything here is a pure function of its
//! arguments, and gives the same result on every machine (logarithms come from the `libm` crate,
//! not from the system's library).

mod distribution;
mod prefetch;
mod random;
mod rate;
mod time;
mod zipf;

pub use distribution::{Distribution, DistributionError};
pub use prefetch::{prefetch, prefetch_all};
pub use random::{Probability, RandomStream, mix64};
pub use rate::{BitRate, Pace};
pub use time::{Span, Time};
pub use zipf::Zipf;
