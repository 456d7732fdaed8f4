//! One host: all ends of the plan's connections that are its own, called when something is due or
//! has happened.

mod connections;
mod opening;
mod programs;

use crate::datagrams::{Receiver, Sender};
use crate::duty::{Duty, Listener, Routes};
use crate::end::End;
use crate::flows::Flows;
use crate::hosted::{Hosted, Numbers};
use crate::limits::sample_interval;
use crate::record::Recorder;
use crate::sockets::{Event, Route, Sockets};
use crate::waiter::Waiter;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use tailrace_host::Cores;
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};

/// The records besides transactions.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Received bytes are summed over this long.
    pub bin: Span,
    /// TCP's counters are read so often; without it at the end of the warm-up and at the end.
    pub tcp_interval: Option<Span>,
}

/// Timed actions, in this order at one time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Due {
    /// TCP's counters are read: counts after the warm-up start from them.
    WarmUp,
    /// TCP's counters are read.
    Sample,
    /// The limits of connections are sampled.
    SampleLimits,
    /// A datagram of this flow is sent.
    Datagram(u32),
    /// A flow of this host starts.
    Flow,
    /// A program.
    Program(u32),
    /// A program with several sockets.
    Hosted(u32),
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
    /// Programs with several sockets.
    programs: Vec<Hosted>,
    numbers: Numbers,
    /// The number of the host with this address.
    hosts: BTreeMap<Ipv4Addr, u32>,
    /// The number of this one.
    number: u32,
    /// Of the datagram that is sent.
    payload: Vec<u8>,
    cores: Cores<Waiter>,
    due: BTreeSet<(Time, Due)>,
    record: Recorder,
    /// Users, streams and flows that are measured here and not finished.
    left: u64,
    settings: Settings,
    sample_interval: Span,
}

impl Host {
    /// The host of this duty, before anything is opened.
    pub fn new(plan: &Plan, duty: Duty, host: u32, settings: Settings) -> Host {
        let listeners = duty.listeners();
        let Duty { ends, datagrams, programs, pairs, flows, routes, finite, .. } = duty;
        let flows = Flows::new(host, flows, Time::from_ps(plan.raw.stop_at_ps));
        let lasting =
            ends.iter().filter(|end| end.counts_goodput && finite[end.workload as usize]).count()
                as u64;
        let of_programs = programs
            .iter()
            .filter(|end| finite[end.workload as usize])
            .map(|end| end.finishes)
            .sum::<u64>();
        let left =
            lasting + of_programs + flows.count_expected(|workload| finite[workload as usize]);
        let raw = &plan.raw.hosts[host as usize];
        let mut own = Host {
            hosts: if programs.is_empty() { BTreeMap::new() } else { routes.hosts() },
            programs: Vec::new(),
            numbers: Numbers::default(),
            number: host,
            payload: Vec::new(),
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
            sample_interval: Span::ZERO,
        };
        ends.into_iter().for_each(|end| own.add_lasting(end));
        datagrams.into_iter().for_each(|end| own.add_datagrams(end));
        let places: BTreeMap<u32, usize> =
            programs.iter().enumerate().map(|(place, end)| (end.number, place)).collect();
        programs.into_iter().for_each(|end| own.add_program(end));
        pairs.into_iter().for_each(|end| own.add_pair(places[&end.program], end));
        let warm_up = Time::from_ps(plan.raw.observe.warm_up_ps);
        own.arm(if warm_up > Time::ZERO { warm_up } else { Time::NEVER }, Due::WarmUp);
        own.arm(
            settings.tcp_interval.map_or(Time::NEVER, |interval| Time::ZERO + interval),
            Due::Sample,
        );
        own.sample_interval = sample_interval(Span::from_ps(plan.raw.stop_at_ps));
        own.arm(Time::ZERO + own.sample_interval, Due::SampleLimits);
        own.arm_flow();
        own
    }

    /// Opens listeners and sockets for datagrams.
    ///
    /// # Errors
    /// When an address cannot be used.
    pub fn open<S: Sockets>(&mut self, sockets: &mut S) -> io::Result<()> {
        let failure = |own: &SocketAddrV4, error: io::Error| {
            io::Error::new(error.kind(), format!("{own}: {error}"))
        };
        for Listener { own, marks, congestion } in &self.listeners {
            sockets
                .listen(*own, *marks, congestion.as_deref())
                .map_err(|error| failure(own, error))?;
        }
        for (number, route, _) in &self.datagram_ends {
            sockets.open_datagrams(*number, route).map_err(|error| failure(&route.own, error))?;
        }
        Ok(())
    }

