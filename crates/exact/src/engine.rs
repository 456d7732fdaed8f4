//! Virtual time: guests and the network take turns, the earliest first.
//!
//! At any moment at most one guest runs, and only until another event is due. A frame that it sends
//! enters the network at the time that its clock shows; a frame that reaches it interrupts it at
//! that time. So nothing is ever late, and the order of events does not depend on the machine: by
//! time, the network before guests, guests by their number.

use crate::device::{Header, RECEIVE, Segments, TRANSMIT, take_tag};
use crate::fault::{Fault, moment};
use crate::guest::{Guest, GuestEvent, Kick};
use crate::interface::{Interface, SHORTEST_BYTES};
use crate::progress::ProgressReport;
use crate::spec::Line;
use std::time::Duration;
use tailrace_lab::frame::{FrameOrigin, Pool, parse};
use tailrace_lab::network::Network;
use tailrace_lab::vlans::Vlans;
use tailrace_network::pace_of;
use tailrace_outcome::Turns;
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};

/// Bytes of a frame besides the MTU that are in memory.
const ETHERNET_BYTES: u32 = 14;

/// Everything that happens in a trial.
#[derive(Debug)]
pub struct Engine {
    pub(crate) network: Network,
    pub(crate) guests: Vec<Guest>,
    pub(crate) interfaces: Vec<Interface>,
    vlans: Vlans,
    /// The last message of each guest's first process.
    said: Vec<Option<Line>>,
    /// Guests have been asked to end.
    is_ending: bool,
    /// Nothing happens beyond this time for now.
    horizon: Time,
    /// By host: how long a frame takes from its switch to it at least.
    delays: Vec<Span>,
    /// By host: nothing that it sends comes back to it sooner.
    echoes: Vec<Span>,
    /// Frames that entered so far.
    entered: u64,
    /// A guest that says nothing for so long spins.
    limit: Duration,
    /// Pieces of work by kind.
    pub(crate) turns: Turns,
    /// Receives the progress.
    pub(crate) progress: Option<ProgressReport>,
    kicks: Vec<Kick>,
    row: Vec<u8>,
    frame: Vec<u8>,
}

/// How long the shortest frame takes to a host: its link's delay, and one nanosecond at least.
fn least_delay(plan: &Plan, host: usize) -> Span {
    plan.graph.links[plan.graph.ports[host][0].link].delay.max(Span::from_ns(1))
}

/// How soon a host learns of a frame that it sends, as an answer or as having been sent: the time
/// of the shortest frame on its line, and that of the reaction.
fn least_echo(plan: &Plan, host: usize) -> Span {
    let line = pace_of(plan, host, 0).time_to_send(SHORTEST_BYTES);
    let coalesce = Span::from_ps(plan.raw.hosts[host].nic.rx_coalesce_ps);
    let round_trip = least_delay(plan, host) + least_delay(plan, host);
    (line + round_trip.min(coalesce)).max(Span::from_ns(1))
}

impl Engine {
    /// The network of a plan with its guests, which wait.
    pub fn new(
        plan: &Plan,
        guests: Vec<Guest>,
        said: Vec<Option<Line>>,
        limit: Duration,
    ) -> Result<Engine, String> {
        let largest = plan.raw.hosts.iter().map(|host| host.mtu_bytes).max().unwrap_or_default()
            + ETHERNET_BYTES;
        let pool = Pool::new((largest as usize).next_multiple_of(64));
        let hosts = guests.len();
        Ok(Engine {
            network: Network::new(plan, Some(pool)),
            interfaces: (0..hosts).map(|host| Interface::new(plan, host)).collect(),
            guests,
            vlans: Vlans::new(plan)?,
            is_ending: false,
            horizon: Time::ZERO,
            delays: (0..hosts).map(|host| least_delay(plan, host)).collect(),
            echoes: (0..hosts).map(|host| least_echo(plan, host)).collect(),
            said,
            entered: 0,
            limit,
            turns: Turns::default(),
            progress: None,
            kicks: Vec::new(),
            row: Vec::new(),
            frame: Vec::new(),
        })
    }

