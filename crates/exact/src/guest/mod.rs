//! A guest: a Linux kernel that is a process, with its clock and its interface in the hands of the engine.

mod cage;
mod clock;
mod console;
mod process;
mod seccomp;

pub use cage::cage;
pub use console::last_lines;
pub use process::{Machine, Process, Start};

use crate::device::{Answer, Card, Negotiation, VhostConnection, acknowledge_kick, call};
use crate::fault::Fault;
use clock::{Clock, Said};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// Virtual time 0 as time of day: 2020-01-01 in nanoseconds since 1970.
pub const EPOCH_NS: u64 = 1_577_836_800_000_000_000;
/// A kernel holds interrupts back for so long at most, in nanoseconds: 256 while a process reads a clock, and 1000 have been seen.
const HELD_BACK_NS: u64 = 10_000;
/// How often is looked at the console of a guest that says nothing.
const CONSOLE_INTERVAL: Duration = Duration::from_secs(2);

/// What a guest did that somebody must react to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// It waits for its clock.
    Waits,
    /// It tells of a ring, and waits for an answer.
    Kick(usize),
    /// It has read the latest message about its clock.
    Acknowledged,
    /// It has switched itself off, or died.
    Off,
}

/// A guest that runs, or waits.
#[derive(Debug)]
pub struct Guest {
    /// Name of its host.
    pub name: String,
    /// Its process.
    pub process: Process,
    /// Its interface.
    pub card: Card,
    negotiation: Negotiation,
    clock: Clock,
    listener: UnixListener,
    connection: Option<VhostConnection>,
    channel: Option<UnixStream>,
    /// The latest time that both sides know, in nanoseconds.
    pub now: u64,
    /// When it has something to do next.
    wake: u64,
    is_waiting: bool,
    /// The time that it has told last.
    told: u64,
    /// What it has asked for itself: `wake` without interrupts.
    asked: u64,
    /// A ring has news for it: it is interrupted when it is run.
    interrupt: Option<usize>,
    /// It may still hold back the interrupt before: then the next one is one with it.
    may_hold_back: bool,
    /// It may run freely before this time.
    free_until: u64,
    is_off: bool,
}

impl Guest {
    /// A guest whose process was started: waits until its kernel is there. It may run freely before `free_until`.
    pub fn meet(start: Start, negotiation: Negotiation, free_until: u64, limit: Duration) -> Result<Guest, Fault> {
        let Start { name, mut process, clock, device } = start;
        let stream = process.accept(&clock, limit).map_err(|error| Fault::new(&name, error))?;
        Ok(Guest {
            name,
            process,
            card: Card::default(),
            negotiation,
            clock: Clock::new(stream),
            listener: device,
            connection: None,
            channel: None,
            now: 0,
            wake: u64::MAX,
            is_waiting: false,
            told: u64::MAX,
            asked: u64::MAX,
            interrupt: None,
            may_hold_back: false,
            free_until,
            is_off: false,
        })
    }

    /// When it has something to do next, as far as it waits; `u64::MAX` for never.
    pub fn wake(&self) -> u64 {
        if self.is_off { u64::MAX } else { self.wake }
    }

    /// It may have run freely up to here.
    pub fn free_until(&self) -> u64 {
        self.free_until
    }

    /// Whether its kernel has ended.
    pub fn is_off(&self) -> bool {
        self.is_off
    }

