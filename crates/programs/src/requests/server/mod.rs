//! A server.

mod assign;
mod config;
mod inbound;
mod worker;

pub use config::{ServerConfig, ServicePolicy, StageConfig};

use super::Exchange;
use super::asker::{Asker, LaneConfig};
use crate::{HostCalls, Message, Program, Tallies};
use inbound::{Inbound, Turn};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use tailrace_transport::tcp::Failure;
use tailrace_units::{RandomStream, Span, Time};
use worker::{Reply, Worker};

/// Connections that may wait to be accepted (Linux `somaxconn`): the program accepts each at once.
const BACKLOG: u32 = 4_096;

/// The stages, with the first of their lanes.
#[derive(Debug)]
struct Stage {
    first_lane: u32,
    peers: u32,
    count: u32,
    is_parallel: bool,
    awaited: u32,
}

/// A request that waits for a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ticket {
    /// The first of this connection.
    Stream(u32),
    /// Socket, number, response, and when it came.
    Datagram(u32, u64, u64, Time),
}

/// A server.
#[derive(Debug)]
pub struct RequestServer {
    port: Option<u16>,
    is_listening: bool,
    keys: Vec<u64>,
    exchange: Arc<Exchange>,
    policy: ServicePolicy,
    closes: bool,
    random: RandomStream,
    stages: Vec<Stage>,
    asker: Asker,
    inbound: BTreeMap<u32, Inbound>,
    queue: VecDeque<Ticket>,
    workers: Vec<Worker>,
    idle: Vec<u32>,
    due: BTreeSet<(Time, u32)>,
    next_serial: u32,
    failed_calls: u64,
}

impl RequestServer {
    /// Before its first request.
    pub fn new(config: ServerConfig) -> RequestServer {
        let ServerConfig { host, port, keys, exchange, policy, closes, random, stages } = config;
        let mut asker = Asker::new(host, None);
        let mut first_lane = 0;
        let mut add = |stage: StageConfig| {
            let StageConfig { peers, exchange, count, is_parallel, awaited } = stage;
            let first = first_lane;
            first_lane += peers.len() as u32;
            for &peer in &peers {
                asker.add_lane(LaneConfig {
                    peer,
                    exchange: Arc::clone(&exchange),
                    depth: 1,
                    limit: 0,
                    is_kept: true,
                });
            }
            Stage { first_lane: first, peers: peers.len() as u32, count, is_parallel, awaited }
        };
        let stages = stages.into_iter().map(&mut add).collect();
        RequestServer {
            is_listening: port.is_none(),
            port,
            keys,
            exchange,
            policy,
            closes,
            random,
            stages,
            asker,
            inbound: BTreeMap::new(),
            queue: VecDeque::new(),
            workers: Vec::new(),
            idle: Vec::new(),
            due: BTreeSet::new(),
            next_serial: 0,
            failed_calls: 0,
        }
    }

    /// Bytes of a client have come.
    fn receive(&mut self, now: Time, socket: u32, mut bytes: u64) {
        let exchange = Arc::clone(&self.exchange);
        let Some(inbound) = self.inbound.get_mut(&socket) else { return };
        while bytes >= inbound.missing {
            bytes -= inbound.missing;
            inbound.whole.push_back((inbound.response, now));
            inbound.await_next(&exchange);
        }
        inbound.missing -= bytes;
        self.queue_next(socket);
    }

    /// The next request of a connection waits for a worker, if it is whole and none before it is
    /// served.
    fn queue_next(&mut self, socket: u32) {
        if let Some(inbound) = self.inbound.get_mut(&socket)
            && inbound.state == Turn::Idle
            && !inbound.whole.is_empty()
        {
            inbound.state = Turn::Queued;
            self.queue.push_back(Ticket::Stream(socket));
        }
    }

    /// Workers take waiting requests, and continue with the answers of other servers.
    fn settle(&mut self, now: Time, calls: &mut dyn HostCalls) {
        loop {
            if let Some((job, is_answered)) = self.asker.poll_done() {
                self.failed_calls += u64::from(!is_answered);
                self.count_answer(job, calls);
            } else if let Some(ticket) = self.next_ticket() {
                let before = calls.follows(None);
                self.begin(now, ticket, calls);
                calls.follows(before);
            } else {
                return;
            }
        }
    }

