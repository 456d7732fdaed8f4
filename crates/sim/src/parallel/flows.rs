//! Flows that open while a trial runs in parts, and are given back when they have ended.
//!
//! Sockets, ports and places in the agenda are numbered in the order in which flows open and end anywhere. So every part does both for all
//! flows, and all parts stop where one of them must know what happened in the others: before a flow opens, the time of which is drawn ahead
//! of the network; and after an event that can end a flow whose other end is in another part, because that end is given back at once.
//! That event is known a link's delay before: when the last bytes that are missing are on the wire to their host.

use super::part::{Part, Shared};
use crate::agenda::{Source, source_of};
use crate::world::SocketPlace;
use tailrace_endpoint::ip::protocol;
use tailrace_network::Origin;
use tailrace_units::Time;
use tailrace_wire::Protocol;

const NEVER: (Time, Source) = (Time::NEVER, Source::MAX);

impl Part<'_> {
    /// Opens the flows that are due where everything before is handled, and returns when the next is due.
    pub(super) fn open_flows(&mut self, bound: (Time, Source)) -> (Time, Source) {
        loop {
            let opening = self.next_opening();
            if opening != self.bound || opening >= bound {
                return opening;
            }
            let (at, source) = opening;
            self.world.now = at;
            let log = self.world.links.observe.log.as_mut().expect("a part has a log");
            log.begin(at, source);
            self.world.handle_aside(at, source);
            // All parts do the same, which is one event.
            self.world.events += u64::from(self.number == 0);
        }
    }

    fn next_opening(&self) -> (Time, Source) {
        let dues = self.flow_places.openers.iter().map(|&source| (self.world.links.agenda.due(source), source));
        dues.min().unwrap_or(NEVER)
    }

    /// The first event known so far that can end a flow of another part, or one of the last of all flows. Of those that are not known
    /// none lies within a window.
    pub(super) fn next_flow_end(&mut self, shared: &Shared<'_>) -> (Time, Source) {
        let boundary = self.world.links.boundary.as_ref().expect("a part has a boundary");
        let arriving = if self.is_ending { self.own_receiving() } else { boundary.flows.arriving().to_vec() };
        if arriving.is_empty() || self.is_over {
            return NEVER;
        }
        let horizon = self.world.links.agenda.peek() + shared.look_ahead;
        arriving.into_iter().map(|socket| self.flow_end_of(socket, horizon)).min().unwrap_or(NEVER)
    }

    /// The receiving sockets of all flows that end here.
    fn own_receiving(&self) -> Vec<u32> {
        let world = &*self.world;
        let flows = world.links.boundary.as_ref().map(|boundary| &boundary.flows);
        let is_own = |host| flows.is_some_and(|flows| flows.owns(host));
        let servers = (1..world.sockets.len()).step_by(2);
        let receiving =
            servers.filter(|&server| is_own(world.sockets[server].host) && world.socket(server as u32).awaited().is_some());
        receiving.map(|server| server as u32).collect()
    }

    fn flow_end_of(&mut self, socket: u32, horizon: Time) -> (Time, Source) {
        let SocketPlace { host, .. } = self.world.sockets[socket as usize];
        let receiver = &self.flow_places.receivers[&host];
        let after = |at: Time, source: Source| if at.is_never() { NEVER } else { (at, source + 1) };
        let mut first = NEVER;
        for &wire in &receiver.wires {
            let at = self.last_bytes_at(socket, wire as usize, receiver.works, horizon);
            first = first.min(after(at, source_of(wire as usize)));
        }
        first
    }

    /// When the last bytes of a flow can be read from a wire.
    fn last_bytes_at(&mut self, socket: u32, wire: usize, works: bool, horizon: Time) -> Time {
        let mut undecided = Time::NEVER;
        if let Origin::LatePort { switch, port } = self.world.links.wires[wire].origin {
            let (at, switch, port) = (self.handled_until, switch as usize, usize::from(port));
            self.world.settle_port(at, switch, port);
            let port_of = &self.world.switches[switch].switch;
            let free_at = port_of.free_at(port);
            if free_at > at && port_of.waiting_bytes(port) > 0 {
                undecided = self.world.links.wires[wire].arrival(free_at, free_at);
            }
        }
        let due = self.world.links.agenda.due(source_of(wire));
        if works {
            return due.min(undecided);
        }
        let SocketPlace { host, number } = self.world.sockets[socket as usize];
        let socket = &self.world.hosts[host as usize].sockets()[number as usize];
        let mut awaited = socket.awaited().unwrap_or(0);
        let frames = self.world.links.wires[wire].frames_from(0).take_while(|frame| frame.0 < horizon);
        for (arrival, packet) in frames {
            if packet.to_endpoint == number && socket.expects(packet.flow_hash) && protocol(&packet) == Protocol::Tcp {
                awaited = awaited.saturating_sub(packet.payload_bytes.into());
                if awaited == 0 {
                    return arrival.max(due);
                }
            }
        }
        if undecided.is_never() || due.is_never() { undecided } else { undecided.max(due) }
    }
}
