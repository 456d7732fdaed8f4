//! What a host has to do for a plan: its ends of all connections, with the ports that the simulator gives them.
//!
//! Every host works through the whole plan in the same order. So both ends know the ports of a connection, and a server knows a user
//! by its port: nothing is sent besides what the plan says.

use crate::sockets::{Marks, Route};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use tailrace_endpoint::app::{App, Peer, Program};
use tailrace_endpoint::host::EphemeralPorts;
use tailrace_network::address;
use tailrace_plan::{Plan, RawCongestionControl};
use tailrace_workloads::{
    Arrivals, Arriving, DatagramPair, Ends, Engine, LastingConnection, SERVER_PORT, WorkloadProgram, open_workloads, record_for,
};

/// Where hosts are, where that is not the live labs' rule.
pub type Addresses = BTreeMap<(u32, u16), Ipv4Addr>;

/// Which congestion control sockets have.
#[derive(Clone, Debug, Default)]
pub struct Congestion {
    /// By name of the workload.
    pub of_workload: BTreeMap<String, Rc<str>>,
    /// Of all others; that of the plan without one.
    pub usual: Option<Rc<str>>,
    /// All others have what the system gives them.
    pub is_systems: bool,
}

/// One end of a connection that lasts as long as the trial.
pub struct LastingEnd {
    /// Index of the workload.
    pub workload: u32,
    /// Counts within the workload.
    pub user: u32,
    /// 0 at the client, 1 at the server.
    pub side: u8,
    /// The program.
    pub app: App,
    /// Its addresses.
    pub route: Route,
    /// Whether what arrives here is goodput, and completions are told here.
    pub counts_goodput: bool,
}

/// A program with several sockets.
pub struct HostedEnd {
    /// Index of the workload.
    pub workload: u32,
    /// Counts all programs of the plan.
    pub number: u32,
    /// The program.
    pub program: Box<dyn Program>,
    /// Whether what arrives for it is goodput.
    pub counts_goodput: bool,
    /// Where it listens.
    pub port: Option<u16>,
    /// How often it tells that something is finished.
    pub finishes: u64,
}

/// A socket for datagrams of a program.
pub struct PairEnd {
    /// The program, as all of the plan are counted.
    pub program: u32,
    /// Index of the workload.
    pub workload: u32,
    /// Its addresses.
    pub route: Route,
}

/// One end of a flow of datagrams.
pub struct DatagramEnd {
    /// When they come, and how large they are.
    pub arrivals: Arrivals,
    /// Its addresses.
    pub route: Route,
    /// Whether this end sends.
    pub sends: bool,
}

/// Where a host accepts connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listener {
    /// The address.
    pub own: SocketAddrV4,
    /// Of its answers.
    pub marks: Marks,
    /// Of its connections.
    pub congestion: Option<Rc<str>>,
}

/// Where the ports of a process begin: another program of the same hosts may have those before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirstPorts {
    /// Of clients; the usual first where it is below the range.
    pub client: u16,
    /// Of servers.
    pub server: u16,
}

impl Default for FirstPorts {
    fn default() -> FirstPorts {
        FirstPorts { client: 0, server: SERVER_PORT }
    }
}

/// What is known of every host: addresses, marks and ports. It answers for flows that are yet to come.
pub struct Routes {
    addresses: Addresses,
    first_server_port: u16,
    /// By workload: VLAN, its network, marks, congestion control.
    workloads: Vec<OfWorkload>,
    /// By server and VLAN, the marks of each of its listeners and the first workload that uses it, in the order of the plan.
    listeners: BTreeMap<(u32, u16), Vec<(Marks, u32)>>,
    /// By host.
    ports: Vec<EphemeralPorts>,
    vlans: Vec<u16>,
}

struct OfWorkload {
    vlan: u16,
    marks: Marks,
    /// At the client and at the server, by host.
    congestion: Vec<Option<Rc<str>>>,
}

/// The part of a plan that one host plays.
pub struct Duty {
    host: u32,
    /// Ends of lasting connections.
    pub ends: Vec<LastingEnd>,
    /// Ends of flows of datagrams.
    pub datagrams: Vec<DatagramEnd>,
    /// Programs with several sockets.
    pub programs: Vec<HostedEnd>,
    /// Their sockets for datagrams.
    pub pairs: Vec<PairEnd>,
    /// How many programs all hosts have.
    started: u32,
    /// Arrivals of all flows of the plan.
    pub flows: Vec<Arrivals>,
    /// Addresses and ports.
    pub routes: Routes,
    /// Workloads that end by themselves.
    pub finite: Vec<bool>,
}

