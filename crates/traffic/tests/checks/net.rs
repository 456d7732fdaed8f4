//! Hosts over sockets that are numbers: every byte takes the same time, whatever else is on its
//! way. Time is virtual.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddrV4;
use std::rc::Rc;
use tailrace_plan::Plan;
use tailrace_traffic::counters::{COUNTERS, Counters};
use tailrace_traffic::duty::{Addresses, Congestion, Duty};
use tailrace_traffic::record::Record;
use tailrace_traffic::sockets::Read;
use tailrace_traffic::{Event, Host, Marks, Merged, Route, Settings, Sockets, merge};
use tailrace_units::{Span, Time};

/// From a write to the arrival.
pub const DELAY: Span = Span::from_us(10);
/// The congestion window of every connection.
pub const WINDOW: u64 = 10;
/// Most bytes of one write; there is room for more after [`DELAY`].
const WRITE_MAX: u64 = 100_000;

/// Between the hosts.
#[derive(Default)]
struct Net {
    now: Time,
    agenda: BTreeMap<(Time, u64), (usize, Happening)>,
    scheduled: u64,
    listeners: BTreeMap<SocketAddrV4, (usize, Marks)>,
    receivers: BTreeMap<(SocketAddrV4, SocketAddrV4), (usize, u32)>,
    connections: Vec<Connection>,
    /// Marks of connections that were opened, as both ends have them.
    pub opened: Vec<[Route; 2]>,
}

struct Connection {
    hosts: [usize; 2],
    numbers: [Option<u32>; 2],
    routes: [Option<Route>; 2],
    /// Arrived and not read, at each end.
    unread: [u64; 2],
    has_ended: [bool; 2],
}

/// An event at a host.
enum Happening {
    Accept(usize, SocketAddrV4, SocketAddrV4),
    Connected(u32),
    Room(u32),
    Arrive(usize, usize, u64),
    Closed(usize, usize),
    Refused(u32),
    Datagram(u32, Vec<u8>),
}

/// The sockets of one host.
pub struct HostSockets {
    host: usize,
    net: Rc<RefCell<Net>>,
    /// By number: a connection and this end of it.
    ends: BTreeMap<u32, (usize, usize)>,
    datagrams: BTreeMap<u32, (Route, VecDeque<Vec<u8>>)>,
}

impl Net {
    fn schedule(&mut self, after: Span, host: usize, what: Happening) {
        self.scheduled += 1;
        self.agenda.insert((self.now + after, self.scheduled), (host, what));
    }
}