    /// Lets it run from `now` on; it waits again before it does anything at or after `until`, and is told when that
    /// becomes earlier. Returns whether it runs: it goes on waiting where an interrupt is held back.
    ///
    /// All that it is told is sent at once. That it waits is acknowledged only now: until then it holds back the signal of an interrupt
    /// (`block_signals_hard` in arch/um/kernel/time.c), and so asks for the time and for a time to run at before it reads on.
    pub fn run(&mut self, now: u64, until: u64, limit: Duration) -> Result<bool, Fault> {
        debug_assert!(self.is_waiting && now >= self.now, "time does not run backwards");
        let ring = self.interrupt.take();
        if let Some(ring) = ring
            && self.may_hold_back
        {
            if !self.interrupt_with_care(ring, now, limit)? {
                return Ok(false);
            }
        } else if ring.is_some_and(|ring| self.call(ring)) {
            self.clock.expect(now); // time_travel_ext_get_time
            self.clock.expect(0); // time_travel_ext_update_request
        }
        self.may_hold_back |= ring.is_some();
        (self.now, self.wake, self.free_until, self.is_waiting) = (now, u64::MAX, until, false);
        self.clock.run(now, until);
        // The first message: before it waits it asks for a time to run at, and before it kicks it tells the time, unless that is what it
        // told last. Who waits for the answer to a kick overlooks acknowledgements.
        if now != self.told {
            self.clock.expect(0);
        }
        self.clock.flush().map_err(|error| self.fault(&error))?;
        Ok(true)
    }

    /// Tells its driver of a ring; returns whether there is one.
    fn call(&mut self, ring: usize) -> bool {
        let Some(channel) = &mut self.channel else { return false };
        let is_told = channel.write_all(&call(ring as u32)).is_ok();
        if !is_told {
            self.channel = None;
        }
        is_told
    }

    /// Interrupts a guest that may hold back an interrupt already: whether it asks for a time to run at is known when it has
    /// read what was sent after the interrupt. Returns whether it runs now.
    fn interrupt_with_care(&mut self, ring: usize, now: u64, limit: Duration) -> Result<bool, Fault> {
        if !self.call(ring) {
            return Ok(true);
        }
        (self.now, self.wake) = (now, self.asked);
        self.clock.expect(now); // time_travel_ext_get_time
        self.clock.free_until(now).map_err(|error| self.fault(&error))?;
        Ok(self.await_news(News::Acknowledged, limit)? && self.wake <= now)
    }

    /// Answers a kick; from now on the guest may run freely before `until` at most.
    pub fn answer_kick(&mut self, until: u64, limit: Duration) -> Result<(), Fault> {
        if until < self.free_until && !self.is_waiting {
            self.free_until = until;
            self.clock.free_until(until).map_err(|error| self.fault(&error))?;
            // The guest looks at its device first: the answer must not be there before it has read this.
            if !self.await_news(News::Acknowledged, limit)? {
                return Ok(());
            }
        }
        let connection = self.connection.as_mut().expect("who kicks is connected");
        acknowledge_kick(connection).map_err(|error| self.fault(&error))
    }

    /// A ring has news at `now` for a guest that waits: it is interrupted then.
    pub fn interrupt(&mut self, now: u64, ring: usize) {
        debug_assert!(self.is_waiting && now >= self.now, "only guests that wait are interrupted");
        self.wake = self.wake.min(now);
        self.interrupt = Some(self.interrupt.map_or(ring, |other| other.min(ring)));
    }

    /// Waits for this piece of news; returns whether it came, and not the end of the guest.
    fn await_news(&mut self, expected: News, limit: Duration) -> Result<bool, Fault> {
        loop {
            match self.hear(limit)? {
                news if news == expected => return Ok(true),
                News::Off => return Ok(false),
                News::Acknowledged => {}
                other => return Err(Fault::new(&self.name, format!("{other:?} came instead of {expected:?}"))),
            }
        }
    }

    /// The next piece of news. A guest that says nothing for longer than `limit` of wall time spins.
    pub fn hear(&mut self, limit: Duration) -> Result<News, Fault> {
        let started = Instant::now();
        loop {
            if let Some(said) = self.clock.next().map_err(|error| self.fault(&error))? {
                if let Some(news) = self.handle_clock(said).map_err(|error| self.fault(&error))? {
                    return Ok(news);
                }
                continue;
            }
            if let Some(news) = self.handle_device()? {
                return Ok(news);
            }
            let left = limit.saturating_sub(started.elapsed());
            if let Some(news) = self.await_input(left)? {
                return Ok(news);
            }
        }
    }

