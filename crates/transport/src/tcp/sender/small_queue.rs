//! TCP small queues: how much of one connection waits in the NIC, known from the departure times
//! that the NIC returned.

use crate::tcp::config::SmallQueueBound;
use tailrace_units::{Span, Time};

/// Parts in which the departures are remembered: room is noticed in quarters of the limit, half a
/// burst.
const PARTS: usize = 4;

/// No connection keeps more in the NIC, whatever its pace (Linux 6.1 `tcp_limit_output_bytes`; 4
/// MiB in 6.18).
const BYTES_MAX: u32 = 1 << 20;

/// Bytes handed to the NIC and not departed, in up to four parts of growing departure time.
pub(crate) struct SmallQueue {
    departs: [Time; PARTS],
    part_bytes: [u32; PARTS],
    span_ns: u32,
    bound: SmallQueueBound,
    /// Picoseconds per 1024 bytes on the line, learnt from frames that depart one after the other;
    /// the maximum before.
    line_pace: u32,
    /// Bytes that the line sends in `span`.
    line_bytes: u32,
    bytes: u32,
    /// Bytes of a part: a burst, or a quarter of the bytes that may wait.
    part: u32,
    /// The part that was begun last, and how many there are.
    newest: u8,
    len: u8,
    is_part_ended: bool,
}

impl SmallQueue {
    /// A queue of which `span` at the line's rate is the most that anyone may use, unless pace
    /// alone bounds it.
    pub(crate) fn new(span: Span, bound: SmallQueueBound) -> SmallQueue {
        SmallQueue {
            departs: [Time::ZERO; PARTS],
            part_bytes: [0; PARTS],
            span_ns: u32::try_from(span.ps() / 1000).unwrap_or(u32::MAX),
            bound,
            line_pace: u32::MAX,
            line_bytes: BYTES_MAX,
            bytes: 0,
            part: 0,
            newest: 0,
            len: 0,
            is_part_ended: false,
        }
    }

    /// The span within which frames should depart; zero for no limit.
    #[inline]
    pub(crate) fn span(&self) -> Span {
        Span::from_ns(self.span_ns.into())
    }

    /// Bytes that the line sends in that span, and never more than 1 MiB.
    #[inline]
    pub(crate) fn line_bytes(&self) -> u32 {
        self.line_bytes
    }

    /// When everything will have departed, or has.
    #[inline]
    fn last(&self) -> Time {
        self.departs[self.newest as usize % PARTS]
    }

    /// Index of the oldest part, if there is one.
    fn first(&self) -> usize {
        (self.newest + 1).wrapping_sub(self.len) as usize % PARTS
    }

    #[inline]
    fn learn_pace(&mut self, now: Time, departs: Time, bytes: u32) {
        let last = self.last();
        if last <= now {
            return; // the line was idle
        }
        let spent = departs.since(last).ps() << 10;
        if spent < u64::from(self.line_pace) * u64::from(bytes) {
            self.line_pace = ((spent / u64::from(bytes)) as u32).max(1);
            let bytes = (self.span().ps() / u64::from(self.line_pace)).saturating_mul(1024);
            self.line_bytes = bytes.min(u64::from(BYTES_MAX)) as u32;
        }
    }

    /// `bytes` will have departed at `departs`. Parts are about a burst or a quarter of the limit
    /// large, or end with a write.
    #[inline]
    pub(crate) fn add(&mut self, now: Time, departs: Time, bytes: u32) {
        if self.bound == SmallQueueBound::Line {
            self.learn_pace(now, departs, bytes);
        }
        self.bytes += bytes;
        let index = self.newest as usize % PARTS;
        let is_joined = self.len > 0
            && (self.len as usize == PARTS
                || (self.part_bytes[index] < self.part && !self.is_part_ended));
        if is_joined {
            self.part_bytes[index] += bytes;
            self.departs[index] = departs;
            return;
        }
        self.is_part_ended = false;
        let index = (self.newest + 1) as usize % PARTS;
        self.departs[index] = departs;
        self.part_bytes[index] = bytes;
        self.newest = index as u8;
        self.len += 1;
    }

    fn forget_departed(&mut self, now: Time) {
        while self.len > 0 && self.departs[self.first()] <= now {
            self.bytes -= self.part_bytes[self.first()];
            self.len -= 1;
        }
    }

    /// Bytes that wait, to a part.
    pub(crate) fn waiting(&mut self, now: Time) -> u64 {
        self.forget_departed(now);
        u64::from(self.bytes)
    }

    /// When the oldest part will have departed. Only meaningful while something waits.
    pub(crate) fn first_departure(&self) -> Time {
        self.departs[self.first()]
    }

    /// Later bytes belong to another part, if there is one.
    pub(crate) fn end_part(&mut self) {
        self.is_part_ended = true;
    }

    /// Whether two bursts of `bytes` may be waiting, before one more is added.
    #[inline]
    pub(crate) fn has_two(&mut self, bytes: u32) -> bool {
        self.part = bytes;
        self.bytes > 2 * bytes
    }

    /// Whether everything has departed, which is then forgotten.
    #[inline]
    pub(crate) fn has_drained(&mut self, now: Time) -> bool {
        let has_drained = self.last() <= now;
        if has_drained {
            (self.bytes, self.len) = (0, 0);
        }
        has_drained
    }

    /// Whether more than `limit` bytes wait.
    #[inline]
    pub(crate) fn is_full(&mut self, now: Time, limit: u32) -> bool {
        self.part = self.part.max(limit / PARTS as u32);
        if self.bytes <= limit {
            return false;
        }
        self.forget_departed(now);
        self.bytes > limit
    }

    /// Whether anything waits.
    pub(crate) fn is_waiting(&self, now: Time) -> bool {
        self.last() > now
    }

    /// When no more than `limit` bytes will wait. Only meaningful while the queue is full.
    pub(crate) fn room_at(&self, limit: u32) -> Time {
        let mut left = self.bytes;
        for i in 0..self.len {
            let index = (self.first() + i as usize) % PARTS;
            left -= self.part_bytes[index];
            if left <= limit {
                return self.departs[index];
            }
        }
        Time::NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_full_above_the_limit_and_has_room_when_enough_has_departed() {
        let mut queue = SmallQueue::new(Span::from_ns(1024), SmallQueueBound::Line);
        assert!(!queue.is_full(Time::ZERO, 16_000));
        for i in 1..=40_u64 {
            queue.add(Time::ZERO, Time::from_ns(i * 100), 1000);
        }
        assert!(queue.is_full(Time::ZERO, 16_000));
        let room = queue.room_at(16_000);
        assert!(room >= Time::from_ns(2400) && room <= Time::from_ns(4000), "{room:?}");
        assert!(queue.is_full(Time::from_ps(room.ps() - 1), 16_000));
        assert!(!queue.is_full(room, 16_000));
        assert!(!queue.is_waiting(Time::from_ns(4000)));
        assert_eq!(queue.line_bytes(), 10 * 1024, "ten bytes per nanosecond");
    }
}
