//! Flows that open and end while a trial runs in parts.
//!
//! Every part assigns every flow its agenda source and releases it, also for flows of other parts:
//! so all parts assign the same sources. Both happen at times that all parts know before they come
//! to them (`parallel/flows.rs`).

use crate::workload_events::EventKey;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use tailrace_units::Time;
use tailrace_wire::Packet;
use tailrace_workloads::Ends;

/// Knowledge of one part about flows.
#[derive(Debug)]
pub(crate) struct PartFlows {
    /// By host: whether it belongs to this part.
    owns: Vec<bool>,
    /// By the pair of their sockets.
    pairs: Vec<Pair>,
    /// By host, where there are any.
    counts: BTreeMap<u32, Counts>,
    /// Flows that have ended here since the last barrier.
    pub(crate) ended: Vec<FlowEnd>,
}

/// A flow that ends here, or none.
#[derive(Clone, Copy, Default, Debug)]
struct Pair {
    /// The host at which it ends, if it is open and that host belongs to this part.
    server: Option<u32>,
    /// If it begins elsewhere: payload that has not come into the part since it opened.
    to_come: u64,
    /// It begins elsewhere, and all of it may have come.
    is_arriving: bool,
}

/// Flows that end at a host.
#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    open: u32,
    /// Flows from other parts that can end soon.
    arriving: u32,
}

/// The end of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEnd {
    /// The event in which its last byte was read.
    pub(crate) event: EventKey,
    pub(crate) now: Time,
    /// The socket that read it.
    pub(crate) socket: u32,
    /// Whether its other end is in another part.
    pub(crate) is_shared: bool,
}

impl PartFlows {
    pub(crate) fn new(owns: Vec<bool>) -> PartFlows {
        PartFlows { owns, pairs: Vec::new(), counts: BTreeMap::new(), ended: Vec::new() }
    }

    /// Whether a host belongs to this part.
    pub(crate) fn owns(&self, host: u32) -> bool {
        self.owns[host as usize]
    }

    /// A flow of so many bytes was opened, with this socket and the next.
    pub(crate) fn opened(&mut self, client: u32, ends: Ends, bytes: u64) {
        let place = client as usize / 2;
        self.pairs.resize(self.pairs.len().max(place + 1), Pair::default());
        if self.owns(ends.server) {
            let to_come = if self.owns(ends.client) { 0 } else { bytes };
            self.pairs[place] = Pair { server: Some(ends.server), to_come, is_arriving: false };
            self.counts.entry(ends.server).or_default().open += 1;
        }
    }

    /// A segment for this receiving socket came into the part.
    pub(crate) fn came_in(&mut self, server: u32, packet: &Packet) {
        let Some(pair) = self.pairs.get_mut(server as usize / 2).filter(|pair| pair.to_come > 0)
        else {
            return;
        };
        pair.to_come = pair.to_come.saturating_sub(packet.payload_bytes.into());
        if pair.to_come == 0
            && let Some(counts) = pair.server.and_then(|host| self.counts.get_mut(&host))
        {
            pair.is_arriving = true;
            counts.arriving += 1;
        }
    }

    /// Hosts at which flows from other parts can end soon; with `all`, those at which any flow
    /// ends.
    pub(crate) fn receivers(&self, all: bool) -> impl Iterator<Item = u32> {
        self.counts
            .iter()
            .filter(move |(_, counts)| all || counts.arriving > 0)
            .map(|(&host, _)| host)
    }

    /// Whether a flow from another part, of this receiving socket, can end soon.
    pub(crate) fn is_arriving(&self, server: u32) -> bool {
        self.pairs.get(server as usize / 2).is_some_and(|pair| pair.is_arriving)
    }

    /// A flow is over.
    pub(crate) fn forget(&mut self, server: u32) {
        let pair = std::mem::take(&mut self.pairs[server as usize / 2]);
        let Some(host) = pair.server else { return };
        let Entry::Occupied(mut counts) = self.counts.entry(host) else {
            unreachable!("it was counted when it opened")
        };
        counts.get_mut().open -= 1;
        counts.get_mut().arriving -= u32::from(pair.is_arriving);
        if counts.get().open == 0 {
            counts.remove();
        }
    }
}