    fn handle_clock(&mut self, said: Said) -> std::io::Result<Option<News>> {
        match said {
            Said::Acknowledged(is_latest) => return Ok(is_latest.then_some(News::Acknowledged)),
            Said::Start => {
                // Read together with the acknowledgement, and before it.
                let until = self.free_until;
                self.clock.free_until(until)?;
                self.clock.acknowledge(0)?;
            }
            Said::Request(at) => {
                self.asked = if at >= i64::MAX as u64 { u64::MAX } else { at };
                self.wake = self.asked;
                self.clock.acknowledge(0)?;
            }
            Said::Wait => {
                self.is_waiting = true;
                // Whoever waits for something later is idle.
                self.may_hold_back &= self.asked <= self.free_until.saturating_add(HELD_BACK_NS);
                self.clock.defer(0);
                return Ok(Some(News::Waits));
            }
            Said::Get => self.clock.acknowledge(self.now)?,
            Said::Update(now) => {
                (self.now, self.told) = (now, now);
                self.clock.acknowledge(0)?;
            }
            Said::GetTimeOfDay => self.clock.acknowledge(EPOCH_NS + self.now)?,
        }
        Ok(None)
    }

    fn handle_device(&mut self) -> Result<Option<News>, Fault> {
        let fault = |name: &str, error: std::io::Error| Fault::new(name, format!("its interface: {error}"));
        while let Some(connection) = &mut self.connection {
            let Some(message) = connection.take_message().map_err(|error| fault(&self.name, error))? else { break };
            let answer = self.negotiation.handle(&message, connection, &mut self.card);
            match answer.map_err(|error| fault(&self.name, error))? {
                Answer::Done => {}
                Answer::Kick(ring) => return Ok(Some(News::Kick(ring))),
                Answer::Channel(channel) => self.channel = Some(UnixStream::from(channel)),
            }
        }
        Ok(None)
    }

    /// Waits for input and reads it.
    fn await_input(&mut self, left: Duration) -> Result<Option<News>, Fault> {
        let flags = PollFlags::POLLIN;
        let device = self.connection.as_ref().map_or(self.listener.as_fd(), |connection| connection.stream().as_fd());
        let mut inputs = [PollFd::new(self.clock.stream().as_fd(), flags), PollFd::new(device, flags)];
        let limit = PollTimeout::try_from(left.min(CONSOLE_INTERVAL)).expect("it is short");
        let count = poll(&mut inputs, limit).map_err(|error| Fault::new(&self.name, error.desc()))?;
        if count == 0 {
            return self.check(left).map(|()| None);
        }
        let ready = inputs.map(|input| input.any().unwrap_or(false));
        if ready[0] && !self.clock.read().unwrap_or(false) {
            self.is_off = true;
            return Ok(Some(News::Off));
        }
        if ready[1] {
            self.read_device().map_err(|error| self.fault(&error))?;
        }
        Ok(None)
    }

    fn read_device(&mut self) -> std::io::Result<()> {
        match &mut self.connection {
            None => self.connection = Some(VhostConnection::new(self.listener.accept()?.0)),
            Some(connection) => {
                // The guest has closed it, or has ended: its clock tells.
                if !connection.read().unwrap_or(false) {
                    self.connection = None;
                }
            }
        }
        Ok(())
    }

    /// Whether a guest that says nothing has panicked, or spins when nothing is left of the time that it has. A kernel that has panicked
    /// does not end: it is the first process of its namespace, so that its own signal does not reach it.
    fn check(&self, left: Duration) -> Result<(), Fault> {
        if let Some(lines) = self.process.panic() {
            return Err(Fault::new(&self.name, format!("its kernel panicked{lines}")));
        }
        if left <= CONSOLE_INTERVAL { Err(Fault::spins(&self.name, self.now)) } else { Ok(()) }
    }

    fn fault(&self, error: &std::io::Error) -> Fault {
        Fault::new(&self.name, error)
    }
}
