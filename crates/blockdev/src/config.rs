//! Configuration of a device.

use tailrace_units::{BitRate, Distribution, Span};

/// A device, and the limits of its queue in the block layer.
#[derive(Clone, Debug)]
pub struct DeviceConfig {
    /// Pieces that the medium serves at the same time, at least one: channels of a drive, or the
    /// one head of a disk.
    pub servers: u32,
    /// Picoseconds that a server takes to read a piece.
    pub read_latency: Distribution,
    /// Picoseconds that it takes to write one.
    pub write_latency: Distribution,
    /// The link between host and device.
    pub link: LinkConfig,
    /// Pieces that the device takes at the same time, at least one; others wait in the block layer.
    pub queue_depth: u32,
    /// How requests are split.
    pub limits: Limits,
    /// A write-back cache.
    pub cache: Option<CacheConfig>,
    /// A head that must be brought to the data; there is one server then.
    pub head: Option<HeadConfig>,
}

/// The most data per time, each way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkConfig {
    /// Of data that is read.
    pub read: BitRate,
    /// Of data that is written.
    pub write: BitRate,
    /// Whether both ways are used at the same time.
    pub is_duplex: bool,
}

/// The limits of a request in the block layer (Linux `queue/max_sectors_kb`, `queue/max_segments`,
/// `queue/max_segment_size`) and of a transfer in the device (NVMe MDTS).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// `max_sectors_kb`, in bytes.
    pub max_sectors_bytes: u64,
    /// Segments of a request.
    pub max_segments: u64,
    /// Bytes of a segment: a page, where the buffer's pages are not contiguous.
    pub segment_bytes: u64,
    /// The device's own limit; none where it has none.
    pub transfer_bytes: Option<u64>,
}

/// A write-back cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheConfig {
    /// Bytes that are written and not yet on the medium.
    pub bytes: u64,
    /// From the last byte of a piece to the completion of its write.
    pub latency: Span,
}

/// The head of a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeadConfig {
    /// One turn.
    pub turn: Span,
    /// Shortest seek.
    pub seek_track: Span,
    /// Seek over the whole disk.
    pub seek_full: Span,
    /// Bytes of the whole disk, above 0.
    pub capacity: u64,
}

impl Limits {
    /// No limits.
    pub const NONE: Limits = Limits {
        max_sectors_bytes: u64::MAX,
        max_segments: u64::MAX,
        segment_bytes: u64::MAX,
        transfer_bytes: None,
    };

    /// The largest piece of a request.
    pub fn piece_bytes(self) -> u64 {
        let segments = self.max_segments.saturating_mul(self.segment_bytes);
        self.max_sectors_bytes.min(segments).min(self.transfer_bytes.unwrap_or(u64::MAX)).max(1)
    }
}
