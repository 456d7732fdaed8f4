//! The duty of a host for a plan: its ends of all connections, with the ports that the simulator
//! gives them.
//!
//! Every host works through the whole plan in the same order. So both ends know the ports of a
//! connection, and a server knows a user by its port: nothing is sent besides the traffic of the
//! plan.

use crate::servers::{Listening, Server, Servers, Users};
use crate::sockets::{Marks, Route};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use tailrace_host::ClientPorts;
use tailrace_network::address;
use tailrace_plan::{Plan, RawCongestionControl};
use tailrace_programs::{App, Peer, Program};
use tailrace_workloads::{
    Arrivals, Arriving, DatagramPair, Ends, Engine, LastingConnection, WorkloadProgram,
    open_workloads, record_for,
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
    /// Whether bytes that arrive here are goodput, and completions are reported here.
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
    /// The port of the plan at which it listens, and its address.
    pub port: Option<(u16, SocketAddrV4)>,
    /// How often it reports a completion.
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

/// Addresses, marks and ports of every host, also for flows that are yet to come.
pub struct Routes {
    addresses: Addresses,
    /// Workloads that are left to other programs.
    others: BTreeSet<u32>,
    /// By workload: VLAN, marks, port of its server, congestion control.
    workloads: Vec<OfWorkload>,
    servers: Servers,
    /// By host.
    ports: Vec<ClientPorts>,
    vlans: Vec<u16>,
}

struct OfWorkload {
    vlan: u16,
    marks: Marks,
    port: u16,
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
    /// The duty of this host, an index in the plan.
    pub fn new(plan: &Plan, host: u32, addresses: Addresses, congestion: &Congestion) -> Duty {
        Duty::without(BTreeSet::new(), plan, host, addresses, congestion)
    }

    /// The same with these workloads left to other programs, which listen at the ports of the plan.
    /// The clients' ports of the rest do not change.
    pub fn without(
        others: BTreeSet<u32>,
        plan: &Plan,
        host: u32,
        addresses: Addresses,
        congestion: &Congestion,
    ) -> Duty {
        let routes = Routes::new(others, plan, addresses, congestion);
        let finite = plan
            .workloads
            .iter()
            .map(|workload| record_for(plan, workload).users_left > 0)
            .collect();
        let (ends, datagrams, programs, pairs, flows) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut duty =
            Duty { host, ends, datagrams, programs, pairs, started: 0, flows, routes, finite };
        open_workloads(plan, &mut duty);
        duty.leave_out_others();
        duty
    }

    /// A sentence for each server of any host that does not listen at its port of the plan.
    pub fn moved(&self, plan: &Plan) -> Vec<String> {
        let moved: BTreeSet<_> = self
            .routes
            .servers
            .moved()
            .map(|(server, at)| (at.workload, at.port, server.port))
            .collect();
        let sentence = |(workload, port, planned): (u32, u16, u16)| {
            let name = &plan.workloads[workload as usize].header.name;
            format!(
                "{name}: its server listens at port {port} and not {planned}, where another program of its host listens"
            )
        };
        moved.into_iter().map(sentence).collect()
    }

    fn leave_out_others(&mut self) {
        let others = &self.routes.others;
        self.ends.retain(|end| !others.contains(&end.workload));
        self.datagrams.retain(|end| !others.contains(&end.arrivals.workload()));
        self.programs.retain(|end| !others.contains(&end.workload));
        self.pairs.retain(|end| !others.contains(&end.workload));
        self.flows.retain(|arrivals| !others.contains(&arrivals.workload()));
        for (number, finite) in (0..).zip(&mut self.finite) {
            *finite &= !others.contains(&number);
        }
    }

    /// Where this host accepts connections.
    pub fn listeners(&self) -> Vec<Listener> {
        let is_own = |(server, _): &(&Server, &Listening)| server.host == self.host;
        let own = self.routes.servers.all.iter().filter(is_own);
        own.map(|(server, listening)| self.routes.listener(server, listening)).collect()
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
        let address = port.map(|port| self.routes.listen(workload, host, port));
        if host == self.host {
            self.programs.push(HostedEnd {
                workload,
                number,
                program,
                counts_goodput,
                port: port.zip(address),
                finishes,
            });
        }
        number
    }

    fn pair(&mut self, pair: DatagramPair) {
        let DatagramPair { workload, ends, programs } = pair;
        let ports = self.routes.open_datagrams(workload, ends);
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
                let ports = self.routes.open_datagrams(workload, ends);
                for (side, own) in [(0, ends.client), (1, ends.server)] {
                    if own == self.host {
                        let route = self.routes.route(workload, ends, ports, side);
                        self.datagrams.push(DatagramEnd {
                            arrivals: arrivals.clone(),
                            route,
                            sends: side == 0,
                        });
                    }
                }
            }
        }
    }
}

