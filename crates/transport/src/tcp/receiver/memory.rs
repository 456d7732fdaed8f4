//! Memory of a receive buffer: the window shrinks by the memory of waiting frames, not by their
//! payload: a kernel counts the pages of every frame.

/// Half of a buffer is offered as window (Linux `tcp_adv_win_scale` 1).
const MEMORY_PER_WINDOW: u64 = 2;

/// The amount by which buffered payload reduces the window: as much for each byte as in a segment
/// of full size.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    taken_1024: u16,
}

impl Memory {
    pub(super) fn new(mss: u32, segment_memory: u32) -> Memory {
        let taken = u64::from(segment_memory) * 1024 / (MEMORY_PER_WINDOW * u64::from(mss));
        Memory { taken_1024: u16::try_from(taken).unwrap_or(u16::MAX) }
    }

    /// Bytes of window that `payload` takes.
    #[inline]
    pub(super) fn of(self, payload: u64) -> u64 {
        (payload * u64::from(self.taken_1024)) >> 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::config::segment_memory;

    /// Three pages and a record for a frame of 9000 bytes: 13 056 bytes of a buffer of which half
    /// is offered.
    #[test]
    fn long_segments_take_three_quarters_of_their_length_off_the_window_and_tiny_ones_more_than_it()
    {
        for (mss, memory, taken) in
            [(8948, 13_056, 6_527), (1448, 2_304, 1_151), (536, 2_304, 1_151)]
        {
            assert_eq!(segment_memory(mss), memory, "{mss}");
            assert_eq!(Memory::new(mss, memory).of(u64::from(mss)), taken, "{mss}");
        }
    }
}
