//! What serves one request at a time.

use tailrace_units::Span;

/// Where a response goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    Stream(u32),
    Datagram(u32, u64),
    /// The connection is gone.
    Nowhere,
}

/// What serves one request at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worker {
    pub(super) reply: Reply,
    pub(super) response: u64,
    pub(super) work: Span,
    pub(super) time: Span,
    /// It has a core.
    pub(super) is_working: bool,
    pub(super) stage: u32,
    /// Tells responses to this stage from late ones to others.
    pub(super) serial: u32,
    pub(super) asked: u32,
    pub(super) answered: u32,
}
