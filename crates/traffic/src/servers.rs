//! Where servers listen. A socket of a system cannot share its port as a simulated one does: a
//! server whose port another has already listens at the next one that no workload of the plan has.

use crate::sockets::Marks;
use std::collections::{BTreeMap, BTreeSet};
use tailrace_plan::{Header, Plan};

/// The user of a listener.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Users {
    /// A program of this workload.
    Program(u32),
    /// Workloads with these marks, which its answers carry.
    Marked(Marks),
}

/// A server, as the plan knows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Server {
    pub host: u32,
    pub vlan: u16,
    /// Its port in the plan.
    pub port: u16,
    pub users: Users,
}

/// Where a server listens.
#[derive(Clone, Copy, Debug)]
pub struct Listening {
    pub port: u16,
    /// The first workload that uses it.
    pub workload: u32,
}

/// The servers of all hosts. They are listed in the order of the plan, so that every process of a
/// trial knows the same.
pub struct Servers {
    pub all: BTreeMap<Server, Listening>,
    /// By host and VLAN.
    taken: BTreeSet<(u32, u16, u16)>,
    /// Ports of the plan: no server moves there.
    planned: BTreeSet<u16>,
}

impl Servers {
    /// Without servers but those of these workloads, which other programs are.
    pub fn new(plan: &Plan, others: &BTreeSet<u32>) -> Servers {
        let planned = plan
            .workloads
            .iter()
            .flat_map(|workload| workload.header.ports())
            .map(|port| port as u16)
            .collect();
        let headers = others.iter().map(|&other| &plan.workloads[other as usize].header);
        let ports_of = |header: &Header, host: usize| {
            let vlan = header.vlan;
            header.ports().map(move |port| (host as u32, vlan, port as u16)).collect::<Vec<_>>()
        };
        let taken = headers
            .flat_map(|header| header.peers.iter().flat_map(move |&host| ports_of(header, host)))
            .collect();
        Servers { all: BTreeMap::new(), taken, planned }
    }

    /// Servers that do not listen at their port of the plan.
    pub fn moved(&self) -> impl Iterator<Item = (&Server, &Listening)> {
        self.all.iter().filter(|(server, listening)| server.port != listening.port)
    }

    /// The port at which a server listens, from now on unless it does already.
    pub fn add(&mut self, server: Server, workload: u32) -> u16 {
        if let Some(known) = self.all.get(&server) {
            return known.port;
        }
        let is_taken = |port: u16| self.taken.contains(&(server.host, server.vlan, port));
        let is_free = |port: &u16| *port > 0 && !self.planned.contains(port) && !is_taken(*port);
        let mut others = (1..=u16::MAX).map(|by| server.port.wrapping_add(by));
        let port = if is_taken(server.port) {
            others.find(is_free).unwrap_or(server.port)
        } else {
            server.port
        };
        self.taken.insert((server.host, server.vlan, port));
        self.all.insert(server, Listening { port, workload });
        port
    }
}
