//! The clients of one host.

use super::arrivals::PAUSE_AFTER_FAILURE;
use super::asker::{Asker, LaneConfig};
use super::patience::Patience;
use super::queries::Queries;
use super::source::{Job, Source};
use super::{Drive, Exchange};
use crate::{HostCalls, Message, Peer, Program, Tallies};
use std::collections::BTreeMap;
use std::sync::Arc;
use tailrace_transport::tcp::Failure;
use tailrace_units::{RandomStream, Span, Time};

/// Configuration of a client.
#[derive(Debug)]
pub struct ClientConfig {
    /// Its host.
    pub host: u16,
    /// The servers.
    pub servers: Vec<Peer>,
    /// Sizes.
    pub exchange: Arc<Exchange>,
    /// How requests travel.
    pub transport: Transport,
    /// The source of requests.
    pub drive: Drive,
    /// The server of each request is drawn from this; otherwise users stay with theirs, and
    /// arrivals take them in turn.
    pub choice: Option<RandomStream>,
}

/// How requests travel.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Over TCP.
    Tcp {
        /// Connections are used again; otherwise each carries one request.
        is_kept: bool,
        /// Requests that may be on their way over one connection.
        depth: u32,
        /// Most connections to each server that arrivals share; 0 for as many as are needed.
        limit: u32,
        /// A request without a whole response for so long is given up; zero for never.
        timeout: Span,
        /// Retries of a request, at most.
        retries: u32,
    },
    /// As datagrams.
    Udp {
        /// A query without a response for so long is lost.
        timeout: Span,
        /// Retransmissions of a query, at most.
        retries: u32,
        /// Keys by which both ends know each socket: of each user those to all its servers, or of
        /// each server as many as arrivals share.
        keys: Vec<u64>,
    },
}

/// A program with the clients of one host.
#[derive(Debug)]
pub struct RequestClient {
    choice: Option<RandomStream>,
    servers: u32,
    way: Way,
    source: Source,
    jobs: BTreeMap<u64, Job>,
    tallies: Tallies,
}

/// The transport of requests, with those on their way.
#[derive(Debug)]
enum Way {
    /// Lanes: of each user those to all servers that it asks, or one for each server.
    Streams(Asker),
    /// Sockets in the same order; of each server the second number share arrivals.
    Datagrams(Queries, u32),
}

impl RequestClient {
    /// Before its first request.
    pub fn new(config: ClientConfig) -> RequestClient {
        let ClientConfig { host, servers, exchange, transport, drive, choice } = config;
        let depth = if let Transport::Tcp { depth, .. } = transport { depth } else { 1 };
        let way = Way::new(host, &servers, exchange, transport, &drive, choice.is_some());
        let (servers, source) = (servers.len() as u32, Source::new(drive, depth));
        RequestClient {
            choice,
            servers,
            way,
            source,
            jobs: BTreeMap::new(),
            tallies: Tallies::default(),
        }
    }

    /// A request is meant to start at `intended`, which has come.
    fn begin(&mut self, now: Time, number: u64, job: Job, calls: &mut dyn HostCalls) {
        self.tallies.begun += 1;
        self.jobs.insert(number, job);
        let drawn = self.choice.as_mut().map(|random| random.below(self.servers.into()) as u32);
        let lane = match (&self.source, drawn) {
            (Source::Users { .. }, Some(server)) => job.user * self.servers + server,
            (Source::Users { .. }, None) => job.user,
            (Source::Arrivals(_), Some(server)) => server,
            (Source::Arrivals(_), None) => (number % u64::from(self.servers)) as u32,
        };
        match &mut self.way {
            Way::Streams(asker) => asker.ask_within(now, lane, number, calls),
            Way::Datagrams(queries, shared) => {
                let turn = number / u64::from(self.servers) % u64::from(*shared);
                // The last input was for another request.
                let before = calls.follows(None);
                queries.ask(now, lane * *shared + turn as u32, number, calls);
                calls.follows(before);
            }
        }
    }

    /// Begins the requests that are due by now.
    fn begin_due(&mut self, now: Time, calls: &mut dyn HostCalls) {
        while let Some((number, job)) = self.source.poll_due(now) {
            self.begin(now, number, job, calls);
        }
    }

