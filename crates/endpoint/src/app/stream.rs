//! Bulk transfer: one side sends a number of bytes, the other counts them.

use super::Desk;
use tailrace_units::Time;

/// So many bytes never end within a run (4 exabytes), and still leave room for stream offsets.
const ENDLESS_BYTES: u64 = 1 << 62;

/// Connects at a time and sends.
#[derive(Debug)]
pub struct StreamSource {
    start: Time,
    bytes: u64,
}

/// Counts what arrives.
#[derive(Debug)]
pub struct StreamSink {
    user: u32,
    start: Time,
    missing: u64,
    is_finite: bool,
}

impl StreamSource {
    /// Sends `bytes` (0: without end) from `start` on.
    pub fn new(start: Time, bytes: u64) -> StreamSource {
        StreamSource { start, bytes: if bytes == 0 { ENDLESS_BYTES } else { bytes } }
    }
    pub(super) fn poll_timeout(&self) -> Time {
        self.start
    }
    pub(super) fn handle_timeout(&mut self, now: Time, desk: &mut impl Desk) {
        if now >= self.start {
            self.start = Time::NEVER;
            desk.connect();
        }
    }
    pub(super) fn handle_connected(&mut self, desk: &mut impl Desk) {
        desk.write(self.bytes);
    }
}

impl StreamSink {
    /// Expects `bytes` (0: without end). The flow counts as started at `start`.
    pub fn new(user: u32, start: Time, bytes: u64) -> StreamSink {
        let is_finite = bytes > 0;
        StreamSink { user, start, missing: if is_finite { bytes } else { ENDLESS_BYTES }, is_finite }
    }
    /// A transfer without end is not one that ends later.
    pub(super) fn running(&self, now: Time, mut tell: impl FnMut(u32, Time)) {
        if self.is_finite && self.missing > 0 && self.start <= now {
            tell(self.user, self.start);
        }
    }
    pub(super) fn handle_readable(&mut self, bytes: u64, desk: &mut impl Desk) {
        self.missing -= bytes;
        if self.missing == 0 {
            desk.completed(self.user, self.start);
            desk.finished(self.user);
        }
    }
}
