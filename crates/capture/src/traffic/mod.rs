//! Statistics of all frames: sizes, rates, classes, protocols, and concurrent senders and
//! operations.

mod classes;
mod concurrency;
mod hosts;
mod incast;
mod interval;
mod protocols;
mod rates;
mod series;
mod sizes;

pub use classes::{Classes, ClassesSummary};
pub use concurrency::{Concurrency, ConcurrencySummary};
pub use hosts::{BusiestSummary, Hosts};
pub use incast::{INTERVAL_NS as INCAST_INTERVAL_NS, Incast};
pub use protocols::{Protocols, ProtocolsSummary};
pub use rates::{Rates, RatesSummary};
pub use sizes::{FrameSizes, FrameSizesSummary};

use serde::Serialize;

/// Frames and their length on the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Frames.
    pub frames: u64,
    /// Their length.
    pub frame_bytes: u64,
}

impl Count {
    /// Counts a frame.
    #[inline]
    pub fn add(&mut self, frame_bytes: u32) {
        self.frames += 1;
        self.frame_bytes += u64::from(frame_bytes);
    }
}
