//! The wires on which switches and hosts send, and the deadlines that follow from a frame on one.

mod fast_path;

use crate::agenda::{Agenda, source_of};
use crate::attachment::Attachment;
use crate::boundary::{Boundary, Opening};
use crate::bridging::Bridging;
use crate::observe::{Endpoint, Observe};
use tailrace_dataplane::{DropCause, Frame};
use tailrace_host::{Event, Link, Moderation, Observer, Opened, Timer, Timers};
use tailrace_network::{End, HostLink, Medium, NetworkFrame, Origin, Wire};
use tailrace_units::{Time, prefetch};
use tailrace_wire::Packet;

/// Between what is brought near and its use there are so many others.
const STEPS_AHEAD: usize = 4;

/// Wires of these numbers are used one after the other: one of those that follow is brought near,
/// and for an earlier one, which has come, what is wanted there.
#[inline(always)]
pub(crate) fn prefetch_wires(
    wires: &[Wire<Packet>],
    mut numbers: impl Iterator<Item = u32> + Clone,
    bring: impl Fn(&Wire<Packet>),
) {
    if let Some(wire) = numbers.clone().nth(2 * STEPS_AHEAD) {
        prefetch(wires, wire as usize);
    }
    if let Some(wire) = numbers.nth(STEPS_AHEAD).and_then(|wire| wires.get(wire as usize)) {
        bring(wire);
    }
}

/// The parts of the world that a frame passes on its way out of a node.
#[derive(Debug)]
pub(crate) struct Links {
    pub(crate) wires: Vec<Wire<Packet>>,
    /// By wire, as far as there were any: when the latest control frame that went to an interface,
    /// and so is not on its way here, is over.
    pub(crate) controls_until: Vec<Time>,
    /// Interrupt moderation at each host's end.
    pub(crate) moderations: Vec<Moderation>,
    pub(crate) agenda: Agenda,
    pub(crate) observe: Observe,
    /// Interfaces and switches of data-centre bridging.
    pub(crate) bridging: Bridging,
    /// By host: the links of one that has several.
    pub(crate) bonds: Vec<Vec<HostLink>>,
    /// In a part of a trial: the wires out of it.
    pub(crate) boundary: Option<Box<Boundary>>,
}

impl Links {
    /// Any frame of any run.
    #[inline(never)]
    fn take_slow_path(&mut self, wire: usize, packet: &Packet, start: Time, end: Time) {
        if !self.observe.sent(start, wire, packet.fingerprint()) {
            self.observe.record(wire, packet, (start, end, self.wires[wire].arrival(start, end)));
        }
        let link = &mut self.wires[wire];
        if packet.is_control()
            && let End::Host(host) | End::Bonded(host) = link.end
        {
            let arrival = link.arrival(start, end);
            return self.deliver_control(wire, host, arrival, *packet);
        }
        self.put_on_wire(wire, packet, start, end);
    }

    /// The wire may need memory for the frame.
    #[inline(never)]
    fn put_on_wire(&mut self, wire: usize, packet: &Packet, start: Time, end: Time) {
        if let Some(arrival) = self.wires[wire].push(packet, start, end) {
            self.announce(wire, arrival);
        }
    }

    /// The first frame on a wire makes it due.
    #[inline(never)]
    fn announce(&mut self, wire: usize, arrival: Time) {
        if let Some(boundary) = &mut self.boundary
            && boundary.note(wire)
        {
            return;
        }
        let due = match self.wires[wire].end {
            End::Switch { .. } | End::Stage { .. } => arrival,
            End::Host(host) | End::Bonded(host) => {
                self.moderations[host as usize].poll_after(arrival)
            }
        };
        // A poll that is under way keeps its time: it will find the frame.
        self.agenda.arm_idle_wire(source_of(wire), due);
    }

    /// A pause or a notification on a wire goes to a host's interface, if that takes part; any other
    /// ignores it.
    #[cold]
    fn deliver_control(&mut self, wire: usize, host: u32, arrival: Time, packet: Packet) {
        self.note_control(wire, arrival);
        self.wake_wire(wire, arrival);
        let Some(interface) = self.bridging.interface_of(host) else {
            self.observe.frames.delivered += u64::from(!packet.is_pause());
            return;
        };
        interface.control.push(arrival, packet);
        let (source, due) = interface.due();
        self.agenda.arm(source, due);
    }

    /// When the latest control frame that left a wire at an interface is over.
    #[inline]
    pub(crate) fn control_until(&self, wire: usize) -> Time {
        self.controls_until.get(wire).copied().unwrap_or(Time::ZERO)
    }

