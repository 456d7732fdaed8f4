//! The thread that drives a network by the clock.
//!
//! While anything waits in a queue or in front of a busy line it sleeps until a frame is due at a
//! host and never spins: a real-time thread that spins is throttled by the kernel for 50 ms in each
//! second. While frames are merely on their way it sleeps until the next arrives or a host sends;
//! while there are none, until a host sends.

use super::bridged::{Bridged, STEP};
use super::edge::{CREDIT_MAX, HostLine};
use super::fidelity::{Fidelity, fabric};
use super::host_port::{Edge, HostPort, Recorder};
use super::question::{Answer, Ask, Question};
use super::wait::{Allowance, Dues, Wait};
use crate::clock::{Clock, duration, thread_time};
use crate::log::{Entry, Writer};
use crate::sys::thread;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::EventFd;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use tailrace_host::nic::LosslessNic;
use tailrace_lab::capture::{Capture, Captures};
use tailrace_lab::frame::Pool;
use tailrace_lab::network::Network;
use tailrace_lab::network::{outcome, tables};
use tailrace_lab::vlans::Vlans;
use tailrace_network::{interface_summary, lossless_nics, pace_of};
use tailrace_outcome::NetworkOutcome;
use tailrace_plan::Plan;
use tailrace_units::Time;

/// The number of the wake-up among watched files; hosts have lower ones.
const WAKE: u64 = u64::MAX;

pub(super) struct Run {
    plan: Arc<Plan>,
    recorder: Recorder,
    hosts: Vec<HostPort>,
    clock: Clock,
    epoll: Epoll,
    questions: Receiver<Question>,
    wake: Arc<EventFd>,
    /// The outcome at the end of the measured interval.
    frozen: Option<NetworkOutcome>,
    /// Whether some host has frames that its busy line does not take yet.
    hosts_wait: bool,
    /// Whether some interface obeys pauses.
    is_bridged: bool,
    allowance: Allowance,
}

