//! Admission: the memory shared by all ports, and the limit of each queue.

use crate::DropCause;

/// The limit of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// At most this many bytes wait.
    Bytes(u64),
    /// At most this many frames wait.
    Frames(u32),
    /// At most alpha (in thousandths) times the free shared memory (Choudhury and Hahne, IEEE/ACM
    /// ToN 6(2), 1998): with S saturated queues each gets alpha·B / (1 + alpha·S).
    Alpha(u32),
}

/// The memory that is not reserved for any queue or group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedPool {
    size_bytes: u64,
    used_bytes: u64,
}

impl SharedPool {
    pub(crate) fn new(size_bytes: u64) -> SharedPool {
        SharedPool { size_bytes, used_bytes: 0 }
    }
    /// Takes reserved bytes out of the pool.
    pub(crate) fn reserve(&mut self, bytes: u64) {
        self.size_bytes = self.size_bytes.saturating_sub(bytes);
    }
    pub(crate) fn free_bytes(&self) -> u64 {
        self.size_bytes.saturating_sub(self.used_bytes)
    }
    /// The bytes of a queue or group with this reserve have changed.
    #[inline]
    pub(crate) fn moved(&mut self, reserved: u64, before: u64, after: u64) {
        let (old, new) = (before.saturating_sub(reserved), after.saturating_sub(reserved));
        self.used_bytes = self.used_bytes + new - old;
    }
}

/// The packet memory of a switch.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    size_bytes: u64,
    used_bytes: u64,
    used_max_bytes: u64,
    /// The memory that no queue has reserved; without reserves it is the whole memory, and not
    /// tracked separately.
    unreserved: Option<SharedPool>,
}

impl SharedBuffer {
    /// An empty memory of this size.
    pub fn new(size_bytes: u64) -> SharedBuffer {
        SharedBuffer { size_bytes, used_bytes: 0, used_max_bytes: 0, unreserved: None }
    }
    /// Bytes that are free.
    pub fn free_bytes(&self) -> u64 {
        self.size_bytes - self.used_bytes
    }
    /// The whole memory.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
    /// The largest number of bytes that were in use.
    pub fn used_max_bytes(&self) -> u64 {
        self.used_max_bytes
    }
    /// Restarts the count of the largest number.
    pub(crate) fn begin_counting(&mut self) {
        self.used_max_bytes = self.used_bytes;
    }
    /// Reserves bytes for one queue.
    pub(crate) fn reserve(&mut self, bytes: u64) {
        if bytes > 0 {
            self.unreserved.get_or_insert_with(|| SharedPool::new(self.size_bytes)).reserve(bytes);
        }
    }

    fn shared_free_bytes(&self) -> u64 {
        self.unreserved.as_ref().map_or_else(|| self.free_bytes(), SharedPool::free_bytes)
    }

    /// Whether an additional number of bytes would exceed the largest use so far. If not, they fit,
    /// and ports that have not been settled recently may still hold memory for frames that have
    /// left.
    #[inline]
    pub(crate) fn would_be_record(&self, bytes: u32) -> bool {
        self.used_bytes + u64::from(bytes) > self.used_max_bytes
    }

    /// Whether a frame fits a queue that holds this much, and if not, why.
    #[inline]
    pub(crate) fn admits(
        &self,
        room: &Room,
        depth_bytes: u64,
        depth_frames: usize,
        frame_bytes: u32,
    ) -> Result<(), DropCause> {
        if self.used_bytes + u64::from(frame_bytes) > self.size_bytes {
            return Err(DropCause::BufferFull);
        }
        let after = depth_bytes + u64::from(frame_bytes);
        if after <= room.reserved_bytes {
            return Ok(());
        }
        let fits = match room.limit {
            Limit::Bytes(most) => after <= most,
            Limit::Frames(most) => depth_frames < most as usize,
            Limit::Alpha(milli) => {
                let most = room.reserved_bytes
                    + self.shared_free_bytes().saturating_mul(u64::from(milli)) / 1000;
                return if after <= most { Ok(()) } else { Err(DropCause::BufferFull) };
            }
        };
        if fits { Ok(()) } else { Err(DropCause::TailDrop) }
    }

