//! The asking side of connections: of a client, or of a server that asks others.

use super::Exchange;
use super::patience::Patience;
use crate::{HostCalls, Peer, Tallies};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use tailrace_units::{RandomStream, Time};

/// The servers of requests of one sort, and the transport to them.
#[derive(Clone, Debug)]
pub(super) struct LaneConfig {
    pub(super) peer: Peer,
    pub(super) exchange: Arc<Exchange>,
    /// Requests that may be on their way over one connection.
    pub(super) depth: u32,
    /// Most connections; 0 for as many as are needed.
    pub(super) limit: u32,
    /// Connections are used again; otherwise each carries one request.
    pub(super) is_kept: bool,
}

/// Connections to one peer, and the requests that wait for one.
#[derive(Debug)]
struct Lane {
    config: LaneConfig,
    waiting: VecDeque<u64>,
    /// Connections that are not open yet, in the order in which they were begun.
    connecting: VecDeque<u32>,
    /// Connections that count towards the limit.
    used: u32,
    /// Open connections with room: requests on their way, and the socket.
    ready: BTreeSet<(u32, u32)>,
}

/// One connection.
#[derive(Debug)]
struct Link {
    lane: u32,
    is_open: bool,
    random: RandomStream,
    /// Requests in order, with the bytes of the response that are missing.
    asked: VecDeque<(u64, u64)>,
    /// The only request of a connection that is not kept, until it is open.
    reserved: Option<u64>,
    /// Its only response is whole, and the peer will close it.
    is_over: bool,
}

/// All connections that a program has opened.
#[derive(Debug)]
pub(super) struct Asker {
    host: u16,
    lanes: Vec<Lane>,
    links: BTreeMap<u32, Link>,
    /// Requests that have ended, and whether they were answered.
    done: VecDeque<(u64, bool)>,
    /// Limits after which requests are given up; `None` where requests wait for ever.
    patience: Option<Patience>,
    pub(super) tallies: Tallies,
}

impl Asker {
    /// A client on this host that has no servers yet. With timeouts (`patience`), pending requests
    /// have distinct numbers.
    pub(super) fn new(host: u16, patience: Option<Patience>) -> Asker {
        let (lanes, links, done, tallies) =
            (Vec::new(), BTreeMap::new(), VecDeque::new(), Tallies::default());
        Asker { host, lanes, links, done, patience, tallies }
    }

    pub(super) fn add_lane(&mut self, config: LaneConfig) {
        let (waiting, ready) = (VecDeque::new(), BTreeSet::new());
        self.lanes.push(Lane { config, waiting, connecting: VecDeque::new(), used: 0, ready });
    }

    /// Sends the request of this job, and waits no longer than its patience lasts.
    pub(super) fn ask_within(&mut self, now: Time, lane: u32, job: u64, calls: &mut dyn HostCalls) {
        if let Some(patience) = &mut self.patience {
            patience.begin(now, job, lane);
        }
        self.ask(lane, job, calls);
    }

    /// Sends the request of this job.
    pub(super) fn ask(&mut self, lane: u32, job: u64, calls: &mut dyn HostCalls) {
        self.lanes[lane as usize].waiting.push_back(job);
        self.dispatch(lane, calls);
    }

    /// The next job that has ended, and whether it was answered.
    pub(super) fn poll_done(&mut self) -> Option<(u64, bool)> {
        let (job, is_answered) = self.done.pop_front()?;
        if let Some(patience) = &mut self.patience {
            patience.end(job);
        }
        Some((job, is_answered))
    }

    /// When a request will have waited too long.
    pub(super) fn poll_timeout(&self) -> Time {
        self.patience.as_ref().map_or(Time::NEVER, Patience::poll_timeout)
    }

