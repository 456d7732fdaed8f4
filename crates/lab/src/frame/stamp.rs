//! The moment at which a host sent a frame, which the kernel writes into the source address of its
//! copy on the way to the TAP (`sys::bpf::stamp_frames`). The fabric reads it and puts the address
//! back before anything else sees the frame.

use crate::address;

const SOURCE: std::ops::Range<usize> = 6..12;
/// Nanoseconds of the kernel's monotonic clock, the lower 48 bits: three days.
const STAMP_BITS: u32 = 48;

/// Takes the stamp out of a frame of a host: how many nanoseconds before `now_ns` of
/// CLOCK_MONOTONIC the host sent it. Negative when it was sent after; `None` when it has the host's
/// own address, because its kernel does not stamp.
#[inline]
pub fn take_stamp(bytes: &mut [u8], host: usize, now_ns: u64) -> Option<i64> {
    let source = bytes.get_mut(SOURCE)?;
    let own = address::mac(host);
    if *source == own {
        return None;
    }
    let mut stamp = [0; 8];
    stamp[..SOURCE.len()].copy_from_slice(source);
    source.copy_from_slice(&own);
    let unused = u64::BITS - STAMP_BITS;
    // The difference of 48 bits with its sign.
    let age_ns = (now_ns.wrapping_sub(u64::from_le_bytes(stamp)) << unused).cast_signed() >> unused;
    Some(age_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_once_and_leaves_the_address_of_its_host() {
        let mut frame = crate::frame::sample::bytes(2, 0, 6, (40_000, 5_432), 0);
        let before = frame.clone();
        assert_eq!(take_stamp(&mut frame, 2, 5_000), None, "the address is the host's own");
        for (stamp_ns, now_ns, age_ns) in
            [(4_000_u64, 5_000, 1_000), (5_300, 5_000, -300), ((1 << 48) - 10, (1 << 48) + 90, 100)]
        {
            frame[SOURCE].copy_from_slice(&stamp_ns.to_le_bytes()[..6]);
            assert_eq!(take_stamp(&mut frame, 2, now_ns), Some(age_ns));
            assert_eq!(frame, before);
        }
    }
}