impl HostSockets {
    fn end(&self, number: u32) -> io::Result<(usize, usize)> {
        self.ends.get(&number).copied().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Sockets for HostSockets {
    type Accepted = usize;

    fn listen(&mut self, own: SocketAddrV4, marks: Marks, _: Option<&str>) -> io::Result<()> {
        let before = self.net.borrow_mut().listeners.insert(own, (self.host, marks));
        assert_eq!(before, None, "{own} has two listeners");
        Ok(())
    }

    fn connect(&mut self, number: u32, route: &Route) -> io::Result<()> {
        let net = &mut *self.net.borrow_mut();
        let Some(&(server, marks)) = net.listeners.get(&route.peer) else {
            net.schedule(DELAY + DELAY, self.host, Happening::Refused(number));
            return Ok(());
        };
        assert_eq!(marks, route.marks, "the listener answers with the marks of the workload");
        let connection = net.connections.len();
        net.connections.push(Connection {
            hosts: [self.host, server],
            numbers: [Some(number), None],
            routes: [Some(route.clone()), None],
            unread: [0, 0],
            has_ended: [false, false],
        });
        self.ends.insert(number, (connection, 0));
        net.schedule(DELAY, server, Happening::Accept(connection, route.own, route.peer));
        net.schedule(DELAY + DELAY, self.host, Happening::Connected(number));
        Ok(())
    }

    fn adopt(&mut self, number: u32, accepted: usize, route: &Route) -> io::Result<()> {
        let net = &mut *self.net.borrow_mut();
        let connection = &mut net.connections[accepted];
        connection.numbers[1] = Some(number);
        connection.routes[1] = Some(route.clone());
        net.opened.push(connection.routes.clone().map(|route| route.expect("both ends have one")));
        self.ends.insert(number, (accepted, 1));
        Ok(())
    }

    fn write(&mut self, number: u32, most: u64) -> io::Result<u64> {
        let (connection, side) = self.end(number)?;
        let net = &mut *self.net.borrow_mut();
        let bytes = most.min(WRITE_MAX);
        let peer = net.connections[connection].hosts[1 - side];
        net.schedule(DELAY, peer, Happening::Arrive(connection, 1 - side, bytes));
        if bytes < most {
            net.schedule(DELAY, self.host, Happening::Room(number));
        }
        Ok(bytes)
    }

    fn unread(&mut self, number: u32) -> io::Result<u64> {
        let (connection, side) = self.end(number)?;
        Ok(self.net.borrow().connections[connection].unread[side])
    }

    fn read(&mut self, number: u32, most: u64) -> io::Result<Read> {
        let (connection, side) = self.end(number)?;
        let own = &mut self.net.borrow_mut().connections[connection];
        let bytes = own.unread[side].min(most);
        own.unread[side] -= bytes;
        Ok(Read { bytes, has_ended: bytes < most && own.has_ended[side] })
    }

    fn counters(&mut self, number: u32) -> Option<Counters> {
        self.ends.contains_key(&number).then(|| {
            let known =
                [("snd_cwnd", WINDOW), ("snd_ssthresh", 7), ("rtt_us", 20), ("total_retrans", 0)];
            let of = |name: &str| {
                known.iter().find(|counter| counter.0 == name).map(|counter| counter.1)
            };
            Counters(COUNTERS.map(of))
        })
    }

    fn close(&mut self, number: u32) {
        if let Some((connection, side)) = self.ends.remove(&number) {
            let net = &mut *self.net.borrow_mut();
            net.connections[connection].numbers[side] = None;
            let peer = net.connections[connection].hosts[1 - side];
            net.schedule(DELAY, peer, Happening::Closed(connection, 1 - side));
        }
    }

    fn open_datagrams(&mut self, number: u32, route: &Route) -> io::Result<()> {
        self.net.borrow_mut().receivers.insert((route.own, route.peer), (self.host, number));
        self.datagrams.insert(number, (route.clone(), VecDeque::new()));
        Ok(())
    }

    fn send(&mut self, number: u32, payload: &[u8]) -> io::Result<bool> {
        let Route { own, peer, .. } = self.datagrams[&number].0;
        let net = &mut *self.net.borrow_mut();
        let (host, receiver) = net.receivers[&(peer, own)];
        net.schedule(DELAY, host, Happening::Datagram(receiver, payload.to_vec()));
        Ok(true)
    }

    fn receive(&mut self, number: u32, start: &mut [u8]) -> io::Result<Option<usize>> {
        let Some((_, queue)) = self.datagrams.get_mut(&number) else { return Ok(None) };
        let Some(payload) = queue.pop_front() else { return Ok(None) };
        let compared = payload.len().min(start.len());
        start[..compared].copy_from_slice(&payload[..compared]);
        Ok(Some(payload.len()))
    }
}

/// The results of a trial.
pub struct Trial {
    /// The file of each host.
    pub files: Vec<Vec<u8>>,
    pub records: Vec<Record>,
    pub merged: Merged,
    /// The two routes of every connection.
    pub opened: Vec<[Route; 2]>,
}

/// Runs all hosts of a plan until everything that has an end is complete, or to the plan's end.
pub fn run(plan: &Plan) -> Trial {
    run_with(plan, Settings { bin: Span::from_ms(1), tcp_interval: None }, None)
}

/// The same with other settings, and without the listeners of one host.
pub fn run_with(plan: &Plan, settings: Settings, deaf: Option<usize>) -> Trial {
    run_late(plan, settings, deaf, Span::ZERO)
}

/// The same with hosts that do what is due so much later.
pub fn run_late(plan: &Plan, settings: Settings, deaf: Option<usize>, late: Span) -> Trial {
    let net = Rc::new(RefCell::new(Net::default()));
    let mut hosts: Vec<(Host, HostSockets)> = (0..plan.graph.hosts)
        .map(|host| {
            let duty = Duty::new(plan, host as u32, Addresses::new(), &Congestion::default());
            let sockets = HostSockets {
                host,
                net: Rc::clone(&net),
                ends: BTreeMap::new(),
                datagrams: BTreeMap::new(),
            };
            (Host::new(plan, duty, host as u32, settings), sockets)
        })
        .collect();
    for (host, sockets) in hosts.iter_mut().filter(|(_, sockets)| Some(sockets.host) != deaf) {
        host.open(sockets).expect("every address is free");
    }
    let stop_at = Time::from_ps(plan.raw.stop_at_ps);
    let has_end = plan
        .workloads
        .iter()
        .any(|workload| tailrace_workloads::record_for(plan, workload).users_left > 0);
    loop {
        let happens = net.borrow().agenda.first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at);
        let due = hosts.iter().map(|(host, _)| host.poll_timeout()).min().unwrap_or(Time::NEVER);
        let now = happens.min(due);
        let is_done = has_end && hosts.iter().all(|(host, _)| host.has_finished());
        if now > stop_at {
            net.borrow_mut().now = stop_at;
            break;
        }
        if is_done {
            break;
        }
        net.borrow_mut().now = now;
        if happens == now {
            let ((_, _), (host, what)) =
                net.borrow_mut().agenda.pop_first().expect("something happens now");
            let (host, sockets) = &mut hosts[host];
            happen(now, what, host, sockets);
        } else {
            let (host, sockets) =
                hosts.iter_mut().find(|(host, _)| host.poll_timeout() == now).expect("one is due");
            host.handle_timeout(now + late, sockets);
        }
    }
    let end = net.borrow().now;
    let files: Vec<Vec<u8>> =
        hosts.into_iter().map(|(host, mut sockets)| host.finish(end, &mut sockets)).collect();
    let records: Vec<Record> = files
        .iter()
        .map(|file| Record::parse(file).expect("it is whole"))
        .filter(|record| takes_part(plan, &record.head.host))
        .collect();
    let merged = merge(plan, &records, None).expect("every record is there");
    Trial { files, records, merged, opened: std::mem::take(&mut net.borrow_mut().opened) }
}

fn takes_part(plan: &Plan, name: &str) -> bool {
    plan.workloads
        .iter()
        .flat_map(|workload| workload.header.hosts())
        .any(|host| plan.graph.names[host] == name)
}

fn happen(now: Time, what: Happening, host: &mut Host, sockets: &mut HostSockets) {
    let net = Rc::clone(&sockets.net);
    let event = match what {
        Happening::Accept(accepted, peer, own) => Event::Accepted { accepted, peer, own },
        Happening::Connected(number) => Event::Connected(number),
        Happening::Room(number) => Event::Writable(number),
        Happening::Refused(number) => Event::Failed(number, 111),
        Happening::Arrive(connection, side, bytes) => {
            net.borrow_mut().connections[connection].unread[side] += bytes;
            let Some(number) = net.borrow().connections[connection].numbers[side] else { return };
            Event::Readable(number)
        }
        Happening::Closed(connection, side) => {
            net.borrow_mut().connections[connection].has_ended[side] = true;
            let Some(number) = net.borrow().connections[connection].numbers[side] else { return };
            Event::Readable(number)
        }
        Happening::Datagram(number, payload) => {
            sockets.datagrams.get_mut(&number).expect("it is open").1.push_back(payload);
            Event::Readable(number)
        }
    };
    host.handle_event(now, event, sockets);
}
