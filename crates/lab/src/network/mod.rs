//! Switches and links as a function of their inputs and input times. There is no clock here: the
//! caller supplies the time, and everything that is due by then happens at its own time, in order.

mod links;
mod outcome;
mod sources;
mod taps;
mod timeline;

use crate::capture::Capture;
use crate::frame::{LiveFrame, Pool};
pub use outcome::{outcome, port_towards, tables};

use links::Links;
use serde_json::Value;
use sources::Sources;
use tailrace_dataplane::Frame;
use tailrace_network::{
    ControlQueue, DigestLocation, End, Frames, HostLink, OnWires, PortEvent, SwitchNode, Topology,
    Wire, switch_rows,
};
use tailrace_outcome::Interface;
use tailrace_plan::Plan;
use tailrace_record::Digest;
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;
use timeline::Timeline;
pub use timeline::Watched;

/// The smallest step of time: a late input enters after everything that has happened.
const STEP: Span = Span::from_ps(1);

/// The network of a lab.
#[derive(Debug)]
pub struct Network {
    switches: Vec<SwitchNode<LiveFrame>>,
    /// By switch: when it has something to do next.
    due: Vec<Time>,
    links: Links,
    hosts: Vec<HostLink>,
    /// By host: frames that it has sent since counting began.
    sent: Vec<u64>,
    /// The frames that were on the wires then.
    on_wires: OnWires,
    /// Everything up to here has happened.
    advanced: Time,
    /// Start of the measured interval: records count time from here.
    begin: Time,
    /// End of its warm-up, from which switches count; its start where there is none.
    counted_from: Time,
    /// How long the warm-up of a measured interval is.
    warm_up: Span,
    /// When the warm-up of this interval ends; [`Time::NEVER`] when it has, or when there is none.
    warm_until: Time,
}

impl Network {
    /// The network of a plan at time zero. With a pool, frames have bytes.
    pub fn new(plan: &Plan, pool: Option<Pool>) -> Network {
        let sources = Sources::new(plan);
        let Topology { switches, wires, hosts, .. } = Topology::new(plan, sources.len());
        let control = vec![ControlQueue::default(); hosts.len()];
        let (digest, frames) = (Digest::default(), Frames::default());
        Network {
            due: vec![Time::NEVER; switches.len()],
            sent: vec![0; hosts.len()],
            on_wires: OnWires::default(),
            switches,
            links: Links { wires, control, pool, digest, frames, sources, taps: None },
            hosts,
            advanced: Time::ZERO,
            begin: Time::ZERO,
            counted_from: Time::ZERO,
            warm_up: Span::from_ps(plan.raw.observe.warm_up_ps),
            warm_until: Time::NEVER,
        }
    }

    /// When a frame that a host sends from `start` to `end` comes to the switch if nothing holds it
    /// up.
    #[inline]
    pub fn undisturbed(&self, host: usize, start: Time, end: Time) -> Time {
        self.wire_from(host).arrival(start, end)
    }

    /// A host sends a frame from `start` to `end`. Returns when it arrives at the switch: when the
    /// line says, or after everything that has happened if that is later.
    pub fn enter(&mut self, host: usize, frame: LiveFrame, start: Time, end: Time) -> Time {
        let arrival = self.wire_from(host).arrival_after(start, end, self.advanced + STEP);
        let Links { taps, pool, .. } = &mut self.links;
        if let Some(taps) = taps {
            taps.sent(self.hosts[host].out as usize, end, &frame, pool.as_mut());
        }
        self.enter_at(host, frame, arrival);
        arrival
    }

    /// The same with a known arrival, which lies after everything that has happened.
    pub fn enter_at(&mut self, host: usize, frame: LiveFrame, arrival: Time) {
        assert!(arrival > self.advanced, "nothing enters the past");
        let wire = self.hosts[host].out as usize;
        self.links.frames.sent += u64::from(!frame.is_pause());
        self.sent[host] += u64::from(!frame.is_pause());
        self.links.digest.add(
            arrival,
            DigestLocation::Wire(wire as u64).number(),
            frame.fingerprint(),
        );
        self.links.wires[wire].push_at(arrival, &frame);
    }

