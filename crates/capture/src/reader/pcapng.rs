//! pcapng (IETF draft-ietf-opsawg-pcapng): sections of blocks. Blocks without frames or interfaces
//! are skipped.

use super::bytes::ByteOrder;
use super::input::{Input, PIECE_BYTES_MAX};
use super::record::{Direction, Interface};
use super::resolution::{DEFAULT, Resolution};
use super::{CAPTURED_BYTES_MAX, End, Found, INTERFACES_MAX};
use crate::error::CaptureError;

/// Types of blocks (section 11.1 of the draft).
pub(super) const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
/// Type, length and, at the end, the length again.
const FRAME_BYTES: usize = 12;
/// Bytes of a section's header without options.
const SECTION_BYTES: usize = 28;
/// Options (sections 3.5, 4.2 and 4.3).
const OPTION_END: u16 = 0;
const IF_NAME: u16 = 2;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
const EPB_FLAGS: u16 = 2;
/// Characters of an interface's name that are kept.
const NAME_CHARS_MAX: usize = 64;

/// The properties of an interface that its frames need.
#[derive(Clone, Copy)]
struct Clock {
    link: u16,
    snap_bytes: u32,
    resolution: Resolution,
    offset_s: i64,
    speed_bps: Option<u64>,
}

/// A file in this format, in one of its sections.
pub(super) struct Pcapng {
    order: ByteOrder,
    /// Of this section.
    clocks: Vec<Clock>,
    /// Of all sections.
    interfaces: Vec<Interface>,
}

impl Pcapng {
    /// Reads the header of the first section.
    pub(super) fn begin(input: &mut Input) -> Result<Pcapng, CaptureError> {
        if !input.has(SECTION_BYTES) {
            return Err(CaptureError::Short(input.rest().len() as u64));
        }
        let mut file =
            Pcapng { order: ByteOrder::Little, clocks: Vec::new(), interfaces: Vec::new() };
        match file.section(input) {
            Ok(()) => Ok(file),
            Err(Section::Version(major, minor)) => Err(CaptureError::Version(major, minor)),
            Err(Section::NoMagic(bytes)) => Err(CaptureError::Unknown(bytes)),
            Err(Section::Length | Section::End) => {
                Err(CaptureError::Short(input.offset() + input.rest().len() as u64))
            }
        }
    }

    /// The next frame, passed.
    #[inline]
    pub(super) fn next(&mut self, input: &mut Input) -> Result<Found, End> {
        loop {
            if let Some(found) = self.block(input)? {
                return Ok(found);
            }
        }
    }

    /// One block, passed, with its frame if it has one.
    fn block(&mut self, input: &mut Input) -> Result<Option<Found>, End> {
        let offset_bytes = input.offset();
        if !input.has(8) {
            let is_over = input.rest().is_empty();
            return Err(if is_over {
                End::Complete
            } else {
                End::Truncated { within: "the header of a block", offset_bytes }
            });
        }
        let (kind, length) = (self.order.u32(input.rest(), 0), self.order.u32(input.rest(), 4));
        // The header of a section reads the same in both orders, and its length may be in the other
        // one.
        if kind == SECTION_HEADER {
            return self.next_section(input, offset_bytes).map(|()| None);
        }
        let damaged = |what| End::Damaged { what, offset_bytes };
        if length % 4 != 0 || (length as usize) < FRAME_BYTES {
            return Err(damaged(format!("a block of type {kind} says that it has {length} bytes")));
        }
        if !matches!(kind, INTERFACE | PACKET | SIMPLE_PACKET | ENHANCED_PACKET) {
            return match input.skip(u64::from(length)) {
                true => Ok(None),
                false => Err(End::Truncated { within: "a block", offset_bytes }),
            };
        }
        if length as usize > PIECE_BYTES_MAX {
            return Err(damaged(format!(
                "a block of type {kind} says that it has {length} bytes, more than the longest frame needs"
            )));
        }
        if !input.has(length as usize) {
            return Err(End::Truncated { within: "a block", offset_bytes });
        }
        let block = &input.rest()[..length as usize];
        let again = self.order.u32(block, block.len() - 4);
        if again != length {
            return Err(damaged(format!(
                "a block of type {kind} says {length} bytes at its beginning and {again} at its end"
            )));
        }
        let body = &block[8..block.len() - 4];
        let found = match kind {
            INTERFACE => self.interface(body).map(|()| None),
            SIMPLE_PACKET => self.simple(body).map(Some),
            _ => self.packet(body, kind == PACKET).map(Some),
        };
        let found = found.map_err(damaged)?;
        input.pass(length as usize);
        Ok(found)
    }

    fn next_section(&mut self, input: &mut Input, offset_bytes: u64) -> Result<(), End> {
        let truncated = End::Truncated { within: "the header of a section", offset_bytes };
        if !input.has(SECTION_BYTES) {
            return Err(truncated);
        }
        self.section(input).map_err(|fault| match fault {
            Section::End => truncated,
            Section::Length => End::Damaged {
                what: "the header of a section has an impossible length".into(),
                offset_bytes,
            },
            Section::NoMagic(_) => End::Damaged {
                what: "the header of a section has no byte order".into(),
                offset_bytes,
            },
            Section::Version(major, minor) => End::Damaged {
                what: format!("a section has the version {major}.{minor}, and 1.x is read"),
                offset_bytes,
            },
        })
    }

