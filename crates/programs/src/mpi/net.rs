//! How the ranks of a host reach the others: through its memory, or over connections.

use super::links::Links;
use super::script::Job;
use super::time_at;
use super::wire::Item;
use crate::HostCalls;
use crate::cause::Cause;
use std::collections::BTreeMap;
use std::sync::Arc;
use tailrace_units::Time;

/// In the memory of a host: sender, receiver, item, and the cause of the sender's act.
pub(super) type Local = (u32, u32, Item, Option<Cause>);

/// How ranks reach each other.
#[derive(Debug)]
pub(super) struct Net {
    pub(super) job: Arc<Job>,
    pub(super) links: Links,
    pub(super) is_local: Vec<bool>,
    /// Messages in the memory of this host: when they are there, and in what order they were sent.
    pub(super) local: BTreeMap<(Time, u64), Local>,
    /// When the last message of a pair is there: none overtakes it.
    pub(super) last: BTreeMap<(u32, u32), Time>,
    pub(super) sent_locally: u64,
    /// The cause of the next send of the rank.
    pub(super) cause: Option<Cause>,
}

impl Net {
    /// Whether a rank is on this host.
    pub(super) fn is_local(&self, rank: u32) -> bool {
        self.is_local[rank as usize]
    }

    /// Something goes from one rank to another.
    pub(super) fn send(
        &mut self,
        now: Time,
        (from, to): (u32, u32),
        item: Item,
        calls: &mut dyn HostCalls,
    ) {
        if !self.is_local(to) {
            return self.links.send((from, to), item, calls);
        }
        let bytes = if let Item::Eager(bytes) = item { bytes } else { 0 };
        let costs = self.job.costs;
        let last = self.last.entry((from, to)).or_insert(Time::ZERO);
        *last = (now + costs.local_latency + time_at(costs.local, bytes)).max(*last);
        self.local.insert((*last, self.sent_locally), (from, to, item, self.cause));
        self.sent_locally += 1;
    }

    /// The next message in the memory of this host that is there by `now`.
    pub(super) fn poll_local(&mut self, now: Time) -> Option<Local> {
        let entry = self.local.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }
}