    /// Does everything that is due up to and including `until`. Switches count from the end of the
    /// warm-up on, whatever asks when: a replay counts the same.
    pub fn advance(&mut self, until: Time) {
        if self.warm_until <= until {
            let end = std::mem::replace(&mut self.warm_until, Time::NEVER);
            self.do_due(end);
            self.settle(end);
            self.switches.iter_mut().for_each(|node| node.begin_counting(end));
            self.begin_counting(end);
        }
        self.do_due(until);
    }

    fn do_due(&mut self, until: Time) {
        loop {
            let (at, next) = self.next_due();
            if at > until {
                break;
            }
            match next {
                Next::Wire(wire) => self.arrive(at, wire),
                Next::Switch(index) => {
                    let (switch, mut outputs) = self.switches[index].split(&mut self.links);
                    switch.handle_timeout(at, &mut outputs);
                    self.after_call(at, index);
                }
            }
        }
        self.advanced = self.advanced.max(until);
    }

    /// When something happens next inside the network, or something reaches a host; [`Time::NEVER`]
    /// when it is empty.
    pub fn poll_timeout(&self) -> Time {
        let deliveries = (0..self.hosts.len()).map(|host| self.wire_to(host).next_arrival());
        let control = self.links.control.iter().map(ControlQueue::next_arrival);
        deliveries.chain(control).fold(self.next_due().0, Time::min)
    }

    /// When something happens next between the hosts; [`Time::NEVER`] when nothing is on its way
    /// there.
    pub fn poll_inside(&self) -> Time {
        self.next_due().0
    }

    /// When something on its way to a host alone reaches it.
    pub fn poll_host(&self, host: usize) -> Time {
        self.wire_to(host).next_arrival().min(self.links.control[host].next_arrival())
    }

    /// Calls `tell` with the times at which the thread must wake up so that frames do not come late
    /// to their hosts: for each host when the next one is due, and when inner events are due that
    /// decide about later ones. Inner events while a host has a frame on its way are left out,
    /// because nothing overtakes it there.
    pub fn tell_dues(&self, mut tell: impl FnMut(Time)) {
        let to_host = |host: usize| self.wire_to(host).next_arrival();
        (0..self.hosts.len()).for_each(|host| tell(to_host(host)));
        self.links.control.iter().for_each(|queue| tell(queue.next_arrival()));
        for wire in self.links.wires.iter().filter(|wire| matches!(wire.end, End::Switch { .. })) {
            if let Some((arrival, frame)) = wire.next_frame() {
                let host = usize::from(frame.packet.to_host);
                if host >= self.hosts.len() || to_host(host).is_never() {
                    tell(arrival);
                }
            }
        }
        self.switches.iter().for_each(|node| tell(node.switch.poll_wakeup()));
    }

    /// Whether frames follow each other somewhere: in a queue, or on a wire, where ports that
    /// commit to departures keep theirs.
    pub fn is_backlogged(&self) -> bool {
        self.links.wires.iter().any(Wire::holds_several)
            || self.switches.iter().any(|node| node.held_frames() > 0)
    }

    /// Takes a frame that has reached its host by `now`, with the time of its arrival. Its memory
    /// stays taken until [`Network::release`].
    #[inline]
    pub fn poll_delivery(&mut self, host: usize, now: Time) -> Option<(Time, LiveFrame)> {
        let wire = self.hosts[host].into as usize;
        let (at, frame) = self.links.wires[wire].pop_arrived(now)?;
        self.links.frames.delivered += 1;
        self.links.see_arrival(wire, at, &frame);
        Some((at, frame))
    }

    /// Takes a control frame (a pause or a notification) that has reached the interface of a host
    /// by `now`.
    pub fn poll_control_frame(&mut self, host: usize, now: Time) -> Option<(Time, Packet)> {
        self.links.control[host].pop_arrived(now)
    }

