//! Switches and links as a function of what enters and when. There is no clock here: who drives it says how late it is,
//! and what is due by then happens at its own time, one thing after the other.

use super::roads::{AroundSwitch, Frames, Notice, Roads};
use super::sources::Sources;
use super::wire::{End, Wire};
use crate::frame::{LiveFrame, Pool};
use std::collections::VecDeque;
use tailrace_dataplane::{Frame, Switch};
use tailrace_plan::Plan;
use tailrace_record::Digest;
use tailrace_sim::{PortRecord, flight, switches};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet, Tag};

/// A congestion notification on the wire: the shortest frame (64 bytes with its check sequence; 802.1Qau allows more).
const NOTIFICATION_BYTES: u16 = 60;
/// Notifications travel with the highest priority (assumed; 802.1Qau leaves it to the operator). As in the simulator.
const NOTIFICATION_PRIORITY: u8 = 7;
/// The smallest step of time: what enters late enters after everything that has happened.
const STEP: Span = Span::from_ps(1);

/// A switch and where its ports lead: for each its wire, and its record if it is observed.
#[derive(Debug)]
struct Node {
    switch: Switch<LiveFrame>,
    ports: Vec<(usize, Option<usize>)>,
    /// When it has something to do next.
    due: Time,
}

/// The network of a lab.
#[derive(Debug)]
pub struct Network {
    nodes: Vec<Node>,
    pub(super) roads: Roads,
    /// By host: the wire to its switch, and the wire from it.
    of_host: Vec<(usize, usize)>,
    /// Everything up to here has happened.
    advanced: Time,
    /// How long the warm-up of a measured interval is.
    warm_up: Span,
    /// When the warm-up of this interval ends; [`Time::NEVER`] when it has, or when there is none.
    warm_until: Time,
}

impl Network {
    /// The network of a plan at time zero. With a pool, frames have bytes.
    pub fn new(plan: &Plan, pool: Option<Pool>) -> Network {
        let graph = &plan.graph;
        let mut wire_of: Vec<Vec<usize>> = graph.ports.iter().map(|ports| vec![0; ports.len()]).collect();
        let mut wires = Vec::new();
        for (index, link) in graph.links.iter().enumerate() {
            for (from, to) in [(link.a, link.b), (link.b, link.a)] {
                let (out, into) = (graph.port_of_link(index, from), graph.port_of_link(index, to));
                wire_of[from][out] = wires.len();
                let end = match to.checked_sub(graph.hosts) {
                    None => End::Host(to),
                    Some(switch) => End::Switch { switch, port: into },
                };
                wires.push(Wire::new(end, flight(plan, index, from, to)));
            }
        }
        let wire_to = |host: usize| {
            let end = graph.ports[host][0];
            wire_of[end.peer][graph.port_of_link(end.link, end.peer)]
        };
        let of_host = (0..graph.hosts).map(|host| (wire_of[host][0], wire_to(host))).collect();
        let node = |(index, switch): (usize, Switch<LiveFrame>)| {
            let id = graph.hosts + index;
            let ports = wire_of[id].iter().enumerate().map(|(port, &wire)| (wire, plan.record_of(id, port))).collect();
            Node { switch, ports, due: Time::NEVER }
        };
        let sources = Sources::new(plan);
        let roads = Roads {
            mail: vec![VecDeque::new(); graph.hosts],
            pool,
            notices: Vec::new(),
            digest: Digest::default(),
            frames: Frames::default(),
            records: plan.observed.iter().map(|_| PortRecord::new(&plan.raw.observe, sources.len())).collect(),
            sources,
            begin: Time::ZERO,
            counted_from: Time::ZERO,
            wires,
        };
        Network {
            nodes: switches(plan).into_iter().enumerate().map(node).collect(),
            roads,
            of_host,
            advanced: Time::ZERO,
            warm_up: Span::from_ps(plan.raw.observe.warm_up_ps),
            warm_until: Time::NEVER,
        }
    }

    /// When a frame that a host sends from `start` to `end` comes to the switch if nothing holds it up.
    #[inline]
    pub fn undisturbed(&self, host: usize, start: Time, end: Time) -> Time {
        self.roads.wires[self.of_host[host].0].arrival(start, end)
    }

    /// A host sends a frame from `start` to `end`. Returns when it arrives at the switch: when the line says, or after
    /// everything that has happened if that is later.
    pub fn enter(&mut self, host: usize, frame: LiveFrame, start: Time, end: Time) -> Time {
        let arrival = self.roads.wires[self.of_host[host].0].arrival_after(start, end, self.advanced + STEP);
        self.enter_at(host, frame, arrival);
        arrival
    }

