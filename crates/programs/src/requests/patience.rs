//! How long a client waits for a response over TCP, and how often it asks again.

use std::collections::{BTreeMap, BTreeSet};
use tailrace_units::{Span, Time};

/// A request without a whole response.
#[derive(Clone, Copy, Debug)]
struct Wait {
    deadline: Time,
    lane: u32,
    /// The connection that carries it.
    socket: Option<u32>,
    retries_left: u32,
}

/// The deadlines of all requests on their way. A deadline counts from when the request is asked: it
/// includes the wait for a connection and its handshake, as `curl --max-time` does.
#[derive(Debug)]
pub(super) struct Patience {
    timeout: Span,
    retries: u32,
    waits: BTreeMap<u64, Wait>,
    deadlines: BTreeSet<(Time, u64)>,
}

impl Patience {
    /// Nothing is on its way.
    pub(super) fn new(timeout: Span, retries: u32) -> Patience {
        Patience { timeout, retries, waits: BTreeMap::new(), deadlines: BTreeSet::new() }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        self.deadlines.first().map_or(Time::NEVER, |&(at, _)| at)
    }

    pub(super) fn begin(&mut self, now: Time, job: u64, lane: u32) {
        let deadline = now + self.timeout;
        let before = self
            .waits
            .insert(job, Wait { deadline, lane, socket: None, retries_left: self.retries });
        assert!(before.is_none(), "requests on their way have numbers of their own");
        self.deadlines.insert((deadline, job));
    }

    /// This connection carries the request from now on.
    pub(super) fn carry(&mut self, job: u64, socket: u32) {
        if let Some(wait) = self.waits.get_mut(&job) {
            wait.socket = Some(socket);
        }
    }

    /// The request was answered, or has failed.
    pub(super) fn end(&mut self, job: u64) {
        if let Some(wait) = self.waits.remove(&job) {
            self.deadlines.remove(&(wait.deadline, job));
        }
    }

    /// A request that has waited too long, with its lane and its connection.
    pub(super) fn expired(&self, now: Time) -> Option<(u64, u32, Option<u32>)> {
        let &(_, job) = self.deadlines.first().filter(|&&(at, _)| at <= now)?;
        let wait = &self.waits[&job];
        Some((job, wait.lane, wait.socket))
    }

    /// Gives the request up. Returns whether it is asked again, with a new deadline; otherwise it
    /// has ended.
    pub(super) fn retries(&mut self, now: Time, job: u64) -> bool {
        let Some(before) = self.waits.get(&job).copied() else { return false };
        self.end(job);
        if before.retries_left == 0 {
            return false;
        }
        let (retries_left, deadline) = (before.retries_left - 1, now + self.timeout);
        self.waits.insert(job, Wait { deadline, lane: before.lane, socket: None, retries_left });
        self.deadlines.insert((deadline, job));
        true
    }
}