    /// Captures the frames that a port of a node sends and receives. Results stay the same.
    ///
    /// # Errors
    /// When the node has no such port.
    pub fn capture(
        &mut self,
        plan: &Plan,
        (node, towards): (&str, &str),
        capture: Capture,
    ) -> Result<(), String> {
        let (out, into) = wires_of(plan, node, towards)
            .ok_or_else(|| format!("there is no port {node}>{towards}"))?;
        self.links.taps.get_or_insert_default().add((out, into), capture);
        Ok(())
    }

    /// Keeps the events of frames in windows, which count from `begin` on. Results stay the same.
    pub fn watch(&mut self, begin: Time, watched: &Watched) {
        self.links.taps.get_or_insert_default().timeline = Some(Timeline::new(begin, watched));
    }

    /// The recorded events, by table; null where none were asked for.
    pub fn watched(&self) -> Value {
        let timeline = self.links.taps.as_ref().and_then(|taps| taps.timeline.as_ref());
        timeline.map_or(Value::Null, |timeline| timeline.tables(self.links.sources.workloads()))
    }

    /// Closes the files of all captures. Returns the frames in each, in their order.
    ///
    /// # Errors
    /// When one is not whole.
    pub fn end_captures(&mut self, end: Time) -> Result<Vec<u64>, String> {
        self.links.taps.take().map_or(Ok(Vec::new()), |taps| taps.finish(end))
    }

    /// The memory of frames; not in a replay.
    pub fn pool_mut(&mut self) -> Option<&mut Pool> {
        self.links.pool.as_mut()
    }

    /// The memory of a frame is free.
    pub fn release(&mut self, frame: &LiveFrame) {
        self.links.release(frame);
    }

    /// The measured interval begins: everything is counted anew.
    pub fn begin(&mut self, plan: &Plan, now: Time) {
        self.advance(now);
        self.settle(now);
        let sources = self.links.sources.len();
        self.switches.iter_mut().for_each(|node| node.begin(&plan.raw.observe, sources, now));
        self.begin = now;
        self.begin_counting(now);
        self.warm_until = if self.warm_up > Span::ZERO { now + self.warm_up } else { Time::NEVER };
        self.links.frames = Frames { sent: self.in_network(), ..Frames::default() };
    }

    fn begin_counting(&mut self, now: Time) {
        self.counted_from = now;
        self.sent.fill(0);
        self.on_wires = OnWires::of(&self.links.wires, &self.switches, now);
    }

    /// The ports of all switches as `netstat -i` has them.
    pub(super) fn port_rows(&self, plan: &Plan, now: Time) -> Vec<Interface> {
        let ended = OnWires::of(&self.links.wires, &self.switches, now);
        switch_rows(plan, &self.switches, (&self.on_wires, &ended), now, |host, _| self.sent[host])
            .collect()
    }

    /// Frames that a host has sent since counting began.
    pub fn sent(&self, host: usize) -> u64 {
        self.sent[host]
    }

    /// Brings counters and depths up to `now`.
    pub fn settle(&mut self, now: Time) {
        for index in 0..self.switches.len() {
            let (switch, mut outputs) = self.switches[index].split(&mut self.links);
            switch.handle_timeout(now, &mut outputs);
            self.after_call(now, index);
        }
        self.switches.iter_mut().for_each(|node| node.record_depths(now));
    }

    /// From when on switches have counted.
    pub fn counted_from(&self) -> Time {
        self.counted_from
    }

    /// How long has been counted.
    pub(super) fn counted(&self, now: Time) -> Span {
        now.since(self.counted_from)
    }

    /// How long the measured interval has lasted.
    pub fn measured(&self, now: Time) -> Span {
        now.since(self.begin)
    }

    /// The switches.
    pub fn switches(&self) -> &[SwitchNode<LiveFrame>] {
        &self.switches
    }

    /// Keeps every event of the observed ports from now on. Memory grows with the run: for tests.
    pub fn keep_events(&mut self) {
        self.switches.iter_mut().for_each(SwitchNode::keep_events);
    }