    /// Gives up requests that have waited too long: their connection is closed, and all requests on
    /// it are asked again or fail.
    pub(super) fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        while let Some((job, lane, socket)) =
            self.patience.as_ref().and_then(|patience| patience.expired(now))
        {
            if let Some(socket) = socket {
                self.give_up_link(now, socket, calls);
            } else {
                self.give_up_waiting(now, lane, job, calls);
            }
            self.dispatch(lane, calls);
        }
    }

    fn give_up_link(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        calls.close(socket);
        let link = self
            .links
            .remove(&socket)
            .expect("what carries a request that waits is a connection of this program");
        let lane = &mut self.lanes[link.lane as usize];
        lane.used -= 1;
        lane.ready.remove(&(link.asked.len() as u32, socket));
        lane.connecting.retain(|&other| other != socket);
        for job in link.reserved.into_iter().chain(link.asked.iter().map(|asked| asked.0)) {
            self.ask_again(now, link.lane, job);
        }
    }

    /// Gives up a request that no connection carries yet, with the connection that was begun for
    /// it.
    fn give_up_waiting(&mut self, now: Time, lane: u32, job: u64, calls: &mut dyn HostCalls) {
        let of_lane = &mut self.lanes[lane as usize];
        of_lane.waiting.retain(|&other| other != job);
        if let Some(socket) = of_lane.connecting.pop_front() {
            of_lane.used -= 1;
            self.links.remove(&socket);
            calls.close(socket);
        }
        self.ask_again(now, lane, job);
    }

    fn ask_again(&mut self, now: Time, lane: u32, job: u64) {
        self.tallies.timed_out += 1;
        if self.patience.as_mut().is_some_and(|patience| patience.retries(now, job)) {
            self.lanes[lane as usize].waiting.push_back(job);
        } else {
            self.done.push_back((job, false));
        }
    }

    /// Whether this program opened the connection of this socket.
    pub(super) fn owns(&self, socket: u32) -> bool {
        self.links.contains_key(&socket)
    }

    pub(super) fn handle_connected(&mut self, socket: u32, calls: &mut dyn HostCalls) {
        let Some(link) = self.links.get_mut(&socket) else { return };
        link.is_open = true;
        let lane = link.lane;
        self.lanes[lane as usize].connecting.retain(|&other| other != socket);
        match link.reserved.take() {
            Some(job) => self.send(socket, job, calls),
            None => {
                self.lanes[lane as usize].ready.insert((0, socket));
                self.dispatch(lane, calls);
            }
        }
    }

    pub(super) fn handle_readable(
        &mut self,
        socket: u32,
        mut bytes: u64,
        calls: &mut dyn HostCalls,
    ) {
        let Some(link) = self.links.get_mut(&socket) else { return };
        let (lane, before) = (link.lane, link.asked.len() as u32);
        while bytes > 0 {
            let (job, missing) =
                link.asked.front_mut().expect("nothing comes that was not asked for");
            let taken = bytes.min(*missing);
            (*missing, bytes) = (*missing - taken, bytes - taken);
            if *missing == 0 {
                self.done.push_back((*job, true));
                link.asked.pop_front();
            }
        }
        let left = link.asked.len() as u32;
        if left == before {
            return;
        }
        let of_lane = &mut self.lanes[lane as usize];
        if of_lane.config.is_kept {
            of_lane.ready.remove(&(before, socket));
            of_lane.ready.insert((left, socket));
        } else {
            link.is_over = true;
            of_lane.used -= 1;
        }
        self.dispatch(lane, calls);
    }

    /// The peer has closed its end.
    pub(super) fn handle_ended(&mut self, socket: u32, calls: &mut dyn HostCalls) {
        calls.close(socket);
        self.handle_gone(socket, calls);
    }

    /// The socket is gone, and requests that were not answered have failed.
    pub(super) fn handle_gone(&mut self, socket: u32, calls: &mut dyn HostCalls) {
        let Some(link) = self.links.remove(&socket) else { return };
        if link.is_over {
            return;
        }
        let lane = &mut self.lanes[link.lane as usize];
        lane.used -= 1;
        lane.ready.remove(&(link.asked.len() as u32, socket));
        let mut lost: Vec<u64> =
            link.reserved.into_iter().chain(link.asked.iter().map(|asked| asked.0)).collect();
        if !link.is_open {
            lane.connecting.retain(|&other| other != socket);
            // Where connections are shared, one of those that wait for any has waited for this one.
            lost.extend(if lane.config.is_kept { lane.waiting.pop_front() } else { None });
        }
        self.tallies.failed_connections += u64::from(!lost.is_empty());
        self.done.extend(lost.into_iter().map(|job| (job, false)));
        self.dispatch(link.lane, calls);
    }

    /// Sends the waiting requests, over connections that are open or new.
    fn dispatch(&mut self, lane: u32, calls: &mut dyn HostCalls) {
        while let Some(&job) = self.lanes[lane as usize].waiting.front() {
            let of_lane = &mut self.lanes[lane as usize];
            let (depth, limit) = (of_lane.config.depth, of_lane.config.limit);
            let least = of_lane.ready.first().copied();
            let may_open = limit == 0 || of_lane.used < limit;
            let usable = least.filter(|&(asked, _)| asked == 0 || !may_open && asked < depth);
            if let Some((_, socket)) = usable {
                of_lane.waiting.pop_front();
                self.send(socket, job, calls);
            } else if may_open
                && (!of_lane.config.is_kept || of_lane.connecting.len() < of_lane.waiting.len())
            {
                self.open(lane, calls);
            } else {
                return;
            }
        }
    }

    /// Opens a connection, for the first that waits where it is not shared.
    fn open(&mut self, lane: u32, calls: &mut dyn HostCalls) {
        let of_lane = &mut self.lanes[lane as usize];
        self.tallies.connections += 1;
        let Some(socket) = calls.connect(of_lane.config.peer) else {
            self.tallies.failed_connections += 1;
            self.done.extend(of_lane.waiting.pop_front().map(|job| (job, false)));
            return;
        };
        of_lane.connecting.push_back(socket);
        of_lane.used += 1;
        let reserved = if of_lane.config.is_kept { None } else { of_lane.waiting.pop_front() };
        if let (Some(job), Some(patience)) = (reserved, &mut self.patience) {
            patience.carry(job, socket);
        }
        let random = of_lane.config.exchange.on_connection(self.host, calls.ends(socket).own_port);
        self.links.insert(
            socket,
            Link { lane, is_open: false, random, asked: VecDeque::new(), reserved, is_over: false },
        );
    }

    fn send(&mut self, socket: u32, job: u64, calls: &mut dyn HostCalls) {
        let link =
            self.links.get_mut(&socket).expect("requests go over connections of this program");
        let lane = &mut self.lanes[link.lane as usize];
        let sizes = lane.config.exchange.draw(&mut link.random);
        let before = link.asked.len() as u32;
        if lane.ready.remove(&(before, socket)) {
            lane.ready.insert((before + 1, socket));
        }
        link.asked.push_back((job, sizes.response));
        if let Some(patience) = &mut self.patience {
            patience.carry(job, socket);
        }
        calls.write(socket, sizes.request);
    }
}
