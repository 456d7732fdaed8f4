//! Bytes of a capture in blocks: read in large pieces, used in place, never more in memory than one
//! block.

use flate2::read::MultiGzDecoder;
use std::io::{self, ErrorKind, Read};

/// Bytes in memory: large enough that calls of the system cost little, small enough for the cache
/// of a core.
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes that can be read together. Must leave room for reading ahead.
pub(crate) const PIECE_BYTES_MAX: usize = BLOCK_BYTES / 2;
/// RFC 1952 section 2.3.1.
const GZIP: [u8; 2] = [0x1F, 0x8B];
/// RFC 8878 section 3.1.1, little-endian.
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// The largest window of a zstd frame that is decompressed, as a power of two: 128 MiB, the limit
/// of the library (RFC 8878 recommends 8 MiB for all).
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// How the file is compressed, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not compressed.
    None,
    /// gzip, of any number of members.
    Gzip,
    /// zstd, of any number of frames.
    Zstd,
}

impl Compression {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }
}

/// The bytes of a capture, uncompressed.
pub(crate) struct Input {
    source: Box<dyn Read + Send>,
    block: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes before `start`.
    passed: u64,
    /// Why there are no more bytes, other than that the file ends.
    fault: Option<String>,
}

impl Input {
    /// The bytes of `source`, decompressed if they are compressed.
    pub(crate) fn open(mut source: Box<dyn Read + Send>) -> io::Result<(Input, Compression)> {
        let mut first = [0; 4];
        let read = read_all(&mut source, &mut first)?;
        let whole: Box<dyn Read + Send> =
            Box::new(io::Cursor::new(first[..read].to_vec()).chain(source));
        let (source, compression): (Box<dyn Read + Send>, _) = if first[..read].starts_with(&GZIP) {
            (
                Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(BLOCK_BYTES, whole))),
                Compression::Gzip,
            )
        } else if first[..read].starts_with(&ZSTD) {
            let mut decoder = zstd::stream::read::Decoder::new(whole)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            (Box::new(decoder), Compression::Zstd)
        } else {
            (whole, Compression::None)
        };
        Ok((
            Input { source, block: vec![0; BLOCK_BYTES], start: 0, end: 0, passed: 0, fault: None },
            compression,
        ))
    }

    /// Are the next `wanted` bytes in memory, after reading if need be? False at the end of the
    /// file.
    #[inline]
    pub(crate) fn has(&mut self, wanted: usize) -> bool {
        self.end - self.start >= wanted || self.read_on(wanted)
    }

    #[cold]
    fn read_on(&mut self, wanted: usize) -> bool {
        assert!(wanted <= PIECE_BYTES_MAX, "callers skip what is longer than a piece");
        if self.fault.is_some() {
            return false;
        }
        self.block.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        while self.end < wanted {
            match self.source.read(&mut self.block[self.end..]) {
                Ok(0) => return false,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.fault = Some(error.to_string());
                    return false;
                }
            }
        }
        true
    }

    /// The bytes in memory from here on.
    #[inline]
    pub(crate) fn rest(&self) -> &[u8] {
        &self.block[self.start..self.end]
    }

    /// The `count` bytes before here, which were there before [`pass`](Input::pass).
    #[inline]
    pub(crate) fn before(&self, count: usize) -> &[u8] {
        &self.block[self.start - count..self.start]
    }

    /// Goes on by `count` bytes, which are in memory.
    #[inline]
    pub(crate) fn pass(&mut self, count: usize) {
        assert!(count <= self.end - self.start, "only bytes in memory are passed");
        self.start += count;
        self.passed += count as u64;
    }

    /// Goes on by `count` bytes, in memory or not. False if the file ends before.
    pub(crate) fn skip(&mut self, count: u64) -> bool {
        let mut left = count;
        loop {
            let here = left.min((self.end - self.start) as u64);
            self.pass(here as usize);
            left -= here;
            if left == 0 {
                return true;
            }
            if !self.has(1) {
                return false;
            }
        }
    }

    /// Bytes before the current position, uncompressed.
    pub(crate) fn offset(&self) -> u64 {
        self.passed
    }

    /// Why reading failed, if it did.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// Reads until `into` is full or the source ends.
fn read_all(source: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match source.read(&mut into[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
