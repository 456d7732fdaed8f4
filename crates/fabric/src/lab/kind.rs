//! What joins the hosts of a lab.

use super::hosts::Wire;
use crate::log::Writer;
use crate::netlink::Netlink;
use crate::plane::run::{Ask, Plane};
use serde_json::{Value, json};
use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tailrace_plan::Plan;

/// Name of the kernel's bridge in the lab's own namespace.
const BRIDGE: &str = "bridge0";
/// The kernel notices that a pair of interfaces is up after some time: it looks once in a second.
const RUNNING_WAIT: Duration = Duration::from_secs(5);
const RUNNING_POLL: Duration = Duration::from_millis(10);

/// The kinds of fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The plan's switches, executed here.
    Tap,
    /// One bridge of the kernel without rates, queues or mechanisms, for comparison.
    Bridge,
    /// Interfaces `port-0`, `port-1` and so on in the lab's own namespace, for a switch that is started as a program there.
    Ports,
}

impl FromStr for Kind {
    type Err = ();
    fn from_str(text: &str) -> Result<Kind, ()> {
        match text {
            "tap" => Ok(Kind::Tap),
            "bridge" => Ok(Kind::Bridge),
            "ports" => Ok(Kind::Ports),
            _ => Err(()),
        }
    }
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Tap => "tap",
            Kind::Bridge => "bridge",
            Kind::Ports => "ports",
        }
    }
}

/// What joins the hosts, at work.
#[derive(Debug)]
pub(super) enum Joint {
    Switch(Plane),
    /// The kernel, or a program: nothing is counted here but time.
    Foreign {
        name: String,
        seed: u64,
        begin: Instant,
        end: Option<Instant>,
    },
}

impl Joint {
    /// Joins the hosts of a plan. The calling thread is in the lab's own namespace.
    pub(super) fn start(kind: Kind, plan: &Arc<Plan>, wires: Vec<Wire>, log: Option<Writer>) -> io::Result<Joint> {
        if kind == Kind::Tap {
            let queues = wires.into_iter().map(Wire::into_queues).collect();
            return Ok(Joint::Switch(Plane::start(Arc::clone(plan), queues, log)?));
        }
        let mut netlink = Netlink::open()?;
        let ports: Vec<_> = wires.iter().filter_map(Wire::port).collect();
        if kind == Kind::Bridge {
            let most = plan.raw.hosts.iter().map(|host| host.mtu_bytes).max().unwrap_or(0);
            netlink.add_bridge(BRIDGE)?;
            let bridge = crate::netlink::find(BRIDGE)?;
            ports.iter().try_for_each(|&port| netlink.enslave(port, bridge))?;
            netlink.set_mtu(bridge, most)?;
            netlink.up(bridge)?;
        }
        ports.iter().try_for_each(|&port| netlink.up(port))?;
        let deadline = Instant::now() + RUNNING_WAIT;
        for &port in &ports {
            while !netlink.is_running(port)? && Instant::now() < deadline {
                std::thread::sleep(RUNNING_POLL);
            }
        }
        Ok(Joint::Foreign { name: plan.raw.name.clone(), seed: plan.raw.seed, begin: Instant::now(), end: None })
    }

    /// Whether its thread runs before ordinary ones.
    pub(super) fn is_realtime(&self) -> bool {
        matches!(self, Joint::Switch(plane) if plane.is_realtime)
    }

    pub(super) fn begin(&mut self) -> Result<Value, String> {
        match self {
            Joint::Switch(plane) => plane.ask(Ask::Begin),
            Joint::Foreign { begin, end, .. } => {
                (*begin, *end) = (Instant::now(), None);
                Ok(Value::Null)
            }
        }
    }

    pub(super) fn end(&mut self) -> Result<Value, String> {
        match self {
            Joint::Switch(plane) => plane.ask(Ask::End),
            Joint::Foreign { end, .. } => {
                *end = Some(Instant::now());
                Ok(Value::Null)
            }
        }
    }

    /// What was counted so far.
    pub(super) fn outcome(&self) -> Result<Value, String> {
        let (name, seed, begin, end) = match self {
            Joint::Switch(plane) => return plane.ask(Ask::Counters),
            Joint::Foreign { name, seed, begin, end } => (name, seed, begin, end),
        };
        let measured = end.unwrap_or_else(Instant::now).duration_since(*begin);
        let end_ps = u64::try_from(measured.as_nanos() * 1_000).unwrap_or(u64::MAX);
        Ok(json!({
            "name": name, "seed": seed, "digest": null, "end_ps": end_ps, "ports": [], "switches": [], "interfaces": {},
            "fabric": { "cpu": {} },
        }))
    }

    /// Asks the switch something that no other kind can do.
    pub(super) fn ask(&self, what: Ask) -> Result<Value, String> {
        match self {
            Joint::Switch(plane) => plane.ask(what),
            Joint::Foreign { .. } => Err("this kind of fabric cannot do that: nothing passes this program".into()),
        }
    }

    /// Ends it. Returns the outcome.
    pub(super) fn stop(self) -> Result<Value, String> {
        match self {
            Joint::Switch(plane) => plane.stop(),
            foreign @ Joint::Foreign { .. } => foreign.outcome(),
        }
    }
}
