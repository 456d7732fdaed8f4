//! The program of one host with its ranks.

use super::links::Links;
use super::net::Net;
use super::rank::Rank;
use super::script::Job;
use super::wire::Ledger;
use crate::cause::Cause;
use crate::{HostCalls, Peer, Program, Tallies};
use std::collections::BTreeMap;
use std::sync::Arc;
use tailrace_transport::tcp::Failure;
use tailrace_units::{RandomStream, Time};

/// Connections that may wait to be accepted (Linux `somaxconn`): the program accepts each at once.
const BACKLOG: u32 = 4_096;

/// Times that ranks go on in one event. Where memory and calls take no time, a whole job can be due
/// at one moment: the rest is in further events of that moment, so that the run can be ended
/// between them.
const ROUNDS_MAX: u32 = 1 << 12;

/// Configuration of the program of a host.
#[derive(Debug)]
pub struct MpiConfig {
    /// Its host.
    pub host: u16,
    /// The port at which it listens.
    pub port: u16,
    /// The job of all ranks.
    pub job: Arc<Job>,
    /// The contents of all connections.
    pub ledger: Ledger,
    /// Where each rank is found.
    pub peers: Vec<Peer>,
    /// The ranks of this host, with their random streams.
    pub ranks: Vec<(u32, RandomStream)>,
    /// When they begin.
    pub start: Time,
}

/// The program of one host with its ranks.
#[derive(Debug)]
pub struct MpiHost {
    port: u16,
    is_listening: bool,
    /// Where each rank is in `ranks`.
    index_of_rank: Vec<usize>,
    ranks: Vec<Rank>,
    net: Net,
}

impl MpiHost {
    /// Before the first call of its ranks.
    pub fn new(config: MpiConfig) -> MpiHost {
        let MpiConfig { host, port, job, ledger, peers, ranks, start } = config;
        let mut index_of_rank = vec![usize::MAX; peers.len()];
        ranks.iter().enumerate().for_each(|(at, &(rank, _))| index_of_rank[rank as usize] = at);
        let is_local = index_of_rank.iter().map(|&index| index != usize::MAX).collect();
        let ranks = ranks
            .into_iter()
            .map(|(rank, random)| Rank::new(rank, Arc::clone(&job), start, random))
            .collect();
        let (links, local, last) =
            (Links::new(host, ledger, peers), BTreeMap::new(), BTreeMap::new());
        let net = Net { job, links, is_local, local, last, sent_locally: 0, cause: None };
        MpiHost { port, is_listening: false, index_of_rank, ranks, net }
    }

    /// Ranks go on.
    fn settle(&mut self, now: Time, calls: &mut dyn HostCalls) {
        for _ in 0..ROUNDS_MAX {
            while let Some((from, to, item, cause)) = self.net.poll_local(now) {
                self.ranks[self.index_of_rank[to as usize]].handle_item(from, item, cause);
            }
            self.ranks.iter_mut().for_each(|rank| rank.advance(now, &mut self.net, calls));
            // Memory that takes no time has delivered at once.
            if self.net.local.first_key_value().is_none_or(|(&(at, _), _)| at > now) {
                return;
            }
        }
    }

    fn listen(&mut self, calls: &mut dyn HostCalls) {
        if !std::mem::replace(&mut self.is_listening, true) {
            calls.listen(self.port, BACKLOG);
        }
    }
}

impl Program for MpiHost {
    fn poll_timeout(&self) -> Time {
        let local = self.net.local.first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at);
        self.ranks.iter().map(Rank::poll_timeout).fold(local, Time::min)
    }
    fn port(&self) -> Option<(u16, u32)> {
        Some((self.port, BACKLOG))
    }
    fn running(&self, each: &mut dyn FnMut(u32, Time)) {
        self.ranks.iter().filter_map(Rank::running).for_each(|(number, since)| each(number, since));
    }
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        self.listen(calls);
        self.settle(now, calls);
    }
    fn handle_core(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("ranks have cores of their own");
    }
    fn handle_connected(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        self.net.links.handle_connected(socket, calls);
        self.settle(now, calls);
    }
    fn handle_waiting(&mut self, now: Time, port: u16, calls: &mut dyn HostCalls) {
        self.listen(calls);
        while let Some(socket) = calls.accept(port) {
            self.net.links.handle_accepted(socket, calls);
        }
        self.settle(now, calls);
    }
    fn handle_readable(&mut self, now: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls) {
        let cause = Some(Cause::now(socket, now));
        let MpiHost { ranks, index_of_rank, net, .. } = self;
        net.links.handle_readable(socket, bytes, calls, |own, other, item| {
            ranks[index_of_rank[own as usize]].handle_item(other, item, cause);
        });
        self.settle(now, calls);
    }
    fn handle_ended(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        self.net.links.handle_ended(socket, calls);
        self.settle(now, calls);
    }
    fn handle_failed(&mut self, now: Time, socket: u32, _: Failure, calls: &mut dyn HostCalls) {
        self.net.links.handle_gone(socket);
        self.settle(now, calls);
    }
    fn tallies(&self) -> Tallies {
        let answered = self.ranks.iter().map(|rank| rank.iterations).sum();
        let under_way = self.ranks.iter().filter(|rank| rank.running().is_some()).count() as u64;
        Tallies {
            begun: answered + under_way,
            answered,
            connections: self.net.links.opened,
            failed_connections: self.net.links.failed,
            messages: self.ranks.iter().map(|rank| rank.messages).sum(),
            ..Tallies::default()
        }
    }
}
