//! The tag of a frame (IEEE 802.1Q): its priority and its VLAN.

/// Bytes that a tag adds to a frame: the type 0x8100 and two bytes of control information (IEEE
/// 802.1Q clause 9.4).
pub const TAG_BYTES: u16 = 4;
/// Where the priority stands in the control information.
const PRIORITY_SHIFT: u32 = 13;
/// The bit that 802.1Q has for drop eligibility, which nothing here uses.
const WRITTEN: u16 = 1 << 12;
/// The priority: three bits.
const PRIORITY_MASK: u16 = 7 << PRIORITY_SHIFT;
/// The VLAN: 12 bits.
const VLAN_MASK: u16 = WRITTEN - 1;

/// The largest VLAN: 0 and 4095 are none (IEEE 802.1Q).
pub const VLAN_MAX: u16 = 4094;

/// Priority and VLAN, laid out as in the tag's control information. A packet knows them on every
/// link; whether they are written into the frame, which is then [`TAG_BYTES`] longer, is a bit
/// beside them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Tag(u16);

impl Tag {
    /// `priority` is 0 to 7; `vlan` is 1 to 4094, or 0 for none. Not written.
    #[inline]
    pub const fn new(priority: u8, vlan: u16) -> Tag {
        Tag((priority as u16) << PRIORITY_SHIFT | vlan & VLAN_MASK)
    }
    /// Priority 0..=7 (PCP): chooses the class in a switch.
    #[inline]
    pub const fn priority(self) -> u8 {
        (self.0 >> PRIORITY_SHIFT) as u8
    }
    /// VLAN, 0 for none.
    #[inline]
    pub const fn vlan(self) -> u16 {
        self.0 & VLAN_MASK
    }
    /// With another priority.
    #[inline]
    pub const fn with_priority(self, priority: u8) -> Tag {
        Tag(self.0 & !PRIORITY_MASK | (priority as u16) << PRIORITY_SHIFT)
    }
    /// Written into the frame, or not. The tag of no VLAN is never written.
    #[inline]
    pub const fn written(self, is_written: bool) -> Tag {
        if is_written && self.vlan() != 0 { Tag(self.0 | WRITTEN) } else { Tag(self.0 & !WRITTEN) }
    }
    /// Its addition to the frame.
    #[inline]
    pub const fn bytes(self) -> u16 {
        if self.0 & WRITTEN != 0 { TAG_BYTES } else { 0 }
    }
}

impl std::fmt::Debug for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let written = if self.bytes() > 0 { ", written" } else { "" };
        write!(f, "priority {}, VLAN {}{written}", self.priority(), self.vlan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_holds_every_priority_and_vlan_and_whether_it_is_written() {
        for (priority, vlan) in [(0, 1), (7, 4094), (5, 10), (3, 0)] {
            let tag = Tag::new(priority, vlan);
            assert_eq!((tag.priority(), tag.vlan(), tag.bytes()), (priority, vlan, 0));
            let written = tag.written(true);
            let bytes = if vlan == 0 { 0 } else { TAG_BYTES };
            assert_eq!(
                (written.priority(), written.vlan(), written.bytes()),
                (priority, vlan, bytes)
            );
            assert_eq!(written.written(false), tag);
            assert_eq!(written.with_priority(1).written(false), Tag::new(1, vlan));
            assert_eq!(written.with_priority(1).bytes(), bytes);
        }
    }
}
