//! The fast path of a frame onto its wire.
//!
//! In most runs all that is kept of a frame is its part of the digest, and most frames find room on
//! their wire, behind another one. What is left of the steps of `send` is little enough to stand in
//! the loop of events: every call in it is the last, so that no register need outlive one. Runs of
//! which every frame is recorded take the slow path alone, and a test compares the results
//! (`tests/checks/properties.rs`).

use super::Links;
use tailrace_dataplane::Frame;
use tailrace_network::NetworkFrame;
use tailrace_units::Time;
use tailrace_wire::Packet;

impl Links {
    /// Puts a frame on its wire. Returns false, and has done nothing, for any frame that needs the
    /// slow path: one of control, and all in runs that keep no digest or more than it.
    #[inline(always)]
    pub(super) fn take_fast_path(
        &mut self,
        wire: usize,
        packet: &Packet,
        start: Time,
        end: Time,
    ) -> bool {
        if !self.observe.keeps_only_digest() || packet.is_control() {
            return false;
        }
        self.observe.sent(start, wire, packet.fingerprint());
        let link = &mut self.wires[wire];
        if link.is_full() {
            self.put_on_wire(wire, packet, start, end);
        } else if let Some(arrival) = link.push(packet, start, end) {
            self.announce(wire, arrival);
        }
        true
    }
}