    fn next_ticket(&mut self) -> Option<Ticket> {
        let busy = self.workers.len() - self.idle.len();
        let has_room = self.policy.concurrency == 0 || busy < self.policy.concurrency as usize;
        if has_room { self.queue.pop_front() } else { None }
    }

    fn begin(&mut self, now: Time, ticket: Ticket, calls: &mut dyn HostCalls) {
        let (number, reply, (response, since)) = match ticket {
            Ticket::Datagram(socket, query, response, since) => {
                (self.take_worker(), Reply::Datagram(socket, query), (response, since))
            }
            Ticket::Stream(socket) => {
                let own = self.inbound[&socket].own;
                let number = own.unwrap_or_else(|| self.take_worker());
                let inbound = self
                    .inbound
                    .get_mut(&socket)
                    .expect("tickets of connections that are gone are taken back");
                inbound.state = Turn::Served(number);
                (
                    number,
                    Reply::Stream(socket),
                    inbound.whole.pop_front().expect("a request that waits is whole"),
                )
            }
        };
        let work = Span::from_ps(self.policy.work.draw(&mut self.random));
        let time = Span::from_ps(self.policy.time.draw(&mut self.random));
        self.workers[number as usize] =
            Worker { reply, response, since, begun: now, work, time, ..Worker::unused() };
        self.tell_cause(number, calls);
        if work == Span::ZERO {
            self.serve(now, number, calls);
        } else if calls.ask_core(number) {
            self.work(number, calls);
        }
    }

    /// Names the request of a worker as the cause of its acts before an answer.
    fn tell_cause(&self, number: u32, calls: &mut dyn HostCalls) {
        if let Some(cause) = self.workers[number as usize].cause() {
            calls.follows(Some(cause));
        }
    }

    /// The worker has a core.
    fn work(&mut self, number: u32, calls: &mut dyn HostCalls) {
        let worker = &mut self.workers[number as usize];
        worker.is_working = true;
        self.due.insert((calls.compute(worker.work), number));
    }

    /// The worker's time without a core begins.
    fn serve(&mut self, now: Time, number: u32, calls: &mut dyn HostCalls) {
        let time = self.workers[number as usize].time;
        if time > Span::ZERO {
            self.due.insert((now + time, number));
        } else {
            self.ask_others(number, calls);
        }
    }

    /// The worker sends the request of its stage, or answers behind the last stage.
    fn ask_others(&mut self, number: u32, calls: &mut dyn HostCalls) {
        let worker = &mut self.workers[number as usize];
        let Some(stage) = self.stages.get(worker.stage as usize) else {
            return self.answer(number, calls);
        };
        if worker.asked == 0 {
            worker.serial = self.next_serial;
            self.next_serial = self.next_serial.wrapping_add(1);
        }
        let all = stage.peers * stage.count;
        let until = if stage.is_parallel { all } else { worker.asked + 1 };
        let job = u64::from(worker.serial) << 32 | u64::from(number);
        let from = std::mem::replace(&mut worker.asked, until);
        for turn in from..until {
            self.asker.ask(stage.first_lane + turn % stage.peers, job, calls);
        }
    }

    /// One of those that were asked has answered, or never will.
    fn count_answer(&mut self, job: u64, calls: &mut dyn HostCalls) {
        let (serial, number) = ((job >> 32) as u32, job as u32);
        let worker = &mut self.workers[number as usize];
        if worker.serial != serial || worker.asked == 0 {
            return; // an answer that was not waited for
        }
        worker.answered += 1;
        let stage = &self.stages[worker.stage as usize];
        if worker.answered == stage.awaited {
            (worker.stage, worker.asked, worker.answered) = (worker.stage + 1, 0, 0);
        } else if stage.is_parallel {
            return;
        }
        self.ask_others(number, calls);
    }

    fn answer(&mut self, number: u32, calls: &mut dyn HostCalls) {
        let Worker { reply, response, .. } = self.workers[number as usize];
        let keeps = matches!(reply, Reply::Stream(socket) if !self.closes && self.inbound[&socket].own.is_some());
        if !keeps {
            self.idle.push(number);
        }
        match reply {
            Reply::Nowhere => {}
            Reply::Datagram(socket, number) => {
                calls.send_datagram(Message { socket, number, bytes: response as u32 })
            }
            Reply::Stream(socket) => {
                calls.write(socket, response);
                if self.closes {
                    self.inbound.remove(&socket);
                    return calls.close(socket);
                }
                if let Some(inbound) = self.inbound.get_mut(&socket) {
                    inbound.state = Turn::Idle;
                }
                self.queue_next(socket);
            }
        }
    }

