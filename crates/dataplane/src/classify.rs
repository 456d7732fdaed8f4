//! Classification: the class of the first matching rule, or else the frame's priority.

use crate::{Frame, PortNo};
use std::collections::BTreeMap;
use tailrace_wire::{FlowKey, Protocol};

/// The condition of a rule. A frame must match every field that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// One of these priority code points (802.1Q).
    pub pcp: Option<Vec<u8>>,
    /// One of these code points (RFC 2474).
    pub dscp: Option<Vec<u8>>,
    /// One of these VLANs.
    pub vlan: Option<Vec<u16>>,
    /// The ingress port.
    pub ingress: Option<PortNo>,
    /// Source and destination address with mask, protocol, source and destination ports (first to
    /// last).
    pub flow: Option<FlowMatch>,
}

/// The condition of a rule on flows.
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
        let address = |wanted: Option<(u32, u32)>, is: u32| {
            wanted.is_none_or(|(address, mask)| is & mask == address & mask)
        };
        // No flow has port 0: it stands for the ports that a fragment lacks.
        let port = |wanted: Option<(u16, u16)>, is: u16| {
            wanted.is_none_or(|(first, last)| is != 0 && (first..=last).contains(&is))
        };
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
    /// Rules in order, each with the class (0 to 7) of the frames that match it.
    pub fn new(rules: Vec<(Match, u8)>) -> Classifier {
        Classifier { rules, keys: BTreeMap::new() }
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether any rule has a condition on flows, which requires their keys.
    pub fn needs_keys(&self) -> bool {
        self.rules.iter().any(|(rule, _)| rule.flow.is_some())
    }

    /// Remembers the key of a flow whose frames carry only its hash.
    pub fn learn(&mut self, key: FlowKey) {
        self.keys.insert(key.hash(), key);
        if key.protocol == Protocol::Udp {
            self.keys.insert(key.of_fragments().hash(), key.of_fragments());
        }
    }

    /// The class of a frame: its priority when no rule matches.
    #[inline]
    pub(crate) fn class<F: Frame>(&self, in_port: PortNo, frame: &F) -> u8 {
        if self.rules.is_empty() {
            return frame.priority();
        }
        let learned =
            || self.keys.get(&frame.classified_hash()).filter(|_| frame.belongs_to_flow()).copied();
        let key = frame.flow_key().or_else(learned);
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

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_wire::{Flags, Fragment, Packet, Tag};

    /// 10.0.0.1:1000 to 10.0.1.2:5432 by TCP.
    const KEY: FlowKey = FlowKey {
        source: 0x0A00_0001,
        destination: 0x0A00_0102,
        source_port: 1_000,
        destination_port: 5_432,
        protocol: Protocol::Tcp,
    };

    /// Priority 1, code point 26, VLAN 7, of the flow.
    fn tagged() -> Packet {
        Packet { tag: Tag::new(1, 7), dscp: 26, flow_hash: KEY.hash(), ..Packet::default() }
    }

    #[test]
    fn a_notification_about_a_flow_is_not_of_that_flow() {
        let flow = FlowMatch { protocol: Some(Protocol::Tcp as u8), ..FlowMatch::default() };
        let mut classifier =
            Classifier::new(vec![(Match { flow: Some(flow), ..Match::default() }, 3)]);
        classifier.learn(KEY);
        let notification = Packet { flags: Flags::CNM, ..tagged() };
        assert_eq!((classifier.class(4, &tagged()), classifier.class(4, &notification)), (3, 1));
    }

    /// All fragments take the way of the hosts' fragments. The first has ports, and the others have
    /// not: a rule about ports puts them into different classes.
    #[test]
    fn later_fragments_have_no_ports() {
        let key = FlowKey { protocol: Protocol::Udp, ..KEY };
        let of_port = FlowMatch { destination_port: Some((0, u16::MAX)), ..FlowMatch::default() };
        let of_host = FlowMatch {
            source: Some((key.source, u32::MAX)),
            protocol: Some(17),
            ..FlowMatch::default()
        };
        let rules = [(of_port, 5), (of_host, 2)]
            .map(|(flow, class)| (Match { flow: Some(flow), ..Match::default() }, class));
        let mut classifier = Classifier::new(rules.into());
        classifier.learn(key);
        let fragment = |offset: u32| {
            let fragment = Fragment {
                source: 0,
                id: 7,
                offset,
                bytes: 1_480,
                more: true,
                datagram_hash: key.hash(),
            };
            let mut packet = Packet {
                flow_hash: key.of_fragments().hash(),
                flags: Flags::UDP,
                ..Packet::default()
            };
            fragment.write(&mut packet);
            packet
        };
        let whole = Packet { flow_hash: key.hash(), flags: Flags::UDP, ..Packet::default() };
        assert_eq!(
            [whole, fragment(0), fragment(1_480)].map(|packet| classifier.class(0, &packet)),
            [5, 5, 2]
        );
    }

    /// The class of that frame from port 4 by these rules.
    fn class(rules: Vec<(Match, u8)>) -> u8 {
        let mut classifier = Classifier::new(rules);
        classifier.learn(KEY);
        classifier.class(4, &tagged())
    }
    fn holds(rule: Match) -> bool {
        class(vec![(rule, 6)]) == 6
    }
    fn flow_holds(flow: FlowMatch) -> bool {
        holds(Match { flow: Some(flow), ..Match::default() })
    }

    #[test]
    fn the_first_rule_that_matches_counts_and_without_one_the_priority() {
        let dscp = |dscp| Match { dscp: Some(vec![dscp]), ..Match::default() };
        assert_eq!(class(vec![(dscp(10), 2), (dscp(26), 3), (Match::default(), 4)]), 3);
        assert_eq!(class(vec![(dscp(10), 2)]), 1);
        assert_eq!(class(vec![]), 1);
    }

    #[test]
    fn everything_that_a_rule_names_must_hold() {
        let all = Match {
            pcp: Some(vec![0, 1]),
            dscp: Some(vec![26]),
            vlan: Some(vec![7, 8]),
            ingress: Some(4),
            flow: None,
        };
        assert!(holds(all.clone()));
        assert!(!holds(Match { pcp: Some(vec![0]), ..all.clone() }));
        assert!(!holds(Match { dscp: Some(vec![0]), ..all.clone() }));
        assert!(!holds(Match { vlan: Some(vec![0]), ..all.clone() }));
        assert!(!holds(Match { ingress: Some(3), ..all }));
    }

    #[test]
    fn flows_match_by_masked_address_by_range_of_ports_and_by_protocol() {
        let any = FlowMatch::default();
        assert!(flow_holds(FlowMatch { source: Some((0x0A00_00FF, 0xFFFF_FF00)), ..any.clone() }));
        assert!(!flow_holds(FlowMatch { source: Some((0x0A00_00FF, 0xFFFF_FFFF)), ..any.clone() }));
        assert!(flow_holds(FlowMatch {
            destination: Some((0x0A00_0100, 0xFFFF_FF00)),
            ..any.clone()
        }));
        assert!(!flow_holds(FlowMatch {
            destination: Some((0x0A00_0000, 0xFFFF_FF00)),
            ..any.clone()
        }));
        for (range, is_within) in [
            ((5_432, 5_432), true),
            ((5_000, 5_432), true),
            ((5_432, 6_000), true),
            ((5_433, 6_000), false),
        ] {
            assert_eq!(
                flow_holds(FlowMatch { destination_port: Some(range), ..any.clone() }),
                is_within,
                "{range:?}"
            );
        }
        assert!(!flow_holds(FlowMatch { source_port: Some((1_001, 1_001)), ..any.clone() }));
        assert!(flow_holds(FlowMatch { protocol: Some(6), ..any.clone() }));
        assert!(!flow_holds(FlowMatch { protocol: Some(17), ..any }));
    }

    #[test]
    fn a_frame_of_an_unknown_flow_matches_no_rule_for_flows() {
        let classifier = Classifier::new(vec![(
            Match { flow: Some(FlowMatch::default()), ..Match::default() },
            6,
        )]);
        assert_eq!(classifier.class(4, &tagged()), 1);
    }
}
