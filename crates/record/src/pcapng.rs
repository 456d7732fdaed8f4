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
/// Options: the last, a comment, the program, name, description, rate and resolution of times of an
/// interface, flags of a packet.
const END: u16 = 0;
const COMMENT: u16 = 1;
const USER_APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
/// An option has its length in 16 bits.
const OPTION_BYTES_MAX: usize = u16::MAX as usize;
/// Times are in units of 10^-9 s.
const NANOSECONDS: u8 = 9;
/// Direction of a frame that enters the switch.
pub const INBOUND: u32 = 1;
/// Direction of a frame that leaves the switch.
pub const OUTBOUND: u32 = 2;

/// What a file says of itself.
#[derive(Clone, Copy, Default, Debug)]
pub struct Section<'a> {
    /// The program that writes it; empty for none.
    pub application: &'a str,
    /// A comment, cut at 65 535 bytes; empty for none.
    pub comment: &'a str,
}

impl Section<'_> {
    /// The block that begins a file.
    pub fn block(&self) -> Vec<u8> {
        let mut body = BYTE_ORDER_MAGIC.to_ne_bytes().to_vec();
        [1_u16, 0].iter().for_each(|version| body.extend(version.to_ne_bytes()));
        body.extend((-1_i64).to_ne_bytes()); // the length of the section is not known
        let options = [(COMMENT, cut(self.comment)), (USER_APPLICATION, self.application)];
        let options = options.map(|(code, text)| (code, text.as_bytes()));
        block(SECTION_HEADER, body, options.iter().filter(|(_, value)| !value.is_empty()))
    }
}

/// The description of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Interface<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is, in words; empty for none.
    pub description: &'a str,
    /// Rate of its link in bits per second, where it is known.
    pub speed_bps: Option<u64>,
    /// [`LINKTYPE_ETHERNET`] or [`LINKTYPE_RAW`].
    pub link_type: u16,
    /// Bytes of each frame that are kept at most, 0 for all.
    pub snap_bytes: u32,
}

impl Interface<'_> {
    /// As a block of the file.
    pub fn block(&self) -> Vec<u8> {
        let mut body = self.link_type.to_ne_bytes().to_vec();
        body.extend([0; 2]);
        body.extend(self.snap_bytes.to_ne_bytes());
        let speed = self.speed_bps.map(u64::to_ne_bytes);
        let options = [
            (IF_NAME, self.name.as_bytes()),
            (IF_DESCRIPTION, self.description.as_bytes()),
            (IF_SPEED, speed.as_ref().map_or(&[][..], |bytes| bytes)),
            (IF_TSRESOL, &[NANOSECONDS]),
        ];
        block(INTERFACE, body, options.iter().filter(|(_, value)| !value.is_empty()))
    }
}

/// A frame in a file.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Number of its interface in the file.
    pub interface: u32,
    /// Since 1970.
    pub at_ns: u64,
    /// [`INBOUND`] or [`OUTBOUND`], where it is known.
    pub direction: Option<u32>,
    /// The bytes that are kept.
    pub frame: &'a [u8],
    /// Its whole length.
    pub wire_bytes: u32,
    /// A comment, cut at 65 535 bytes; empty for none.
    pub comment: &'a str,
}

impl Packet<'_> {
    /// As a block of the file.
    pub fn block(&self) -> Vec<u8> {
        let (at_ns, kept) = (self.at_ns, self.frame.len() as u32);
        let mut body = Vec::with_capacity(self.frame.len() + self.comment.len() + 48);
        [self.interface, (at_ns >> 32) as u32, at_ns as u32, kept, self.wire_bytes]
            .iter()
            .for_each(|number| body.extend(number.to_ne_bytes()));
        body.extend(self.frame);
        body.resize(body.len().next_multiple_of(4), 0);
        let direction = self.direction.map(u32::to_ne_bytes);
        let options = [
            (COMMENT, cut(self.comment).as_bytes()),
            (EPB_FLAGS, direction.as_ref().map_or(&[][..], |bytes| bytes)),
        ];
        block(ENHANCED_PACKET, body, options.iter().filter(|(_, value)| !value.is_empty()))
    }
}

/// The beginning of a comment that an option can hold.
fn cut(comment: &str) -> &str {
    let mut bytes = comment.len().min(OPTION_BYTES_MAX);
    while !comment.is_char_boundary(bytes) {
        bytes -= 1;
    }
    &comment[..bytes]
}

fn option(to: &mut Vec<u8>, code: u16, value: &[u8]) {
    to.extend(code.to_ne_bytes());
    to.extend((value.len() as u16).to_ne_bytes());
    to.extend(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

/// A block with its options; it has its length at both ends.
fn block<'a>(
    kind: u32,
    mut body: Vec<u8>,
    options: impl Iterator<Item = &'a (u16, &'a [u8])>,
) -> Vec<u8> {
    let without = body.len();
    options.for_each(|(code, value)| option(&mut body, *code, value));
    if body.len() > without {
        option(&mut body, END, &[]);
    }
    let length = (body.len() + 12) as u32;
    [&kind.to_ne_bytes(), &length.to_ne_bytes(), &body[..], &length.to_ne_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(at_ns: u64, direction: Option<u32>, comment: &str) -> Vec<u8> {
        Packet { interface: 0, at_ns, direction, frame: &[7; 61], wire_bytes: 61, comment }.block()
    }

    const PORT: Interface<'_> = Interface {
        name: "sw>db1",
        description: "",
        speed_bps: None,
        link_type: LINKTYPE_ETHERNET,
        snap_bytes: 0,
    };

    #[test]
    fn every_block_has_its_length_at_both_ends_and_a_multiple_of_four() {
        let section = Section { application: "tailrace", comment: "two transactions" };
        let described = Interface { description: "port", speed_bps: Some(1 << 30), ..PORT };
        for bytes in [
            Section::default().block(),
            section.block(),
            PORT.block(),
            described.block(),
            of(1 << 40, Some(INBOUND), ""),
            of(1 << 40, None, "request 3"),
        ] {
            let length = bytes.len() as u32;
            assert_eq!(length % 4, 0);
            assert_eq!(
                (&bytes[4..8], &bytes[bytes.len() - 4..]),
                (&length.to_ne_bytes()[..], &length.to_ne_bytes()[..])
            );
        }
        let frame = of((5 << 32) + 6, Some(OUTBOUND), "");
        assert_eq!(
            (&frame[12..16], &frame[16..20]),
            (&5_u32.to_ne_bytes()[..], &6_u32.to_ne_bytes()[..])
        );
        assert_eq!(frame[28..89], [7; 61]);
    }

    #[test]
    fn a_long_comment_is_cut_between_characters() {
        let comment = "µ".repeat(40_000);
        let frame = of(0, None, &comment);
        let bytes = u16::from_ne_bytes([frame[94], frame[95]]);
        assert_eq!((frame[92], bytes), (1, 65_534));
    }
}
