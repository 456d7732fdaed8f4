//! The header before every frame in a ring (Virtio 1.1, 5.1.6).

/// Its length, with the number of buffers.
pub const HEADER_BYTES: usize = 12;
const DATA_VALID: u8 = 2;
const GSO_TYPE_TCP_IPV4: u8 = 1;
const GSO_ECN: u8 = 0x80;

/// The driver's description of a frame that it sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    gso_type: u8,
    /// Payload of each segment.
    gso_bytes: u16,
}

impl Header {
    /// From the bytes of a ring.
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Header {
        Header { gso_type: bytes[1], gso_bytes: u16::from_le_bytes([bytes[4], bytes[5]]) }
    }

    /// The payload of each TCP segment that the frame is to be cut into; `None` for a frame that
    /// stays whole.
    pub fn segment_bytes(self) -> Option<usize> {
        let is_row = self.gso_type & !GSO_ECN == GSO_TYPE_TCP_IPV4 && self.gso_bytes > 0;
        is_row.then_some(usize::from(self.gso_bytes))
    }

    /// The header of a frame that is handed to a driver in so many buffers. Its checksum was right
    /// when it was sent, and nothing on the way damages frames.
    pub fn of_received(buffers: u16) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = DATA_VALID;
        bytes[10..].copy_from_slice(&buffers.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_segments_says_how_long_each_is() {
        let mut bytes = [1, 1, 54, 0, 0xA0, 5, 34, 0, 16, 0, 0, 0];
        assert_eq!(Header::read(&bytes).segment_bytes(), Some(1_440));
        bytes[1] = 0x81; // the first segment carries CWR
        assert_eq!(Header::read(&bytes).segment_bytes(), Some(1_440));
        bytes[1] = 0;
        assert_eq!(Header::read(&bytes).segment_bytes(), None);
        assert_eq!(Header::of_received(3), [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0]);
    }
}
