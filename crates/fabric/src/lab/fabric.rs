//! The fabric that joins the hosts of a lab.

use super::foreign::Foreign;
use super::hosts::HostEnd;
use super::kind::{Datapath, FabricKind, NAMES};
use super::openvswitch;
use super::star::Star;
use crate::cgroup::Groups;
use crate::log::Writer;
use crate::plane::handle::Plane;
use crate::plane::question::{Answer, Ask};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tailrace_lab::netlink::Link;
use tailrace_outcome::NetworkOutcome;
use tailrace_plan::Plan;

/// The obstacle on this machine to each kind with a switch, by its name; `None` if no obstacle is
/// known beforehand.
pub fn lacking() -> BTreeMap<&'static str, Option<String>> {
    let of = |kind: FabricKind| match kind {
        FabricKind::Tap | FabricKind::Bridge => Some(None),
        // for programs of our own
        FabricKind::OpenVSwitch(Datapath::Vhost) | FabricKind::Ports => None,
        FabricKind::OpenVSwitch(datapath) => Some(openvswitch::lacking(datapath)),
    };
    NAMES.iter().filter_map(|&(name, kind)| Some((name, of(kind)?))).collect()
}

/// The running fabric.
#[derive(Debug)]
pub(super) enum Fabric {
    Switch(Plane),
    /// The kernel, or a program.
    Foreign(Box<Foreign>),
}

impl Fabric {
    /// Joins the hosts of a plan. The calling thread is in the lab's own namespace. A switch that
    /// is a program gets control groups, and a folder for its output.
    pub(super) fn start(
        kind: FabricKind,
        plan: &Arc<Plan>,
        wires: Vec<HostEnd>,
        star: Option<Star>,
        log: Option<Writer>,
        resources: (Option<&Groups>, &Path),
    ) -> io::Result<Fabric> {
        if kind == FabricKind::Tap {
            let queues = wires.into_iter().map(HostEnd::into_queues).collect();
            return Ok(Fabric::Switch(Plane::start(Arc::clone(plan), queues, log)?));
        }
        let ports: Vec<Link> = wires.iter().filter_map(HostEnd::port).collect();
        Ok(Fabric::Foreign(Box::new(Foreign::start(kind, plan, &ports, star, resources)?)))
    }

    /// Whether its thread runs before ordinary ones.
    pub(super) fn is_realtime(&self) -> bool {
        matches!(self, Fabric::Switch(plane) if plane.is_realtime)
    }

    pub(super) fn begin(&mut self) -> Result<Answer, String> {
        match self {
            Fabric::Switch(plane) => plane.ask(Ask::Begin),
            Fabric::Foreign(foreign) => {
                foreign.begin().map(|()| Answer::Done).map_err(|error| error.to_string())
            }
        }
    }

    pub(super) fn end(&mut self) -> Result<Answer, String> {
        match self {
            Fabric::Switch(plane) => plane.ask(Ask::End),
            Fabric::Foreign(foreign) => {
                foreign.end().map(|()| Answer::Done).map_err(|error| error.to_string())
            }
        }
    }

    /// The outcome so far.
    pub(super) fn outcome(&mut self) -> Result<NetworkOutcome, String> {
        match self {
            Fabric::Switch(plane) => plane.outcome(),
            Fabric::Foreign(foreign) => foreign.outcome().map_err(|error| error.to_string()),
        }
    }

    /// Asks the switch something that no other kind can do.
    pub(super) fn ask(&self, what: Ask) -> Result<Answer, String> {
        match self {
            Fabric::Switch(plane) => plane.ask(what),
            Fabric::Foreign(_) => {
                Err("this kind of fabric cannot do that: nothing passes this program".into())
            }
        }
    }

    /// Ends it. Returns the outcome.
    pub(super) fn stop(self) -> Result<NetworkOutcome, String> {
        match self {
            Fabric::Switch(plane) => plane.stop(),
            Fabric::Foreign(mut foreign) => foreign.outcome().map_err(|error| error.to_string()),
        }
    }
}
