//! Memory for the bytes of frames: slots of one size, reused, the latest first, so that the
//! processor's cache holds them.

/// Slots that come into being together when none is free.
const SLOTS_PER_CHUNK: usize = 256;
/// Most slots: a million frames on their way. Beyond it hosts are not read, and wait.
const SLOTS_MAX: usize = 1 << 20;

/// Where the bytes of a frame are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(u32);

/// All slots.
#[derive(Debug)]
pub struct Pool {
    chunks: Vec<Box<[u8]>>,
    slot_bytes: usize,
    free: Vec<Slot>,
}

impl Pool {
    /// Slots for frames of up to so many bytes; the first chunk is there from the start.
    pub fn new(slot_bytes: usize) -> Pool {
        let mut pool = Pool { chunks: Vec::new(), slot_bytes, free: Vec::new() };
        pool.grow();
        pool
    }

    /// A free slot, if there is one.
    #[inline]
    pub fn take(&mut self) -> Option<Slot> {
        if self.free.is_empty() {
            self.grow();
        }
        self.free.pop()
    }

    /// The slot is free again.
    #[inline]
    pub fn give_back(&mut self, slot: Slot) {
        debug_assert!(!self.free.contains(&slot), "a slot is given back once");
        self.free.push(slot);
    }

    /// The memory of a slot.
    #[inline]
    pub fn bytes_mut(&mut self, slot: Slot) -> &mut [u8] {
        let (chunk, start) = self.location(slot);
        &mut self.chunks[chunk][start..start + self.slot_bytes]
    }

    /// Slots that hold a frame.
    pub fn used(&self) -> usize {
        self.chunks.len() * SLOTS_PER_CHUNK - self.free.len()
    }

    fn location(&self, slot: Slot) -> (usize, usize) {
        let slot = slot.0 as usize;
        (slot / SLOTS_PER_CHUNK, slot % SLOTS_PER_CHUNK * self.slot_bytes)
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.chunks.len() * SLOTS_PER_CHUNK;
        if first >= SLOTS_MAX {
            return;
        }
        self.chunks.push(vec![0; SLOTS_PER_CHUNK * self.slot_bytes].into_boxed_slice());
        self.free.extend((first..first + SLOTS_PER_CHUNK).rev().map(|slot| Slot(slot as u32)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_do_not_overlap_and_the_latest_is_reused_first() {
        let mut pool = Pool::new(100);
        let slots: Vec<Slot> = (0..600).map(|_| pool.take().expect("far from the limit")).collect();
        for (n, &slot) in slots.iter().enumerate() {
            pool.bytes_mut(slot).fill(n as u8);
        }
        assert!(
            slots
                .iter()
                .enumerate()
                .all(|(n, &slot)| pool.bytes_mut(slot).iter().all(|&byte| byte == n as u8))
        );
        assert_eq!(pool.used(), 600);
        pool.give_back(slots[7]);
        assert_eq!(pool.take(), Some(slots[7]));
    }
}
