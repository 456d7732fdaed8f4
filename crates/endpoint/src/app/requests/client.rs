//! The clients of one host.

use super::arrivals::PAUSE_AFTER_FAILURE;
use super::asker::{Asker, LaneConfig};
use super::patience::Patience;
use super::queries::Queries;
use super::{Arrivals, Exchange};
use crate::app::{HostCalls, Message, Peer, Program, Tallies};
use crate::transport::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tailrace_units::{Distribution, RandomStream, Span, Time};

/// What a client is made of.
#[derive(Debug)]
pub struct ClientConfig {
    /// Its host.
    pub host: u16,
    /// The servers.
    pub servers: Vec<Peer>,
    /// Sizes.
    pub exchange: Rc<Exchange>,
    /// How requests travel.
    pub transport: Transport,
    /// What makes them.
    pub drive: Drive,
    /// The server of each request is drawn from this; otherwise users stay with theirs, and arrivals take them in turn.
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
        /// It is asked again so often.
        retries: u32,
    },
    /// As datagrams.
    Udp {
        /// A query without a response for so long is lost.
        timeout: Span,
        /// It is sent again so often.
        retries: u32,
        /// What both ends know each socket by: of each user those to all servers that it asks, or of each server as many as arrivals
        /// share.
        keys: Vec<u64>,
    },
}

/// What makes requests.
#[derive(Debug)]
pub enum Drive {
    /// Closed-loop users.
    Users {
        /// Each of them.
        users: Vec<User>,
        /// Picoseconds from a response to the next request.
        gap: Distribution,
        /// Of each user; 0 without end.
        requests: u64,
    },
    /// Requests that arrive by themselves.
    Arrivals(Arrivals),
}

/// A closed-loop user, which asks over connections of its own.
#[derive(Debug)]
pub struct User {
    /// Counts within the workload.
    pub number: u32,
    /// When its first request is meant to start.
    pub first: Time,
    /// The index of its server, unless servers are drawn.
    pub server: u32,
    /// Its pauses.
    pub random: RandomStream,
}

/// A request that has begun.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// Index of the user here.
    user: u32,
    intended: Time,
}

