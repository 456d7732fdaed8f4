//! TCP small queues: how much of one connection waits in the NIC, known from the departure times that the NIC returned.

use tailrace_units::Time;

/// Parts in which the departures are remembered: the limit is kept to an eighth.
const PARTS: usize = 8;

#[derive(Clone, Copy, Default)]
struct Part {
    departs: Time,
    bytes: u64,
}

/// Bytes handed to the NIC and not departed, in up to eight parts of growing departure time.
#[derive(Default)]
pub(super) struct SmallQueue {
    bytes: u64,
    parts: [Part; PARTS],
    first: u8,
    len: u8,
}

impl SmallQueue {
    /// `bytes` will have departed at `departs`.
    #[inline]
    pub(super) fn add(&mut self, departs: Time, bytes: u64, limit: u64) {
        self.bytes += bytes;
        if self.len > 0 {
            let last = (self.first + self.len - 1) as usize % PARTS;
            let part = &mut self.parts[last];
            if self.len as usize == PARTS || part.bytes < limit / PARTS as u64 {
                part.bytes += bytes;
                part.departs = departs;
                return;
            }
        }
        self.parts[(self.first + self.len) as usize % PARTS] = Part { departs, bytes };
        self.len += 1;
    }

    fn forget_departed(&mut self, now: Time) {
        while self.len > 0 && self.parts[self.first as usize].departs <= now {
            self.bytes -= self.parts[self.first as usize].bytes;
            self.first = (self.first + 1) % PARTS as u8;
            self.len -= 1;
        }
    }

    /// Whether more than `limit` bytes wait.
    #[inline]
    pub(super) fn is_full(&mut self, now: Time, limit: u64) -> bool {
        if self.bytes <= limit {
            return false;
        }
        self.forget_departed(now);
        self.bytes > limit
    }

    /// Whether anything waits.
    pub(super) fn is_waiting(&mut self, now: Time) -> bool {
        self.forget_departed(now);
        self.len > 0
    }

    /// When no more than `limit` bytes will wait. Only meaningful while the queue is full.
    pub(super) fn room_at(&self, limit: u64) -> Time {
        let mut left = self.bytes;
        for i in 0..self.len {
            let part = self.parts[(self.first + i) as usize % PARTS];
            left -= part.bytes;
            if left <= limit {
                return part.departs;
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
        let mut queue = SmallQueue::default();
        for i in 1..=40_u64 {
            queue.add(Time::from_ps(i * 100), 1000, 16_000);
        }
        assert!(queue.is_full(Time::ZERO, 16_000));
        let room = queue.room_at(16_000);
        assert!(room >= Time::from_ps(2400) && room <= Time::from_ps(4000), "{room:?}");
        assert!(queue.is_full(Time::from_ps(room.ps() - 1), 16_000));
        assert!(!queue.is_full(room, 16_000));
        assert!(!queue.is_waiting(Time::from_ps(4000)));
    }
}
