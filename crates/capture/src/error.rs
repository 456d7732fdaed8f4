//! Reasons for which a capture cannot be profiled at all. A later fault is the
//! [`End`](crate::reader::End) of the capture: everything that was readable until then counts.

use std::fmt;
use std::io;

/// A file that is no capture, or options that cannot be used.
#[derive(Debug)]
pub enum CaptureError {
    /// The file cannot be opened or its beginning cannot be read.
    Unreadable(io::Error),
    /// It has no bytes.
    Empty,
    /// It is shorter than the header of a capture.
    Short(u64),
    /// It begins with none of the numbers that captures begin with.
    Unknown([u8; 4]),
    /// It is a capture in a version that has another layout.
    Version(u16, u16),
    /// The options are not those of [`Options`](crate::Options).
    Options(String),
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaptureError::Unreadable(error) => write!(f, "it cannot be read: {error}"),
            CaptureError::Empty => {
                write!(
                    f,
                    "the file is empty (hint: a capture without frames has a header of 24 bytes or more)"
                )
            }
            CaptureError::Short(bytes) => {
                write!(
                    f,
                    "the file ends after {bytes} bytes, within the header of a capture (hint: was it copied completely?)"
                )
            }
            CaptureError::Unknown([a, b, c, d]) => write!(
                f,
                "this is not a capture: it begins with the bytes {a:02x} {b:02x} {c:02x} {d:02x} \
                 (hint: pcap and pcapng are read, also compressed with gzip or zstd)"
            ),
            CaptureError::Version(major, minor) => {
                write!(
                    f,
                    "the capture has the version {major}.{minor}, and pcap 2.x and pcapng 1.x are read"
                )
            }
            CaptureError::Options(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for CaptureError {}
