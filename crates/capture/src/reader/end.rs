//! How a capture ended.

/// How the readable part of a capture ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With the file.
    Complete,
    /// The file ends within this part, which began at this offset.
    Truncated {
        /// `a record's header`, for example.
        within: &'static str,
        /// Bytes before the part, uncompressed.
        offset_bytes: u64,
    },
    /// This part, which began at this offset, cannot be as it was written.
    Damaged {
        /// The fault.
        what: String,
        /// Bytes before the part, uncompressed.
        offset_bytes: u64,
    },
}

impl End {
    /// `complete`, `truncated` or `damaged`.
    pub fn name(&self) -> &'static str {
        match self {
            End::Complete => "complete",
            End::Truncated { .. } => "truncated",
            End::Damaged { .. } => "damaged",
        }
    }
}
