//! Whether a frame may enter: the memory that all ports share, and the limit of each queue.

use crate::DropCause;

/// When a queue is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// At most this many bytes wait.
    Bytes(u64),
    /// At most this many frames wait.
    Frames(u32),
    /// At most alpha (in thousandths) times the free shared memory (Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998):
    /// with S saturated queues each gets alpha·B / (1 + alpha·S).
    Alpha(u32),
}

/// The part of the memory that nobody has reserved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    size_bytes: u64,
    used_bytes: u64,
}

impl Pool {
    pub(crate) fn new(size_bytes: u64) -> Pool {
        Pool { size_bytes, used_bytes: 0 }
    }
    /// Takes bytes out of the pool for somebody's reserve.
    pub(crate) fn reserve(&mut self, bytes: u64) {
        self.size_bytes = self.size_bytes.saturating_sub(bytes);
    }
    pub(crate) fn free_bytes(&self) -> u64 {
        self.size_bytes.saturating_sub(self.used_bytes)
    }
    /// A holder with this reserve went from one number of bytes to another.
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
    /// What no queue has reserved; as long as none has, it is the whole memory and not kept apart.
    unreserved: Option<Pool>,
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
    /// From here on the largest number is counted anew.
    pub(crate) fn begin_counting(&mut self) {
        self.used_max_bytes = self.used_bytes;
    }
    /// Sets bytes aside for one queue.
    pub(crate) fn reserve(&mut self, bytes: u64) {
        if bytes > 0 {
            self.unreserved.get_or_insert_with(|| Pool::new(self.size_bytes)).reserve(bytes);
        }
    }

    fn shared_free_bytes(&self) -> u64 {
        self.unreserved.as_ref().map_or_else(|| self.free_bytes(), Pool::free_bytes)
    }

    /// Whether so many bytes more would be more than ever. As long as they are not, they fit, and a port that was not asked for
    /// a while may still hold memory for frames that have left.
    #[inline]
    pub(crate) fn would_be_record(&self, bytes: u32) -> bool {
        self.used_bytes + u64::from(bytes) > self.used_max_bytes
    }

    /// Whether a frame fits a queue that holds this much, and if not, why.
    #[inline]
    pub(crate) fn admits(&self, room: &Room, depth_bytes: u64, depth_frames: usize, frame_bytes: u32) -> Result<(), DropCause> {
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
                let most = room.reserved_bytes + self.shared_free_bytes().saturating_mul(u64::from(milli)) / 1000;
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

    /// A queue with this reserve shrank by a frame.
    #[inline]
    pub(crate) fn give_back(&mut self, room: &Room, depth_before: u64, bytes: u32) {
        self.used_bytes = self.used_bytes.checked_sub(u64::from(bytes)).expect("only what was taken is given back");
        if let Some(pool) = &mut self.unreserved {
            pool.moved(room.reserved_bytes, depth_before, depth_before - u64::from(bytes));
        }
    }
}

/// What a queue may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Bytes that are always its own.
    pub reserved_bytes: u64,
    /// Where it ends.
    pub limit: Limit,
}
