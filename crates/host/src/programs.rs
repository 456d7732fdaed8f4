//! The programs of a host that own several sockets, and the ports at which they listen.

use super::opening::{Opener, Remote};
use super::ports::ClientPorts;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tailrace_programs::Program;
use tailrace_units::{Span, Time};
use tailrace_wire::Tag;

/// Connections that may wait at a port to be accepted, whatever the program asks for (Linux
/// `somaxconn`, 4096 since 5.4; ip-sysctl).
const SOMAXCONN: usize = 4_096;
/// A connection that the program keeps alive is asked after so long a silence, then again after
/// each of these intervals, this often (Linux `tcp_keepalive_time`, `tcp_keepalive_intvl`,
/// `tcp_keepalive_probes`; ip-sysctl).
const KEEPALIVE_TIME: Span = Span::from_secs(7_200);
const KEEPALIVE_INTERVAL: Span = Span::from_secs(75);
const KEEPALIVE_PROBES: u8 = 9;

/// A program to be started.
pub struct NewProgram {
    /// The program.
    pub program: Box<dyn Program>,
    /// The owner for which it works.
    pub owner: u32,
    /// The engine's name for the deadline of the program and all its sockets.
    pub timer: u32,
    /// Priority and VLAN of its packets, as they stand in its frames.
    pub tag: Tag,
    /// Code point of its packets.
    pub dscp: u8,
    /// Whether bytes that arrive for it count as the owner's goodput.
    pub counts_goodput: bool,
}

/// A program with its state on the host.
pub(super) struct Hosted {
    pub(super) program: Box<dyn Program>,
    pub(super) own: Owned,
}

/// State of a program on its host.
pub(super) struct Owned {
    pub(super) owner: u32,
    pub(super) timer: u32,
    pub(super) tag: Tag,
    pub(super) dscp: u8,
    pub(super) counts_goodput: bool,
    /// Its sockets, by number.
    pub(super) members: BTreeMap<u32, ProgramSocket>,
    /// Its sockets for datagrams, in the order in which they were made: their numbers on the host.
    pub(super) datagrams: Vec<u32>,
    /// Deadlines of their connections.
    due: BTreeSet<(Time, u32)>,
    /// Sockets whose deadline may have moved during a call.
    pub(super) touched: Vec<u32>,
    /// Its thread has been notified, or will be, that its deadline has come.
    pub(super) is_due_reported: bool,
    /// Sockets that the program has accepted during a call: it is notified of what came for them
    /// after the call.
    pub(super) accepted: VecDeque<u32>,
}

/// A socket of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramSocket {
    /// The other end.
    pub(super) remote: Remote,
    /// The peer has opened it.
    pub(super) is_passive: bool,
    /// The program has its number.
    pub(super) is_known: bool,
    /// The program reads late, when its other work permits.
    pub(super) reads_late: bool,
    /// The program has closed it.
    pub(super) is_closed: bool,
    /// Where the program keeps the connection alive: questions that the peer has not answered.
    pub(super) unanswered: Option<u8>,
    due: Time,
}

/// A port at which a program listens, and the owner for which it works. Servers of several owners
/// may have the same port: the simulated port is shared without a program that shares it out.
pub(super) type ServerPort = (u16, u32);

/// Ports at which programs listen, and the connections that have come to them.
#[derive(Default)]
pub(super) struct Listeners {
    pub(super) ports: BTreeMap<ServerPort, Listener>,
    /// The socket of each connection that a peer has opened.
    pub(super) accepted: BTreeMap<Remote, u32>,
    /// Segments that were dropped for want of room.
    pub(super) drops: u64,
}

impl Listeners {
    /// A program is found at a port before it has called `listen`. Returns whether the port was
    /// free.
    pub(super) fn listen_early(
        &mut self,
        free: &mut ClientPorts,
        program: u32,
        port: ServerPort,
        backlog: u32,
    ) -> bool {
        let is_free = self.listen(free, program, port, backlog);
        if let Some(listener) = self.ports.get_mut(&port).filter(|_| is_free) {
            listener.is_early = true;
        }
        is_free
    }

    /// A program listens at a port from now on. Returns whether the port was free.
    pub(super) fn listen(
        &mut self,
        free: &mut ClientPorts,
        program: u32,
        port: ServerPort,
        backlog: u32,
    ) -> bool {
        if let Some(listener) = self.ports.get_mut(&port) {
            return listener.program == program && std::mem::take(&mut listener.is_early);
        }
        let is_shared = self.find(port.0, port.1).is_some();
        let is_free = is_shared || free.reserve(port.0);
        if is_free {
            self.ports.insert(port, Listener::new(program, backlog));
        }
        is_free
    }

