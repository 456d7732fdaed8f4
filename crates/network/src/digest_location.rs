//! Locations of the events of a digest.

/// Location of a digest's event: the number of a wire, and the kind of event there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DigestLocation {
    /// A frame's transmission begins on a wire.
    Wire(u64),
    /// A frame is dropped at the port before a wire.
    Drop(u64),
    /// A frame is marked at the port before a wire.
    Mark(u64),
    /// A program of a workload gets something.
    Delivery(u64),
}

impl DigestLocation {
    /// A number of its own; numbers of wires and workloads are below 2^32.
    #[inline]
    pub const fn number(self) -> u64 {
        match self {
            DigestLocation::Wire(wire) => wire,
            DigestLocation::Drop(wire) => 1 << 32 | wire,
            DigestLocation::Mark(wire) => 2 << 32 | wire,
            DigestLocation::Delivery(workload) => 3 << 32 | workload,
        }
    }
}
