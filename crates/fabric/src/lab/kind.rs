//! The kinds of fabric.

use super::star::Star;
use std::str::FromStr;
use tailrace_plan::Plan;

/// DPDK's net_af_packet has slots of 2 048 bytes and takes frames of 1 518: "Frame size 9018 >
/// device max 1518".
const DPDK_MTU_BYTES_MAX: u32 = 1_500;

/// The kinds of fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FabricKind {
    /// The plan's switches, executed here.
    Tap,
    /// One bridge of the kernel, for comparison.
    Bridge,
    /// One bridge of Open vSwitch, for comparison.
    OpenVSwitch(Datapath),
    /// Interfaces `port-0`, `port-1` and so on in the lab's own namespace, for a switch that is
    /// started as a program there.
    Ports,
}

/// How Open vSwitch receives its frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Datapath {
    /// By sockets of the kernel.
    Netdev,
    /// By DPDK, which polls.
    Dpdk,
    /// By DPDK from the memory of programs (vhost-user), which connect to sockets `vhost-0`,
    /// `vhost-1` and so on; hosts are not joined.
    Vhost,
}

/// Every kind with its name.
pub(super) const NAMES: [(&str, FabricKind); 6] = [
    ("tap", FabricKind::Tap),
    ("bridge", FabricKind::Bridge),
    ("ovs", FabricKind::OpenVSwitch(Datapath::Netdev)),
    ("ovs-dpdk", FabricKind::OpenVSwitch(Datapath::Dpdk)),
    ("ovs-vhost", FabricKind::OpenVSwitch(Datapath::Vhost)),
    ("ports", FabricKind::Ports),
];

impl FromStr for FabricKind {
    type Err = ();
    fn from_str(text: &str) -> Result<FabricKind, ()> {
        NAMES.iter().find(|(name, _)| *name == text).map(|&(_, kind)| kind).ok_or(())
    }
}

impl FabricKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|&&(_, kind)| kind == self)
            .map(|&(name, _)| name)
            .expect("every kind has a name")
    }

    /// The largest MTU that it takes, where it has one of its own.
    pub fn mtu_bytes_max(self) -> Option<u32> {
        (self == FabricKind::OpenVSwitch(Datapath::Dpdk)).then_some(DPDK_MTU_BYTES_MAX)
    }

    /// The star whose rates a comparison fabric keeps; `None` for the others.
    ///
    /// # Errors
    /// Why the plan cannot be compared.
    pub(super) fn star(self, plan: &Plan, is_shaped: bool) -> Result<Option<Star>, String> {
        if self == FabricKind::OpenVSwitch(Datapath::Dpdk) {
            refuse_mtu(plan)?;
        }
        let compares = is_shaped && !matches!(self, FabricKind::Tap | FabricKind::Ports);
        compares.then(|| Star::parse(plan)).transpose()
    }
}

/// Refuses hosts whose frames DPDK's port to the kernel does not take.
///
/// # Errors
/// The host, and the limit.
fn refuse_mtu(plan: &Plan) -> Result<(), String> {
    match plan.raw.hosts.iter().find(|host| host.mtu_bytes > DPDK_MTU_BYTES_MAX) {
        None => Ok(()),
        Some(host) => Err(format!(
            "host {:?} has an MTU of {}, and DPDK's port to the kernel takes {DPDK_MTU_BYTES_MAX} at most",
            host.name, host.mtu_bytes
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_its_name() {
        for (name, kind) in NAMES {
            assert_eq!((name.parse(), kind.name()), (Ok(kind), name));
        }
        assert_eq!("token-ring".parse::<FabricKind>(), Err(()));
    }

    #[test]
    fn large_frames_are_refused_where_dpdk_cannot_take_them() {
        let plan = |mtu| {
            Plan::parse(&tailrace_lab::measured_plan::two_hosts(100_000_000, mtu).to_string())
                .expect("a sound plan")
        };
        assert_eq!(refuse_mtu(&plan(1_500)), Ok(()));
        assert!(refuse_mtu(&plan(9_000)).expect_err("too large").contains("1500"));
    }
}
