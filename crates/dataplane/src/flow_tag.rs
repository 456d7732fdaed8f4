//! A flow in the tables of a port.

use tailrace_units::mix64;

/// The hash of a flow, and the same spread for all tables of the port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowTag {
    pub(crate) hash: u32,
    spread: u64,
}

impl FlowTag {
    #[inline(always)]
    pub(crate) fn of(hash: u32) -> FlowTag {
        FlowTag { hash, spread: mix64(u64::from(hash)) }
    }

    /// The flow's slot among so many, which are a power of two.
    #[inline(always)]
    pub(crate) fn slot(self, slots: usize) -> usize {
        self.spread as usize & (slots - 1)
    }
}
