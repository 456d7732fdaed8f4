//! Several interfaces as one, each with a queue in front of a wire of its own.

use super::PlainNic;
use tailrace_units::{Time, mix64};
use tailrace_wire::Packet;

/// How the interface of a packet is chosen (Linux: `xmit_hash_policy`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BondPolicy {
    /// By addresses, protocol and ports: one for each flow (`layer3+4`).
    Flow,
    /// By addresses: one for each other host (`layer2+3`).
    Hosts,
}

/// One interface of a bond.
#[derive(Clone, Debug)]
pub struct BondedInterface {
    nic: PlainNic,
    /// Frames that it has sent, or will send.
    pub sent_frames: u64,
    /// Their bytes without the overhead on the wire.
    pub sent_bytes: u64,
    /// Frames that polls took from it.
    pub received_frames: u64,
}

/// The transmit side of a bond. Frames of one flow have one interface, so that they stay in order.
#[derive(Clone, Debug)]
pub struct BondedNic {
    policy: BondPolicy,
    /// Hosts do not agree on the hash.
    key: u64,
    interfaces: Vec<BondedInterface>,
}

impl BondedNic {
    /// Before its first frame.
    pub fn new(policy: BondPolicy, key: u64, interfaces: Vec<PlainNic>) -> BondedNic {
        assert!(!interfaces.is_empty(), "a bond has an interface");
        let interface =
            |nic| BondedInterface { nic, sent_frames: 0, sent_bytes: 0, received_frames: 0 };
        BondedNic { policy, key, interfaces: interfaces.into_iter().map(interface).collect() }
    }

    /// Takes a frame. Returns its interface, and the start and the end of its transmission, or
    /// `None` when the queue of that interface is full.
    pub fn send(&mut self, now: Time, packet: &Packet) -> Option<(u32, Time, Time)> {
        let number = self.interface_of(packet);
        let interface = &mut self.interfaces[number];
        let (start, end) = interface.nic.send(now, u32::from(packet.frame_bytes))?;
        interface.sent_frames += 1;
        interface.sent_bytes += u64::from(packet.frame_bytes);
        Some((number as u32, start, end))
    }

    fn interface_of(&self, packet: &Packet) -> usize {
        let chosen_by = match self.policy {
            BondPolicy::Flow => u64::from(packet.flow_hash),
            BondPolicy::Hosts => u64::from(packet.to_host),
        };
        (mix64(self.key ^ chosen_by) % self.interfaces.len() as u64) as usize
    }

    /// Polls took frames from this interface.
    pub fn count_received(&mut self, interface: usize, frames: u64) {
        self.interfaces[interface].received_frames += frames;
    }

    /// In the order of its links.
    pub fn interfaces(&self) -> &[BondedInterface] {
        &self.interfaces
    }

    /// Frames that did not fit a queue.
    pub fn queue_drops(&self) -> u64 {
        self.interfaces.iter().map(|interface| interface.nic.queue_drops).sum()
    }

    pub(super) fn begin_counting(&mut self) {
        for interface in &mut self.interfaces {
            (interface.sent_frames, interface.sent_bytes, interface.received_frames) = (0, 0, 0);
            interface.nic.queue_drops = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::BitRate;
    use tailrace_wire::Packet;

    const FLOWS: u32 = 10_000;

    fn bond(policy: BondPolicy, key: u64, interfaces: usize) -> BondedNic {
        let plain = PlainNic::new(BitRate::from_gbps(10).pace(0), 24, 1_000_000);
        BondedNic::new(policy, key, vec![plain; interfaces])
    }

    fn packet(flow_hash: u32, to_host: u16) -> Packet {
        Packet { flow_hash, to_host, frame_bytes: 1_514, ..Packet::default() }
    }

    /// Each of so many flows takes an interface at random: a binomial share, within five standard
    /// deviations.
    #[test]
    fn flows_are_spread_as_by_chance_and_each_keeps_its_interface() {
        for (interfaces, key) in [(2, 1), (3, 2), (8, 3)] {
            let bond = bond(BondPolicy::Flow, key, interfaces);
            let mut flows_at = vec![0.0; interfaces];
            for flow in 0..FLOWS {
                let chosen = bond.interface_of(&packet(flow, 1));
                assert_eq!(chosen, bond.interface_of(&packet(flow, 2)), "the flow alone decides");
                flows_at[chosen] += 1.0;
            }
            let share = 1.0 / interfaces as f64;
            let deviation = (f64::from(FLOWS) * share * (1.0 - share)).sqrt();
            let expected = f64::from(FLOWS) * share;
            assert!(
                flows_at.iter().all(|&seen| (seen - expected).abs() < 5.0 * deviation),
                "{flows_at:?}"
            );
        }
    }

    #[test]
    fn by_addresses_all_flows_to_a_host_have_one_interface() {
        let bond = bond(BondPolicy::Hosts, 4, 2);
        let of = |host| {
            (0..FLOWS)
                .map(|flow| bond.interface_of(&packet(flow, host)))
                .collect::<std::collections::BTreeSet<_>>()
        };
        let first: Vec<usize> =
            (0..100).map(|host| *of(host).first().expect("an interface")).collect();
        assert!((0..100).all(|host| of(host).len() == 1));
        assert!(first.contains(&0) && first.contains(&1), "other hosts have others");
    }

    #[test]
    fn interfaces_send_at_the_same_time_and_each_has_a_queue() {
        let mut bond = bond(BondPolicy::Flow, 1, 2);
        let other = (1..)
            .find(|&flow| bond.interface_of(&packet(flow, 0)) != bond.interface_of(&packet(0, 0)));
        let other = other.expect("a flow at the other interface");
        let starts =
            [0, other, 0].map(|flow| bond.send(Time::ZERO, &packet(flow, 0)).expect("room").1);
        assert_eq!((starts[0], starts[1]), (Time::ZERO, Time::ZERO));
        assert!(starts[2] > Time::ZERO, "behind the first");
        assert_eq!(bond.interfaces().iter().map(|interface| interface.sent_frames).sum::<u64>(), 3);
    }
    #[test]
    fn drops_are_counted_from_the_end_of_the_warm_up_on() {
        let plain = PlainNic::new(BitRate::from_gbps(10).pace(0), 24, 2_000);
        let mut bond = BondedNic::new(BondPolicy::Flow, 1, vec![plain; 2]);
        let flood = |bond: &mut BondedNic| {
            (0..100).for_each(|flow| _ = bond.send(Time::ZERO, &packet(flow, 0)));
            bond.queue_drops()
        };
        let before = flood(&mut bond);
        let sent = |bond: &BondedNic| {
            bond.interfaces().iter().map(|interface| interface.sent_frames).sum::<u64>()
        };
        assert!(
            before > 90 && before + sent(&bond) == 100,
            "{before} dropped, {} sent",
            sent(&bond)
        );
        bond.begin_counting();
        assert_eq!((bond.queue_drops(), sent(&bond)), (0, 0));
        assert_eq!(flood(&mut bond), 100, "the queues are still full");
    }
}
