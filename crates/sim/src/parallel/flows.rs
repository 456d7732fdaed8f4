//! Flows that open while a trial runs in parts, and are released when they have ended.
//!
//! Sources of the agenda are numbered in the order in which flows open and end anywhere. So every
//! part opens and ends all flows, and all parts stop where one of them must know what happened in
//! the others: before a flow opens, the time of which is drawn ahead of the network, and when its
//! hosts have given it a port and the numbers of its sockets, which depend on the connections that
//! programs have opened there; and after an event that can end a flow whose other end is in another
//! part, because that end is released at once. That event is known a link's delay before: when the
//! last missing bytes are on the wire to their host.

use super::barrier::WindowReport;
use super::part::{Part, Shared};
use crate::agenda::{Source, source_of};
use crate::world::connection::EndNumbers;
use crate::world::generate::NewFlow;
use std::collections::BTreeMap;
use tailrace_network::Origin;
use tailrace_transport::ip::protocol;
use tailrace_units::Time;
use tailrace_wire::Protocol;

const NEVER: (Time, Source) = (Time::NEVER, Source::MAX);

impl Part<'_> {
    /// Opens the flows that are due when everything before is handled, and returns when the next is
    /// due.
    pub(super) fn open_flows(&mut self, shared: &Shared<'_>) -> (Time, Source) {
        loop {
            let opening = self.next_opening();
            if opening != self.bound || opening >= shared.bound {
                return opening;
            }
            let (at, source) = opening;
            self.world.now = at;
            let log = self.world.links.observe.log.as_mut().expect("a part has a log");
            log.begin(at, source);
            let flow = self.world.next_flow(at, source);
            let numbers = self.exchange_numbers(shared, &flow);
            self.world.open_flow(at, flow, numbers);
            // All parts do the same, which is one event.
            self.world.events += u64::from(self.number == 0);
        }
    }

    /// The parts in which a flow begins and ends publish the numbers that their hosts give it.
    fn exchange_numbers(&mut self, shared: &Shared<'_>, flow: &NewFlow) -> [EndNumbers; 2] {
        let ends = [flow.ends.client, flow.ends.server].into_iter().enumerate();
        let mut given = Vec::new();
        for (side, host) in ends {
            if self.world.is_own(host) {
                given.push((side, self.world.give_numbers(host, flow.workload, side)));
            }
        }
        let part = usize::from(self.number);
        shared.numbers.post(part, self.window, &mut given);
        shared.barrier.meet(part, self.window, WindowReport::NOTHING);
        let mut numbers = shared.numbers.read(self.window);
        self.window += 1;
        self.exchanges += 1;
        numbers.sort_by_key(|&(side, _)| side);
        let [(0, client), (1, server)] = numbers[..] else {
            unreachable!("each end of a flow is in one part")
        };
        [client, server]
    }

    fn next_opening(&self) -> (Time, Source) {
        let dues = self
            .flow_endpoints
            .openers
            .iter()
            .map(|&source| (self.world.links.agenda.due(source), source));
        dues.min().unwrap_or(NEVER)
    }

    /// The first event known so far that can end a flow of another part, or one of the last of all
    /// flows. Unknown ones are beyond the window.
    pub(super) fn next_flow_end(&mut self, shared: &Shared<'_>) -> (Time, Source) {
        let boundary = self.world.links.boundary.as_ref().expect("a part has a boundary");
        let hosts: Vec<u32> = boundary.flows.receivers(self.is_ending).collect();
        if hosts.is_empty() || self.is_over {
            return NEVER;
        }
        let horizon = self.world.links.agenda.peek() + shared.lookahead;
        hosts.into_iter().map(|host| self.flow_end_at(host, horizon)).min().unwrap_or(NEVER)
    }

    /// The first such event at a host.
    fn flow_end_at(&mut self, host: u32, horizon: Time) -> (Time, Source) {
        let receiver = &self.flow_endpoints.receivers[&host];
        let ends = receiver.wires.iter().map(|&wire| {
            let at = self.last_bytes_at(host, wire as usize, receiver.works, horizon);
            if at.is_never() { NEVER } else { (at, source_of(wire as usize) + 1) }
        });
        ends.min().unwrap_or(NEVER)
    }

    /// When the last bytes of any flow can be read from a wire.
    fn last_bytes_at(&mut self, host: u32, wire: usize, works: bool, horizon: Time) -> Time {
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
        match self.last_bytes_on_the_wire(host, wire, horizon) {
            Some(arrival) => arrival.max(due),
            None if undecided.is_never() || due.is_never() => undecided,
            None => undecided.max(due),
        }
    }

    /// When the first frame arrives after which all bytes of a flow have come, if that is on a wire
    /// to its host and before the horizon.
    fn last_bytes_on_the_wire(&self, host: u32, wire: usize, horizon: Time) -> Option<Time> {
        let world = &*self.world;
        let flows = &world.links.boundary.as_ref()?.flows;
        let sockets = world.hosts[host as usize].sockets();
        // By socket, the bytes that are missing after the frames so far.
        let mut missing: BTreeMap<u32, u64> = BTreeMap::new();
        for (arrival, packet) in
            world.links.wires[wire].frames_from(0).take_while(|frame| frame.0 < horizon)
        {
            let socket = sockets
                .get(packet.to_endpoint as usize)
                .filter(|socket| socket.expects(packet.flow_hash));
            let Some((socket, awaited)) =
                socket.and_then(|socket| Some((socket, socket.awaited()?)))
            else {
                continue;
            };
            let is_meant =
                self.is_ending || flows.is_arriving(socket.timer() - world.sources.sockets);
            if is_meant && protocol(&packet) == Protocol::Tcp {
                let missing = missing.entry(packet.to_endpoint).or_insert(awaited);
                *missing = missing.saturating_sub(packet.payload_bytes.into());
                if *missing == 0 {
                    return Some(arrival);
                }
            }
        }
        None
    }
}
