//! A connection that a client has opened.

use crate::requests::Exchange;
use std::collections::VecDeque;
use tailrace_units::{RandomStream, Time};

/// A connection that a client has opened.
#[derive(Debug)]
pub(super) struct Inbound {
    random: RandomStream,
    /// Bytes of the next request that are missing.
    pub(super) missing: u64,
    /// Its response.
    pub(super) response: u64,
    /// Responses of requests that are whole and are not served, and when they came to be whole.
    pub(super) whole: VecDeque<(u64, Time)>,
    /// The worker that serves all its requests.
    pub(super) own: Option<u32>,
    /// The worker that serves a request of it, or that it waits for one.
    pub(super) state: Turn,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    Idle,
    Queued,
    Served(u32),
}

impl Inbound {
    pub(super) fn new(exchange: &Exchange, random: RandomStream, own: Option<u32>) -> Inbound {
        let (missing, response, whole) = (0, 0, VecDeque::new());
        let mut inbound = Inbound { random, missing, response, whole, own, state: Turn::Idle };
        inbound.await_next(exchange);
        inbound
    }

    pub(super) fn await_next(&mut self, exchange: &Exchange) {
        let sizes = exchange.draw(&mut self.random);
        (self.missing, self.response) = (sizes.request, sizes.response);
    }
}