    /// Advances to `until`, or until `is_done` of the last messages of the guests' first processes.
    pub fn advance(
        &mut self,
        until: Time,
        is_done: impl Fn(&[Option<Line>]) -> bool,
    ) -> Result<Time, Fault> {
        let mut now = Time::ZERO;
        self.horizon = until;
        while !is_done(&self.said) {
            let due = self.due();
            let (wake, host) = self.next_guest();
            let wake = Time::from_ns(wake);
            if due.min(wake) > until {
                return Ok(until);
            }
            now = due.min(wake);
            if let Some(progress) = &mut self.progress {
                progress.turn(now);
            }
            if due <= wake {
                self.step(due)?;
            } else {
                self.run(host)?;
                // It may have gone on for a while before it has said what ends this.
                now = now.max(Time::from_ns(self.guests[host].now));
            }
        }
        Ok(now)
    }

    /// Sends a message to every guest's first process. A guest may have run ahead; everything up to
    /// there happens before.
    pub fn tell(&mut self, line: Line) -> Result<Time, Fault> {
        let ahead = self.guests.iter().map(Guest::free_until).max().unwrap_or_default();
        let at = Time::from_ns(ahead).max(self.network.advanced());
        self.advance(at, |_| false)?;
        self.is_ending = line == Line::End;
        for host in 0..self.guests.len() {
            let guest = &mut self.guests[host];
            if guest.is_off() {
                continue;
            }
            if guest.card.receive(&line.frame()).map_err(|error| Fault::new(&guest.name, error))? {
                guest.interrupt(at.ceil_ns(), RECEIVE);
            } else {
                self.interfaces[host].tell(at, line);
            }
        }
        Ok(at)
    }

    /// The last message of each guest's first process.
    pub fn said(&self) -> &[Option<Line>] {
        &self.said
    }

    /// When something happens in the network, or at the interface of a guest.
    fn due(&self) -> Time {
        self.interfaces.iter().map(Interface::due).fold(self.network.poll_timeout(), Time::min)
    }

    /// When something reaches a guest of itself: from its interface, or from the wire to it.
    fn due_at(&self, host: usize) -> Time {
        self.interfaces[host].due().min(self.network.poll_host(host))
    }

    /// The guest that has something to do first; lower numbers first.
    fn next_guest(&self) -> (u64, usize) {
        let wakes = self.guests.iter().enumerate().map(|(host, guest)| (guest.wake(), host));
        wakes.min().unwrap_or((u64::MAX, 0))
    }

    /// The network and the interfaces carry out what is due, and guests are notified.
    fn step(&mut self, at: Time) -> Result<(), Fault> {
        self.turns.steps += 1;
        self.network.advance(at);
        for host in 0..self.guests.len() {
            while let Some((arrival, frame)) = self.network.poll_delivery(host, at) {
                if let Some(dropped) = self.interfaces[host].arrived(arrival, frame) {
                    self.network.release(&dropped);
                }
            }
            if self.interfaces[host].due() <= at {
                self.serve(host, at)?;
            }
        }
        Ok(())
    }

    /// An interface hands over received frames and gives back sent ones.
    fn serve(&mut self, host: usize, at: Time) -> Result<(), Fault> {
        let Engine { network, guests, interfaces, turns, .. } = self;
        let (guest, interface) = (&mut guests[host], &mut interfaces[host]);
        let fault = |error: String| Fault::new(&guest.name, error);
        let is_sent = interface.complete(at, &mut guest.card).map_err(fault)?;
        let is_received = interface.hand_over(at, &mut guest.card, network).map_err(fault)?;
        // A driver that is handed frames checks the sent ones as well (virtnet_poll_cleantx).
        let ring = if is_received { RECEIVE } else { TRANSMIT };
        if (is_received || is_sent) && !guest.is_off() {
            turns.interrupts += 1;
            guest.interrupt(at.ceil_ns(), ring);
        }
        Ok(())
    }

    /// A guest runs until it waits.
    fn run(&mut self, host: usize) -> Result<(), Fault> {
        self.turns.runs += 1;
        let now = self.guests[host].wake();
        let echo = (Time::from_ns(now) + self.echoes[host]).ceil_ns();
        let until = self.free_until(host).min(echo);
        self.guests[host].run(now, until);
        loop {
            let news = self.guests[host].hear(self.limit)?;
            self.handle_kicks(host)?;
            match news {
                GuestEvent::Waits => return Ok(()),
                GuestEvent::Asks => self.guests[host].answer()?,
                GuestEvent::Kicked => {
                    let until = self.free_until(host);
                    self.guests[host].go_on(until);
                }
                // Its last word may not have left the queue of its interface.
                GuestEvent::Off if self.is_ending => {
                    self.said[host] = Some(Line::End);
                    return Ok(());
                }
                GuestEvent::Off => return Err(self.death(host)),
            }
        }
    }

