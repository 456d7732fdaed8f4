//! Tags with a priority (802.1Q clause 9), which a driver puts into frames: a kernel reports the
//! priority of a socket in no other way.

/// Destination and source, which stand before a tag.
const ADDRESSES_BYTES: usize = 12;
const TAG_BYTES: usize = 4;
const ETHERTYPE_VLAN: [u8; 2] = [0x81, 0];
/// The priority is the upper three bits.
const PRIORITY_SHIFT: u8 = 5;

/// Takes the tag out of a frame, or out of the headers of a row of segments. Returns its priority;
/// `None` where there is no tag.
pub fn take_tag(frame: &mut Vec<u8>) -> Option<u8> {
    let tag = frame.get(ADDRESSES_BYTES..ADDRESSES_BYTES + TAG_BYTES)?;
    let priority = tag[2] >> PRIORITY_SHIFT;
    tag.starts_with(&ETHERTYPE_VLAN).then(|| {
        frame.drain(ADDRESSES_BYTES..ADDRESSES_BYTES + TAG_BYTES);
        priority
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_the_same_without_its_tag() {
        let plain = [&[1; 12][..], &[8, 0, 0x45, 7]].concat();
        let mut tagged = [&[1; 12][..], &[0x81, 0, 0xA0, 0, 8, 0, 0x45, 7]].concat();
        assert_eq!(take_tag(&mut tagged), Some(5));
        assert_eq!(tagged, plain);
        assert_eq!(take_tag(&mut tagged), None);
        assert_eq!(tagged, plain);
        assert_eq!(take_tag(&mut vec![0x81; 13]), None);
    }
}
