//! What a server is made of.

use crate::Peer;
use crate::requests::Exchange;
use std::sync::Arc;
use tailrace_units::{Distribution, RandomStream};

/// What a server is made of.
#[derive(Debug)]
pub struct ServerConfig {
    /// Its host.
    pub host: u16,
    /// The port at which it listens; none where it is sent datagrams.
    pub port: Option<u16>,
    /// What both ends know each of its sockets for datagrams by.
    pub keys: Vec<u64>,
    /// Sizes.
    pub exchange: Arc<Exchange>,
    /// What it does with a request.
    pub policy: ServicePolicy,
    /// It closes a connection when it has written the response.
    pub closes: bool,
    /// What it draws times from.
    pub random: RandomStream,
    /// What it asks of others while it serves, in order.
    pub stages: Vec<StageConfig>,
}

/// What a server does with a request.
#[derive(Clone, Debug)]
pub struct ServicePolicy {
    /// Picoseconds of a core.
    pub work: Distribution,
    /// Picoseconds after that, without a core.
    pub time: Distribution,
    /// Requests at the same time; 0 for no limit.
    pub concurrency: u32,
}

/// What a server asks of others.
#[derive(Debug)]
pub struct StageConfig {
    /// Each of these is asked.
    pub peers: Vec<Peer>,
    /// Sizes.
    pub exchange: Arc<Exchange>,
    /// Requests to each of them.
    pub count: u32,
    /// All at once; otherwise one after the other.
    pub is_parallel: bool,
    /// Responses that are waited for.
    pub awaited: u32,
}