    /// The server at a port that answers this owner: its own, or else the first there.
    pub(super) fn find(&self, port: u16, owner: u32) -> Option<&Listener> {
        let first =
            || self.ports.range((port, 0)..=(port, u32::MAX)).next().map(|(_, listener)| listener);
        self.ports.get(&(port, owner)).or_else(first)
    }

    /// Whether an opening segment for this port is dropped, because too many connections wait
    /// there. Counts it.
    pub(super) fn drops_opening(&mut self, port: ServerPort) -> bool {
        let is_full = self.ports.get(&port).is_some_and(Listener::is_full);
        self.drops += u64::from(is_full);
        is_full
    }

    /// Whether this socket waits to be accepted.
    pub(super) fn holds(&self, port: ServerPort, socket: u32) -> bool {
        self.ports.get(&port).is_some_and(|listener| listener.waiting.contains(&socket))
    }
}

/// A port at which a program listens.
pub(super) struct Listener {
    pub(super) program: u32,
    /// Open connections that the program has not accepted, the oldest first.
    pub(super) waiting: VecDeque<u32>,
    backlog: usize,
    /// The program has not called `listen` yet.
    is_early: bool,
}

impl Listener {
    pub(super) fn new(program: u32, backlog: u32) -> Listener {
        Listener {
            program,
            waiting: VecDeque::new(),
            backlog: (backlog as usize).min(SOMAXCONN),
            is_early: false,
        }
    }

    /// Whether no more connections may wait. One more than the backlog does (Linux
    /// `sk_acceptq_is_full`).
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() > self.backlog
    }
}

impl Hosted {
    pub(super) fn new(new: NewProgram) -> Hosted {
        let NewProgram { program, owner, timer, tag, dscp, counts_goodput } = new;
        let (members, datagrams, due) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        let (touched, accepted) = (Vec::new(), VecDeque::new());
        Hosted {
            program,
            own: Owned {
                owner,
                timer,
                tag,
                dscp,
                counts_goodput,
                members,
                datagrams,
                due,
                touched,
                is_due_reported: false,
                accepted,
            },
        }
    }

    /// When the program or one of its connections is due.
    pub(super) fn poll_timeout(&self) -> Time {
        let connections = self.own.due.first().map_or(Time::NEVER, |&(at, _)| at);
        connections.min(if self.own.is_due_reported {
            Time::NEVER
        } else {
            self.program.poll_timeout()
        })
    }
}

impl Owned {
    /// A port at which the program listens.
    pub(super) fn server_port(&self, port: u16) -> ServerPort {
        (port, self.owner)
    }

    /// A socket that belongs to the program from now on.
    pub(super) fn add(&mut self, socket: u32, remote: Remote, is_passive: bool) {
        let member = ProgramSocket {
            remote,
            is_passive,
            is_known: !is_passive,
            reads_late: false,
            is_closed: false,
            unanswered: None,
            due: Time::NEVER,
        };
        self.members.insert(socket, member);
        self.touched.push(socket);
    }

    /// A socket for datagrams that belongs to the program from now on. Returns its number there.
    pub(super) fn add_datagrams(&mut self, socket: u32) -> u32 {
        self.datagrams.push(socket);
        self.datagrams.len() as u32 - 1
    }

    /// A socket that is gone.
    pub(super) fn remove(&mut self, socket: u32) -> Option<ProgramSocket> {
        let member = self.members.remove(&socket)?;
        self.due.remove(&(member.due, socket));
        Some(member)
    }

    /// The connection of this socket is due then.
    pub(super) fn set_due(&mut self, socket: u32, at: Time) {
        let Some(member) = self.members.get_mut(&socket) else { return };
        if member.due == at {
            return;
        }
        self.due.remove(&(member.due, socket));
        member.due = at;
        if !at.is_never() {
            self.due.insert((at, socket));
        }
    }

    /// Sockets whose connections are due.
    pub(super) fn due_by(&self, now: Time) -> Vec<u32> {
        self.due.range(..=(now, u32::MAX)).map(|&(_, socket)| socket).collect()
    }
}

impl ProgramSocket {
    /// When the peer is asked whether it is still there, or given up, if nothing is due before.
    pub(super) fn keepalive_at(&self, now: Time) -> Time {
        match self.unanswered.filter(|_| !self.is_closed) {
            None => Time::NEVER,
            Some(0) => now + KEEPALIVE_TIME,
            Some(_) => now + KEEPALIVE_INTERVAL,
        }
    }

    /// Whether the peer is asked once more.
    pub(super) fn asks_again(&mut self) -> bool {
        let Some(unanswered) = &mut self.unanswered else { return false };
        *unanswered += 1;
        *unanswered <= KEEPALIVE_PROBES
    }

    /// The content of an opening segment of this socket on this host.
    pub(super) fn origin(&self, socket: u32, host: u16, owner: u32) -> Opener {
        let Remote { port, own_port, .. } = self.remote;
        Opener { socket, host, port: own_port, to_port: port, owner }
    }
}
