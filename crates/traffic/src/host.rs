//! One host: all ends of the plan's connections that are its own, called when something is due or has happened.

use crate::datagrams::{Receiver, Sender};
use crate::duty::{DatagramEnd, Duty, LastingEnd, Listener, Routes};
use crate::end::{Calls, End, Link};
use crate::flows::{Flow, Flows};
use crate::record::{Failure, Recorder, Transaction};
use crate::sockets::{Event, Route, Sockets};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddrV4;
use tailrace_endpoint::app::App;
use tailrace_endpoint::host::Cores;
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};
use tailrace_workloads::flow_programs;

/// A flow is known to its receiver this long before it starts, should clocks differ.
const AHEAD: Span = Span::from_secs(1);
/// Start of a datagram that is looked at.
const DATAGRAM_START_BYTES: usize = 8;

/// What is recorded, besides transactions.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Received bytes are summed over this long.
    pub bin: Span,
    /// TCP's counters are read so often; without it at the end of the warm-up and at the end.
    pub tcp_interval: Option<Span>,
}

/// What becomes due, in this order at one time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Due {
    /// TCP's counters are read: what comes after the warm-up counts from them.
    WarmUp,
    /// TCP's counters are read.
    Sample,
    /// A datagram of this flow is sent.
    Datagram(u32),
    /// A flow of this host starts.
    Flow,
    /// A program.
    Program(u32),
}

/// One host's part of a plan.
pub struct Host {
    routes: Routes,
    listeners: Vec<Listener>,
    finite: Vec<bool>,
    /// By number of the socket.
    ends: Vec<Option<Box<End>>>,
    free: Vec<u32>,
    /// Servers' ends that wait for their client, by its address and the port of the listener.
    awaited: BTreeMap<(SocketAddrV4, u16), u32>,
    flows: Flows,
    senders: BTreeMap<u32, Sender>,
    receivers: BTreeMap<u32, Receiver>,
    /// Number, addresses and workload of sockets for datagrams.
    datagram_ends: Vec<(u32, Route, u32)>,
    cores: Cores<u32>,
    due: BTreeSet<(Time, Due)>,
    record: Recorder,
    /// Users, streams and flows that are measured here and not finished.
    left: u64,
    settings: Settings,
}

impl Host {
    /// The host of this duty, before anything is opened.
    pub fn new(plan: &Plan, duty: Duty, host: u32, settings: Settings) -> Host {
        let listeners = duty.listeners();
        let Duty { ends, datagrams, flows, routes, finite, .. } = duty;
        let flows = Flows::new(host, flows, Time::from_ps(plan.raw.stop_at_ps));
        let lasting = ends.iter().filter(|end| end.counts_goodput && finite[end.workload as usize]).count() as u64;
        let left = lasting + flows.count_expected(|workload| finite[workload as usize]);
        let raw = &plan.raw.hosts[host as usize];
        let mut own = Host {
            routes,
            listeners,
            finite,
            ends: Vec::new(),
            free: Vec::new(),
            awaited: BTreeMap::new(),
            flows,
            senders: BTreeMap::new(),
            receivers: BTreeMap::new(),
            datagram_ends: Vec::new(),
            cores: Cores::new(raw.cpu.program_cores, Span::from_ps(raw.cpu.time_slice_ps)),
            due: BTreeSet::new(),
            record: Recorder::new(plan, host, settings.bin),
            left,
            settings,
        };
        ends.into_iter().for_each(|end| own.add_lasting(end));
        datagrams.into_iter().for_each(|end| own.add_datagrams(end));
        let warm_up = Time::from_ps(plan.raw.observe.warm_up_ps);
        own.arm(if warm_up > Time::ZERO { warm_up } else { Time::NEVER }, Due::WarmUp);
        own.arm(settings.tcp_interval.map_or(Time::NEVER, |interval| Time::ZERO + interval), Due::Sample);
        own.arm_flow();
        own
    }