    /// How long a guest may run freely: the lookahead, before which nothing can reach it. Events
    /// elsewhere, or of another guest, take at least the delay of its own link to come here.
    fn free_until(&self, host: usize) -> u64 {
        let others = (0..self.guests.len()).filter(|&other| other != host);
        let at = |other: usize| Time::from_ns(self.guests[other].wake()).min(self.due_at(other));
        let elsewhere = others.map(at).fold(self.network.poll_inside(), Time::min);
        let (inside, here) = (elsewhere + self.delays[host], self.due_at(host));
        inside.min(here).min(self.horizon).ceil_ns()
    }

    /// Handles the kicks of a guest's run, at the times at which it made them.
    fn handle_kicks(&mut self, host: usize) -> Result<(), Fault> {
        let mut kicks = std::mem::take(&mut self.kicks);
        self.guests[host].take_kicks(&mut kicks);
        for kick in &kicks {
            self.turns.kicks += 1;
            let now = Time::from_ns(kick.at);
            if kick.ring == TRANSMIT {
                self.transmit(host, now, kick.index)
                    .map_err(|error| Fault::new(&self.guests[host].name, error))?;
            } else {
                self.interfaces[host].has_room(now);
            }
        }
        self.kicks = kicks;
        Ok(())
    }

    /// Takes the frames that the driver has handed over.
    fn transmit(&mut self, host: usize, now: Time, end: u16) -> Result<(), String> {
        while let Some(sent) = self.guests[host].card.take(end, &mut self.row)? {
            match Line::read(&self.row) {
                Some(line) => self.said[host] = Some(line),
                None => self.send(host, now, sent.header)?,
            }
            self.interfaces[host].sends(now, sent.slot);
        }
        Ok(())
    }

    /// A frame, or the frames of a row, enters the network.
    fn send(&mut self, host: usize, now: Time, header: Header) -> Result<(), String> {
        let (mut row, mut frame) = (std::mem::take(&mut self.row), std::mem::take(&mut self.frame));
        let priority = take_tag(&mut row);
        let segments = header.segment_bytes().and_then(|bytes| Segments::new(&row, bytes));
        let result = match segments {
            None => self.send_frame(host, now, &row, priority),
            Some(mut segments) => {
                let mut result = Ok(());
                while result.is_ok() && segments.next(&mut frame) {
                    result = self.send_frame(host, now, &frame, priority);
                }
                result
            }
        };
        (self.row, self.frame) = (row, frame);
        result
    }

    fn send_frame(
        &mut self,
        host: usize,
        now: Time,
        bytes: &[u8],
        priority: Option<u8>,
    ) -> Result<(), String> {
        let origin = FrameOrigin { host, hosts: self.guests.len(), priority, vlans: &self.vlans };
        let Ok(mut frame) = parse(bytes, origin, self.entered) else {
            self.interfaces[host].foreign += 1;
            return Ok(());
        };
        let pool = self.network.pool_mut().expect("the network has memory");
        let slot =
            pool.take().ok_or("more frames are on their way than the engine has memory for")?;
        let memory = pool.bytes_mut(slot).get_mut(..bytes.len());
        memory
            .ok_or_else(|| format!("a frame of {} bytes is longer than the MTU", bytes.len()))?
            .copy_from_slice(bytes);
        frame.slot = Some(slot);
        self.entered += 1;
        let (start, end) = self.interfaces[host].send(now, u32::from(frame.packet.frame_bytes));
        self.network.enter(host, frame, start, end);
        Ok(())
    }

    /// Why a guest that should be there is not.
    fn death(&self, host: usize) -> Fault {
        let guest = &self.guests[host];
        Fault::new(
            &guest.name,
            guest.process.why(&format!("its kernel ended {}", moment(guest.now))),
        )
    }
}
