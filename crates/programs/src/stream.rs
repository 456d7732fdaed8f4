//! Bulk transfer: one side sends a number of bytes, the other counts them.

use super::SocketCalls;
use tailrace_units::{Span, Time};

const BITS_PER_BYTE: u128 = 8;
const PS_PER_S: u128 = 1_000_000_000_000;
/// A number of bytes that never ends within a run (4 exabytes), and still leaves room for stream
/// offsets.
const ENDLESS_BYTES: u64 = 1 << 62;

/// How fast a program offers its bytes: a write of `write_bytes` as soon as the mean rate of its
/// writes since it connected has fallen to the configured rate, as load generators do with a bit
/// rate. The first write comes at once. Bytes that TCP cannot send wait in the socket, and go as
/// fast as TCP allows when it can: the mean is kept, not the gaps.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Of all the connections together.
    pub rate_bps: u64,
    /// Each has an equal part of the rate.
    pub connections: u64,
    /// Bytes of one write.
    pub write_bytes: u64,
}

impl Offer {
    /// From the first write to the one after this many, rounded up.
    fn time_of(&self, writes: u64) -> Span {
        let bits = u128::from(writes)
            * u128::from(self.write_bytes)
            * BITS_PER_BYTE
            * u128::from(self.connections);
        let ps = (bits * PS_PER_S).div_ceil(u128::from(self.rate_bps));
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// Connects at a time and sends.
#[derive(Debug)]
pub struct StreamSource {
    /// When it connects, then when it writes next.
    deadline: Time,
    /// Not yet written.
    bytes: u64,
    /// Where it keeps to a rate.
    paced: Option<Box<Paced>>,
}

/// Where a program that keeps to a rate has come to.
#[derive(Debug)]
struct Paced {
    offer: Offer,
    /// The first write.
    since: Time,
    writes: u64,
}

/// Counts arriving bytes.
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
        StreamSource {
            deadline: start,
            bytes: if bytes == 0 { ENDLESS_BYTES } else { bytes },
            paced: None,
        }
    }
    /// The same, no faster than `offer` says.
    pub fn paced(start: Time, bytes: u64, offer: Offer) -> StreamSource {
        let paced = Paced { offer, since: Time::NEVER, writes: 0 };
        StreamSource { paced: Some(Box::new(paced)), ..StreamSource::new(start, bytes) }
    }
    pub(super) fn poll_timeout(&self) -> Time {
        self.deadline
    }
    pub(super) fn handle_timeout(&mut self, now: Time, calls: &mut impl SocketCalls) {
        if now < self.deadline {
            return;
        }
        self.deadline = Time::NEVER;
        match &self.paced {
            Some(paced) if !paced.since.is_never() => self.write_due(now, calls),
            _ => calls.connect(),
        }
    }
    pub(super) fn handle_connected(&mut self, now: Time, calls: &mut impl SocketCalls) {
        match &mut self.paced {
            None => calls.write(self.bytes),
            Some(paced) => {
                paced.since = now;
                self.write_due(now, calls);
            }
        }
    }
    /// Writes the bytes that are due by now, and returns when the next are.
    fn write_due(&mut self, now: Time, calls: &mut impl SocketCalls) {
        let Some(paced) = &mut self.paced else { return };
        while self.bytes > 0 {
            let due = paced.since + paced.offer.time_of(paced.writes);
            if due > now {
                self.deadline = due;
                return;
            }
            let piece = paced.offer.write_bytes.min(self.bytes);
            calls.write(piece);
            self.bytes -= piece;
            paced.writes += 1;
        }
    }
}

impl StreamSink {
    /// Expects `bytes` (0: without end). The flow counts as started at `start`.
    pub fn new(user: u32, start: Time, bytes: u64) -> StreamSink {
        let is_finite = bytes > 0;
        StreamSink {
            user,
            start,
            missing: if is_finite { bytes } else { ENDLESS_BYTES },
            is_finite,
        }
    }
    /// A transfer without end is not one that ends later.
    pub(super) fn running(&self, now: Time, mut tell: impl FnMut(u32, Time)) {
        if self.is_finite && self.missing > 0 && self.start <= now {
            tell(self.user, self.start);
        }
    }
    /// Bytes that are still to come.
    pub fn missing(&self) -> u64 {
        self.missing
    }
    pub(super) fn handle_readable(&mut self, bytes: u64, calls: &mut impl SocketCalls) {
        self.missing -= bytes;
        if self.missing == 0 {
            calls.completed(self.user, self.start);
            calls.finished(self.user);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkCalls;

    /// Counts the bytes that a program writes.
    #[derive(Default)]
    struct Written(Vec<u64>);

    impl SocketCalls for Written {
        fn connect(&mut self) {}
        fn write(&mut self, bytes: u64) {
            self.0.push(bytes);
        }
        fn leave_unread(&mut self) {}
        fn read(&mut self, _: u64) {}
        fn ask_core(&mut self) -> bool {
            true
        }
    }

    impl WorkCalls for Written {
        fn compute(&mut self, _: Span) -> Time {
            Time::NEVER
        }
        fn keeps_core(&mut self, _: Span) -> bool {
            true
        }
        fn leave_core(&mut self) {}
        fn completed(&mut self, _: u32, _: Time) {}
        fn finished(&mut self, _: u32) {}
    }

    #[test]
    fn a_paced_source_writes_at_once_and_then_at_its_part_of_the_rate() {
        // 8 Gbit/s over two connections: 1000 bytes of each take 2 us.
        let offer = Offer { rate_bps: 8_000_000_000, connections: 2, write_bytes: 1_000 };
        let mut source = StreamSource::paced(Time::from_ps(5), 2_500, offer);
        let mut written = Written::default();
        source.handle_timeout(source.poll_timeout(), &mut written);
        assert!(
            source.poll_timeout().is_never() && written.0.is_empty(),
            "it waits for its connection"
        );
        let connected = Time::from_ps(700);
        source.handle_connected(connected, &mut written);
        let mut due = Vec::new();
        while !source.poll_timeout().is_never() {
            due.push(source.poll_timeout().since(connected));
            source.handle_timeout(source.poll_timeout(), &mut written);
        }
        assert_eq!(
            (due, written.0),
            (vec![Span::from_us(2), Span::from_us(4)], vec![1_000, 1_000, 500])
        );
    }

    #[test]
    fn a_source_that_was_held_up_makes_up_for_it() {
        let offer = Offer { rate_bps: 8_000_000_000, connections: 1, write_bytes: 1_000 };
        let mut source = StreamSource::paced(Time::ZERO, 0, offer);
        let mut written = Written::default();
        source.handle_timeout(Time::ZERO, &mut written);
        source.handle_connected(Time::ZERO, &mut written);
        source.handle_timeout(Time::ZERO + Span::from_us(10), &mut written);
        assert_eq!(written.0.len(), 11);
        assert_eq!(source.poll_timeout(), Time::ZERO + Span::from_us(11));
    }
}