    /// The next deadline.
    pub fn poll_timeout(&self) -> Time {
        self.due.first().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Whether everything with an end that is measured here is complete.
    pub fn has_finished(&self) -> bool {
        self.left == 0
    }

    /// Carries out everything that is due by `now`.
    pub fn handle_timeout<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        while let Some(&(at, due)) = self.due.first()
            && at <= now
        {
            self.due.pop_first();
            match due {
                Due::WarmUp => self.read_counters(at, sockets),
                Due::Sample => self.sample(now, sockets),
                Due::SampleLimits => self.sample_limits(now, sockets),
                Due::Datagram(number) => self.send_datagram(now, at, number, sockets),
                Due::Hosted(program) => self.wake_hosted(now, at, program, sockets),
                Due::Flow => self.start_flows(now, at, sockets),
                Due::Program(number) => {
                    self.record.was_late(now.since(at));
                    // Work is over when it is due, and the next begins then: to read the clock
                    // later takes nothing off the cores.
                    self.call(at, number, sockets, |end, calls| {
                        calls.link.due = Time::NEVER;
                        end.handle_timeout(at, calls);
                    });
                }
            }
        }
    }

    /// Something has happened at a socket.
    pub fn handle_event<S: Sockets>(
        &mut self,
        now: Time,
        event: Event<S::Accepted>,
        sockets: &mut S,
    ) {
        match event {
            Event::Accepted { accepted, peer, own } if let Some(program) = self.program_at(own) => {
                self.accept_hosted(now, program, accepted, peer, sockets);
            }
            Event::Connected(number)
            | Event::Readable(number)
            | Event::Writable(number)
            | Event::Failed(number, _)
                if let Some(&owner) = self.numbers.owners.get(&number) =>
            {
                self.handle_hosted(now, owner, event, sockets);
            }
            Event::Accepted { accepted, peer, own } => {
                self.accept(now, accepted, (peer, own.port()), sockets)
            }
            Event::Connected(number) => self.call(now, number, sockets, |end, calls| {
                calls.link.is_open = true;
                end.handle_connected(now, calls);
            }),
            Event::Readable(number) if self.receivers.contains_key(&number) => {
                self.receive_datagrams(now, number, sockets)
            }
            Event::Readable(number) => self.read(now, number, sockets),
            Event::Writable(number) => self.call(now, number, sockets, |_, calls| calls.flush()),
            Event::Failed(number, error) => self.fail(now, number, error, sockets),
        }
    }

    /// Something has happened at a socket of a program with several.
    fn handle_hosted<S: Sockets>(
        &mut self,
        now: Time,
        owner: (u32, Option<u32>),
        event: Event<S::Accepted>,
        sockets: &mut S,
    ) {
        let (program, datagrams) = owner;
        match event {
            Event::Accepted { .. } => {}
            Event::Connected(number) => self.connect_hosted(now, program, number, sockets),
            Event::Readable(number) => self.read_hosted(now, owner, number, sockets),
            Event::Writable(number) => {
                self.call_hosted(now, program, sockets, |_, calls| calls.flush(number))
            }
            Event::Failed(number, error) if datagrams.is_none() => {
                self.fail_hosted(now, program, number, error, sockets)
            }
            Event::Failed(..) => {}
        }
    }

    /// Ends the trial here. Returns the record.
    pub fn finish<S: Sockets>(mut self, now: Time, sockets: &mut S) -> Vec<u8> {
        self.read_counters(now, sockets);
        for end in self.ends.iter().flatten() {
            let workload = end.link.workload;
            end.app.running(now, |user, start| self.record.cut_off(workload, user, start));
        }
        for Hosted { program, own } in &self.programs {
            program.running(&mut |user, start| self.record.cut_off(own.workload, user, start));
        }
        for flow in self.flows.missing(now, &mut self.routes) {
            self.record.cut_off(flow.workload, u32::MAX, flow.at);
        }
        self.record.end(now, self.cores.busy)
    }
}
