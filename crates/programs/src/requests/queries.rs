//! Queries as datagrams: sent again where no response comes in time, and lost after the last retry.

use super::Exchange;
use crate::{HostCalls, Message, Tallies};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use tailrace_units::{Span, Time};

/// One request that is not answered.
#[derive(Clone, Copy, Debug)]
struct Query {
    job: u64,
    bytes: u32,
    retries_left: u32,
    deadline: Time,
}

/// The queries of a client.
#[derive(Debug)]
pub(crate) struct Queries {
    exchange: Arc<Exchange>,
    timeout: Span,
    retries: u32,
    /// Sockets of the program that are not theirs come before.
    first_socket: u32,
    /// By socket: its key at both ends, and the number of its next query.
    sockets: Vec<(u64, u64)>,
    /// By socket and number.
    open: BTreeMap<(u32, u64), Query>,
    deadlines: BTreeSet<(Time, u32, u64)>,
    done: VecDeque<(u64, bool)>,
    pub(crate) tallies: Tallies,
}

impl Queries {
    /// Through so many sockets as there are keys, of which the program numbers the first
    /// `first_socket`.
    pub(crate) fn new(
        exchange: Arc<Exchange>,
        timeout: Span,
        retries: u32,
        first_socket: u32,
        keys: &[u64],
    ) -> Queries {
        Queries {
            exchange,
            timeout,
            retries,
            first_socket,
            sockets: keys.iter().map(|&key| (key, 0)).collect(),
            open: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            done: VecDeque::new(),
            tallies: Tallies::default(),
        }
    }

    /// When a query will have waited too long.
    pub(crate) fn poll_timeout(&self) -> Time {
        self.deadlines.first().map_or(Time::NEVER, |&(at, ..)| at)
    }

    /// The next job that has ended, and whether it was answered.
    pub(crate) fn poll_done(&mut self) -> Option<(u64, bool)> {
        self.done.pop_front()
    }

    /// Sends a query through one of its sockets, which count from its first.
    pub(crate) fn ask(&mut self, now: Time, place: u32, job: u64, calls: &mut dyn HostCalls) {
        let (key, next) = &mut self.sockets[place as usize];
        let socket = self.first_socket + place;
        let number = *next;
        *next += 1;
        let bytes = self.exchange.of_query(*key, number).request as u32;
        let deadline = now + self.timeout;
        self.open
            .insert((socket, number), Query { job, bytes, retries_left: self.retries, deadline });
        self.deadlines.insert((deadline, socket, number));
        calls.send_datagram(Message { socket, number, bytes });
    }

    /// A response. Later ones to the same query are ignored, as are those that come too late.
    pub(crate) fn handle_datagram(&mut self, message: Message) {
        let Message { socket, number, .. } = message;
        if let Some(query) = self.open.remove(&(socket, number)) {
            self.deadlines.remove(&(query.deadline, socket, number));
            self.done.push_back((query.job, true));
        }
    }

    /// Sends queries again that have waited too long, or gives them up.
    pub(crate) fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        while let Some(&(at, socket, number)) = self.deadlines.first()
            && at <= now
        {
            self.deadlines.pop_first();
            self.tallies.lost_queries += 1;
            let query =
                self.open.get_mut(&(socket, number)).expect("a query with a deadline is open");
            if query.retries_left == 0 {
                self.done.push_back((query.job, false));
                self.open.remove(&(socket, number));
                continue;
            }
            query.retries_left -= 1;
            query.deadline = now + self.timeout;
            self.deadlines.insert((query.deadline, socket, number));
            calls.send_datagram(Message { socket, number, bytes: query.bytes });
        }
    }
}