    /// The recorded events, by switch and observed port, in order.
    pub fn events(&self) -> Vec<&[PortEvent]> {
        self.switches.iter().flat_map(SwitchNode::events).collect()
    }

    /// The digest of everything that has happened, as 16 hexadecimal digits.
    pub fn digest(&self) -> String {
        self.links.digest.hex()
    }

    /// Everything up to here has happened.
    pub fn advanced(&self) -> Time {
        self.advanced
    }

    /// Frames between the hosts.
    pub(super) fn in_network(&self) -> u64 {
        let on_wires: u64 = self.links.wires.iter().map(Wire::frames).sum();
        on_wires + self.switches.iter().map(SwitchNode::held_frames).sum::<u64>()
    }

    /// The next thing to happen; wires before switches, lower numbers first.
    fn next_due(&self) -> (Time, Next) {
        let mut first = (Time::NEVER, Next::Switch(0));
        for (index, wire) in self.links.wires.iter().enumerate() {
            let at = wire.next_arrival();
            if at < first.0 && matches!(wire.end, End::Switch { .. }) {
                first = (at, Next::Wire(index));
            }
        }
        for (index, &due) in self.due.iter().enumerate() {
            if due < first.0 {
                first = (due, Next::Switch(index));
            }
        }
        first
    }

    fn arrive(&mut self, at: Time, wire: usize) {
        let End::Switch { switch: index, port } = self.links.wires[wire].end else {
            unreachable!("hosts are not called")
        };
        let index = index as usize;
        let (_, mut frame) = self.links.wires[wire]
            .pop_arrived(at)
            .expect("the wire is due when its first frame arrives");
        self.links.see_arrival(wire, at, &frame);
        let (switch, mut outputs) = self.switches[index].split(&mut self.links);
        switch.handle_frame(at, usize::from(port), &mut frame, &mut outputs);
        self.after_call(at, index);
    }

    /// A switch was called: sends the notices of its congestion points, and notes when it is due
    /// again.
    fn after_call(&mut self, now: Time, index: usize) {
        let node = &mut self.switches[index];
        while let Some(notice) = node.poll_notice() {
            self.links.frames.sent += 1;
            node.send_notice(now, &notice, u32::from(notice.sampled.from_host), &mut self.links);
        }
        self.due[index] = node.switch.poll_timeout();
    }

    fn wire_from(&self, host: usize) -> &Wire<LiveFrame> {
        &self.links.wires[self.hosts[host].out as usize]
    }

    fn wire_to(&self, host: usize) -> &Wire<LiveFrame> {
        &self.links.wires[self.hosts[host].into as usize]
    }
}

/// The wires out of a port and into it: each link has two, in the order of the plan.
fn wires_of(plan: &Plan, node: &str, towards: &str) -> Option<(usize, usize)> {
    let graph = &plan.graph;
    let node = graph.node(node, "a capture").ok()?;
    let port = graph.port_towards(node, graph.node(towards, "a capture").ok()?)?;
    let link = graph.ports[node][port].link;
    let out = 2 * link + usize::from(graph.links[link].a != node);
    Some((out, out ^ 1))
}

/// The next event.
#[derive(Clone, Copy)]
enum Next {
    /// A frame arrives at a switch.
    Wire(usize),
    /// A switch has something to do.
    Switch(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_wire::Flags;

    #[test]
    fn a_host_is_due_when_a_control_frame_reaches_its_interface() {
        let plan = Plan::parse(&crate::measured_plan::two_hosts(100_000_000, 1_500).to_string())
            .expect("a sound plan");
        let mut network = Network::new(&plan, None);
        assert!(network.poll_host(1).is_never());
        let at = Time::ZERO + Span::from_us(7);
        network.links.control[1].push(at, Packet { flags: Flags::CNM, ..Packet::default() });
        assert_eq!((network.poll_host(1), network.poll_timeout()), (at, at));
        assert!(network.poll_host(0).is_never());
        assert!(network.poll_control_frame(1, at - Span::from_us(1)).is_none());
        assert!(network.poll_control_frame(1, at).is_some());
    }
}
