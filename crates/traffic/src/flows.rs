//! The flows of a plan in the order in which they come, with their ports. Every host draws all of
//! them.

use crate::duty::Routes;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddrV4;
use tailrace_units::Time;
use tailrace_workloads::{Arrivals, Ends};

/// A flow to come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    pub workload: u32,
    pub at: Time,
    pub ends: Ends,
    pub bytes: u64,
    /// Of the client and of the server.
    pub ports: (u16, u16),
}

/// Flows that were drawn and have not begun at this host.
pub struct Flows {
    host: u32,
    arrivals: Vec<Arrivals>,
    /// No flow after this matters.
    stop_at: Time,
    /// This host is a source of some.
    is_source: bool,
    /// Flows that this host sends.
    own: VecDeque<Flow>,
    /// Flows that come to this host, by the address of the client and the port of the server.
    expected: BTreeMap<(SocketAddrV4, u16), VecDeque<Flow>>,
}

impl Flows {
    pub fn new(host: u32, arrivals: Vec<Arrivals>, stop_at: Time) -> Flows {
        let is_source = arrivals.iter().any(|arrivals| match arrivals.what() {
            tailrace_workloads::Arriving::Flows { sources, .. } => sources.contains(&host),
            tailrace_workloads::Arriving::Datagrams { .. } => false,
        });
        Flows {
            host,
            arrivals,
            stop_at,
            is_source,
            own: VecDeque::new(),
            expected: BTreeMap::new(),
        }
    }

    /// When the next flow of this host starts, or [`Time::NEVER`].
    pub fn next_own(&mut self, routes: &mut Routes) -> Time {
        while self.is_source && self.own.is_empty() && self.draw(routes) {}
        self.own.front().map_or(Time::NEVER, |flow| flow.at)
    }

    /// The next flow of this host, if it starts by `now`.
    pub fn take_own(&mut self, now: Time, routes: &mut Routes) -> Option<Flow> {
        if self.next_own(routes) > now {
            return None;
        }
        self.own.pop_front()
    }

    /// The flow that comes from this address, if it starts by `latest`.
    pub fn take_expected(
        &mut self,
        peer: SocketAddrV4,
        own_port: u16,
        latest: Time,
        routes: &mut Routes,
    ) -> Option<Flow> {
        self.draw_until(latest, routes);
        self.expected.get_mut(&(peer, own_port))?.pop_front()
    }

    /// Flows that should have come to this host by `now`, and did not.
    pub fn missing(&mut self, now: Time, routes: &mut Routes) -> Vec<Flow> {
        self.draw_until(now, routes);
        self.expected.values().flatten().filter(|flow| flow.at <= now).copied().collect()
    }

    /// How many flows of workloads for which `is_meant` holds come to this host.
    pub fn count_expected(&self, is_meant: impl Fn(u32) -> bool) -> u64 {
        let mut count = 0;
        for arrivals in self.arrivals.iter().filter(|arrivals| is_meant(arrivals.workload())) {
            let mut arrivals = arrivals.clone();
            while !arrivals.next_at().is_never() {
                count += u64::from(arrivals.take().ends.server == self.host);
            }
        }
        count
    }

    fn draw_until(&mut self, latest: Time, routes: &mut Routes) {
        while self.next_at() <= latest && self.draw(routes) {}
    }

    fn next_at(&self) -> Time {
        self.arrivals.iter().map(Arrivals::next_at).min().unwrap_or(Time::NEVER)
    }

    /// Draws the next flow of all: the one whose workload stands first, if several come at once.
    /// Returns whether there was one.
    fn draw(&mut self, routes: &mut Routes) -> bool {
        let next = self.next_at();
        if next > self.stop_at {
            return false;
        }
        let first = self
            .arrivals
            .iter_mut()
            .find(|arrivals| arrivals.next_at() == next)
            .expect("one of them is the next");
        let workload = first.workload();
        let arrival = first.take();
        let flow = Flow {
            workload,
            at: arrival.at,
            ends: arrival.ends,
            bytes: arrival.bytes,
            ports: routes.open(workload, arrival.ends),
        };
        if flow.ends.client == self.host {
            self.own.push_back(flow);
        } else if flow.ends.server == self.host {
            let route = routes.route(workload, flow.ends, flow.ports, 1);
            self.expected.entry((route.peer, route.own.port())).or_default().push_back(flow);
        }
        true
    }
}