    /// Opens listeners and sockets for datagrams.
    ///
    /// # Errors
    /// When an address cannot be used.
    pub fn open<S: Sockets>(&mut self, sockets: &mut S) -> io::Result<()> {
        let told = |own: &SocketAddrV4, error: io::Error| io::Error::new(error.kind(), format!("{own}: {error}"));
        for Listener { own, marks, congestion } in &self.listeners {
            sockets.listen(*own, *marks, congestion.as_deref()).map_err(|error| told(own, error))?;
        }
        for (number, route, _) in &self.datagram_ends {
            sockets.open_datagrams(*number, route).map_err(|error| told(&route.own, error))?;
        }
        Ok(())
    }

    /// When something is due.
    pub fn poll_timeout(&self) -> Time {
        self.due.first().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Whether everything with an end that is measured here is complete.
    pub fn has_finished(&self) -> bool {
        self.left == 0
    }

    /// Does what is due by `now`.
    pub fn handle_timeout<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        while let Some(&(at, due)) = self.due.first()
            && at <= now
        {
            self.due.pop_first();
            match due {
                Due::WarmUp => self.read_counters(at, sockets),
                Due::Sample => self.sample(now, sockets),
                Due::Datagram(number) => self.send_datagram(now, at, number, sockets),
                Due::Flow => self.start_flows(now, at, sockets),
                Due::Program(number) => {
                    self.record.was_late(now.since(at));
                    self.call(now, number, sockets, |end, calls| {
                        calls.link.due = Time::NEVER;
                        end.handle_timeout(now, calls);
                    });
                }
            }
        }
    }

    /// Something has happened at a socket.
    pub fn handle_event<S: Sockets>(&mut self, now: Time, event: Event<S::Accepted>, sockets: &mut S) {
        match event {
            Event::Accepted { accepted, peer, own } => self.accept(now, accepted, (peer, own.port()), sockets),
            Event::Connected(number) => self.call(now, number, sockets, |end, calls| {
                calls.link.is_open = true;
                end.handle_connected(now, calls);
            }),
            Event::Readable(number) if self.receivers.contains_key(&number) => self.receive_datagrams(now, number, sockets),
            Event::Readable(number) => self.read(now, number, sockets),
            Event::Writable(number) => self.call(now, number, sockets, |_, calls| calls.flush()),
            Event::Failed(number, error) => self.fail(now, number, error, sockets),
        }
    }

    /// Ends the trial here. Returns the record.
    pub fn finish<S: Sockets>(mut self, now: Time, sockets: &mut S) -> Vec<u8> {
        self.read_counters(now, sockets);
        for end in self.ends.iter().flatten() {
            let workload = end.link.workload;
            end.app.running(now, |user, start| self.record.cut_off(workload, user, start));
        }
        for flow in self.flows.missing(now, &mut self.routes) {
            self.record.cut_off(flow.workload, u32::MAX, flow.at);
        }
        self.record.end(now, self.cores.busy)
    }
}

/// What is opened, and what arrives by itself.
impl Host {
    fn add_lasting(&mut self, end: LastingEnd) {
        let LastingEnd { workload, user, side, app, route, counts_goodput } = end;
        let (peer, port) = (route.peer, route.own.port());
        let number = self.add(End { app, link: Link::new(workload, user, side, route, counts_goodput) });
        if side == 1 {
            self.awaited.insert((peer, port), number);
        }
    }

    fn add_datagrams(&mut self, end: DatagramEnd) {
        let number = self.ends.len() as u32;
        self.ends.push(None);
        let workload = end.arrivals.workload();
        if end.sends {
            let sender = Sender::new(end.arrivals);
            self.arm(sender.next_at(), Due::Datagram(number));
            self.senders.insert(number, sender);
        } else {
            self.receivers.insert(number, Receiver::new(end.arrivals));
        }
        self.datagram_ends.push((number, end.route, workload));
    }