    /// A queue with this reserve grew by a frame.
    #[inline]
    pub(crate) fn take(&mut self, room: &Room, depth_before: u64, bytes: u32) {
        self.used_bytes += u64::from(bytes);
        self.used_max_bytes = self.used_max_bytes.max(self.used_bytes);
        if let Some(pool) = &mut self.unreserved {
            pool.moved(room.reserved_bytes, depth_before, depth_before + u64::from(bytes));
        }
        debug_assert!(self.used_bytes <= self.size_bytes, "the buffer never exceeds its size");
    }

    /// A queue with this reserve shrank.
    #[inline]
    pub(crate) fn give_back(&mut self, room: &Room, depth_before: u64, bytes: u64) {
        self.used_bytes =
            self.used_bytes.checked_sub(bytes).expect("only what was taken is given back");
        if let Some(pool) = &mut self.unreserved {
            pool.moved(room.reserved_bytes, depth_before, depth_before - bytes);
        }
    }
}

/// The bytes that a queue may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Guaranteed bytes.
    pub reserved_bytes: u64,
    /// The limit.
    pub limit: Limit,
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: u32 = 1_000;

    /// Frames that a queue takes until it is full, beginning with `depth` of them, and why it takes
    /// no more.
    fn fill(buffer: &mut SharedBuffer, room: &Room, depth: u64) -> (u64, DropCause) {
        for frames in depth.. {
            let bytes = frames * u64::from(FRAME);
            if let Err(cause) = buffer.admits(room, bytes, frames as usize, FRAME) {
                return (frames, cause);
            }
            buffer.take(room, bytes, FRAME);
        }
        unreachable!("every room ends")
    }
    fn drain(buffer: &mut SharedBuffer, room: &Room, depth: u64) {
        (1..=depth)
            .rev()
            .for_each(|frames| buffer.give_back(room, frames * u64::from(FRAME), u64::from(FRAME)));
    }

    /// 100 frames, of which 40 are one queue's own.
    fn reserving() -> (SharedBuffer, Room, Room) {
        let mut buffer = SharedBuffer::new(100_000);
        buffer.reserve(40_000);
        let owner = Room { reserved_bytes: 40_000, limit: Limit::Alpha(1) };
        (buffer, owner, Room { reserved_bytes: 0, limit: Limit::Alpha(1_000) })
    }

    #[test]
    fn alpha_shares_unreserved_memory() {
        let (mut buffer, owner, other) = reserving();
        assert_eq!(fill(&mut buffer, &other, 0), (30, DropCause::BufferFull)); // half of 60
        // The owner has its own, however little is shared; using it takes nothing from the others.
        assert_eq!(fill(&mut buffer, &owner, 0), (40, DropCause::BufferFull));
        drain(&mut buffer, &other, 30);
        assert_eq!(fill(&mut buffer, &other, 0).0, 30);
    }

    #[test]
    fn what_leaves_is_free_again() {
        let (mut buffer, owner, other) = reserving();
        for _ in 0..3 {
            let generous = Room { limit: Limit::Alpha(4_000), ..owner };
            let held = fill(&mut buffer, &generous, 0).0;
            assert_eq!(held, 88); // 40 and four fifths of 60
            drain(&mut buffer, &generous, held);
            let held = fill(&mut buffer, &other, 0).0;
            assert_eq!(held, 30);
            drain(&mut buffer, &other, held);
            assert_eq!(buffer.free_bytes(), 100_000);
        }
    }

    #[test]
    fn limits_are_reached_and_not_passed() {
        let room = |limit| Room { reserved_bytes: 0, limit };
        let full = |limit| fill(&mut SharedBuffer::new(100_000), &room(limit), 0);
        assert_eq!(full(Limit::Frames(7)), (7, DropCause::TailDrop));
        assert_eq!(full(Limit::Bytes(7_999)), (7, DropCause::TailDrop));
        assert_eq!(full(Limit::Bytes(8_000)), (8, DropCause::TailDrop));
        assert_eq!(full(Limit::Bytes(1 << 40)), (100, DropCause::BufferFull));
        // A reserve counts even where the limit lies below it.
        let (mut buffer, owner, _) = reserving();
        assert_eq!(
            fill(&mut buffer, &Room { limit: Limit::Bytes(5_000), ..owner }, 0),
            (40, DropCause::TailDrop)
        );
    }
}
