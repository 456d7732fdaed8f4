//! What a program with several sockets may touch.

use super::Waiter;
use super::cores::Cores;
use super::opening::{Origin, Remote, TO_PORT};
use super::outputs::{Completion, Opened, Outputs};
use super::ports::EphemeralPorts;
use super::programs::{Listeners, Owned};
use super::socket::Socket;
use super::table::SocketTable;
use super::uplink::Uplink;
use crate::app::{App, HostCalls, Peer, WorkCalls};
use crate::ip::Identity;
use crate::transport::{Close, Progress, Segment, Tcp, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

/// The host around one of its programs, at one moment.
pub(super) struct HostedCalls<'a, O: Outputs> {
    pub(super) program: u32,
    pub(super) host: u16,
    pub(super) own: &'a mut Owned,
    pub(super) table: &'a mut SocketTable,
    pub(super) listeners: &'a mut Listeners,
    pub(super) config: &'a TcpConfig,
    pub(super) ports: &'a mut EphemeralPorts,
    pub(super) cores: &'a mut Cores<Waiter>,
    pub(super) uplink: Uplink<'a, O>,
}

impl<'a, O: Outputs> HostedCalls<'a, O> {
    /// The connection of a socket of this program, with the way down.
    fn connection(&mut self, socket: u32) -> (&mut Tcp, &mut Uplink<'a, O>) {
        let member = self.own.members.get(&socket);
        let member = member.unwrap_or_else(|| panic!("program {} owns no socket {socket}", self.program));
        self.uplink.origin = Some(member.origin(socket, self.host));
        self.own.touched.push(socket);
        (&mut self.table.sockets[socket as usize].tcp, &mut self.uplink)
    }

    /// The same for a call of the program, which has not closed the socket.
    fn open_connection(&mut self, socket: u32) -> (&mut Tcp, &mut Uplink<'a, O>) {
        let is_closed = self.own.members.get(&socket).is_some_and(|member| member.is_closed);
        assert!(!is_closed, "program {} has closed socket {socket}", self.program);
        self.connection(socket)
    }

    /// A new socket of this program.
    fn add(&mut self, remote: Remote, to_endpoint: u32, is_accepted: bool) -> u32 {
        let key = remote.key_from(self.host);
        let Owned { owner, timer, tag, dscp, counts_goodput, .. } = *self.own;
        let identity = Identity { flow_hash: key.hash(), to_endpoint, to_host: remote.host, tag, dscp };
        let socket = self.table.add(Socket {
            tcp: Tcp::new(self.config, identity),
            app: App::Program(self.program),
            owner,
            timer,
            expects: key.reversed().hash(),
            port: if is_accepted { 0 } else { remote.own_port },
            counts_goodput,
            is_transient: false,
        });
        self.own.add(socket, remote, is_accepted);
        self.uplink.out.opened(self.uplink.place, &Opened { socket, owner, peer: remote.host, key });
        socket
    }

    /// The socket for an opening segment that came to a port of this program: a new one, unless the segment has come before.
    pub(super) fn accept(&mut self, packet: &Packet) -> u32 {
        let Origin { socket: to_endpoint, .. } = Origin::of(packet);
        let remote = Origin::of(packet).remote();
        if let Some(&socket) = self.listeners.accepted.get(&remote) {
            // RFC 6191: the peer uses the port again, so that no segment of the earlier connection is to come.
            if self.table.sockets[socket as usize].tcp.closing() != Close::TimeWait {
                return socket;
            }
            self.release(socket);
        }
        let socket = self.add(remote, to_endpoint, true);
        self.listeners.accepted.insert(remote, socket);
        socket
    }

    /// Hands a segment to one of the program's sockets.
    pub(super) fn handle_segment(&mut self, socket: u32, segment: &Segment<'_>) -> Progress {
        let now = self.uplink.now;
        let (tcp, uplink) = self.connection(socket);
        if segment.packet.flags.contains(Flags::SYN.with(Flags::ACK)) {
            tcp.set_peer_endpoint(Origin::of(segment.packet).socket);
        }
        let progress = tcp.handle_segment(now, segment, uplink);
        if !self.is_open(socket) {
            self.discard(socket);
        }
        progress
    }

