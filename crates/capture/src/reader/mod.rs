//! Captures, frame by frame: pcap and pcapng, compressed or not. Memory does not depend on the size
//! of the file.

mod bytes;
mod end;
mod input;
mod pcap;
mod pcapng;
mod record;
mod resolution;

pub use end::End;
pub use input::Compression;
pub use record::{Direction, Interface, Record};

use crate::error::CaptureError;
use input::Input;
use pcap::Pcap;
use pcapng::Pcapng;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest frame that is read; `MAXIMUM_SNAPLEN` of libpcap.
pub const CAPTURED_BYTES_MAX: u32 = 262_144;
/// Interfaces of all sections together.
pub const INTERFACES_MAX: usize = 4_096;

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// Reads one capture from its beginning to its end.
pub struct CaptureReader {
    input: Input,
    format: Format,
    compression: Compression,
    end: Option<End>,
}

impl CaptureReader {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read, or does not begin as a capture does.
    pub fn open(path: &Path) -> Result<CaptureReader, CaptureError> {
        CaptureReader::new(Box::new(File::open(path).map_err(CaptureError::Unreadable)?))
    }

    /// Reads from any source of bytes.
    ///
    /// # Errors
    /// When it cannot be read, or does not begin as a capture does.
    pub fn new(source: Box<dyn Read + Send>) -> Result<CaptureReader, CaptureError> {
        let (mut input, compression) = Input::open(source).map_err(CaptureError::Unreadable)?;
        let Some(first) = input
            .has(4)
            .then(|| [input.rest()[0], input.rest()[1], input.rest()[2], input.rest()[3]])
        else {
            return Err(match (input.fault(), input.rest().len()) {
                (Some(fault), _) => {
                    CaptureError::Unreadable(std::io::Error::other(fault.to_owned()))
                }
                (None, 0) => CaptureError::Empty,
                (None, bytes) => CaptureError::Short(bytes as u64),
            });
        };
        let format = if let Some(variant) = pcap::Variant::of(first) {
            Format::Pcap(Pcap::begin(&mut input, variant)?)
        } else if first == pcapng::SECTION_HEADER.to_be_bytes() {
            Format::Pcapng(Pcapng::begin(&mut input)?)
        } else {
            return Err(CaptureError::Unknown(first));
        };
        Ok(CaptureReader { input, format, compression, end: None })
    }

    /// The next frame, or none at the end, which [`end`](CaptureReader::end) then describes.
    #[inline]
    pub fn next_record(&mut self) -> Option<Record<'_>> {
        if self.end.is_some() {
            return None;
        }
        let found = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.input),
            Format::Pcapng(pcapng) => pcapng.next(&mut self.input),
        };
        match found {
            Ok(found) => Some(found.into_record(&self.input)),
            Err(end) => {
                self.end = Some(self.explained(end));
                None
            }
        }
    }

    /// An end of the file that a failure of reading has caused says so.
    fn explained(&self, end: End) -> End {
        match self.input.fault() {
            Some(fault) => End::Damaged {
                what: format!("it cannot be read on: {fault}"),
                offset_bytes: self.input.offset(),
            },
            None => end,
        }
    }

    /// How the capture ended; none while there are frames.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Bytes that were read, uncompressed.
    pub fn offset_bytes(&self) -> u64 {
        self.input.offset()
    }

    /// How the file is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// `pcap` or `pcapng`.
    pub fn format(&self) -> &'static str {
        match self.format {
            Format::Pcap(_) => "pcap",
            Format::Pcapng(_) => "pcapng",
        }
    }

    /// The interfaces that were found so far, of all sections.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.format {
            Format::Pcap(pcap) => std::slice::from_ref(pcap.interface()),
            Format::Pcapng(pcapng) => pcapng.interfaces(),
        }
    }
}

/// Location of a frame: its bytes end `after` bytes before the position of the input.
#[derive(Clone, Copy)]
struct Found {
    time_ns: Option<u64>,
    interface: u32,
    link: u16,
    direction: Direction,
    speed_bps: Option<u64>,
    wire_bytes: u32,
    captured_bytes: usize,
    after: usize,
}

impl Found {
    #[inline]
    fn into_record(self, input: &Input) -> Record<'_> {
        Record {
            time_ns: self.time_ns,
            interface: self.interface,
            link: self.link,
            direction: self.direction,
            speed_bps: self.speed_bps,
            wire_bytes: self.wire_bytes,
            bytes: &input.before(self.captured_bytes + self.after)[..self.captured_bytes],
        }
    }
}
