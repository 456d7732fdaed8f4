//! The thread that drives a network by the clock.
//!
//! While anything waits in a queue or in front of a busy line it sleeps from tick to tick and never spins: a real-time
//! thread that spins is throttled by the kernel for 50 ms in each second. While frames are merely on their way it sleeps
//! until the next arrives; while there are none, until a host has one.

use super::edge::Line;
use super::fidelity::Fidelity;
use super::network::Network;
use super::outcome::{fabric, outcome, tables};
use crate::clock::{Clock, duration};
use crate::frame::{Pool, mark_congestion, parse};
use crate::sys::thread;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::unistd::{read, write};
use serde_json::Value;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use tailrace_plan::Plan;
use tailrace_sim::pace_of;
use tailrace_units::{Pace, Span, Time};
use tailrace_wire::{Ecn, Flags};

/// Time between two looks while anything waits: a tenth of it is the cost of looking.
const TICK: Span = Span::from_us(50);
/// Shortest sleep while frames are on their way, so that frames that follow each other closely are handled together.
const SLEEP_MIN: Span = Span::from_us(10);
/// How long a question to the thread may take: it answers between two ticks.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// The number of the wake-up among watched files; hosts have lower ones.
const WAKE: u64 = u64::MAX;

/// A question to the thread, with where its answer goes.
type Question = (Ask, Sender<Value>);

/// What can be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// Count anew.
    Begin,
    /// Keep the outcome as it is.
    End,
    /// The outcome.
    Counters,
    /// The outcome with its tables, and the end.
    Stop,
}

/// The running data plane.
#[derive(Debug)]
pub struct Plane {
    questions: Sender<Question>,
    wake: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
    /// Whether the thread runs before all ordinary ones.
    pub is_realtime: bool,
}

impl Plane {
    /// Starts the data plane of a plan; for each host the queues of its wire.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn start(plan: Arc<Plan>, wires: Vec<Vec<OwnedFd>>) -> io::Result<Plane> {
        let (questions, asked) = mpsc::channel();
        let wake = Arc::new(EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?);
        let mut run = Run::new(plan, wires, asked, Arc::clone(&wake))?;
        let (told, is_realtime) = mpsc::channel();
        let work = move || {
            // The receiver waits for this one word.
            let _ = told.send(thread::be_realtime().is_ok());
            thread::be_punctual();
            run.run();
        };
        let thread = std::thread::Builder::new().name("data-plane".into()).spawn(work)?;
        let is_realtime = is_realtime.recv().map_err(io::Error::other)?;
        Ok(Plane { questions, wake, thread: Some(thread), is_realtime })
    }

    /// Asks the thread.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn ask(&self, what: Ask) -> Result<Value, String> {
        let (sender, answer) = mpsc::channel();
        self.questions.send((what, sender)).map_err(|_| "the data plane has ended")?;
        self.wake.write(1).map_err(|error| format!("waking the data plane: {error}"))?;
        answer.recv_timeout(ANSWER_WAIT).map_err(|_| "the data plane does not answer".into())
    }

    /// Ends the thread. Returns the outcome.
    ///
    /// # Errors
    /// When it does not answer or has failed.
    pub fn stop(mut self) -> Result<Value, String> {
        let outcome = self.ask(Ask::Stop)?;
        if let Some(thread) = self.thread.take() {
            thread.join().map_err(|_| "the data plane has failed")?;
        }
        Ok(outcome)
    }
}

/// A host's wire: its queues, and how it is paced in both directions.
#[derive(Debug)]
struct Wired {
    queues: Vec<OwnedFd>,
    line: Line,
    /// Pace of the switch's port towards it.
    pace: Pace,
}

struct Run {
    plan: Arc<Plan>,
    network: Network,
    hosts: Vec<Wired>,
    clock: Clock,
    epoll: Epoll,
    questions: Receiver<Question>,
    wake: Arc<EventFd>,
    fidelity: Fidelity,
    /// The outcome at the end of the measured interval.
    frozen: Option<Value>,
    /// Frames that entered so far.
    entered: u64,
    /// Whether the line of some host is busy while more frames may wait in the host.
    hosts_wait: bool,
}

/// How the thread waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wait {
    /// Until the clock shows this, whatever hosts send.
    Tick(Time),
    /// Until a host sends, or at most this long.
    Watch(Option<Duration>),
}

impl Run {
    fn new(plan: Arc<Plan>, wires: Vec<Vec<OwnedFd>>, questions: Receiver<Question>, wake: Arc<EventFd>) -> io::Result<Run> {
        let header_bytes = plan.raw.framing.header_bytes;
        let largest = plan.raw.hosts.iter().map(|host| host.mtu_bytes + header_bytes).max().unwrap_or(0);
        let network = Network::new(&plan, Some(Pool::new((largest as usize).next_multiple_of(64))));
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        epoll.add(&*wake, EpollEvent::new(EpollFlags::EPOLLIN, WAKE))?;
        let overhead_bytes = plan.raw.framing.overhead_bytes;
        let wired = |(host, queues): (usize, Vec<OwnedFd>)| -> io::Result<Wired> {
            for (queue, number) in queues.iter().zip(0..) {
                epoll.add(queue, EpollEvent::new(EpollFlags::EPOLLIN, watch_number(host, number)))?;
            }
            let end = plan.graph.ports[host][0];
            let towards = plan.graph.ports[end.peer].iter().position(|other| other.link == end.link).expect("both ends know it");
            let line = Line::new(pace_of(&plan, host, 0), overhead_bytes);
            Ok(Wired { queues, line, pace: pace_of(&plan, end.peer, towards) })
        };
        let hosts = wires.into_iter().enumerate().map(wired).collect::<io::Result<Vec<_>>>()?;
        let fidelity = Fidelity::new(hosts.len());
        let (clock, frozen, entered, hosts_wait) = (Clock::start(), None, 0, false);
        Ok(Run { plan, network, hosts, clock, epoll, questions, wake, fidelity, frozen, entered, hosts_wait })
    }