impl Duty {
    /// What this host, an index in the plan, has to do.
    pub fn new(plan: &Plan, host: u32, addresses: Addresses, congestion: &Congestion) -> Duty {
        Duty::with_ports_from(FirstPorts::default(), plan, host, addresses, congestion)
    }

    /// The same with ports from these on.
    pub fn with_ports_from(first: FirstPorts, plan: &Plan, host: u32, addresses: Addresses, congestion: &Congestion) -> Duty {
        let mut routes = Routes::new(first.server, plan, addresses, congestion);
        routes.ports.fill(EphemeralPorts::beginning_at(first.client));
        let finite = plan.workloads.iter().map(|workload| record_for(plan, workload).users_left > 0).collect();
        let (ends, datagrams, programs, pairs, flows) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut duty = Duty { host, ends, datagrams, programs, pairs, started: 0, flows, routes, finite };
        open_workloads(plan, &mut duty);
        duty
    }

    /// Leaves workloads to other programs. The ports of the rest do not change.
    pub fn leave_out(&mut self, is_left_out: impl Fn(u32) -> bool) {
        self.ends.retain(|end| !is_left_out(end.workload));
        self.datagrams.retain(|end| !is_left_out(end.arrivals.workload()));
        self.programs.retain(|end| !is_left_out(end.workload));
        self.pairs.retain(|end| !is_left_out(end.workload));
        self.flows.retain(|arrivals| !is_left_out(arrivals.workload()));
        for (number, finite) in (0..).zip(&mut self.finite) {
            *finite &= !is_left_out(number);
        }
    }

    /// Where this host accepts connections.
    pub fn listeners(&self) -> Vec<Listener> {
        let own = self.routes.listeners.iter().filter(|((host, _), _)| *host == self.host);
        let each = own.flat_map(|(&(host, vlan), of_marks)| {
            let ip = self.routes.address(host, vlan);
            (self.routes.first_server_port..).zip(of_marks).map(move |(port, &(marks, workload))| {
                let congestion = self.routes.workloads[workload as usize].congestion[host as usize].clone();
                Listener { own: SocketAddrV4::new(ip, port), marks, congestion }
            })
        });
        let of_programs = self.programs.iter().filter_map(|end| Some((end.workload, end.port?)));
        each.chain(of_programs.map(|(workload, port)| self.routes.listener(workload, self.host, port))).collect()
    }
}

impl Engine for Duty {
    fn connect(&mut self, connection: LastingConnection<'_>) {
        let LastingConnection { workload, user, ends, apps, goodput_at, .. } = connection;
        let ports = self.routes.open(workload, ends);
        for (side, app) in (0_u8..).zip(apps) {
            let own = if side == 0 { ends.client } else { ends.server };
            if own == self.host {
                let route = self.routes.route(workload, ends, ports, side);
                let counts_goodput = usize::from(side) == goodput_at;
                self.ends.push(LastingEnd { workload, user, side, app, route, counts_goodput });
            }
        }
    }

    fn start(&mut self, program: WorkloadProgram) -> u32 {
        let WorkloadProgram { workload, host, program, counts_goodput, port, finishes } = program;
        let number = self.started;
        self.started += 1;
        if host == self.host {
            self.programs.push(HostedEnd { workload, number, program, counts_goodput, port, finishes });
        }
        number
    }

    fn pair(&mut self, pair: DatagramPair) {
        let DatagramPair { workload, ends, programs } = pair;
        let ports = (self.routes.ports[ends.client as usize].take(), self.routes.first_server_port);
        for (side, own) in [(0, ends.client), (1, ends.server)] {
            if own == self.host {
                let route = self.routes.route(workload, ends, ports, side);
                self.pairs.push(PairEnd { program: programs[usize::from(side)], workload, route });
            }
        }
    }

    fn arrive(&mut self, arrivals: Arrivals) {
        let workload = arrivals.workload();
        match *arrivals.what() {
            Arriving::Flows { ref destinations, .. } => {
                destinations.iter().for_each(|&server| {
                    self.routes.server_port(workload, server);
                });
                self.flows.push(arrivals);
            }
            Arriving::Datagrams { ends, .. } => {
                let ports = (self.routes.ports[ends.client as usize].take(), self.routes.first_server_port);
                for (side, own) in [(0, ends.client), (1, ends.server)] {
                    if own == self.host {
                        let route = self.routes.route(workload, ends, ports, side);
                        self.datagrams.push(DatagramEnd { arrivals: arrivals.clone(), route, sends: side == 0 });
                    }
                }
            }
        }
    }
}