impl Run {
    pub(super) fn new(
        plan: Arc<Plan>,
        wires: Vec<Vec<OwnedFd>>,
        log: Option<Writer>,
        questions: Receiver<Question>,
        wake: Arc<EventFd>,
    ) -> io::Result<Run> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        epoll.add(&*wake, EpollEvent::new(EpollFlags::EPOLLIN, WAKE))?;
        for (host, queues) in wires.iter().enumerate() {
            for (queue, number) in queues.iter().zip(0..) {
                epoll
                    .add(queue, EpollEvent::new(EpollFlags::EPOLLIN, watch_number(host, number)))?;
            }
        }
        let raw = &plan.raw;
        let largest = raw
            .hosts
            .iter()
            .map(|host| host.mtu_bytes + raw.framing.header_bytes)
            .max()
            .unwrap_or(0);
        let pool = Pool::new((largest as usize).next_multiple_of(64));
        let clock = Clock::start();
        let recorder = Recorder {
            network: Network::new(&plan, Some(pool)),
            fidelity: Fidelity::new(wires.len()),
            log,
            captures: Captures::new(wires.len()),
            entered: 0,
            hosts: wires.len(),
            clock,
            vlans: Vlans::new(&plan).map_err(io::Error::other)?,
            overhead_bytes: raw.framing.overhead_bytes,
        };
        let hosts = host_ports(&plan, wires);
        let is_bridged = hosts.iter().any(|host| matches!(host.edge, Edge::Bridged(_)));
        let (frozen, hosts_wait, allowance) = (None, false, Allowance::new());
        Ok(Run {
            recorder,
            hosts,
            clock,
            epoll,
            questions,
            wake,
            frozen,
            hosts_wait,
            is_bridged,
            allowance,
            plan,
        })
    }

    pub(super) fn run(&mut self) {
        self.recorder.fidelity = Fidelity::new(self.hosts.len());
        let files = self.hosts.iter().map(|host| host.queues.len()).sum::<usize>() + 1;
        let mut ready = vec![libc::epoll_event { events: 0, u64: 0 }; files];
        let mut wait = Wait::Watch(Time::NEVER);
        loop {
            let most = match wait {
                Wait::Tick(at) => {
                    self.clock.sleep_until(at);
                    Some(Duration::ZERO)
                }
                Wait::Watch(until) => {
                    (!until.is_never()).then(|| duration(until.since(self.clock.now())))
                }
            };
            let found = thread::wait(&self.epoll.0, &mut ready, most).expect("the files are open");
            let now = self.clock.now();
            self.recorder.fidelity.woke(now, wait.overslept(now));
            let mut is_asked = false;
            for event in &ready[..found] {
                match event.u64 {
                    WAKE => is_asked = true,
                    number => self.hosts[(number >> 3) as usize].readable |= 1 << (number & 7),
                }
            }
            let worked = thread_time();
            self.catch_up(now, wait);
            self.recorder
                .fidelity
                .caught_up(self.clock.now(), || thread_time().saturating_sub(worked));
            self.hosts.iter().for_each(|host| host.deliver(&mut self.recorder, now, &self.clock));
            if is_asked && self.answer(now) {
                return;
            }
            wait = self.next_wait(now - wait.overslept(now), self.clock.now());
        }
    }

    /// Carries out everything that is due by `now`. Where interfaces obey pauses it goes step by
    /// step, because the events of one step decide which frames they send in the next; elsewhere
    /// hosts send their frames, and the network follows.
    fn catch_up(&mut self, now: Time, wait: Wait) {
        let was_idle = wait == Wait::Watch(Time::NEVER);
        let from = if self.is_bridged && !was_idle {
            self.recorder.network.advanced().max(now - CREDIT_MAX)
        } else {
            now
        };
        let mut until = from.min(now);
        let meant = now - wait.overslept(now);
        loop {
            until = (until + STEP).min(now);
            for host in &mut self.hosts {
                host.work(&mut self.recorder, until, now, meant);
            }
            let counted_from = self.recorder.network.counted_from();
            self.recorder.network.advance(until);
            if self.recorder.network.counted_from() != counted_from {
                self.hosts.iter_mut().for_each(|host| host.begin_counting(until));
            }
            if until >= now {
                break;
            }
        }
        self.hosts_wait = self.hosts.iter().any(HostPort::waits);
        // Which queues have frames is asked anew at every wake-up.
        self.hosts.iter_mut().for_each(|host| host.readable = 0);
    }

    /// How to wait after a wake-up that was meant to be at `last` and has ended `now`.
    fn next_wait(&mut self, last: Time, now: Time) -> Wait {
        let network = &self.recorder.network;
        let of_hosts = self.hosts.iter().map(HostPort::poll_timeout).fold(Time::NEVER, Time::min);
        if self.hosts_wait || network.is_backlogged() {
            let mut dues = Dues::new(last);
            dues.add(of_hosts);
            network.tell_dues(|due| dues.add(due));
            return Wait::tick(last, now, dues.wake_up());
        }
        let next = of_hosts.min(network.poll_timeout());
        if !self.allowance.take(now) {
            return Wait::tick(last, now, next);
        }
        if next.is_never() {
            self.recorder.fidelity.idle();
        }
        Wait::watch(now, next)
    }

    /// Answers the questions, at the time until which everything has happened and was delivered.
    /// Returns whether it was the last question.
    fn answer(&mut self, now: Time) -> bool {
        let _ = self.wake.read(); // empty when another question was answered with it
        while let Ok((what, reply)) = self.questions.try_recv() {
            let is_last = matches!(what, Ask::Stop);
            let answer = self.carry_out(what, now);
            let _ = reply.send(answer); // the asker may have given up
            if is_last {
                return true;
            }
        }
        false
    }

    fn carry_out(&mut self, what: Ask, now: Time) -> Result<Answer, String> {
        Ok(match what {
            Ask::Begin => self.begin(now),
            Ask::End => {
                self.frozen = Some(self.end(now));
                Answer::Done
            }
            Ask::Counters => {
                Answer::Outcome(Box::new(self.frozen.clone().unwrap_or_else(|| self.outcome(now))))
            }
            Ask::Capture(host, path, name) => {
                let capture = Capture::create(&path, &name, self.clock.epoch_ns());
                let capture =
                    capture.map_err(|error| format!("creating {}: {error}", path.display()))?;
                self.recorder.captures.begin(host, capture).map(Capture::finish).transpose()?;
                Answer::Done
            }
            Ask::CaptureEnd(host) => {
                let capture =
                    self.recorder.captures.end(host).ok_or("no capture is running at this port")?;
                let (frames, missed) = capture.finish()?;
                Answer::Captured { frames, missed }
            }
            Ask::Stop => Answer::Outcome(Box::new(self.stop(now))),
        })
    }

    fn begin(&mut self, now: Time) -> Answer {
        self.frozen = None;
        self.recorder.network.begin(&self.plan, now);
        if let Some(log) = &mut self.recorder.log {
            log.add(&Entry::Begin(now));
        }
        self.recorder.fidelity = Fidelity::new(self.hosts.len());
        for host in &mut self.hosts {
            if let Edge::Bridged(bridged) = &mut host.edge {
                let lossless = self.plan.raw.hosts[host.host].nic.lossless.as_ref();
                bridged.begin(now, lossless.and_then(|lossless| lossless.storm));
            }
        }
        // By the clock of the logs of programs, so that both can be combined.
        Answer::Begun(self.clock.epoch_ns() + now.ns())
    }

    /// The measured interval ends: its outcome with its tables.
    fn end(&mut self, now: Time) -> NetworkOutcome {
        let outcome = self.outcome(now);
        for host in &mut self.hosts {
            if let Edge::Bridged(bridged) = &mut host.edge {
                bridged.calm();
            }
        }
        if let Some(log) = &mut self.recorder.log {
            log.add(&Entry::End(now));
        }
        NetworkOutcome { tables: Some(tables(&self.plan, &self.recorder.network)), ..outcome }
    }

    /// The outcome of the measured interval, which ends now if it has not ended before. The log is
    /// closed.
    fn stop(&mut self, now: Time) -> NetworkOutcome {
        let mut outcome = match self.frozen.take() {
            Some(outcome) => outcome,
            None => self.end(now),
        };
        if let Some(Err(error)) = self.recorder.log.take().map(Writer::finish) {
            outcome.fabric.get_or_insert_default().log_error = Some(error);
        }
        outcome
    }

    fn outcome(&mut self, now: Time) -> NetworkOutcome {
        self.recorder.network.settle(now);
        let network = &self.recorder.network;
        let bridged = self.hosts.iter().filter_map(|host| match &host.edge {
            Edge::Plain(_) => None,
            Edge::Bridged(bridged) => Some((
                self.plan.raw.hosts[host.host].name.clone(),
                interface_summary(&bridged.nic, now),
            )),
        });
        NetworkOutcome {
            interfaces: Some(bridged.collect()),
            fabric: Some(fabric(&self.plan, &self.recorder.fidelity, network, now)),
            ..outcome(&self.plan, network, now)
        }
    }
}

