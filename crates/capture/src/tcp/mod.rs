//! TCP as a capture shows it: the kind of each segment, and the times between segments and their
//! acknowledgements.

mod connection;
mod judge;
mod side;
mod totals;

pub use connection::{Connection, Seen};
pub use totals::{ConnectionCounts, TcpSummary, TcpTotals};

/// Is `a` behind `b` in sequence space (RFC 9293 section 3.4)?
#[inline]
pub(crate) fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}