    fn add(&mut self, end: End) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.ends.push(None);
            self.ends.len() as u32 - 1
        });
        self.ends[number as usize] = Some(Box::new(end));
        self.arm_program(number);
        number
    }

    fn arm(&mut self, at: Time, due: Due) {
        if !at.is_never() {
            self.due.insert((at, due));
        }
    }

    fn arm_program(&mut self, number: u32) {
        let Some(end) = &mut self.ends[number as usize] else { return };
        let (before, due) = (end.link.due, end.app.poll_timeout());
        if before != due {
            end.link.due = due;
            self.due.remove(&(before, Due::Program(number)));
            self.arm(due, Due::Program(number));
        }
    }

    fn arm_flow(&mut self) {
        let next = self.flows.next_own(&mut self.routes);
        self.arm(next, Due::Flow);
    }

    fn start_flows<S: Sockets>(&mut self, now: Time, at: Time, sockets: &mut S) {
        self.record.was_late(now.since(at));
        if let Some(flow) = self.flows.take_own(now, &mut self.routes) {
            let [source, _] = flow_programs(flow.at, flow.bytes);
            let route = self.routes.route(flow.workload, flow.ends, flow.ports, 0);
            let number = self.add(End { app: source, link: Link::of_flow(flow, 0, route) });
            self.call(now, number, sockets, |app, calls| app.handle_timeout(now, calls));
        }
        self.arm_flow();
    }

    fn accept<S: Sockets>(&mut self, now: Time, accepted: S::Accepted, from: (SocketAddrV4, u16), sockets: &mut S) {
        let number = match self.awaited.remove(&from) {
            Some(number) => number,
            None => {
                let (peer, own_port) = from;
                let Some(flow) = self.flows.take_expected(peer, own_port, now + AHEAD, &mut self.routes) else {
                    return self.record.failed(&Failure { at: now, workload: u32::MAX, user: u32::MAX, side: 1, error: 0 });
                };
                self.add_sink(flow)
            }
        };
        let Some(end) = &mut self.ends[number as usize] else { return };
        end.link.is_open = true;
        if let Err(error) = sockets.adopt(number, accepted, &end.link.route) {
            return self.fail(now, number, error.raw_os_error().unwrap_or(0), sockets);
        }
        // What came before it had a number.
        self.read(now, number, sockets);
    }

    fn add_sink(&mut self, flow: Flow) -> u32 {
        let [_, sink] = flow_programs(flow.at, flow.bytes);
        let route = self.routes.route(flow.workload, flow.ends, flow.ports, 1);
        self.add(End { app: sink, link: Link::of_flow(flow, 1, route) })
    }

    fn send_datagram<S: Sockets>(&mut self, now: Time, at: Time, number: u32, sockets: &mut S) {
        self.record.was_late(now.since(at));
        let Some(sender) = self.senders.get_mut(&number) else { return };
        let result = sockets.send(number, sender.take());
        let next = sender.next_at();
        if !matches!(result, Ok(true)) {
            self.record.unsent_datagrams += 1;
        }
        self.arm(next, Due::Datagram(number));
    }

    fn receive_datagrams<S: Sockets>(&mut self, now: Time, number: u32, sockets: &mut S) {
        let Some(receiver) = self.receivers.get_mut(&number) else { return };
        let found = self.datagram_ends.iter().find(|end| end.0 == number);
        let workload = found.expect("a receiver has a socket").2;
        let mut start = [0; DATAGRAM_START_BYTES];
        while let Ok(Some(bytes)) = sockets.receive(number, &mut start) {
            self.record.received(now, workload, 0, bytes as u64);
            if let Some(intended) = receiver.intended(&start, bytes) {
                let transaction = Transaction { workload, user: 0, intended, first_byte: now, end: now, flow: None };
                self.record.transaction(&transaction);
            }
        }
    }
}