    /// What has arrived for a socket that the program has closed is read and forgotten, so that the peer can send the rest.
    fn discard(&mut self, socket: u32) {
        let now = self.uplink.now;
        let (tcp, uplink) = self.connection(socket);
        let unread = tcp.unread();
        if unread > 0 {
            tcp.read(now, unread, uplink);
        }
    }

    /// Bytes have come that can be read.
    pub(super) fn count_goodput(&mut self, bytes: u64) {
        if self.own.counts_goodput {
            self.uplink.out.received(self.uplink.now, self.own.owner, bytes);
        }
    }

    /// The connection of this socket is due. Returns whether its opening was given up, if the program knows of it.
    pub(super) fn handle_timeout(&mut self, socket: u32) -> bool {
        let now = self.uplink.now;
        let (tcp, uplink) = self.connection(socket);
        tcp.handle_timeout(now, uplink);
        let has_failed = tcp.has_failed();
        has_failed && !self.own.members[&socket].is_accepted
    }

    /// Whether the program wants to hear of this socket.
    pub(super) fn is_open(&self, socket: u32) -> bool {
        self.own.members.get(&socket).is_some_and(|member| !member.is_closed)
    }

    /// Takes note of new deadlines, and gives back sockets and ports of connections that are over.
    pub(super) fn settle(&mut self) {
        while let Some(socket) = self.own.touched.pop() {
            if !self.own.members.contains_key(&socket) {
                continue;
            }
            let tcp = &self.table.sockets[socket as usize].tcp;
            if tcp.closing() == Close::Closed {
                self.release(socket);
            } else {
                self.own.set_due(socket, tcp.poll_timeout());
            }
        }
    }

    fn release(&mut self, socket: u32) {
        if let Some(member) = self.own.remove(socket)
            && member.is_accepted
        {
            self.listeners.accepted.remove(&member.remote);
        }
        self.uplink.out.closed(self.own.owner, self.table.sockets[socket as usize].tcp.stats());
        let port = self.table.release(socket);
        self.ports.give_back(port);
    }
}

impl<O: Outputs> WorkCalls for HostedCalls<'_, O> {
    fn compute(&mut self, work: Span) -> Time {
        self.cores.busy += work;
        self.uplink.now + work
    }
    fn keeps_core(&mut self, used: Span) -> bool {
        self.cores.goes_on(used)
    }
    fn leave_core(&mut self) {
        self.cores.leave();
    }
    fn completed(&mut self, user: u32, intended: Time) {
        let completion = Completion { owner: self.own.owner, user, intended, carried: None };
        self.uplink.out.completed(self.uplink.now, &completion);
    }
    fn finished(&mut self, user: u32) {
        self.uplink.out.finished(self.uplink.now, self.own.owner, user);
    }
}

impl<O: Outputs> HostCalls for HostedCalls<'_, O> {
    fn listen(&mut self, port: u16) -> bool {
        let is_free = !self.listeners.ports.contains_key(&port) && self.ports.reserve(port);
        if is_free {
            self.listeners.ports.insert(port, self.program);
        }
        is_free
    }
    fn connect(&mut self, peer: Peer) -> Option<u32> {
        let own_port = self.ports.take_free()?;
        let socket = self.add(Remote { host: peer.host, port: peer.port, own_port }, TO_PORT, false);
        let now = self.uplink.now;
        let (tcp, uplink) = self.connection(socket);
        tcp.connect(now, uplink);
        Some(socket)
    }
    fn write(&mut self, socket: u32, bytes: u64) {
        let now = self.uplink.now;
        let (tcp, uplink) = self.open_connection(socket);
        tcp.write(now, bytes, uplink);
    }
    fn leave_unread(&mut self, socket: u32) {
        self.open_connection(socket).0.leave_unread();
    }
    fn read(&mut self, socket: u32, bytes: u64) {
        let now = self.uplink.now;
        let (tcp, uplink) = self.open_connection(socket);
        tcp.read(now, bytes, uplink);
    }
    fn close(&mut self, socket: u32) {
        let now = self.uplink.now;
        let (tcp, uplink) = self.open_connection(socket);
        tcp.close(now, uplink);
        if let Some(member) = self.own.members.get_mut(&socket) {
            member.is_closed = true;
        }
        self.discard(socket);
    }
    fn ask_core(&mut self, thread: u32) -> bool {
        self.cores.ask(Waiter::Thread { program: self.program, thread })
    }
}