impl Routes {
    fn new(first_server_port: u16, plan: &Plan, addresses: Addresses, congestion: &Congestion) -> Routes {
        let vlans: BTreeSet<u16> = plan.workloads.iter().map(|workload| workload.header.vlan).filter(|&vlan| vlan > 0).collect();
        let of = |workload: &tailrace_plan::Workload| {
            let header = &workload.header;
            let own = congestion.of_workload.get(&header.name).or(congestion.usual.as_ref());
            let of_host = |host: &tailrace_plan::RawHost| match own {
                Some(name) => Some(Rc::clone(name)),
                None if congestion.is_systems => None,
                None => Some(Rc::from(name_of(host.tcp.congestion_control))),
            };
            let congestion = plan.raw.hosts.iter().map(of_host).collect();
            OfWorkload { vlan: header.vlan, marks: Marks { priority: header.priority, dscp: header.dscp }, congestion }
        };
        Routes {
            addresses,
            first_server_port,
            workloads: plan.workloads.iter().map(of).collect(),
            listeners: BTreeMap::new(),
            ports: vec![EphemeralPorts::new(); plan.graph.hosts],
            vlans: vlans.into_iter().collect(),
        }
    }

    /// Takes the ports of a new connection: the client's and the server's.
    pub fn open(&mut self, workload: u32, ends: Ends) -> (u16, u16) {
        (self.ports[ends.client as usize].take(), self.server_port(workload, ends.server))
    }

    /// Takes a port for a connection of a program to a listener of another. Returns its route and the port.
    pub fn open_to(&mut self, workload: u32, host: u32, peer: Peer) -> (Route, u16) {
        let own_port = self.ports[host as usize].take();
        let ends = Ends { client: host, server: peer.host.into() };
        (self.route(workload, ends, (own_port, peer.port), 0), own_port)
    }

    /// The route of a connection that a program has accepted.
    pub fn accepted_from(&self, workload: u32, host: u32, ends: tailrace_endpoint::app::Ends) -> Route {
        let hosts = Ends { client: ends.peer.host.into(), server: host };
        self.route(workload, hosts, (ends.peer.port, ends.own_port), 1)
    }

    /// Nothing uses this port of a host any more.
    pub fn give_back(&mut self, host: u32, port: u16) {
        self.ports[host as usize].give_back(port);
    }

    /// The listener of a program.
    fn listener(&self, workload: u32, host: u32, port: u16) -> Listener {
        let OfWorkload { vlan, marks, ref congestion } = self.workloads[workload as usize];
        let own = SocketAddrV4::new(self.address(host, vlan), port);
        Listener { own, marks, congestion: congestion[host as usize].clone() }
    }

    /// Every address of every host, with its number.
    pub fn hosts(&self) -> BTreeMap<Ipv4Addr, u32> {
        let hosts = 0..self.ports.len() as u32;
        let vlans = || std::iter::once(0).chain(self.vlans.iter().copied());
        hosts.flat_map(|host| vlans().map(move |vlan| (self.address(host, vlan), host))).collect()
    }

    /// A listener's answers carry its own marks: each server has a port for each of them, and usually one.
    fn server_port(&mut self, workload: u32, server: u32) -> u16 {
        let OfWorkload { vlan, marks, .. } = self.workloads[workload as usize];
        let listeners = self.listeners.entry((server, vlan)).or_default();
        let place = listeners.iter().position(|&(own, _)| own == marks).unwrap_or_else(|| {
            listeners.push((marks, workload));
            listeners.len() - 1
        });
        self.first_server_port + u16::try_from(place).expect("there are fewer marks than ports")
    }

    /// The route of a connection with these ports as the client (side 0) or the server sees it.
    pub fn route(&self, workload: u32, ends: Ends, (client_port, server_port): (u16, u16), side: u8) -> Route {
        let OfWorkload { vlan, marks, ref congestion } = self.workloads[workload as usize];
        let client = SocketAddrV4::new(self.address(ends.client, vlan), client_port);
        let server = SocketAddrV4::new(self.address(ends.server, vlan), server_port);
        let (host, own, peer) = if side == 0 { (ends.client, client, server) } else { (ends.server, server, client) };
        Route { own, peer, marks, congestion: congestion[host as usize].clone() }
    }

    /// The address of a host in a VLAN, or outside of all with 0.
    fn address(&self, host: u32, vlan: u16) -> Ipv4Addr {
        let network = self.vlans.binary_search(&vlan).map_or(0, |place| place + 1);
        let usual = || address::ipv4_in(network, host as usize);
        self.addresses.get(&(host, vlan)).copied().unwrap_or_else(usual)
    }
}

/// Linux's name of a congestion control.
fn name_of(control: RawCongestionControl) -> &'static str {
    match control {
        RawCongestionControl::Cubic => "cubic",
        RawCongestionControl::NewReno => "reno",
        RawCongestionControl::Dctcp => "dctcp",
        RawCongestionControl::Bbr => "bbr",
    }
}
