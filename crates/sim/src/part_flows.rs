//! Flows that open and end while a trial runs in parts.
//!
//! Every part opens and gives back the sockets of every flow, also those of hosts of other parts: so all parts give the same numbers.
//! Both happen at times that all parts know before they come to them (`parallel/flows.rs`).

use crate::told::Order;
use tailrace_units::Time;
use tailrace_wire::Packet;
use tailrace_workloads::Ends;

/// What one part knows of flows.
#[derive(Debug)]
pub(crate) struct PartFlows {
    /// By host: whether it is one of this part.
    owns: Vec<bool>,
    /// Of flows that end here and begin elsewhere, by the pair of their sockets: payload that has not come into the part since they opened.
    to_come: Vec<u64>,
    /// The receiving sockets of those of which all may have come.
    arriving: Vec<u32>,
    /// Flows that have ended here since the parts met.
    pub(crate) ended: Vec<FlowEnd>,
}

/// The end of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEnd {
    /// The event in which its last byte was read.
    pub(crate) event: Order,
    pub(crate) now: Time,
    /// The socket that read it.
    pub(crate) socket: u32,
    /// Whether its other end is in another part.
    pub(crate) is_shared: bool,
}

impl PartFlows {
    pub(crate) fn new(owns: Vec<bool>) -> PartFlows {
        PartFlows { owns, to_come: Vec::new(), arriving: Vec::new(), ended: Vec::new() }
    }

    /// Whether a host is one of this part.
    pub(crate) fn owns(&self, host: u32) -> bool {
        self.owns[host as usize]
    }

    /// A flow of so many bytes was opened, with this socket and the next.
    pub(crate) fn opened(&mut self, client: u32, ends: Ends, bytes: u64) {
        let pair = client as usize / 2;
        self.to_come.resize(self.to_come.len().max(pair + 1), 0);
        let is_from_elsewhere = self.owns(ends.server) && !self.owns(ends.client);
        self.to_come[pair] = if is_from_elsewhere { bytes } else { 0 };
    }

    /// A segment for this receiving socket came into the part.
    pub(crate) fn came_in(&mut self, server: u32, packet: &Packet) {
        let Some(to_come) = self.to_come.get_mut(server as usize / 2).filter(|to_come| **to_come > 0) else { return };
        *to_come = to_come.saturating_sub(packet.payload_bytes.into());
        if *to_come == 0 {
            self.arriving.push(server);
        }
    }

    /// The receiving sockets of flows from other parts that can end soon.
    pub(crate) fn arriving(&self) -> &[u32] {
        &self.arriving
    }

    /// A flow is over.
    pub(crate) fn forget(&mut self, server: u32) {
        self.arriving.retain(|&arriving| arriving != server);
    }
}
