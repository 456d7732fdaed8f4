//! A guest: a Linux kernel that is a process, with its clock and its interface in the hands of the
//! engine.

mod cage;
mod clock;
mod console;
mod process;
mod seccomp;

pub use cage::cage;
pub use console::last_lines;
pub use process::{Machine, Process, Start};

use crate::device::{Answer, Card, Negotiation, VhostConnection};
use crate::fault::Fault;
use crate::spec::START_NS;
use clock::{Clock, Reason};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

pub use clock::{Kick, Registers};

/// Virtual time 0 as time of day: 2020-01-01 in nanoseconds since 1970.
pub const EPOCH_NS: u64 = 1_577_836_800_000_000_000;
/// Wall time after which a kernel has read its clock, which is the first thing that it does; and
/// the addition for each other guest, which starts on the same core.
const FIRST_CLOCK_READ: Duration = Duration::from_secs(10);
const FIRST_CLOCK_READ_EACH: Duration = Duration::from_millis(200);
/// Why a kernel does not take its clock from the page.
const KERNEL_OF_ANOTHER: &str =
    "its kernel is one of another version of tailrace (hint: make exact-deps)";
const KERNEL_OF_ANOTHER_SORT: &str = "it is not one of exact runs (hint: make exact-deps)";
/// How often it is checked whether a kernel has read its clock.
const CLOCK_READ_POLL: Duration = Duration::from_millis(2);
/// A guest that says nothing for so long may have panicked.
const SILENCE: Duration = Duration::from_secs(2);
/// How often it is checked whether a silent guest has ended.
const SILENCE_POLL: Duration = Duration::from_millis(100);

/// Why a guest does not run. Its kicks until then must be taken first (`take_kicks`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuestEvent {
    /// It waits for its clock.
    Waits,
    /// It has kicked a ring, and waits until it may continue.
    Kicked,
    /// It has asked its device something, and waits for the answer.
    Asks,
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
    /// The device's own channel, on which nothing is sent: interrupts come with the clock.
    channel: Option<OwnedFd>,
    /// The registers of the processor that its kernel has seen.
    pub registers: Registers,
    /// The latest time that both sides know, in nanoseconds.
    pub now: u64,
    /// When it has something to do next.
    wake: u64,
    is_waiting: bool,
    /// A ring has new entries for it: it is interrupted when it is run.
    interrupt: Option<usize>,
    /// It may run freely before this time.
    free_until: u64,
    is_off: bool,
}

