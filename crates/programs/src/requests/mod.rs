//! Requests and responses: programs of clients and of servers, over TCP or as datagrams.
//!
//! A client has users, who wait for their responses (closed loop), or requests that arrive by
//! themselves (open loop). Latency counts from the intended start of a request: a slow response
//! does not hide the wait of the next request. A server takes requests of all connections in the
//! order in which they are complete; while it serves one it may ask further servers.
//!
//! Packets carry no payload, so a server does not learn the size of the response from them. Both
//! ends draw sizes from the same stream: [`Exchange`].

mod arrivals;
mod asker;
mod client;
mod patience;
mod queries;
mod server;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use arrivals::PAUSE_AFTER_FAILURE;
pub use arrivals::{Arrivals, ArrivalsConfig, Spike};
pub use client::{ClientConfig, RequestClient, Transport};
pub(crate) use queries::Queries;
pub use server::{RequestServer, ServerConfig, ServicePolicy, StageConfig};
pub use source::{Drive, User};
pub(crate) use source::{Job, Source};

use std::ops::RangeInclusive;
use tailrace_units::{Distribution, RandomStream, mix64};

/// Bytes of requests and responses, as both ends of a connection draw them.
#[derive(Debug)]
pub struct Exchange {
    request: Distribution,
    response: Distribution,
    /// Draws outside are cut to this.
    bytes: RangeInclusive<u64>,
    key: u64,
}

/// One request with its response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sizes {
    request: u64,
    response: u64,
}

impl Exchange {
    /// Sizes with a stream of their own.
    pub fn new(
        request: Distribution,
        response: Distribution,
        bytes: RangeInclusive<u64>,
        mut random: RandomStream,
    ) -> Exchange {
        Exchange { request, response, bytes, key: random.bits() }
    }

    /// The stream of a connection that this host opened from this port. It begins anew where a port
    /// is used again.
    fn on_connection(&self, host: u16, port: u16) -> RandomStream {
        self.stream(u64::from(host) << 16 | u64::from(port), 0)
    }

    /// The sizes of a query, which may be lost: its number determines them.
    fn of_query(&self, socket_key: u64, number: u64) -> Sizes {
        self.draw(&mut self.stream(socket_key, number))
    }

    fn draw(&self, random: &mut RandomStream) -> Sizes {
        let mut of = |distribution: &Distribution| {
            distribution.draw(random).clamp(*self.bytes.start(), *self.bytes.end())
        };
        Sizes { request: of(&self.request), response: of(&self.response) }
    }

    fn stream(&self, first: u64, second: u64) -> RandomStream {
        RandomStream::new(mix64(mix64(self.key ^ first) ^ second), "")
    }
}
