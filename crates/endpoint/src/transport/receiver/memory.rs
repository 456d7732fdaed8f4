//! What waits in a receive buffer takes memory, and the window shrinks by that, not by the payload: a kernel counts the pages of every frame.

/// Memory of a frame that fits a small buffer of the driver, and the pages of a longer one (Linux, drivers/net/virtio_net.c with mergeable
/// buffers; drivers of cards take pages or halves of them too).
const SMALL_FRAME: u32 = 1_536;
const PAGE: u32 = 4_096;
/// The record of a frame and the head of its data (Linux `SKB_TRUESIZE`).
const RECORD: u32 = 768;
/// Headers of a frame, and what the driver puts before them.
const HEADERS: u32 = 78;
/// Half of a buffer is offered as window (Linux `tcp_adv_win_scale` 1).
const MEMORY_PER_WINDOW: u64 = 2;

/// Memory that a received segment of full size takes (Linux `truesize`).
pub fn segment_memory(mss: u32) -> u32 {
    let frame = mss + HEADERS;
    let pages = if frame <= SMALL_FRAME { SMALL_FRAME } else { frame.next_multiple_of(PAGE) };
    pages + RECORD
}

/// What payload takes off the window while it is in the buffer: as much for each byte as in a segment of full size.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    per_byte_1024: u16,
}

impl Memory {
    pub(super) fn new(mss: u32, segment_memory: u32) -> Memory {
        let per_byte = u64::from(segment_memory) * 1024 / (MEMORY_PER_WINDOW * u64::from(mss));
        Memory { per_byte_1024: u16::try_from(per_byte).unwrap_or(u16::MAX) }
    }

    /// Bytes of window that `payload` takes.
    #[inline]
    pub(super) fn of(self, payload: u64) -> u64 {
        (payload * u64::from(self.per_byte_1024)) >> 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three pages and a record for a frame of 9000 bytes: 13 056 bytes of a buffer of which half is offered.
    #[test]
    fn long_segments_take_three_quarters_of_their_length_off_the_window_and_tiny_ones_more_than_it() {
        for (mss, memory, taken) in [(8948, 13_056, 6_527), (1448, 2_304, 1_151), (536, 2_304, 1_151)] {
            assert_eq!(segment_memory(mss), memory, "{mss}");
            assert_eq!(Memory::new(mss, memory).of(u64::from(mss)), taken, "{mss}");
        }
    }
}