    /// The header of a section, of which the first part is in memory; its interfaces follow.
    fn section(&mut self, input: &mut Input) -> Result<(), Section> {
        let header = input.rest();
        let magic = [header[8], header[9], header[10], header[11]];
        let order = if u32::from_le_bytes(magic) == BYTE_ORDER_MAGIC {
            ByteOrder::Little
        } else if u32::from_be_bytes(magic) == BYTE_ORDER_MAGIC {
            ByteOrder::Big
        } else {
            return Err(Section::NoMagic(magic));
        };
        let (length, major, minor) =
            (order.u32(header, 4), order.u16(header, 12), order.u16(header, 14));
        if major != 1 {
            return Err(Section::Version(major, minor));
        }
        if length % 4 != 0 || (length as usize) < SECTION_BYTES {
            return Err(Section::Length);
        }
        self.order = order;
        self.clocks.clear();
        if input.skip(u64::from(length)) { Ok(()) } else { Err(Section::End) }
    }

    fn interface(&mut self, body: &[u8]) -> Result<(), String> {
        if body.len() < 8 {
            return Err("the description of an interface is too short".into());
        }
        if self.interfaces.len() >= INTERFACES_MAX {
            return Err(format!("there are more than {INTERFACES_MAX} interfaces"));
        }
        let (link, snap_bytes) = (self.order.u16(body, 0), self.order.u32(body, 4));
        let (mut code, mut offset_s, mut name, mut speed_bps) = (DEFAULT, 0, None, None);
        for (option, value) in (Options { order: self.order, rest: &body[8..] }) {
            match (option, value.len()) {
                (IF_TSRESOL, 1) => code = value[0],
                (IF_TSOFFSET, 8) => offset_s = self.order.u64(value, 0) as i64,
                (IF_SPEED, 8) => speed_bps = Some(self.order.u64(value, 0)).filter(|&bps| bps > 0),
                (IF_NAME, _) => {
                    name =
                        Some(String::from_utf8_lossy(value).chars().take(NAME_CHARS_MAX).collect())
                }
                _ => {}
            }
        }
        self.clocks.push(Clock {
            link,
            snap_bytes,
            resolution: Resolution::of(code),
            offset_s,
            speed_bps,
        });
        self.interfaces.push(Interface {
            link,
            snap_bytes,
            resolution: Resolution::text(code),
            name,
            speed_bps,
        });
        Ok(())
    }

    /// An enhanced packet block, or the packet block that it has replaced.
    #[inline]
    fn packet(&self, body: &[u8], is_old: bool) -> Result<Found, String> {
        if body.len() < 20 {
            return Err("a block with a frame is too short".into());
        }
        let order = self.order;
        let number = if is_old { u32::from(order.u16(body, 0)) } else { order.u32(body, 0) };
        let clock = self.clock(number)?;
        let ticks = u64::from(order.u32(body, 4)) << 32 | u64::from(order.u32(body, 8));
        let (captured, wire_bytes) = (order.u32(body, 12), order.u32(body, 16));
        if captured > CAPTURED_BYTES_MAX || captured as usize > body.len() - 20 {
            return Err(format!(
                "a block with a frame has no room for the {captured} captured bytes that it names"
            ));
        }
        let padded = 20 + captured.next_multiple_of(4) as usize;
        Ok(Found {
            time_ns: Some(clock.resolution.time_ns(ticks, clock.offset_s)),
            interface: self.first_of_section() + number,
            link: clock.link,
            direction: body
                .get(padded..)
                .map_or(Direction::Unknown, |options| self.direction(options)),
            speed_bps: clock.speed_bps,
            wire_bytes,
            captured_bytes: captured as usize,
            after: body.len() + 4 - 20 - captured as usize,
        })
    }

    /// A simple packet block: of the first interface, without a time.
    fn simple(&self, body: &[u8]) -> Result<Found, String> {
        if body.len() < 4 {
            return Err("a block with a frame is too short".into());
        }
        let clock = self.clock(0)?;
        let wire_bytes = self.order.u32(body, 0);
        let limit = if clock.snap_bytes == 0 { u32::MAX } else { clock.snap_bytes };
        let captured = wire_bytes.min(limit).min(body.len() as u32 - 4).min(CAPTURED_BYTES_MAX);
        Ok(Found {
            time_ns: None,
            interface: self.first_of_section(),
            link: clock.link,
            direction: Direction::Unknown,
            speed_bps: clock.speed_bps,
            wire_bytes,
            captured_bytes: captured as usize,
            after: body.len() + 4 - 4 - captured as usize,
        })
    }

    #[inline]
    fn clock(&self, number: u32) -> Result<&Clock, String> {
        self.clocks
            .get(number as usize)
            .ok_or_else(|| format!("a frame is of the interface {number}, which is not described"))
    }

    #[inline]
    fn first_of_section(&self) -> u32 {
        (self.interfaces.len() - self.clocks.len()) as u32
    }

    #[inline]
    fn direction(&self, options: &[u8]) -> Direction {
        let flags = Options { order: self.order, rest: options }
            .find(|&(option, value)| option == EPB_FLAGS && value.len() == 4);
        match flags.map(|(_, value)| self.order.u32(value, 0) & 0b11) {
            Some(1) => Direction::Inbound,
            Some(2) => Direction::Outbound,
            _ => Direction::Unknown,
        }
    }

    pub(super) fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }
}

/// Faults of the header of a section.
enum Section {
    NoMagic([u8; 4]),
    Version(u16, u16),
    Length,
    End,
}

/// The options of a block, until the last or one that has no room.
struct Options<'a> {
    order: ByteOrder,
    rest: &'a [u8],
}

impl<'a> Iterator for Options<'a> {
    type Item = (u16, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        if self.rest.len() < 4 {
            return None;
        }
        let (code, length) =
            (self.order.u16(self.rest, 0), usize::from(self.order.u16(self.rest, 2)));
        let value = self.rest.get(4..4 + length).filter(|_| code != OPTION_END)?;
        self.rest = self.rest.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    }
}