    /// Reports all requests that have ended.
    fn settle(&mut self, now: Time, calls: &mut dyn HostCalls) {
        loop {
            while let Some((number, is_answered)) = self.way.poll_done() {
                let Some(job) = self.jobs.remove(&number) else { continue };
                let user = self.source.user(job);
                if is_answered {
                    self.tallies.answered += 1;
                    calls.completed(user, job.intended);
                } else {
                    self.tallies.failed += 1;
                }
                let pause = if is_answered { Span::ZERO } else { PAUSE_AFTER_FAILURE };
                if self.source.ended(now, number, job, pause) {
                    calls.finished(user);
                }
            }
            if self.source.poll_timeout() > now {
                break;
            }
            self.begin_due(now, calls);
        }
        if self.jobs.is_empty() && self.source.is_used_up() {
            calls.finished(0);
        }
    }
}

impl Way {
    fn new(
        host: u16,
        servers: &[Peer],
        exchange: Arc<Exchange>,
        transport: Transport,
        drive: &Drive,
        is_drawn: bool,
    ) -> Way {
        match transport {
            Transport::Udp { timeout, retries, keys } => {
                let shared =
                    if let Drive::Arrivals(_) = drive { keys.len() / servers.len() } else { 1 };
                Way::Datagrams(Queries::new(exchange, timeout, retries, 0, &keys), shared as u32)
            }
            Transport::Tcp { is_kept, depth, limit, timeout, retries } => {
                let mut asker = Asker::new(
                    host,
                    (timeout > Span::ZERO).then(|| Patience::new(timeout, retries)),
                );
                let mut add = |peer: Peer, limit: u32| {
                    asker.add_lane(LaneConfig {
                        peer,
                        exchange: Arc::clone(&exchange),
                        depth,
                        limit,
                        is_kept,
                    });
                };
                match drive {
                    Drive::Arrivals(_) => servers.iter().for_each(|&peer| add(peer, limit)),
                    Drive::Users { users, .. } if is_drawn => {
                        users.iter().for_each(|_| servers.iter().for_each(|&peer| add(peer, 1)));
                    }
                    Drive::Users { users, .. } => {
                        users.iter().for_each(|user| add(servers[user.server as usize], 1))
                    }
                }
                Way::Streams(asker)
            }
        }
    }

    fn poll_done(&mut self) -> Option<(u64, bool)> {
        match self {
            Way::Streams(asker) => asker.poll_done(),
            Way::Datagrams(queries, _) => queries.poll_done(),
        }
    }
}

impl Program for RequestClient {
    fn poll_timeout(&self) -> Time {
        self.source.poll_timeout().min(match &self.way {
            Way::Datagrams(queries, _) => queries.poll_timeout(),
            Way::Streams(asker) => asker.poll_timeout(),
        })
    }
    fn running(&self, each: &mut dyn FnMut(u32, Time)) {
        self.jobs.values().for_each(|&job| each(self.source.user(job), job.intended));
    }
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        match &mut self.way {
            Way::Datagrams(queries, _) => queries.handle_timeout(now, calls),
            Way::Streams(asker) => asker.handle_timeout(now, calls),
        }
        self.begin_due(now, calls);
        self.settle(now, calls);
    }
    fn handle_core(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("a client asks for no core");
    }
    fn handle_connected(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        self.tell(now, calls, |asker, calls| asker.handle_connected(socket, calls));
    }
    fn handle_waiting(&mut self, _: Time, _: u16, _: &mut dyn HostCalls) {
        unreachable!("a client does not listen");
    }
    fn handle_readable(&mut self, now: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls) {
        self.tell(now, calls, |asker, calls| asker.handle_readable(socket, bytes, calls));
    }
    fn handle_ended(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        self.tell(now, calls, |asker, calls| asker.handle_ended(socket, calls));
    }
    fn handle_failed(&mut self, now: Time, socket: u32, _: Failure, calls: &mut dyn HostCalls) {
        self.tell(now, calls, |asker, calls| asker.handle_gone(socket, calls));
    }
    fn handle_datagram(&mut self, now: Time, message: Message, calls: &mut dyn HostCalls) {
        if let Way::Datagrams(queries, _) = &mut self.way {
            queries.handle_datagram(message);
        }
        self.settle(now, calls);
    }
    fn tallies(&self) -> Tallies {
        let mut tallies = self.tallies;
        match &self.way {
            Way::Streams(asker) => tallies.add(&asker.tallies),
            Way::Datagrams(queries, _) => tallies.add(&queries.tallies),
        }
        tallies
    }
}

impl RequestClient {
    fn tell(
        &mut self,
        now: Time,
        calls: &mut dyn HostCalls,
        tell: impl FnOnce(&mut Asker, &mut dyn HostCalls),
    ) {
        if let Way::Streams(asker) = &mut self.way {
            tell(asker, calls);
        }
        self.settle(now, calls);
    }
}
