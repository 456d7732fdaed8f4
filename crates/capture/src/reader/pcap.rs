//! The classic format (IETF draft-ietf-opsawg-pcap): a header of 24 bytes, then records of 16 bytes
//! and the frame.

use super::bytes::ByteOrder;
use super::input::Input;
use super::record::{Direction, Interface};
use super::{CAPTURED_BYTES_MAX, End, Found};
use crate::error::CaptureError;

const HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;
/// Draft section 4: the number that begins a file with microseconds, and the one with nanoseconds.
const MICROSECONDS: u32 = 0xA1B2_C3D4;
const NANOSECONDS: u32 = 0xA1B2_3C4D;
const NS_PER_S: u64 = 1_000_000_000;

/// Byte order and unit of times, from the first four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    order: ByteOrder,
    ns_per_tick: u64,
}

impl Variant {
    /// None if these bytes do not begin a file of this format.
    pub(super) fn of(first: [u8; 4]) -> Option<Variant> {
        [
            (ByteOrder::Little, u32::from_le_bytes(first)),
            (ByteOrder::Big, u32::from_be_bytes(first)),
        ]
        .into_iter()
        .find_map(|(order, magic)| match magic {
            MICROSECONDS => Some(Variant { order, ns_per_tick: 1_000 }),
            NANOSECONDS => Some(Variant { order, ns_per_tick: 1 }),
            _ => None,
        })
    }
}

/// A file of the classic format after its header.
pub(super) struct Pcap {
    variant: Variant,
    interface: Interface,
}

impl Pcap {
    /// Reads the header of the file.
    pub(super) fn begin(input: &mut Input, variant: Variant) -> Result<Pcap, CaptureError> {
        if !input.has(HEADER_BYTES) {
            return Err(CaptureError::Short(input.rest().len() as u64));
        }
        let header = input.rest();
        let version = (variant.order.u16(header, 4), variant.order.u16(header, 6));
        if version.0 != 2 {
            return Err(CaptureError::Version(version.0, version.1));
        }
        // The upper half of the last word says whether frames have check sequences.
        let link = variant.order.u32(header, 20) as u16;
        let resolution = if variant.ns_per_tick == 1 { "1e-9 s" } else { "1e-6 s" }.to_owned();
        let snap_bytes = variant.order.u32(header, 16);
        input.pass(HEADER_BYTES);
        Ok(Pcap {
            variant,
            interface: Interface { link, snap_bytes, resolution, name: None, speed_bps: None },
        })
    }

    /// The next frame, passed.
    #[inline]
    pub(super) fn next(&mut self, input: &mut Input) -> Result<Found, End> {
        let offset_bytes = input.offset();
        if !input.has(RECORD_HEADER_BYTES) {
            let is_over = input.rest().is_empty();
            return Err(if is_over {
                End::Complete
            } else {
                End::Truncated { within: "the header of a record", offset_bytes }
            });
        }
        let header = input.rest();
        let order = self.variant.order;
        let (seconds, ticks) = (u64::from(order.u32(header, 0)), u64::from(order.u32(header, 4)));
        let (captured, wire_bytes) = (order.u32(header, 8), order.u32(header, 12));
        if captured > CAPTURED_BYTES_MAX {
            let what = format!(
                "the header of a record says {captured} captured bytes, more than the {CAPTURED_BYTES_MAX} of any frame"
            );
            return Err(End::Damaged { what, offset_bytes });
        }
        let length = RECORD_HEADER_BYTES + captured as usize;
        if !input.has(length) {
            return Err(End::Truncated { within: "a frame", offset_bytes });
        }
        input.pass(length);
        Ok(Found {
            time_ns: Some(seconds * NS_PER_S + ticks * self.variant.ns_per_tick),
            interface: 0,
            link: self.interface.link,
            direction: Direction::Unknown,
            speed_bps: None,
            wire_bytes,
            captured_bytes: captured as usize,
            after: 0,
        })
    }

    pub(super) fn interface(&self) -> &Interface {
        &self.interface
    }
}
