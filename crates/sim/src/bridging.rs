//! Data-centre bridging in the world: interfaces that obey pauses and notifications, and switches
//! that must be called although nothing arrives.
//!
//! Pause frames and congestion notifications are for the interface, not for the host behind it:
//! they act when they arrive, and no receive poll sees them. Each such interface and switch is a
//! source of the agenda.

use crate::agenda::Source;
use crate::attachment::Attachment;
use tailrace_dataplane::Frame;
use tailrace_host::Host;
use tailrace_network::{ControlQueue, deliver_to};
use tailrace_units::Time;

/// A member with a source in the agenda.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AgendaMember {
    /// An interface, by its index among the interfaces here.
    Interface(u32),
    /// A switch.
    Switch(u32),
}

/// The interface of one host.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) host: u32,
    /// The interface's own deadline.
    pub(crate) nic_due: Time,
    /// Pauses and notifications that are on their way here.
    pub(crate) control: ControlQueue,
    source: Source,
}

/// All interfaces and switches of data-centre bridging. Empty in most worlds.
#[derive(Debug, Default)]
pub(crate) struct Bridging {
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) members: Vec<AgendaMember>,
    of_host: Vec<Option<u32>>,
    of_switch: Vec<Option<Source>>,
    /// Whether notices or deadlines must be checked after a call of a switch.
    pub(crate) is_used: bool,
}

impl Bridging {
    /// The hosts whose interfaces take part, and the switches that need calls; sources begin at
    /// `first`. Switches may have congestion points (`notifies`).
    pub(crate) fn new(
        first: Source,
        hosts: usize,
        interfaces: impl Iterator<Item = u32>,
        switches: impl Iterator<Item = bool>,
        notifies: bool,
    ) -> Bridging {
        let mut bridging = Bridging { of_host: vec![None; hosts], ..Bridging::default() };
        for (index, host) in interfaces.enumerate() {
            let source = first + bridging.members.len() as Source;
            bridging.of_host[host as usize] = Some(index as u32);
            bridging.members.push(AgendaMember::Interface(index as u32));
            bridging.interfaces.push(Interface {
                host,
                nic_due: Time::NEVER,
                control: ControlQueue::default(),
                source,
            });
        }
        for (switch, needs_calls) in switches.enumerate() {
            let source = first + bridging.members.len() as Source;
            bridging.of_switch.push(needs_calls.then_some(source));
            if needs_calls {
                bridging.members.push(AgendaMember::Switch(switch as u32));
            }
        }
        bridging.is_used = notifies || !bridging.members.is_empty();
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
    /// The agenda source of a switch that needs calls.
    #[inline]
    pub(crate) fn source_of_switch(&self, switch: usize) -> Option<Source> {
        self.of_switch[switch]
    }
    /// Notifications that are on their way to interfaces.
    pub(crate) fn notifications(&self) -> u64 {
        self.interfaces.iter().map(|interface| interface.control.notifications()).sum()
    }
}

impl Interface {
    /// Its source in the agenda, and when it is due.
    pub(crate) fn due(&self) -> (Source, Time) {
        (self.source, self.control.next_arrival().min(self.nic_due))
    }

    /// Hands the control frames that have arrived to the host's interface. Returns how many of them
    /// were notifications.
    pub(crate) fn read(&mut self, now: Time, host: &mut Host<Attachment>) -> u64 {
        let mut notifications = 0;
        while let Some((arrival, packet)) = self.control.pop_arrived(now) {
            notifications += u64::from(!packet.is_pause());
            if let Some(nic) = host.nic_mut().lossless_mut() {
                deliver_to(nic, arrival, &packet);
            }
        }
        notifications
    }
}