impl Guest {
    /// A guest whose process was started, one of several: it runs. Waits until its kernel has read
    /// its clock.
    pub fn meet(
        start: Start,
        negotiation: Negotiation,
        guests: usize,
        limit: Duration,
    ) -> Result<Guest, Fault> {
        let limit = limit.min(FIRST_CLOCK_READ + FIRST_CLOCK_READ_EACH * guests as u32);
        let Start { name, mut process, clock, device } = start;
        let started = Instant::now();
        loop {
            // In this order: a kernel that takes its clock from the page says so before it
            // connects.
            let has_connected = is_readable(&device);
            if clock.is_known().is_some() {
                break;
            }
            let why = if let Some(status) = process.ending() {
                return Err(Fault::new(
                    &name,
                    process.why(&format!("its kernel does not start ({status})")),
                ));
            } else if has_connected {
                KERNEL_OF_ANOTHER.to_owned()
            } else if started.elapsed() > limit {
                format!(
                    "its kernel has not looked at its clock within {} s: {KERNEL_OF_ANOTHER_SORT}",
                    limit.as_secs()
                )
            } else {
                thread::sleep(CLOCK_READ_POLL);
                continue;
            };
            return Err(Fault::new(&name, why + &process.last_lines()));
        }
        if clock.is_known() == Some(false) {
            return Err(Fault::new(&name, KERNEL_OF_ANOTHER));
        }
        let registers = clock.registers();
        // A kernel without the patch reports nothing, and would panic if there are more than it has
        // room for.
        if registers.room_bytes < registers.bytes.max(1) {
            return Err(Fault::new(&name, KERNEL_OF_ANOTHER));
        }
        Ok(Guest {
            name,
            process,
            registers,
            card: Card::default(),
            negotiation,
            clock,
            listener: device,
            connection: None,
            channel: None,
            now: 0,
            wake: u64::MAX,
            is_waiting: false,
            interrupt: None,
            free_until: START_NS,
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

    /// Lets it run from `now` on; it waits again before it does anything at or after `until`.
    pub fn run(&mut self, now: u64, until: u64) {
        debug_assert!(self.is_waiting && now >= self.now, "time does not run backwards");
        let ring = self.interrupt.take().filter(|_| self.channel.is_some());
        (self.now, self.wake, self.free_until, self.is_waiting) = (now, u64::MAX, until, false);
        self.clock.run(now, until, ring.map_or(0, |ring| 1 << ring));
    }

    /// The kicks of its present run, in order; each once.
    pub fn take_kicks(&mut self, kicks: &mut Vec<Kick>) {
        self.clock.take_kicks(kicks);
        self.now = kicks.last().map_or(self.now, |kick| kick.at);
    }

    /// Lets it continue after a kick, before `until` at most.
    pub fn go_on(&mut self, until: u64) {
        self.free_until = self.free_until.min(until);
        self.clock.go_on(self.free_until);
    }

    /// A ring has new entries at `now` for a guest that waits: it is interrupted then.
    pub fn interrupt(&mut self, now: u64, ring: usize) {
        debug_assert!(self.is_waiting && now >= self.now, "only guests that wait are interrupted");
        self.wake = self.wake.min(now);
        self.interrupt = Some(self.interrupt.map_or(ring, |other| other.min(ring)));
    }

    /// Waits until it does not run. A guest that says nothing for longer than `limit` of wall time
    /// spins.
    pub fn hear(&mut self, limit: Duration) -> Result<GuestEvent, Fault> {
        let started = Instant::now();
        loop {
            match self.clock.turn(SILENCE_POLL.min(limit)) {
                Some(Reason::Waits(at)) => {
                    self.is_waiting = true;
                    self.wake = if at >= i64::MAX as u64 { u64::MAX } else { at };
                    return Ok(GuestEvent::Waits);
                }
                Some(Reason::Device) => return Ok(GuestEvent::Asks),
                Some(Reason::Kicked) => return Ok(GuestEvent::Kicked),
                Some(Reason::Off) => break,
                None if self.process.ending().is_some() => break,
                None if started.elapsed() >= SILENCE.min(limit) => {
                    self.check(started.elapsed() >= limit)?
                }
                None => {}
            }
        }
        self.is_off = true;
        Ok(GuestEvent::Off)
    }

    /// Answers what its driver has asked, and lets it go on. Frames are to be taken before: a
    /// driver that ends asks for the end of its rings.
    pub fn answer(&mut self) -> Result<(), Fault> {
        self.serve_device()
            .map_err(|error| Fault::new(&self.name, format!("its interface: {error}")))?;
        self.clock.go_on(self.free_until);
        Ok(())
    }

    fn serve_device(&mut self) -> io::Result<()> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => self.connection.insert(VhostConnection::new(self.listener.accept()?.0)),
        };
        while connection.read()? {
            while let Some(message) = connection.take_message()? {
                if let Answer::Channel(channel) =
                    self.negotiation.handle(&message, connection, &mut self.card)?
                {
                    self.channel = Some(channel);
                }
            }
        }
        Ok(())
    }

    /// Whether a guest that says nothing has panicked, or spins when its time is over. A kernel
    /// that has panicked does not end: it is the first process of its namespace, so that its own
    /// signal does not reach it.
    fn check(&self, is_over: bool) -> Result<(), Fault> {
        if let Some(lines) = self.process.panic() {
            return Err(Fault::new(&self.name, format!("its kernel panicked{lines}")));
        }
        if is_over { Err(Fault::spins(&self.name, self.now)) } else { Ok(()) }
    }
}

/// Whether a connection waits to be accepted.
fn is_readable(listener: &UnixListener) -> bool {
    let mut inputs = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
    poll(&mut inputs, PollTimeout::ZERO).is_ok_and(|count| count > 0)
}
