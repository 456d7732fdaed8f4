//! What the switch needs to know of a frame.

use tailrace_wire::{Ecn, Packet};

/// A frame as the switch sees it. The simulator's packet is one; the fabric's is a parsed header with a handle to its bytes.
pub trait Frame {
    /// Length from the Ethernet header to the end of the payload, without check sequence.
    fn bytes(&self) -> u32;
    /// Hash of the flow key: chooses among equal paths and finds the flow in tables.
    fn flow_hash(&self) -> u32;
    /// Destination host, an index into the forwarding table.
    fn destination(&self) -> u32;
    /// Priority, 0 to 7.
    fn priority(&self) -> u8;
    /// IP's congestion bits.
    fn ecn(&self) -> Ecn;
    /// Sets "congestion experienced". Only called on capable frames.
    fn mark(&mut self);
    /// A number that tells this frame from others, for the digest of events.
    fn fingerprint(&self) -> u64;
}

impl Frame for Packet {
    #[inline]
    fn bytes(&self) -> u32 {
        u32::from(self.frame_bytes)
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        self.flow_hash
    }
    #[inline]
    fn destination(&self) -> u32 {
        self.to_host
    }
    #[inline]
    fn priority(&self) -> u8 {
        self.priority
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    #[inline]
    fn mark(&mut self) {
        debug_assert!(self.ecn != Ecn::NotEct, "only capable frames are marked");
        self.ecn = Ecn::Ce;
    }
    #[inline]
    fn fingerprint(&self) -> u64 {
        u64::from(self.flow_hash) << 32
            ^ self.seq.rotate_left(13)
            ^ self.ack.rotate_left(43)
            ^ u64::from(self.flags.bits()) << 24
            ^ self.ecn as u64
    }
}