    /// A client's connection is closed: results of its requests are discarded.
    fn forget(&mut self, socket: u32) {
        let Some(inbound) = self.inbound.remove(&socket) else { return };
        match inbound.state {
            Turn::Idle => self.idle.extend(inbound.own),
            Turn::Queued => {
                self.queue.retain(|ticket| *ticket != Ticket::Stream(socket));
                self.idle.extend(inbound.own);
            }
            Turn::Served(worker) => self.workers[worker as usize].reply = Reply::Nowhere,
        }
    }
}

impl Program for RequestServer {
    fn poll_timeout(&self) -> Time {
        if !self.is_listening {
            return Time::ZERO;
        }
        self.due.first().map_or(Time::NEVER, |&(at, _)| at)
    }
    fn port(&self) -> Option<(u16, u32)> {
        self.port.map(|port| (port, BACKLOG))
    }
    fn running(&self, _: &mut dyn FnMut(u32, Time)) {}
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        if let Some(port) = self.port.filter(|_| !self.is_listening) {
            self.is_listening = true;
            assert!(calls.listen(port, BACKLOG), "each server has a port of its own");
        }
        while let Some(&(at, number)) = self.due.first()
            && at <= now
        {
            self.due.pop_first();
            self.tell_cause(number, calls);
            if std::mem::take(&mut self.workers[number as usize].is_working) {
                calls.leave_core();
                self.serve(at, number, calls);
            } else {
                self.end_time(number, calls);
            }
        }
        self.settle(now, calls);
    }
    fn handle_core(&mut self, now: Time, thread: u32, calls: &mut dyn HostCalls) {
        self.tell_cause(thread, calls);
        if std::mem::take(&mut self.workers[thread as usize].is_over) {
            self.ask_others(thread, calls);
            return self.settle(now, calls);
        }
        self.work(thread, calls);
    }
    fn handle_worked(&mut self, now: Time, thread: u32, calls: &mut dyn HostCalls) {
        // On a host with a processor the end of the work was not known.
        self.due.remove(&(Time::NEVER, thread));
        self.due.insert((now, thread));
        self.handle_timeout(now, calls);
    }
    fn handle_connected(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        self.asker.handle_connected(socket, calls);
        self.settle(now, calls);
    }
    fn handle_waiting(&mut self, _: Time, port: u16, calls: &mut dyn HostCalls) {
        while let Some(socket) = calls.accept(port) {
            let peer = calls.ends(socket).peer;
            let random = self.exchange.on_connection(peer.host, peer.port);
            let own = self.assign_worker(socket, calls);
            self.inbound.insert(socket, Inbound::new(&self.exchange, random, own));
        }
    }
    fn handle_readable(&mut self, now: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls) {
        if self.asker.owns(socket) {
            self.asker.handle_readable(socket, bytes, calls);
        } else {
            self.receive(now, socket, bytes);
        }
        self.settle(now, calls);
    }
    fn handle_ended(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        if self.asker.owns(socket) {
            self.asker.handle_ended(socket, calls);
        } else {
            self.forget(socket);
            calls.close(socket);
        }
        self.settle(now, calls);
    }
    fn handle_failed(&mut self, now: Time, socket: u32, _: Failure, calls: &mut dyn HostCalls) {
        if self.asker.owns(socket) {
            self.asker.handle_gone(socket, calls);
        } else {
            self.forget(socket);
        }
        self.settle(now, calls);
    }
    fn handle_datagram(&mut self, now: Time, message: Message, calls: &mut dyn HostCalls) {
        let Message { socket, number, .. } = message;
        let response = self.exchange.of_query(self.keys[socket as usize], number).response;
        self.queue.push_back(Ticket::Datagram(socket, number, response, now));
        self.settle(now, calls);
    }
    fn tallies(&self) -> Tallies {
        Tallies { failed_calls: self.failed_calls, ..self.asker.tallies }
    }
}
