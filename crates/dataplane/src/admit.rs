//! Whether a frame may enter: the memory that all ports share, and the limit of each queue.

use crate::DropCause;

/// When a queue is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// At most this many bytes wait.
    Bytes(u64),
    /// At most this many frames wait.
    Frames(u32),
    /// At most alpha (in thousandths) times the free memory (Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998):
    /// with S saturated queues each gets alpha·B / (1 + alpha·S).
    Alpha(u32),
}

/// The packet memory of a switch.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    size_bytes: u64,
    used_bytes: u64,
    used_max_bytes: u64,
}

impl SharedBuffer {
    /// An empty memory of this size.
    pub fn new(size_bytes: u64) -> SharedBuffer {
        SharedBuffer { size_bytes, used_bytes: 0, used_max_bytes: 0 }
    }
    /// Bytes that are free.
    pub fn free_bytes(&self) -> u64 {
        self.size_bytes - self.used_bytes
    }
    /// The largest number of bytes that were in use.
    pub fn used_max_bytes(&self) -> u64 {
        self.used_max_bytes
    }

    /// Whether so many bytes more would be more than ever. As long as they are not, they fit, and a port that was not asked for
    /// a while may still hold memory for frames that have left.
    #[inline]
    pub(crate) fn would_be_record(&self, bytes: u32) -> bool {
        self.used_bytes + u64::from(bytes) > self.used_max_bytes
    }

    /// Whether a frame fits a queue that holds this much, and if not, why.
    #[inline]
    pub(crate) fn admits(&self, limit: Limit, depth_bytes: u64, depth_frames: usize, frame_bytes: u32) -> Result<(), DropCause> {
        let after = depth_bytes + u64::from(frame_bytes);
        let within = match limit {
            Limit::Bytes(most) => after <= most,
            Limit::Frames(most) => depth_frames < most as usize,
            Limit::Alpha(milli) => {
                if after > self.free_bytes().saturating_mul(u64::from(milli)) / 1000 {
                    return Err(DropCause::BufferFull);
                }
                true
            }
        };
        if !within {
            Err(DropCause::TailDrop)
        } else if self.used_bytes + u64::from(frame_bytes) > self.size_bytes {
            Err(DropCause::BufferFull)
        } else {
            Ok(())
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, bytes: u32) {
        self.used_bytes += u64::from(bytes);
        self.used_max_bytes = self.used_max_bytes.max(self.used_bytes);
        debug_assert!(self.used_bytes <= self.size_bytes, "the buffer never exceeds its size");
    }

    #[inline]
    pub(crate) fn give_back(&mut self, bytes: u32) {
        self.used_bytes = self.used_bytes.checked_sub(u64::from(bytes)).expect("only what was taken is given back");
    }
}
