//! Statistics of arrivals: each number once, in which order, and how late.

use super::frame::marks;
use hdrhistogram::Histogram;
use std::io;

/// Delays are kept to within 0.1 %.
const SIGNIFICANT_DIGITS: u8 = 3;
/// Longer delays count as this long: RFC 2544 waits two seconds for a frame.
const DELAY_NS_MAX: u64 = 10_000_000_000;
const BITS: u64 = u64::BITS as u64;

/// Frames of one trial that have arrived.
#[derive(Debug)]
pub(crate) struct Tally {
    trial: u16,
    seen: Vec<u64>,
    /// Of frames that came in order, the number that would be next (RFC 4737 section 3.3).
    next: u64,
    /// Different frames.
    pub(super) received: u64,
    pub(super) duplicates: u64,
    /// RFC 4737: their number is below that of a frame that came before.
    pub(super) reordered: u64,
    /// Frames of others, and of other trials.
    pub(super) foreign: u64,
    pub(super) delays_ns: Histogram<u64>,
}

impl Tally {
    /// Of so many frames.
    pub(super) fn new(trial: u16, frames: u64) -> io::Result<Tally> {
        let delays_ns =
            Histogram::new_with_max(DELAY_NS_MAX, SIGNIFICANT_DIGITS).map_err(io::Error::other)?;
        let seen = vec![0; frames.div_ceil(BITS) as usize];
        Ok(Tally {
            trial,
            seen,
            next: 0,
            received: 0,
            duplicates: 0,
            reordered: 0,
            foreign: 0,
            delays_ns,
        })
    }

    /// A frame has arrived.
    #[inline]
    pub(super) fn take(&mut self, bytes: &[u8], arrived_ns: u64) {
        let Some(marks) = marks(bytes).filter(|marks| marks.trial == self.trial) else {
            self.foreign += 1;
            return;
        };
        let bit = 1 << (marks.number % BITS);
        let Some(word) = self.seen.get_mut((marks.number / BITS) as usize) else {
            self.foreign += 1;
            return;
        };
        if *word & bit != 0 {
            self.duplicates += 1;
            return;
        }
        *word |= bit;
        self.received += 1;
        if marks.number < self.next {
            self.reordered += 1;
        } else {
            self.next = marks.number + 1;
        }
        self.delays_ns.saturating_record(arrived_ns.saturating_sub(marks.sent_ns));
    }
}
