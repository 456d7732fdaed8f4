//! Files of captures, in both formats and byte orders.

use std::io::{Cursor, Write};
use tailrace_capture::reader::CaptureReader;
use tailrace_capture::{CaptureError, Options, Profile};
use tailrace_record::Column;

pub const ETHERNET: u16 = 1;

/// A frame at a time in nanoseconds, with its length on the wire.
#[derive(Clone, Debug)]
pub struct Captured {
    pub at_ns: u64,
    pub wire_bytes: u32,
    pub bytes: Vec<u8>,
}

/// A frame that was captured as a whole.
pub fn whole(at_ns: u64, bytes: Vec<u8>) -> Captured {
    Captured { at_ns, wire_bytes: bytes.len() as u32, bytes }
}

/// Numbers in one byte order.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    pub is_big: bool,
}

impl Writer {
    pub fn u16(self, number: u16) -> [u8; 2] {
        if self.is_big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    pub fn u32(self, number: u32) -> [u8; 4] {
        if self.is_big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    /// A file of the classic format.
    pub fn pcap(self, is_ns: bool, link: u16, frames: &[Captured]) -> Vec<u8> {
        let mut file = Vec::new();
        file.extend(self.u32(if is_ns { 0xA1B2_3C4D } else { 0xA1B2_C3D4 }));
        file.extend(self.u16(2));
        file.extend(self.u16(4));
        file.extend([0; 8]);
        file.extend(self.u32(65_535));
        file.extend(self.u32(u32::from(link)));
        for frame in frames {
            let below_s = frame.at_ns % 1_000_000_000;
            file.extend(self.u32((frame.at_ns / 1_000_000_000) as u32));
            file.extend(self.u32((if is_ns { below_s } else { below_s / 1_000 }) as u32));
            file.extend(self.u32(frame.bytes.len() as u32));
            file.extend(self.u32(frame.wire_bytes));
            file.extend(&frame.bytes);
        }
        file
    }

    /// A block of the other format.
    pub fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let padded = body.len().next_multiple_of(4);
        let mut block = Vec::new();
        block.extend(self.u32(kind));
        block.extend(self.u32(padded as u32 + 12));
        block.extend(body);
        block.extend(vec![0; padded - body.len()]);
        block.extend(self.u32(padded as u32 + 12));
        block
    }

    pub fn section(self) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(self.u32(0x1A2B_3C4D));
        body.extend(self.u16(1));
        body.extend(self.u16(0));
        body.extend([0xFF; 8]);
        self.block(0x0A0D_0D0A, &body)
    }

    pub fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut option = Vec::new();
        option.extend(self.u16(code));
        option.extend(self.u16(value.len() as u16));
        option.extend(value);
        option.extend(vec![0; value.len().next_multiple_of(4) - value.len()]);
        option
    }

    /// An interface with these options.
    pub fn interface(self, link: u16, options: &[Vec<u8>]) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(self.u16(link));
        body.extend([0; 2]);
        body.extend(self.u32(262_144));
        body.extend(options.concat());
        body.extend([0; 4]);
        self.block(1, &body)
    }

    /// An enhanced packet block with a time in the units of its interface.
    pub fn packet(
        self,
        interface: u32,
        ticks: u64,
        frame: &Captured,
        options: &[Vec<u8>],
    ) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(self.u32(interface));
        body.extend(self.u32((ticks >> 32) as u32));
        body.extend(self.u32(ticks as u32));
        body.extend(self.u32(frame.bytes.len() as u32));
        body.extend(self.u32(frame.wire_bytes));
        body.extend(&frame.bytes);
        body.extend(vec![0; frame.bytes.len().next_multiple_of(4) - frame.bytes.len()]);
        body.extend(options.concat());
        self.block(6, &body)
    }

    /// A file of the other format with one interface of nanoseconds.
    pub fn pcapng(self, link: u16, frames: &[Captured]) -> Vec<u8> {
        let mut file = self.section();
        file.extend(self.interface(link, &[self.option(9, &[9])]));
        frames.iter().for_each(|frame| file.extend(self.packet(0, frame.at_ns, frame, &[])));
        file
    }
}

pub const LITTLE: Writer = Writer { is_big: false };
pub const BIG: Writer = Writer { is_big: true };

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).expect("memory takes it")
}

pub fn open(bytes: Vec<u8>) -> Result<CaptureReader, CaptureError> {
    CaptureReader::new(Box::new(Cursor::new(bytes)))
}

/// The profile of a file as its JSON, with these options.
pub fn profile_with(bytes: Vec<u8>, options: Options) -> (serde_json::Value, Profile) {
    let reader = open(bytes).expect("it begins as a capture does");
    let profile = Profile::of(reader, options).expect("the options are sound");
    (serde_json::from_str(&profile.to_json()).expect("it is JSON"), profile)
}

pub fn profile(bytes: Vec<u8>) -> serde_json::Value {
    profile_with(bytes, Options { flows_max: 1_000, ..Options::default() }).0
}

/// The numbers of a column.
pub fn column(profile: &Profile, table: &str, wanted: &str) -> Vec<u64> {
    let table =
        profile.tables().iter().find(|one| one.name == table).expect("there is such a table");
    match &table.columns.iter().find(|(name, _)| *name == wanted).expect("there is such a column").1
    {
        Column::U32(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Column::U64(values) => values.clone(),
        Column::F64(_) => panic!("columns are of whole numbers"),
    }
}
