//! The programs of a host that own several sockets, and the ports at which they listen.

use super::opening::{Origin, Remote};
use crate::app::Program;
use std::collections::{BTreeMap, BTreeSet};
use tailrace_units::Time;
use tailrace_wire::Tag;

/// A program to be started.
pub struct NewProgram {
    /// The program.
    pub program: Box<dyn Program>,
    /// For whom it works.
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

/// A program with what belongs to it.
pub(super) struct Hosted {
    pub(super) program: Box<dyn Program>,
    pub(super) own: Owned,
}

/// What belongs to a program.
pub(super) struct Owned {
    pub(super) owner: u32,
    pub(super) timer: u32,
    pub(super) tag: Tag,
    pub(super) dscp: u8,
    pub(super) counts_goodput: bool,
    /// Its sockets, by number.
    pub(super) members: BTreeMap<u32, Member>,
    /// Deadlines of their connections.
    due: BTreeSet<(Time, u32)>,
    /// Sockets whose deadline may have moved during a call.
    pub(super) touched: Vec<u32>,
}

/// A socket of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// The other end.
    pub(super) remote: Remote,
    /// A listener has accepted it.
    pub(super) is_accepted: bool,
    /// The program has closed it.
    pub(super) is_closed: bool,
    due: Time,
}

/// Ports at which programs listen, and the connections that they have accepted.
#[derive(Default)]
pub(super) struct Listeners {
    /// The program at each port.
    pub(super) ports: BTreeMap<u16, u32>,
    /// The socket of each accepted connection.
    pub(super) accepted: BTreeMap<Remote, u32>,
}

impl Hosted {
    pub(super) fn new(new: NewProgram) -> Hosted {
        let NewProgram { program, owner, timer, tag, dscp, counts_goodput } = new;
        let (members, due, touched) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        Hosted { program, own: Owned { owner, timer, tag, dscp, counts_goodput, members, due, touched } }
    }

    /// When the program or one of its connections is due.
    pub(super) fn poll_timeout(&self) -> Time {
        let connections = self.own.due.first().map_or(Time::NEVER, |&(at, _)| at);
        connections.min(self.program.poll_timeout())
    }
}

impl Owned {
    /// A socket that belongs to the program from now on.
    pub(super) fn add(&mut self, socket: u32, remote: Remote, is_accepted: bool) {
        self.members.insert(socket, Member { remote, is_accepted, is_closed: false, due: Time::NEVER });
        self.touched.push(socket);
    }

    /// A socket that is gone.
    pub(super) fn remove(&mut self, socket: u32) -> Option<Member> {
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

impl Member {
    /// What an opening segment of this socket, on this host, tells.
    pub(super) fn origin(&self, socket: u32, host: u16) -> Origin {
        let Remote { port, own_port, .. } = self.remote;
        Origin { socket, host, port: own_port, to_port: port }
    }
}
