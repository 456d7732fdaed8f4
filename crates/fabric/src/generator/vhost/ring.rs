//! A split ring of virtio 1.1 (section 2.6) in shared memory, as its driver sees it. Descriptor `n`
//! always has buffer `n`.

use crate::sys::shared::SharedMemory;

/// Descriptors of a ring: four times QEMU's 256, so that a switch that pauses its polling for 0.1
/// ms loses nothing.
pub(super) const RING_SIZE: u16 = 1_024;
const DESCRIPTOR_BYTES: usize = 16;
const AVAILABLE_BYTES: usize = 4 + 2 * RING_SIZE as usize + 2;
const USED_ENTRY_BYTES: usize = 8;
/// The other side writes the buffer.
const WRITABLE: u16 = 2;
/// No interrupt is wanted: we poll.
const NO_INTERRUPT: u16 = 1;
/// Where the memory begins for the other side: any address but zero, which it may take for none.
pub(super) const BASE: u64 = 1 << 32;
/// Rings and their parts begin at multiples of this.
const ALIGNMENT: usize = 4_096;
/// Room of all parts.
pub(super) const RING_BYTES: usize = 16_384 + 4_096 + 12_288;
const AVAILABLE_AT: usize = 16_384;
const USED_AT: usize = AVAILABLE_AT + 4_096;
const _: () = assert!(
    DESCRIPTOR_BYTES * RING_SIZE as usize <= AVAILABLE_AT
        && AVAILABLE_BYTES <= USED_AT - AVAILABLE_AT
);
const _: () = assert!(
    USED_AT + 4 + USED_ENTRY_BYTES * RING_SIZE as usize + 2 <= RING_BYTES
        && RING_BYTES.is_multiple_of(ALIGNMENT)
);

/// One ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// Where it is.
    at: usize,
    /// Buffers that were ever made available, and of these the ones that came back.
    given: u16,
    taken: u16,
}

impl Ring {
    /// At this address; buffers of `buffer_bytes` begin at `buffers`.
    pub(super) fn new(
        memory: &SharedMemory,
        at: usize,
        (buffers, buffer_bytes): (usize, usize),
        is_writable: bool,
    ) -> Ring {
        let flags = if is_writable { WRITABLE } else { 0 };
        for index in 0..RING_SIZE {
            let address = at + usize::from(index) * DESCRIPTOR_BYTES;
            memory.write(
                address,
                &(BASE + (buffers + usize::from(index) * buffer_bytes) as u64).to_le_bytes(),
            );
            memory.write(address + 8, &(buffer_bytes as u32).to_le_bytes());
            memory.write(address + 12, &flags.to_le_bytes());
            memory.write(at + AVAILABLE_AT + 4 + 2 * usize::from(index), &index.to_le_bytes());
        }
        memory.store(at + AVAILABLE_AT, NO_INTERRUPT);
        Ring { at, given: 0, taken: 0 }
    }

    /// Addresses of descriptors, used and available entries, for the other side.
    pub(super) fn addresses(&self) -> [u64; 3] {
        [self.at, self.at + USED_AT, self.at + AVAILABLE_AT].map(|address| BASE + address as u64)
    }

    /// The length of all descriptors.
    pub(super) fn set_length(&self, memory: &SharedMemory, bytes: u32) {
        for index in 0..usize::from(RING_SIZE) {
            memory.write(self.at + index * DESCRIPTOR_BYTES + 8, &bytes.to_le_bytes());
        }
    }

    /// Buffers that the other side does not have, of those that come back in order.
    pub(super) fn free(&mut self, memory: &SharedMemory) -> u16 {
        self.taken = memory.load(self.at + USED_AT + 2);
        RING_SIZE - self.given.wrapping_sub(self.taken)
    }

    /// The buffer that is given next, `ahead` of the first.
    pub(super) fn next(&self, ahead: u16) -> u16 {
        self.given.wrapping_add(ahead) % RING_SIZE
    }

    /// Gives so many buffers, which the available entries name in order.
    pub(super) fn give(&mut self, memory: &SharedMemory, count: u16) {
        self.given = self.given.wrapping_add(count);
        memory.store(self.at + AVAILABLE_AT + 2, self.given);
    }

    /// Buffers that have come back with something in them.
    pub(super) fn waiting(&self, memory: &SharedMemory) -> u16 {
        memory.load(self.at + USED_AT + 2).wrapping_sub(self.taken)
    }

    /// The next of them, which is given again with the next call of [`Ring::give`].
    pub(super) fn take(&mut self, memory: &SharedMemory) -> u16 {
        let address =
            self.at + USED_AT + 4 + usize::from(self.taken % RING_SIZE) * USED_ENTRY_BYTES;
        let index = u32::from_le_bytes(memory.read(address)) as u16 % RING_SIZE;
        let entry = self.at + AVAILABLE_AT + 4 + 2 * usize::from(self.taken % RING_SIZE);
        memory.write(entry, &index.to_le_bytes());
        self.taken = self.taken.wrapping_add(1);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_other_side_has_taken_is_free_again() {
        let memory = SharedMemory::new(RING_BYTES * 2).expect("room");
        let mut ring = Ring::new(&memory, 0, (RING_BYTES, 16), false);
        assert_eq!((ring.free(&memory), ring.next(0)), (RING_SIZE, 0));
        ring.give(&memory, 1_000);
        assert_eq!((ring.free(&memory), ring.next(0), ring.next(24)), (24, 1_000, 0));
        memory.store(USED_AT + 2, 600);
        assert_eq!(ring.free(&memory), 624);
    }

    #[test]
    fn a_buffer_that_has_come_back_is_given_again() {
        let memory = SharedMemory::new(RING_BYTES * 2).expect("room");
        let mut ring = Ring::new(&memory, 0, (RING_BYTES, 16), true);
        ring.give(&memory, RING_SIZE);
        memory.write(USED_AT + 4, &9_u32.to_le_bytes());
        memory.store(USED_AT + 2, 1);
        assert_eq!((ring.waiting(&memory), ring.take(&memory), ring.waiting(&memory)), (1, 9, 0));
        ring.give(&memory, 1);
        assert_eq!(memory.read::<2>(AVAILABLE_AT + 4), [9, 0]);
        assert_eq!(memory.load(AVAILABLE_AT + 2), RING_SIZE + 1);
    }
}
