//! A frame as the capture has it.

/// Which way a frame went, as the capturing interface saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Not in the capture.
    Unknown,
    /// Towards the capturing host.
    Inbound,
    /// From the capturing host.
    Outbound,
}

/// A frame with its metadata.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Nanoseconds since 1970; finer times are rounded down. None in blocks without a time.
    pub time_ns: Option<u64>,
    /// Index among all interfaces of the capture.
    pub interface: u32,
    /// Type of the link layer, of the list of tcpdump.org.
    pub link: u16,
    /// Which way it went.
    pub direction: Direction,
    /// Speed of its interface, if the capture has it.
    pub speed_bps: Option<u64>,
    /// Length of the frame on the link.
    pub wire_bytes: u32,
    /// Its beginning, as far as it was captured.
    pub bytes: &'a [u8],
}

/// An interface of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Type of the link layer.
    pub link: u16,
    /// Bytes of a frame that are captured at most; 0 without a limit.
    pub snap_bytes: u32,
    /// The smallest difference of times, as the file has it: `1e-6 s` or `2^-20 s`.
    pub resolution: String,
    /// Its name, if the capture has it.
    pub name: Option<String>,
    /// Its speed, if the capture has it.
    pub speed_bps: Option<u64>,
}