    fn run(&mut self) {
        self.fidelity = Fidelity::new(self.hosts.len());
        let files = self.hosts.iter().map(|host| host.queues.len()).sum::<usize>() + 1;
        let mut ready = vec![libc::epoll_event { events: 0, u64: 0 }; files];
        let mut wait = Wait::Watch(None);
        loop {
            let most = match wait {
                Wait::Tick(at) => {
                    self.clock.sleep_until(at);
                    Some(Duration::ZERO)
                }
                Wait::Watch(most) => most,
            };
            let found = thread::wait(&self.epoll.0, &mut ready, most).expect("the files are open");
            let now = self.clock.now();
            self.fidelity.woke(now);
            self.hosts_wait = false;
            let mut is_asked = false;
            for event in &ready[..found] {
                match event.u64 {
                    WAKE => is_asked = true,
                    number => self.read_host((number >> 3) as usize, (number & 7) as usize, now),
                }
            }
            self.network.advance(now);
            (0..self.hosts.len()).for_each(|host| self.deliver(host, now));
            if is_asked && self.answer() {
                return;
            }
            wait = self.next_wait(self.clock.now());
        }
    }

    /// Reads what a host has sent, as far as its line has sent it.
    fn read_host(&mut self, host: usize, queue: usize, now: Time) {
        let hosts = self.hosts.len();
        let Wired { queues, line, .. } = &mut self.hosts[host];
        while line.is_free(now) {
            let pool = self.network.pool_mut().expect("a live network has memory");
            let Some(slot) = pool.take() else {
                self.fidelity.pool_exhausted += 1;
                break;
            };
            let memory = pool.bytes_mut(slot);
            let Ok(length @ 1..) = read(&queues[queue], memory) else {
                pool.give_back(slot); // nothing waits
                return line.found_empty();
            };
            let Ok(mut frame) = parse(&memory[..length], host, hosts, self.entered, None) else {
                pool.give_back(slot);
                self.fidelity.foreign_frames += 1;
                continue;
            };
            frame.slot = Some(slot);
            self.entered += 1;
            self.fidelity.frames_in += 1;
            let (start, end) = line.send(now, u32::from(frame.packet.frame_bytes));
            self.network.enter(host, frame, start, end);
        }
        self.hosts_wait = true;
    }

    /// Writes what has reached a host.
    fn deliver(&mut self, host: usize, now: Time) {
        while self.network.poll_mail(host, now).is_some() {} // an interface that obeys nothing
        while let Some((due, frame)) = self.network.poll_delivery(host, now) {
            let Wired { queues, pace, .. } = &self.hosts[host];
            let bytes = frame.packet.frame_bytes;
            if let Some(slot) = frame.slot {
                let pool = self.network.pool_mut().expect("a live network has memory");
                let memory = &mut pool.bytes_mut(slot)[..usize::from(bytes)];
                if frame.packet.ecn == Ecn::Ce {
                    mark_congestion(memory);
                }
                if write(&queues[0], memory).is_err() {
                    self.fidelity.write_failed[host] += 1;
                }
            }
            debug_assert!(!frame.packet.flags.contains(Flags::PAUSE), "pauses are mail");
            let wire_bytes = u64::from(bytes) + u64::from(self.plan.raw.framing.overhead_bytes);
            self.fidelity.delivered(host, due, pace.time_to_send(wire_bytes), self.clock.now());
            self.network.release(&frame);
        }
    }

    fn next_wait(&mut self, now: Time) -> Wait {
        if self.hosts_wait || self.network.is_backlogged() {
            return Wait::Tick(next_tick(now));
        }
        let next = self.network.poll_timeout();
        if next.is_never() {
            self.fidelity.idle();
            return Wait::Watch(None);
        }
        Wait::Watch(Some(duration(next.since(now).max(SLEEP_MIN))))
    }

    /// Answers what was asked. Returns whether it was the last.
    fn answer(&mut self) -> bool {
        let _ = self.wake.read(); // empty when another question was answered with it
        while let Ok((what, reply)) = self.questions.try_recv() {
            let answer = match what {
                Ask::Begin => self.begin(),
                Ask::End => {
                    self.frozen = Some(self.outcome(true));
                    Value::Null
                }
                Ask::Counters => self.frozen.clone().unwrap_or_else(|| self.outcome(false)),
                Ask::Stop => self.frozen.take().unwrap_or_else(|| self.outcome(true)),
            };
            let _ = reply.send(answer); // who asked may have given up
            if what == Ask::Stop {
                return true;
            }
        }
        false
    }

    fn begin(&mut self) -> Value {
        self.frozen = None;
        self.network.begin(&self.plan, self.clock.now());
        self.fidelity = Fidelity::new(self.hosts.len());
        Value::Null
    }

    fn outcome(&mut self, with_tables: bool) -> Value {
        let now = self.clock.now();
        self.network.advance(now);
        self.network.settle(now);
        let mut answer = outcome(&self.plan, &self.network, now);
        answer["fabric"] = fabric(&self.plan, &self.fidelity, &self.network, now);
        if with_tables {
            answer["tables"] = tables(&self.plan, &self.network);
        }
        answer
    }
}

/// A queue of a host among the watched files: at most eight to a host.
fn watch_number(host: usize, queue: u64) -> u64 {
    (host as u64) << 3 | queue
}

/// The next multiple of a tick.
fn next_tick(now: Time) -> Time {
    Time::from_ps((now.ps() / TICK.ps() + 1) * TICK.ps())
}