/// What happens at connections.
impl Host {
    /// Calls a program, then does what follows from what it did.
    fn call<S: Sockets>(&mut self, now: Time, number: u32, sockets: &mut S, call: impl FnOnce(&mut App, &mut Calls<'_, S>)) {
        self.call_alone(now, number, sockets, call);
        while let Some(next) = self.cores.poll_granted() {
            self.call_alone(now, next, sockets, |app, calls| app.handle_core(calls));
        }
    }

    fn call_alone<S: Sockets>(
        &mut self,
        now: Time,
        number: u32,
        sockets: &mut S,
        call: impl FnOnce(&mut App, &mut Calls<'_, S>),
    ) {
        let Some(Some(end)) = self.ends.get_mut(number as usize) else { return };
        let End { app, link } = end.as_mut();
        let (cores, record) = (&mut self.cores, &mut self.record);
        let mut calls = Calls { number, now, link, sockets, cores, record, has_finished: false };
        call(app, &mut calls);
        let (failure, has_finished) = (calls.failure(), calls.has_finished);
        let (workload, is_flow) = (end.link.workload, end.link.flow.is_some());
        if has_finished && self.finite[workload as usize] {
            self.left -= 1;
        }
        match failure {
            Some(error) => self.fail(now, number, error.raw_os_error().unwrap_or(0), sockets),
            None if has_finished && is_flow => self.close(now, number, sockets),
            None => self.arm_program(number),
        }
    }

    /// Reads what there is, unless the program reads itself; then it is told how much more there is.
    fn read<S: Sockets>(&mut self, now: Time, number: u32, sockets: &mut S) {
        let Some(Some(end)) = self.ends.get_mut(number as usize) else { return };
        let link = &mut end.link;
        let read = if link.reads_late {
            let before = link.noticed;
            sockets.unread(number).map(|unread| {
                link.noticed = unread;
                (unread.saturating_sub(before), false)
            })
        } else {
            sockets.read(number, u64::MAX).map(|read| (read.bytes, read.has_ended))
        };
        let (bytes, has_ended) = match read {
            Ok(read) => read,
            Err(error) => return self.fail(now, number, error.raw_os_error().unwrap_or(0), sockets),
        };
        if bytes > 0 {
            link.received += bytes;
            link.first_byte.get_or_insert(now);
            if link.counts_goodput {
                self.record.received(now, link.workload, link.user, bytes);
            }
            self.call(now, number, sockets, |app, calls| app.handle_readable(now, bytes, calls));
        }
        if has_ended {
            self.close(now, number, sockets);
        }
    }

    /// The connection is over: a flow that is complete, or a peer that has ended. The programs of lasting connections stay, so that what
    /// they wait for is known at the end.
    fn close<S: Sockets>(&mut self, now: Time, number: u32, sockets: &mut S) {
        let Some(Some(end)) = self.ends.get_mut(number as usize) else { return };
        if let Some(counters) = sockets.counters(number) {
            self.record.counters(now, &end.link, &counters);
        }
        sockets.close(number);
        end.link.is_open = false;
        if end.link.flow.is_some() {
            self.due.remove(&(end.link.due, Due::Program(number)));
            self.ends[number as usize] = None;
            self.free.push(number);
        }
    }

    fn fail<S: Sockets>(&mut self, now: Time, number: u32, error: i32, sockets: &mut S) {
        let Some(Some(end)) = self.ends.get_mut(number as usize) else { return };
        let Link { workload, user, side, .. } = end.link;
        self.record.failed(&Failure { at: now, workload, user, side, error });
        if end.link.flow.is_some() && side == 1 {
            // The flow is not complete, which is known at its receiver.
            end.link.flow = None;
        }
        self.close(now, number, sockets);
    }

    fn sample<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        self.read_counters(now, sockets);
        if let Some(interval) = self.settings.tcp_interval {
            self.arm(now + interval, Due::Sample);
        }
    }

    fn read_counters<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        for (number, end) in (0..).zip(&self.ends) {
            if let Some(end) = end
                && end.link.is_open
                && let Some(counters) = sockets.counters(number)
            {
                self.record.counters(now, &end.link, &counters);
            }
        }
    }
}
