//! Setting "congestion experienced" in the bytes of a frame.

/// Where the IP header begins, and in it the type of service and the checksum.
const TYPE_OF_SERVICE: usize = 14 + 1;
const CHECKSUM: usize = 14 + 10;
const CE: u8 = 3;

/// Sets both bits of an IPv4 frame and keeps its header's checksum right (RFC 1624). Does nothing
/// when they are set.
pub fn mark_congestion(frame: &mut [u8]) {
    let before = frame[TYPE_OF_SERVICE];
    let after = before | CE;
    if before == after {
        return;
    }
    frame[TYPE_OF_SERVICE] = after;
    let checksum = u16::from_be_bytes([frame[CHECKSUM], frame[CHECKSUM + 1]]);
    // HC' = ~(~HC + ~m + m'), in ones' complement; the field is the lower half of the header's
    // first word.
    let sum = u32::from(!checksum) + u32::from(!u16::from(before)) + u32::from(after);
    let folded = (sum & 0xFFFF) + (sum >> 16);
    let folded = (folded & 0xFFFF) + (folded >> 16);
    frame[CHECKSUM..CHECKSUM + 2].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::sample::checksum;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_marked_header_has_the_checksum_of_its_bytes(
            mut header in proptest::collection::vec(any::<u8>(), 20),
        ) {
            header[10..12].fill(0);
            let sum = checksum(&header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            let mut frame = [&[0; 14][..], &header].concat();
            mark_congestion(&mut frame);
            prop_assert_eq!(frame[15] & 3, 3);
            let written = u16::from_be_bytes([frame[24], frame[25]]);
            frame[24..26].fill(0);
            let right = checksum(&frame[14..34]);
            // Ones' complement has two zeroes, and a receiver takes both.
            prop_assert!(
                written == right
                    || (written == 0xFFFF && right == 0)
                    || (written == 0 && right == 0xFFFF)
            );
        }
    }
}