    #[cold]
    fn note_control(&mut self, wire: usize, until: Time) {
        self.controls_until.resize(self.wires.len().max(wire + 1), Time::ZERO);
        self.controls_until[wire] = until;
    }

    /// The interface of a host that takes part in data-centre bridging is due then by itself.
    pub(crate) fn call_interface(&mut self, host: u32, at: Time) {
        let Some(interface) = self.bridging.interface_of(host) else { return };
        interface.nic_due = at;
        let (source, due) = interface.due();
        self.agenda.arm(source, due);
    }

    /// Frames may wait behind one that was posted: the wire wakes up when that one is over, as it
    /// does for any other.
    #[cold]
    pub(crate) fn wake_wire(&mut self, wire: usize, arrival: Time) {
        self.agenda.arm_idle_wire(source_of(wire), arrival);
    }
}

impl Medium<Packet> for Links {
    #[inline(always)]
    fn prepare(&self, wire: usize) {
        self.wires[wire].prefetch_last();
    }

    /// The only way out of a switch or a host. In order:
    ///
    /// 1. The frame is counted and told to the digest; runs that keep none, or more, record it.
    /// 2. A control frame for a host's interface is delivered to it, and ends here.
    /// 3. Any other is put on the wire, which becomes due if it was empty.
    ///
    /// The fast path takes the same steps for most frames, without those that do nothing to them.
    #[inline(always)]
    fn send(&mut self, wire: usize, packet: &Packet, start: Time, end: Time) {
        if !self.take_fast_path(wire, packet, start, end) {
            self.take_slow_path(wire, packet, start, end);
        }
    }

    fn dropped(&mut self, at: Time, wire: usize, packet: &Packet, cause: DropCause) {
        self.observe.dropped(at, wire as u64, packet, Some(cause));
    }

    fn marked(&mut self, at: Time, wire: usize, packet: &Packet) {
        self.observe.marked(at, wire as u64, packet);
    }

    fn source_of(&self, packet: &Packet) -> Option<usize> {
        self.observe.source_of(packet)
    }
}

impl Link for Links {
    type Place = Attachment;
    type Ring = Wire<Packet>;

    #[inline]
    fn ring(&mut self, place: &Attachment) -> &mut Wire<Packet> {
        &mut self.wires[place.wire_in as usize]
    }
    #[inline]
    fn poll_after(&mut self, place: &Attachment, arrival: Time) -> Time {
        self.moderations[place.index as usize].poll_after(arrival)
    }
    #[inline]
    fn holds_unpolled(&self, place: &Attachment) -> bool {
        let fills_by_itself =
            !matches!(self.wires[place.wire_in as usize].origin, Origin::LatePort { .. });
        fills_by_itself && self.moderations[place.index as usize].is_none()
    }
    #[inline(never)]
    fn transmit(&mut self, place: &Attachment, packet: &Packet, start: Time, end: Time) {
        self.send(place.wire_out as usize, packet, start, end);
    }
    fn transmit_over(
        &mut self,
        place: &Attachment,
        interface: u32,
        packet: &Packet,
        start: Time,
        end: Time,
    ) {
        let wire = self.bonds[place.index as usize][interface as usize].out;
        self.send(wire as usize, packet, start, end);
    }
}

impl Timers<Attachment> for Links {
    #[inline(always)]
    fn arm(&mut self, place: &Attachment, timer: Timer, at: Time) {
        let source = match timer {
            Timer::Interface => return self.call_interface(place.index, at),
            Timer::Poll => Some(place.wire_in),
            Timer::Processor => place.processor,
            Timer::Hypervisor => place.hypervisor,
            Timer::Socket(number) => Some(number),
        };
        if let Some(source) = source {
            self.agenda.arm(source, at);
        }
    }
    #[inline]
    fn postpone_poll(&mut self, place: &Attachment, at: Time) {
        self.agenda.postpone_wire(place.wire_in, at);
    }
    #[inline]
    fn hasten_socket(&mut self, timer: u32, at: Time) {
        if at < self.agenda.due(timer) {
            self.agenda.arm(timer, at);
        }
    }
}

impl Observer<Attachment> for Links {
    #[inline(always)]
    fn on_event(&mut self, now: Time, place: &Attachment, event: Event<'_>) {
        if let (Event::ConnectionOpened(opened), Some(boundary)) = (event, &mut self.boundary) {
            let &Opened { socket, key, .. } = opened;
            boundary.openings.push(Opening {
                host: place.index,
                socket,
                endpoint: Endpoint::of(opened),
                key,
            });
        }
        self.observe.on_event(now, place, event);
    }
}