/// The interfaces of all hosts.
fn host_ports(plan: &Plan, wires: Vec<Vec<OwnedFd>>) -> Vec<HostPort> {
    let mut bridged: BTreeMap<u32, LosslessNic> = lossless_nics(plan).into_iter().collect();
    let wired = |(host, queues): (usize, Vec<OwnedFd>)| {
        let end = plan.graph.ports[host][0];
        let towards = plan.graph.ports[end.peer]
            .iter()
            .position(|other| other.link == end.link)
            .expect("both ends know the link");
        let edge = match bridged.remove(&(host as u32)) {
            Some(nic) => {
                let mut bridged = Bridged::new(host as u16, nic);
                bridged.calm();
                Edge::Bridged(Box::new(bridged))
            }
            None => {
                Edge::Plain(HostLine::new(pace_of(plan, host, 0), plan.raw.framing.overhead_bytes))
            }
        };
        HostPort {
            host,
            queues,
            edge,
            pace: pace_of(plan, end.peer, towards),
            turn: 0,
            readable: 0,
        }
    };
    wires.into_iter().enumerate().map(wired).collect()
}

/// A queue of a host among the watched files: at most eight to a host.
fn watch_number(host: usize, queue: u64) -> u64 {
    (host as u64) << 3 | queue
}