/// What is left of a user.
#[derive(Debug)]
struct UserState {
    user: User,
    begun: u64,
    running: u32,
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

/// How requests travel, with what is on its way.
#[derive(Debug)]
enum Way {
    /// Lanes: of each user those to all servers that it asks, or one for each server.
    Streams(Asker),
    /// Sockets in the same order; of each server the second number share arrivals.
    Datagrams(Queries, u32),
}

/// What makes requests, with where it is.
#[derive(Debug)]
enum Source {
    Users { users: Vec<UserState>, gap: Distribution, requests: u64, depth: u32, due: BTreeSet<(Time, u32)> },
    Arrivals(Arrivals),
}

impl RequestClient {
    /// Before its first request.
    pub fn new(config: ClientConfig) -> RequestClient {
        let ClientConfig { host, servers, exchange, transport, drive, choice } = config;
        let depth = if let Transport::Tcp { depth, .. } = transport { depth } else { 1 };
        let way = Way::new(host, &servers, exchange, transport, &drive, choice.is_some());
        let (servers, source) = (servers.len() as u32, Source::new(drive, depth));
        RequestClient { choice, servers, way, source, jobs: BTreeMap::new(), tallies: Tallies::default() }
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
                queries.ask(now, lane * *shared + turn as u32, number, calls);
            }
        }
    }

    /// What is due by now begins.
    fn begin_due(&mut self, now: Time, calls: &mut dyn HostCalls) {
        while let Some((number, job)) = self.source.poll_due(now) {
            self.begin(now, number, job, calls);
        }
    }

    /// Tells of all requests that have ended.
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
    fn new(host: u16, servers: &[Peer], exchange: Rc<Exchange>, transport: Transport, drive: &Drive, is_drawn: bool) -> Way {
        match transport {
            Transport::Udp { timeout, retries, keys } => {
                let shared = if let Drive::Arrivals(_) = drive { keys.len() / servers.len() } else { 1 };
                Way::Datagrams(Queries::new(exchange, timeout, retries, &keys), shared as u32)
            }
            Transport::Tcp { is_kept, depth, limit, timeout, retries } => {
                let mut asker = Asker::new(host, (timeout > Span::ZERO).then(|| Patience::new(timeout, retries)));
                let mut add = |peer: Peer, limit: u32| {
                    asker.add_lane(LaneConfig { peer, exchange: Rc::clone(&exchange), depth, limit, is_kept });
                };
                match drive {
                    Drive::Arrivals(_) => servers.iter().for_each(|&peer| add(peer, limit)),
                    Drive::Users { users, .. } if is_drawn => {
                        users.iter().for_each(|_| servers.iter().for_each(|&peer| add(peer, 1)));
                    }
                    Drive::Users { users, .. } => users.iter().for_each(|user| add(servers[user.server as usize], 1)),
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

impl Source {
    /// Each user has as many requests on its way as its connection carries.
    fn new(drive: Drive, depth: u32) -> Source {
        match drive {
            Drive::Arrivals(arrivals) => Source::Arrivals(arrivals),
            Drive::Users { users, gap, requests } => {
                let slots =
                    (0_u32..).zip(&users).flat_map(|(at, user)| (0..depth).map(move |slot| (user.first, at * depth + slot)));
                let due = slots.collect();
                let users = users.into_iter().map(|user| UserState { user, begun: 0, running: 0 }).collect();
                Source::Users { users, gap, requests, depth, due }
            }
        }
    }

    fn poll_timeout(&self) -> Time {
        match self {
            Source::Users { due, .. } => due.first().map_or(Time::NEVER, |&(at, _)| at),
            Source::Arrivals(arrivals) => arrivals.next_at(),
        }
    }

    /// The number and the intended start of a request that is due by now.
    fn poll_due(&mut self, now: Time) -> Option<(u64, Job)> {
        match self {
            Source::Arrivals(arrivals) => {
                let intended = arrivals.next_at();
                (intended <= now).then(|| (arrivals.take(), Job { user: 0, intended }))
            }
            Source::Users { users, requests, depth, due, .. } => loop {
                let (intended, slot) = *due.first().filter(|&&(at, _)| at <= now)?;
                due.pop_first();
                let user = slot / *depth;
                let state = &mut users[user as usize];
                if *requests > 0 && state.begun == *requests {
                    continue; // the other requests on its way are its last
                }
                (state.begun, state.running) = (state.begun + 1, state.running + 1);
                return Some((slot.into(), Job { user, intended }));
            },
        }
    }

    /// The number of the user whose request this is.
    fn user(&self, job: Job) -> u32 {
        match self {
            Source::Users { users, .. } => users[job.user as usize].user.number,
            Source::Arrivals(_) => 0,
        }
    }

    /// A request has ended. Returns whether it was the last of its user.
    fn ended(&mut self, now: Time, number: u64, job: Job, pause: Span) -> bool {
        let Source::Users { users, gap, requests, due, .. } = self else { return false };
        let state = &mut users[job.user as usize];
        state.running -= 1;
        if *requests > 0 && state.begun == *requests {
            return state.running == 0;
        }
        let gap = Span::from_ps(gap.draw(&mut state.user.random));
        due.insert((now + gap.max(pause), number as u32));
        false
    }

    /// Whether the last arrival has come, of which this is told once.
    fn is_used_up(&mut self) -> bool {
        match self {
            Source::Arrivals(arrivals) => arrivals.tells_end(),
            Source::Users { .. } => false,
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
    fn tell(&mut self, now: Time, calls: &mut dyn HostCalls, tell: impl FnOnce(&mut Asker, &mut dyn HostCalls)) {
        if let Way::Streams(asker) = &mut self.way {
            tell(asker, calls);
        }
        self.settle(now, calls);
    }
}
