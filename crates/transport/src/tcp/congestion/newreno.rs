//! NewReno: one segment per window, half the window at a loss (RFC 5681).

/// Acknowledged segments for one segment of growth.
#[inline]
pub(super) fn acks_per_segment(cwnd: u32) -> u32 {
    cwnd
}

/// The threshold after a loss.
pub(super) fn threshold(cwnd: u32) -> u32 {
    cwnd / 2
}
