//! What joins the hosts of a lab.

use super::foreign::Foreign;
use super::hosts::Wire;
use super::star::Star;
use crate::cgroup::Groups;
use crate::log::Writer;
use crate::netlink::Link;
use crate::plane::handle::{Ask, Plane};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use tailrace_plan::Plan;

/// The kinds of fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The plan's switches, executed here.
    Tap,
    /// One bridge of the kernel, for comparison.
    Bridge,
    /// One bridge of Open vSwitch, for comparison.
    OpenVSwitch(Datapath),
    /// Interfaces `port-0`, `port-1` and so on in the lab's own namespace, for a switch that is started as a program
    /// there.
    Ports,
}

/// How Open vSwitch comes by its frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Datapath {
    /// By sockets of the kernel.
    Netdev,
    /// By DPDK, which looks for frames without end.
    Dpdk,
}

/// Every kind with its name.
const NAMES: [(&str, Kind); 5] = [
    ("tap", Kind::Tap),
    ("bridge", Kind::Bridge),
    ("ovs", Kind::OpenVSwitch(Datapath::Netdev)),
    ("ovs-dpdk", Kind::OpenVSwitch(Datapath::Dpdk)),
    ("ports", Kind::Ports),
];

impl FromStr for Kind {
    type Err = ();
    fn from_str(text: &str) -> Result<Kind, ()> {
        NAMES.iter().find(|(name, _)| *name == text).map(|&(_, kind)| kind).ok_or(())
    }
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|&&(_, kind)| kind == self).map(|&(name, _)| name).expect("every kind has a name")
    }

    /// The largest MTU that it takes, where it has one of its own.
    pub fn mtu_bytes_max(self) -> Option<u32> {
        (self == Kind::OpenVSwitch(Datapath::Dpdk)).then_some(super::openvswitch::DPDK_MTU_BYTES_MAX)
    }

    /// The star whose rates a comparison fabric keeps; `None` for the others.
    ///
    /// # Errors
    /// Why the plan cannot be compared.
    pub(super) fn star(self, plan: &Plan, is_shaped: bool) -> Result<Option<Star>, String> {
        if self == Kind::OpenVSwitch(Datapath::Dpdk) {
            super::openvswitch::refuse_mtu(plan)?;
        }
        let compares = is_shaped && !matches!(self, Kind::Tap | Kind::Ports);
        compares.then(|| Star::parse(plan)).transpose()
    }
}

/// What every kind with a switch lacks on this machine, by its name; `None` where it lacks nothing that can be known
/// beforehand.
pub fn lacking() -> BTreeMap<&'static str, Option<String>> {
    let of = |kind: Kind| match kind {
        Kind::Tap | Kind::Bridge => Some(None),
        Kind::OpenVSwitch(datapath) => Some(super::openvswitch::lacking(datapath)),
        Kind::Ports => None,
    };
    NAMES.iter().filter_map(|&(name, kind)| Some((name, of(kind)?))).collect()
}

/// What joins the hosts, at work.
#[derive(Debug)]
pub(super) enum Joint {
    Switch(Plane),
    /// The kernel, or a program.
    Foreign(Box<Foreign>),
}

impl Joint {
    /// Joins the hosts of a plan. The calling thread is in the lab's own namespace. A switch that is a program gets
    /// control groups, and a folder for what it says.
    pub(super) fn start(
        kind: Kind,
        plan: &Arc<Plan>,
        wires: Vec<Wire>,
        star: Option<Star>,
        log: Option<Writer>,
        surroundings: (Option<&Groups>, &Path),
    ) -> io::Result<Joint> {
        if kind == Kind::Tap {
            let queues = wires.into_iter().map(Wire::into_queues).collect();
            return Ok(Joint::Switch(Plane::start(Arc::clone(plan), queues, log)?));
        }
        let ports: Vec<Link> = wires.iter().filter_map(Wire::port).collect();
        Ok(Joint::Foreign(Box::new(Foreign::start(kind, plan, &ports, star, surroundings)?)))
    }

    /// Whether its thread runs before ordinary ones.
    pub(super) fn is_realtime(&self) -> bool {
        matches!(self, Joint::Switch(plane) if plane.is_realtime)
    }

    pub(super) fn begin(&mut self) -> Result<Value, String> {
        match self {
            Joint::Switch(plane) => plane.ask(Ask::Begin),
            Joint::Foreign(foreign) => foreign.begin().map(|()| Value::Null).map_err(|error| error.to_string()),
        }
    }

    pub(super) fn end(&mut self) -> Result<Value, String> {
        match self {
            Joint::Switch(plane) => plane.ask(Ask::End),
            Joint::Foreign(foreign) => foreign.end().map(|()| Value::Null).map_err(|error| error.to_string()),
        }
    }

    /// What was counted so far.
    pub(super) fn outcome(&mut self) -> Result<Value, String> {
        match self {
            Joint::Switch(plane) => plane.ask(Ask::Counters),
            Joint::Foreign(foreign) => foreign.outcome().map_err(|error| error.to_string()),
        }
    }

    /// Asks the switch something that no other kind can do.
    pub(super) fn ask(&self, what: Ask) -> Result<Value, String> {
        match self {
            Joint::Switch(plane) => plane.ask(what),
            Joint::Foreign(_) => {
                Err("this kind of fabric does not support the command: its frames do not pass this program".into())
            }
        }
    }

    /// Ends it. Returns the outcome.
    pub(super) fn stop(self) -> Result<Value, String> {
        match self {
            Joint::Switch(plane) => plane.stop(),
            Joint::Foreign(mut foreign) => foreign.outcome().map_err(|error| error.to_string()),
        }
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
        assert_eq!("token-ring".parse::<Kind>(), Err(()));
    }
}
