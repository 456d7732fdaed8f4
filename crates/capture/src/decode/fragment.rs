//! Parts of packets.

/// Whether a packet is a part of a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// Not fragmented.
    Whole,
    /// Its first part, with the header of the transport.
    First,
    /// Another part.
    Later,
}
