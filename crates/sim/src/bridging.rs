//! Data-centre bridging in the world: interfaces that obey pauses and notifications, and switches that must be called
//! although nothing arrives.
//!
//! Pause frames and congestion notifications are for the interface, not for the host behind it: they act when they
//! arrive, and no receive poll sees them. Each such interface and switch has a place of its own in the agenda.

use crate::agenda::Source;
use crate::surroundings::Attachment;
use crate::world::World;
use std::collections::VecDeque;
use tailrace_dataplane::{Frame, Notification};
use tailrace_endpoint::host::Host;
use tailrace_units::Time;
use tailrace_wire::{Flags, Packet, Tag};

/// A congestion notification on the wire: the shortest frame (64 bytes with its check sequence; 802.1Qau allows more).
const NOTIFICATION_BYTES: u16 = 60;
/// Notifications travel with the highest priority (assumed; 802.1Qau leaves it to the operator).
const NOTIFICATION_PRIORITY: u8 = 7;

/// Who has a place in the agenda.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Member {
    /// An interface, by its index among the interfaces here.
    Interface(u32),
    /// A switch.
    Switch(u32),
}

/// The interface of one host.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) host: u32,
    /// When it is due by itself.
    pub(crate) nic_due: Time,
    /// Pauses and notifications that are on their way here.
    pub(crate) inbox: VecDeque<(Time, Packet)>,
    source: Source,
}

/// What a congestion point says, until it is a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    pub(crate) at: Time,
    pub(crate) switch: u32,
    pub(crate) port: u32,
    /// The sampled frame.
    pub(crate) packet: Packet,
    pub(crate) notification: Notification,
}

/// All of it. Empty in most worlds.
#[derive(Debug, Default)]
pub(crate) struct Bridging {
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) members: Vec<Member>,
    of_host: Vec<Option<u32>>,
    of_switch: Vec<Option<Source>>,
    pub(crate) notices: Vec<Notice>,
}

impl Bridging {
    /// The hosts whose interfaces take part, and the switches that need calls; sources begin at `first`.
    pub(crate) fn new(
        first: Source,
        hosts: usize,
        interfaces: impl Iterator<Item = u32>,
        switches: impl Iterator<Item = bool>,
    ) -> Bridging {
        let mut bridging = Bridging { of_host: vec![None; hosts], ..Bridging::default() };
        for (index, host) in interfaces.enumerate() {
            let source = first + bridging.members.len() as Source;
            bridging.of_host[host as usize] = Some(index as u32);
            bridging.members.push(Member::Interface(index as u32));
            bridging.interfaces.push(Interface { host, nic_due: Time::NEVER, inbox: VecDeque::new(), source });
        }
        for (switch, needs_calls) in switches.enumerate() {
            let source = first + bridging.members.len() as Source;
            bridging.of_switch.push(needs_calls.then_some(source));
            if needs_calls {
                bridging.members.push(Member::Switch(switch as u32));
            }
        }
        bridging
    }

    /// The interface of a host that takes part.
    #[inline]
    pub(crate) fn interface_of(&mut self, host: u32) -> Option<&mut Interface> {
        if self.interfaces.is_empty() {
            return None;
        }
        let index = self.of_host[host as usize]?;
        Some(&mut self.interfaces[index as usize])
    }
    /// Where a switch that needs calls stands in the agenda.
    #[inline]
    pub(crate) fn source_of_switch(&self, switch: usize) -> Option<Source> {
        self.of_switch[switch]
    }
    /// Notifications that are on their way to interfaces.
    pub(crate) fn notifications(&self) -> u64 {
        self.interfaces.iter().map(Interface::notifications).sum()
    }
}

impl Interface {
    /// Its place in the agenda, and when it is due.
    pub(crate) fn due(&self) -> (Source, Time) {
        let mail = self.inbox.front().map_or(Time::NEVER, |first| first.0);
        (self.source, mail.min(self.nic_due))
    }

    fn notifications(&self) -> u64 {
        self.inbox.iter().filter(|(_, packet)| !packet.is_pause()).count() as u64
    }

    /// Hands the mail that has arrived to the host's interface. Returns how many notifications it was.
    fn read(&mut self, now: Time, host: &mut Host<Attachment>) -> u64 {
        let mut read = 0;
        while let Some(&(arrival, packet)) = self.inbox.front()
            && arrival <= now
        {
            self.inbox.pop_front();
            match packet.pause() {
                Some(pause) => host.nic_mut().handle_pause(arrival, &pause),
                None => {
                    read += 1;
                    host.nic_mut().handle_notification(arrival, packet.seq as u32, packet.ack as u8);
                }
            }
        }
        read
    }
}

impl World {
    /// A member of data-centre bridging is due.
    #[inline(never)]
    pub(crate) fn wake_member(&mut self, now: Time, index: usize) {
        match self.roads.bridging.members[index] {
            Member::Interface(interface) => {
                let interface = &mut self.roads.bridging.interfaces[interface as usize];
                let index = interface.host;
                let read = interface.read(now, &mut self.hosts[index as usize]);
                self.roads.observe.frames.delivered += read;
                let (host, out) = self.host_and_links(index);
                host.handle_timeout(now, out);
            }
            Member::Switch(switch) => {
                let (node, mut around) = self.switch_and_surroundings(switch as usize);
                node.handle_timeout(now, &mut around.0);
                self.after_switch(now, switch as usize);
            }
        }
    }

    /// A switch was called: sends its notices, and notes when it must be called again.
    #[inline(always)]
    pub(crate) fn after_switch(&mut self, now: Time, switch: usize) {
        if !self.roads.bridging.members.is_empty() || !self.roads.bridging.notices.is_empty() {
            self.call_again(now, switch);
        }
    }

    #[inline(never)]
    fn call_again(&mut self, now: Time, switch: usize) {
        while let Some(notice) = self.roads.bridging.notices.pop() {
            self.send_notice(now, &notice);
        }
        if let Some(source) = self.roads.bridging.source_of_switch(switch) {
            let due = self.switches[switch].switch.poll_wakeup();
            self.roads.agenda.arm(source, due);
        }
    }

    /// Makes a frame of what a congestion point says, for the interface that the sampled frame came from.
    fn send_notice(&mut self, now: Time, notice: &Notice) {
        let sampled = &notice.packet;
        let source_host = self.roads.observe.endpoint(sampled).source;
        let packet = Packet {
            seq: u64::from(sampled.flow_hash),
            ack: u64::from(notice.notification.feedback),
            flow_hash: sampled.flow_hash,
            to_host: source_host,
            frame_bytes: NOTIFICATION_BYTES,
            flags: Flags::CNM,
            tag: Tag::new(NOTIFICATION_PRIORITY, sampled.tag.vlan()),
            ..Packet::default()
        };
        debug_assert!(notice.at <= now, "notices are sent at once");
        self.roads.observe.frames.sent += 1;
        let (node, mut around) = self.switch_and_surroundings(notice.switch as usize);
        node.handle_frame(now, notice.port as usize, packet, &mut around.0);
    }
}
