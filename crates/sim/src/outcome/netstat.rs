//! The counters of interfaces, as `netstat -i` has them.

use crate::world::World;
use tailrace_host::Host;
use tailrace_host::nic::BondedInterface;
use tailrace_network::{OnWires, switch_rows};
use tailrace_outcome::Interface;
use tailrace_plan::{Plan, RawHost};

/// Hosts first, then the ports of switches, each in the order of the plan.
pub(crate) fn netstat<'a>(
    plan: &'a Plan,
    world: &'a World,
    on_wires: &'a OnWires,
) -> impl Iterator<Item = Interface> {
    let hosts =
        plan.raw.hosts.iter().zip(&world.hosts).flat_map(|(raw, host)| host_rows(raw, host));
    let sent = move |host: usize, port: usize| {
        let nic = world.hosts[host].nic();
        nic.bonded().map_or_else(|| nic.sent_frames(), |bond| bond.interfaces()[port].sent_frames)
    };
    let ports = switch_rows(plan, &world.switches, (&world.on_wires, on_wires), world.now, sent);
    hosts.chain(ports)
}

/// The interface of a host; of a bond the whole, and then each interface.
fn host_rows<P>(raw: &RawHost, host: &Host<P>) -> Vec<Interface> {
    let up = |name: String| Interface::up(&raw.name, None, name, Some(raw.mtu_bytes));
    let counted = host.counters();
    let whole = |name: &str| Interface {
        rx_frames: Some(counted.rx_frames),
        rx_overruns: Some(counted.rx_ring_drops),
        tx_frames: Some(counted.tx_frames),
        tx_dropped: Some(counted.nic_queue_drops),
        ..up(name.to_owned())
    };
    let Some(bond) = host.nic().bonded() else { return vec![whole("eth0")] };
    let member = |(number, interface): (usize, &BondedInterface)| Interface {
        rx_frames: Some(interface.received_frames),
        tx_frames: Some(interface.sent_frames),
        ..up(format!("eth{number}"))
    };
    std::iter::once(whole("bond0"))
        .chain(bond.interfaces().iter().enumerate().map(member))
        .collect()
}