impl Routes {
    fn new(
        others: BTreeSet<u32>,
        plan: &Plan,
        addresses: Addresses,
        congestion: &Congestion,
    ) -> Routes {
        let vlans: BTreeSet<u16> = plan
            .workloads
            .iter()
            .map(|workload| workload.header.vlan)
            .filter(|&vlan| vlan > 0)
            .collect();
        let of = |workload: &tailrace_plan::Workload| {
            let header = &workload.header;
            let own = congestion.of_workload.get(&header.name).or(congestion.usual.as_ref());
            let of_host = |host: &tailrace_plan::RawHost| match own {
                Some(name) => Some(Rc::clone(name)),
                None if congestion.is_systems => None,
                None => Some(Rc::from(name_of(host.tcp.congestion_control))),
            };
            let congestion = plan.raw.hosts.iter().map(of_host).collect();
            let marks = Marks { priority: header.priority, dscp: header.dscp };
            OfWorkload { vlan: header.vlan, marks, port: header.port, congestion }
        };
        Routes {
            addresses,
            workloads: plan.workloads.iter().map(of).collect(),
            servers: Servers::new(plan, &others),
            others,
            ports: client_ports(plan),
            vlans: vlans.into_iter().collect(),
        }
    }

    /// Takes the ports of a new connection: the client's and the server's.
    pub fn open(&mut self, workload: u32, ends: Ends) -> (u16, u16) {
        (self.ports[ends.client as usize].take(workload), self.server_port(workload, ends.server))
    }

    /// The same for datagrams, whose sockets know each other and may share the port of a server.
    fn open_datagrams(&mut self, workload: u32, ends: Ends) -> (u16, u16) {
        (self.ports[ends.client as usize].take(workload), self.workloads[workload as usize].port)
    }

    /// Takes a port for a connection of a program to a listener of another. Returns its route and
    /// the port.
    pub fn open_to(&mut self, workload: u32, host: u32, peer: Peer) -> (Route, u16) {
        let own_port = self.ports[host as usize].take(workload);
        let ends = Ends { client: host, server: peer.host.into() };
        let server_port = self.listen(workload, ends.server, peer.port).port();
        (self.route(workload, ends, (own_port, server_port), 0), own_port)
    }

    /// The route of a connection from this host and port that a program has accepted at its own
    /// port.
    pub fn accepted_from(&self, workload: u32, host: u32, peer: Peer, own_port: u16) -> Route {
        let hosts = Ends { client: peer.host.into(), server: host };
        self.route(workload, hosts, (peer.port, own_port), 1)
    }

    /// Nothing uses this port of a host any more.
    pub fn give_back(&mut self, host: u32, port: u16) {
        self.ports[host as usize].give_back(port);
    }

    /// A program of this host listens at this port of the plan. Returns its address.
    fn listen(&mut self, workload: u32, host: u32, port: u16) -> SocketAddrV4 {
        let port = self.serve(workload, host, port, Users::Program(workload));
        SocketAddrV4::new(self.address(host, self.workloads[workload as usize].vlan), port)
    }

    /// The port at which this port of the plan is served. Other programs listen where the plan
    /// says.
    fn serve(&mut self, workload: u32, host: u32, port: u16, users: Users) -> u16 {
        if self.others.contains(&workload) {
            return port;
        }
        let vlan = self.workloads[workload as usize].vlan;
        self.servers.add(Server { host, vlan, port, users }, workload)
    }

    fn listener(
        &self,
        &Server { host, vlan, .. }: &Server,
        &Listening { port, workload }: &Listening,
    ) -> Listener {
        let OfWorkload { marks, ref congestion, .. } = self.workloads[workload as usize];
        let own = SocketAddrV4::new(self.address(host, vlan), port);
        Listener { own, marks, congestion: congestion[host as usize].clone() }
    }

    /// Every address of every host, with its number.
    pub fn hosts(&self) -> BTreeMap<Ipv4Addr, u32> {
        let hosts = 0..self.ports.len() as u32;
        let vlans = || std::iter::once(0).chain(self.vlans.iter().copied());
        hosts.flat_map(|host| vlans().map(move |vlan| (self.address(host, vlan), host))).collect()
    }

    fn server_port(&mut self, workload: u32, host: u32) -> u16 {
        let OfWorkload { marks, port, .. } = self.workloads[workload as usize];
        self.serve(workload, host, port, Users::Marked(marks))
    }

    /// The route of a connection with these ports as the client (side 0) or the server sees it.
    pub fn route(
        &self,
        workload: u32,
        ends: Ends,
        (client_port, server_port): (u16, u16),
        side: u8,
    ) -> Route {
        let OfWorkload { vlan, marks, ref congestion, .. } = self.workloads[workload as usize];
        let client = SocketAddrV4::new(self.address(ends.client, vlan), client_port);
        let server = SocketAddrV4::new(self.address(ends.server, vlan), server_port);
        let (host, own, peer) =
            if side == 0 { (ends.client, client, server) } else { (ends.server, server, client) };
        Route { own, peer, marks, congestion: congestion[host as usize].clone() }
    }

    /// The address of a host in a VLAN, or outside of all with 0.
    fn address(&self, host: u32, vlan: u16) -> Ipv4Addr {
        let network = self.vlans.binary_search(&vlan).map_or(0, |place| place + 1);
        let usual = || address::ipv4_in(network, host as usize);
        self.addresses.get(&(host, vlan)).copied().unwrap_or_else(usual)
    }
}

/// The ports that clients of each host take.
fn client_ports(plan: &Plan) -> Vec<ClientPorts> {
    let mut ports = vec![ClientPorts::new(); plan.graph.hosts];
    for (number, header) in (0..).zip(plan.workloads.iter().map(|workload| &workload.header)) {
        let hosts: BTreeSet<usize> = header.hosts().collect();
        if let Some(range) = header.client_ports {
            hosts.into_iter().for_each(|host| ports[host].give_range(number, range));
        }
    }
    ports
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
