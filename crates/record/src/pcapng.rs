//! Blocks of a capture file that Wireshark reads (pcapng, IETF draft-ietf-opsawg-pcapng), with
//! times in nanoseconds.

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
/// Link type (tcpdump.org/linktypes.html) of Ethernet frames.
pub const LINKTYPE_ETHERNET: u16 = 1;
/// Link type of IP packets without a header of a link.
pub const LINKTYPE_RAW: u16 = 101;
/// Options: name of the interface, resolution of times, flags of a packet.
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
/// Times are in units of 10^-9 s.
const NANOSECONDS: u8 = 9;
/// Direction of a frame that enters the switch.
pub const INBOUND: u32 = 1;
/// Direction of a frame that leaves the switch.
pub const OUTBOUND: u32 = 2;

/// The block that begins a file.
pub fn section_header() -> Vec<u8> {
    let mut body = BYTE_ORDER_MAGIC.to_ne_bytes().to_vec();
    [1_u16, 0].iter().for_each(|version| body.extend(version.to_ne_bytes()));
    body.extend((-1_i64).to_ne_bytes()); // the length of the section is not known
    block(SECTION_HEADER, &body)
}

/// The description of the interface; `snap_bytes` of each frame are kept at most, 0 for all.
pub fn interface(name: &str, link_type: u16, snap_bytes: u32) -> Vec<u8> {
    let mut body = link_type.to_ne_bytes().to_vec();
    body.extend([0; 2]);
    body.extend(snap_bytes.to_ne_bytes());
    option(&mut body, IF_NAME, name.as_bytes());
    option(&mut body, IF_TSRESOL, &[NANOSECONDS]);
    option(&mut body, 0, &[]);
    block(INTERFACE, &body)
}

/// A frame in a file.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Since 1970.
    pub at_ns: u64,
    /// [`INBOUND`] or [`OUTBOUND`].
    pub direction: u32,
    /// What is kept of it.
    pub frame: &'a [u8],
    /// Its whole length.
    pub wire_bytes: u32,
}

impl Packet<'_> {
    /// As a block of the file.
    pub fn block(&self) -> Vec<u8> {
        let (at_ns, kept) = (self.at_ns, self.frame.len() as u32);
        let mut body = Vec::with_capacity(self.frame.len() + 48);
        [0, (at_ns >> 32) as u32, at_ns as u32, kept, self.wire_bytes]
            .iter()
            .for_each(|number| body.extend(number.to_ne_bytes()));
        body.extend(self.frame);
        body.resize(body.len().next_multiple_of(4), 0);
        option(&mut body, EPB_FLAGS, &self.direction.to_ne_bytes());
        option(&mut body, 0, &[]);
        block(ENHANCED_PACKET, &body)
    }
}

fn option(to: &mut Vec<u8>, code: u16, value: &[u8]) {
    to.extend(code.to_ne_bytes());
    to.extend((value.len() as u16).to_ne_bytes());
    to.extend(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

/// A block has its length at both ends.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (body.len() + 12) as u32;
    [&kind.to_ne_bytes(), &length.to_ne_bytes(), body, &length.to_ne_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(at_ns: u64, direction: u32) -> Vec<u8> {
        Packet { at_ns, direction, frame: &[7; 61], wire_bytes: 61 }.block()
    }

    #[test]
    fn every_block_has_its_length_at_both_ends_and_a_multiple_of_four() {
        for bytes in
            [section_header(), interface("sw>db1", LINKTYPE_ETHERNET, 0), of(1 << 40, INBOUND)]
        {
            let length = bytes.len() as u32;
            assert_eq!(length % 4, 0);
            assert_eq!(
                (&bytes[4..8], &bytes[bytes.len() - 4..]),
                (&length.to_ne_bytes()[..], &length.to_ne_bytes()[..])
            );
        }
        let frame = of((5 << 32) + 6, OUTBOUND);
        assert_eq!(
            (&frame[12..16], &frame[16..20]),
            (&5_u32.to_ne_bytes()[..], &6_u32.to_ne_bytes()[..])
        );
        assert_eq!(frame[28..89], [7; 61]);
    }
}
