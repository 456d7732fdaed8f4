//! From a frame to its class: the first rule that matches, or else the frame's priority.

use crate::{Frame, PortNo};
use std::collections::BTreeMap;
use tailrace_wire::FlowKey;

/// What a rule asks of a frame. Everything that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// One of these priority code points (802.1Q).
    pub pcp: Option<Vec<u8>>,
    /// One of these code points (RFC 2474).
    pub dscp: Option<Vec<u8>>,
    /// One of these VLANs.
    pub vlan: Option<Vec<u16>>,
    /// The port it came in by.
    pub ingress: Option<PortNo>,
    /// Source and destination address with mask, protocol, source and destination ports (first to last).
    pub flow: Option<FlowMatch>,
}

/// What a rule asks of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowMatch {
    /// Address and mask.
    pub source: Option<(u32, u32)>,
    /// Address and mask.
    pub destination: Option<(u32, u32)>,
    /// IP protocol number.
    pub protocol: Option<u8>,
    /// First and last port.
    pub source_port: Option<(u16, u16)>,
    /// First and last port.
    pub destination_port: Option<(u16, u16)>,
}

impl FlowMatch {
    /// Whether a flow matches.
    pub fn matches(&self, key: &FlowKey) -> bool {
        let address = |wanted: Option<(u32, u32)>, is: u32| wanted.is_none_or(|(address, mask)| is & mask == address & mask);
        let port = |wanted: Option<(u16, u16)>, is: u16| wanted.is_none_or(|(first, last)| (first..=last).contains(&is));
        address(self.source, key.source)
            && address(self.destination, key.destination)
            && self.protocol.is_none_or(|protocol| protocol == key.protocol as u8)
            && port(self.source_port, key.source_port)
            && port(self.destination_port, key.destination_port)
    }
}

/// The classifier of a switch.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    rules: Vec<(Match, u8)>,
    /// Keys by hash, for frames that do not carry theirs.
    keys: BTreeMap<u32, FlowKey>,
}

impl Classifier {
    /// Rules in order, each with the class (0 to 7) of what it matches.
    pub fn new(rules: Vec<(Match, u8)>) -> Classifier {
        Classifier { rules, keys: BTreeMap::new() }
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether any rule asks for a flow, so that keys must be known.
    pub fn needs_keys(&self) -> bool {
        self.rules.iter().any(|(rule, _)| rule.flow.is_some())
    }

    /// Remembers the key of a flow whose frames carry only its hash.
    pub fn learn(&mut self, key: FlowKey) {
        self.keys.insert(key.hash(), key);
    }

    /// The class of a frame: its priority when no rule matches.
    #[inline]
    pub(crate) fn class<F: Frame>(&self, in_port: PortNo, frame: &F) -> u8 {
        if self.rules.is_empty() {
            return frame.priority();
        }
        let key = frame.flow_key().or_else(|| self.keys.get(&frame.flow_hash()).copied());
        let found = self.rules.iter().find(|(rule, _)| rule.matches(in_port, frame, key.as_ref()));
        found.map_or(frame.priority(), |&(_, class)| class)
    }
}

impl Match {
    fn matches<F: Frame>(&self, in_port: PortNo, frame: &F, key: Option<&FlowKey>) -> bool {
        self.pcp.as_ref().is_none_or(|wanted| wanted.contains(&frame.priority()))
            && self.dscp.as_ref().is_none_or(|wanted| wanted.contains(&frame.dscp()))
            && self.vlan.as_ref().is_none_or(|wanted| wanted.contains(&frame.vlan()))
            && self.ingress.is_none_or(|wanted| wanted == in_port)
            && self.flow.as_ref().is_none_or(|wanted| key.is_some_and(|key| wanted.matches(key)))
    }
}