    /// The same with a known arrival, which lies after everything that has happened.
    pub fn enter_at(&mut self, host: usize, frame: LiveFrame, arrival: Time) {
        assert!(arrival > self.advanced, "nothing enters the past");
        let wire = self.of_host[host].0;
        self.roads.frames.sent += u64::from(!frame.is_pause());
        self.roads.digest.add(arrival, wire as u64, frame.fingerprint());
        self.roads.wires[wire].push(arrival, frame);
    }

    /// Does everything that is due up to and including `until`. Switches count from the end of the warm-up on, whoever looks
    /// when: a replay counts the same.
    pub fn advance(&mut self, until: Time) {
        if self.warm_until <= until {
            let end = std::mem::replace(&mut self.warm_until, Time::NEVER);
            self.do_due(end);
            self.settle(end);
            self.nodes.iter_mut().for_each(|node| node.switch.begin_counting(end));
            self.roads.begin_counting(end);
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
                    let (switch, mut around) = self.node(index);
                    switch.handle_timeout(at, &mut around);
                    self.after_call(at, index);
                }
            }
        }
        self.advanced = self.advanced.max(until);
    }

    /// When something happens next inside the network, or something reaches a host; [`Time::NEVER`] when it is empty.
    pub fn poll_timeout(&self) -> Time {
        let deliveries = self.of_host.iter().map(|&(_, wire)| self.roads.wires[wire].next_arrival());
        let mail = self.roads.mail.iter().map(|mail| mail.front().map_or(Time::NEVER, |first| first.0));
        deliveries.chain(mail).fold(self.next_due().0, Time::min)
    }

    /// Tells when somebody should look so that frames do not come late to their hosts: for each host when the next one is
    /// due, and what must happen inside before more is known. What happens inside while a host has something on its way is
    /// left out, because nothing overtakes it there.
    pub fn tell_dues(&self, mut tell: impl FnMut(Time)) {
        let to_host = |host: usize| self.roads.wires[self.of_host[host].1].next_arrival();
        (0..self.of_host.len()).for_each(|host| tell(to_host(host)));
        self.roads.mail.iter().filter_map(VecDeque::front).for_each(|first| tell(first.0));
        for wire in self.roads.wires.iter().filter(|wire| matches!(wire.end, End::Switch { .. })) {
            if let Some((arrival, frame)) = wire.next_frame() {
                let host = usize::from(frame.packet.to_host);
                if host >= self.of_host.len() || to_host(host).is_never() {
                    tell(*arrival);
                }
            }
        }
        self.nodes.iter().for_each(|node| tell(node.switch.poll_wakeup()));
    }

    /// Whether frames follow each other somewhere: in a queue, or on a wire, where ports that commit to departures keep
    /// theirs.
    pub fn is_backlogged(&self) -> bool {
        let holds = |node: &Node| (0..node.ports.len()).any(|port| node.switch.held_frames(port) > 0);
        self.roads.wires.iter().any(Wire::holds_several) || self.nodes.iter().any(holds)
    }

    /// Takes a frame that has reached its host by `now`, with the time of its arrival. Its memory stays taken until
    /// [`Network::release`].
    #[inline]
    pub fn poll_delivery(&mut self, host: usize, now: Time) -> Option<(Time, LiveFrame)> {
        let delivery = self.roads.wires[self.of_host[host].1].pop_arrived(now)?;
        self.roads.frames.delivered += 1;
        Some(delivery)
    }

    /// Takes a pause or a notification that has reached the interface of a host by `now`.
    pub fn poll_mail(&mut self, host: usize, now: Time) -> Option<(Time, Packet)> {
        let mail = &mut self.roads.mail[host];
        if mail.front().is_some_and(|first| first.0 <= now) { mail.pop_front() } else { None }
    }

    /// The memory of frames; not in a replay.
    pub fn pool_mut(&mut self) -> Option<&mut Pool> {
        self.roads.pool.as_mut()
    }

    /// The memory of a frame is free.
    pub fn release(&mut self, frame: &LiveFrame) {
        self.roads.release(frame);
    }

    /// The measured interval begins: everything is counted anew.
    pub fn begin(&mut self, plan: &Plan, now: Time) {
        self.advance(now);
        self.settle(now);
        self.nodes.iter_mut().for_each(|node| node.switch.begin_counting(now));
        let waiting_at = |&(node, port): &(usize, usize)| self.nodes[node - plan.graph.hosts].switch.waiting_bytes(port);
        let waiting: Vec<u64> = plan.observed.iter().map(waiting_at).collect();
        let empty = PortRecord::new(&plan.raw.observe, self.roads.sources.len());
        self.roads.begin(now, &empty, &waiting);
        self.warm_until = if self.warm_up > Span::ZERO { now + self.warm_up } else { Time::NEVER };
        self.roads.frames = Frames { sent: self.in_network(), ..Frames::default() };
    }

    /// Brings counters and depths up to `now`.
    pub fn settle(&mut self, now: Time) {
        for index in 0..self.nodes.len() {
            let (switch, mut around) = self.node(index);
            switch.handle_timeout(now, &mut around);
            self.after_call(now, index);
        }
        for node in &self.nodes {
            for (port, (_, record)) in node.ports.iter().enumerate() {
                if let Some(record) = record {
                    let at = Time::ZERO + self.roads.measured(now);
                    self.roads.records[*record].depth.change(at, node.switch.waiting_bytes(port));
                }
            }
        }
    }

    /// From when on switches have counted.
    pub fn counted_from(&self) -> Time {
        self.roads.counted_from
    }

    /// The switches.
    pub fn switches(&self) -> Vec<&Switch<LiveFrame>> {
        self.nodes.iter().map(|node| &node.switch).collect()
    }

    /// The digest of everything that has happened, as 16 hexadecimal digits.
    pub fn digest(&self) -> String {
        self.roads.digest.hex()
    }

    /// Everything up to here has happened.
    pub fn advanced(&self) -> Time {
        self.advanced
    }

    /// Frames between the hosts.
    pub(super) fn in_network(&self) -> u64 {
        let on_wires: u64 = self.roads.wires.iter().map(Wire::len).sum();
        let held = self.nodes.iter().flat_map(|node| (0..node.ports.len()).map(|port| node.switch.held_frames(port)));
        on_wires + held.sum::<u64>()
    }

    /// The next thing to happen; wires before switches, lower numbers first.
    fn next_due(&self) -> (Time, Next) {
        let mut first = (Time::NEVER, Next::Switch(0));
        for (index, wire) in self.roads.wires.iter().enumerate() {
            let at = wire.next_arrival();
            if at < first.0 && matches!(wire.end, End::Switch { .. }) {
                first = (at, Next::Wire(index));
            }
        }
        for (index, node) in self.nodes.iter().enumerate() {
            if node.due < first.0 {
                first = (node.due, Next::Switch(index));
            }
        }
        first
    }

    fn arrive(&mut self, at: Time, wire: usize) {
        let End::Switch { switch: index, port } = self.roads.wires[wire].end else { unreachable!("hosts are not called") };
        let (_, frame) = self.roads.wires[wire].pop_arrived(at).expect("the wire is due when its first frame arrives");
        let (switch, mut around) = self.node(index);
        switch.handle_frame(at, port, frame, &mut around);
        self.after_call(at, index);
    }

    fn node(&mut self, index: usize) -> (&mut Switch<LiveFrame>, AroundSwitch<'_>) {
        let Node { switch, ports, .. } = &mut self.nodes[index];
        (switch, AroundSwitch { roads: &mut self.roads, switch: index, ports })
    }

    /// A switch was called: sends what its congestion points have to say, and notes when it is due again.
    fn after_call(&mut self, now: Time, index: usize) {
        while let Some(notice) = self.roads.notices.pop() {
            self.send_notice(now, &notice);
        }
        self.nodes[index].due = self.nodes[index].switch.poll_timeout();
    }

    /// Makes a frame of what a congestion point says, for the interface that the sampled frame came from.
    fn send_notice(&mut self, now: Time, notice: &Notice) {
        let sampled = &notice.frame;
        let packet = Packet {
            seq: u64::from(sampled.packet.flow_hash),
            ack: u64::from(notice.notification.feedback),
            flow_hash: sampled.packet.flow_hash,
            to_host: sampled.from_host,
            frame_bytes: NOTIFICATION_BYTES,
            flags: Flags::CNM,
            tag: Tag::new(NOTIFICATION_PRIORITY, 0),
            ..Packet::default()
        };
        self.roads.frames.sent += 1;
        let (switch, mut around) = self.node(notice.switch);
        switch.handle_frame(now, notice.port, LiveFrame::bare(packet), &mut around);
    }
}

/// What happens next.
#[derive(Clone, Copy)]
enum Next {
    /// A frame arrives at a switch.
    Wire(usize),
    /// A switch has something to do.
    Switch(usize),
}
