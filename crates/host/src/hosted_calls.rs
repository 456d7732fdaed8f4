//! Calls of a program with several sockets.

use super::Waiter;
use super::connections::Connections;
use super::cores::Cores;
use super::environment::Environment;
use super::event::{Completion, Event, Opened};
use super::opening::{Opener, Remote};
use super::ports::ClientPorts;
use super::programs::{Listeners, Owned};
use super::socket::{Socket, UdpSocket};
use super::table::SocketTable;
use super::threads::{Operation, Threads};
use super::uplink::Uplink;
use tailrace_programs::cause::{Because, Came, Cause};
use tailrace_programs::{App, Ends, HostCalls, Message, Peer, StorageDone, WorkCalls};
use tailrace_transport::ip::{Identity, Ip, TO_PORT};
use tailrace_transport::tcp::{Close, Segment, SegmentEffect, Tcp, TcpConfig};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};

/// The host around one of its programs, at one moment.
pub(super) struct HostedCalls<'a, O: Environment> {
    pub(super) program: u32,
    pub(super) host: u16,
    pub(super) own: &'a mut Owned,
    pub(super) table: &'a mut SocketTable,
    pub(super) udp_sockets: &'a mut [UdpSocket],
    pub(super) listeners: &'a mut Listeners,
    pub(super) connections: &'a mut Connections,
    pub(super) config: &'a TcpConfig,
    pub(super) ports: &'a mut ClientPorts,
    pub(super) ip: &'a mut Ip,
    pub(super) cores: &'a mut Cores<Waiter>,
    pub(super) threads: Option<&'a mut Threads>,
    pub(super) uplink: Uplink<'a, O>,
    /// The cause of the program's acts.
    pub(super) cause: Option<Cause>,
}

/// Identifies a thread of a program among the sockets and other threads that wait for a core.
pub(super) fn waiter_of(program: u32, thread: u32) -> u64 {
    u64::from(program + 1) << 32 | u64::from(thread)
}

impl<'a, O: Environment> HostedCalls<'a, O> {
    /// Why the program acts now.
    pub(super) fn because(&self) -> Because {
        let (host, cause, now) = (self.host, self.cause_on_host(), self.uplink.now);
        let core_wait = self.threads.as_ref().map_or(Span::ZERO, |threads| threads.core_wait(now));
        Because { host, cause, core_wait }
    }

    /// The cause of the program's acts, with sockets as the host numbers them.
    fn cause_on_host(&self) -> Option<Cause> {
        let cause = self.cause?;
        let Came::Datagram { socket, number } = cause.came else { return Some(cause) };
        Some(Cause {
            came: Came::Datagram { socket: self.own.datagrams[socket as usize], number },
            ..cause
        })
    }

    /// The connection of a socket of this program, with the way down.
    pub(super) fn connection(&mut self, socket: u32) -> (&mut Tcp, &mut Uplink<'a, O>) {
        let member = self.own.members.get(&socket);
        let member =
            member.unwrap_or_else(|| panic!("program {} owns no socket {socket}", self.program));
        self.uplink.origin = Some(member.origin(socket, self.host, self.own.owner));
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
    fn add(&mut self, remote: Remote, to_endpoint: Option<u32>, is_passive: bool) -> u32 {
        let key = remote.key_from(self.host);
        let expects = key.reversed().hash();
        // An earlier connection between these ports has learned this about the peer; the new one
        // will measure it again.
        let to_endpoint =
            to_endpoint.unwrap_or_else(|| self.connections.peer_of(expects).unwrap_or(TO_PORT));
        let Owned { owner, timer, tag, dscp, counts_goodput, .. } = *self.own;
        let identity =
            Identity { flow_hash: key.hash(), to_endpoint, to_host: remote.host, tag, dscp };
        let socket = self.table.add(Socket {
            tcp: Tcp::new(self.config, identity),
            app: App::Program(self.program),
            owner,
            timer,
            expects,
            port: if is_passive { 0 } else { remote.own_port },
            counts_goodput,
            is_transient: false,
        });
        if self.threads.is_some() {
            self.table.sockets[socket as usize].tcp.leave_unread();
        }
        self.own.add(socket, remote, is_passive);
        self.connections.opened(expects, socket);
        let cause = self.cause_on_host().filter(|_| !is_passive);
        self.uplink.tell(Event::ConnectionOpened(&Opened {
            socket,
            owner,
            peer: remote.host,
            key,
            cause,
        }));
        socket
    }

    /// The socket for a SYN that came to a port of this program: a new one, unless the segment has
    /// come before. `None` where too many connections wait there to be accepted.
    pub(super) fn admit(&mut self, packet: &Packet) -> Option<u32> {
        let Opener { socket: to_endpoint, to_port, .. } = Opener::of(packet);
        let remote = Opener::of(packet).remote();
        if let Some(&socket) = self.listeners.accepted.get(&remote) {
            // RFC 6191: the peer uses the port again, so that no segment of the earlier connection
            // is to come.
            if self.table.sockets[socket as usize].tcp.closing() != Close::TimeWait {
                return Some(socket);
            }
            self.release(socket);
        }
        if self.listeners.drops_opening(self.own.server_port(to_port)) {
            return None;
        }
        let socket = self.add(remote, Some(to_endpoint), true);
        self.table.sockets[socket as usize].tcp.leave_unread(); // until it is accepted
        self.listeners.accepted.insert(remote, socket);
        Some(socket)
    }

    /// Hands a segment to one of the program's sockets.
    pub(super) fn handle_segment(&mut self, socket: u32, segment: &Segment<'_>) -> SegmentEffect {
        if self.finds_no_room(socket, segment.packet) {
            return SegmentEffect::default();
        }
        let now = self.uplink.now;
        if let Some(Some(unanswered)) =
            self.own.members.get_mut(&socket).map(|member| &mut member.unanswered)
        {
            *unanswered = 0;
        }
        let (tcp, uplink) = self.connection(socket);
        if segment.packet.flags.contains(Flags::SYN.with(Flags::ACK)) {
            tcp.set_peer_endpoint(Opener::of(segment.packet).socket);
        }
        let before = tcp.handed();
        let progress = tcp.handle_segment(now, segment, uplink);
        self.charge_sent(socket, before);
        progress
    }

    /// Whether a segment would open a connection where too many wait to be accepted. It is dropped;
    /// the answer to the SYN is repeated, and the peer's segments after it (Linux
    /// `tcp_v4_syn_recv_sock`, with a `tcp_abort_on_overflow` of 0).
    fn finds_no_room(&mut self, socket: u32, packet: &Packet) -> bool {
        let opens = packet.flags.contains(Flags::ACK)
            && !packet.flags.intersects(Flags::SYN.with(Flags::RST));
        let is_half_open = self.table.sockets[socket as usize].tcp.is_half_open();
        opens
            && is_half_open
            && self
                .listeners
                .drops_opening(self.own.server_port(self.own.members[&socket].remote.own_port))
    }

    /// Whether the program wants to hear of this socket: it has its number and has not closed it.
    pub(super) fn is_open(&self, socket: u32) -> bool {
        self.own.members.get(&socket).is_some_and(|member| member.is_known && !member.is_closed)
    }

    /// Takes note of new deadlines, and gives back sockets and ports of connections that are over.
    pub(super) fn settle(&mut self) {
        while let Some(socket) = self.own.touched.pop() {
            let Some(member) = self.own.members.get(&socket) else { continue };
            let tcp = &self.table.sockets[socket as usize].tcp;
            // A connection that was reset before it was accepted stays in the backlog until it is
            // accepted.
            let is_awaited = self.threads.is_some() && self.failure(socket).is_some();
            if !is_awaited
                && tcp.closing() == Close::Closed
                && (member.is_known
                    || !self.listeners.holds(self.own.server_port(member.remote.own_port), socket))
            {
                self.release(socket);
            } else {
                let at = tcp.poll_timeout();
                let at = if at.is_never() { member.keepalive_at(self.uplink.now) } else { at };
                self.own.set_due(socket, at);
            }
        }
    }

    /// Sends a datagram through one of the program's sockets.
    pub(super) fn send_message(&mut self, message: Message, because: Because) {
        let number = self.own.datagrams[message.socket as usize];
        self.uplink.tell(Event::DatagramSent { socket: number, number: message.number, because });
        let udp = &self.udp_sockets[number as usize].udp;
        let packet = udp.message(self.uplink.now, message.number, message.bytes);
        let packets = self.ip.send(packet, udp.header_bytes(), &mut self.uplink);
        self.charge_datagram(packets);
    }

    fn release(&mut self, socket: u32) {
        if let Some(member) = self.own.remove(socket)
            && member.is_passive
        {
            self.listeners.accepted.remove(&member.remote);
        }
        let Socket { tcp, expects, .. } = &self.table.sockets[socket as usize];
        let (owner, limits) = (self.own.owner, tcp.limits(self.uplink.now));
        self.uplink.tell(Event::ConnectionClosed { owner, stats: tcp.stats(), limits: &limits });
        self.connections.closed(*expects, tcp.identity());
        if let Some(threads) = &mut self.threads {
            threads.forget_socket(self.program, socket, self.uplink.now);
        }
        let port = self.table.release(socket);
        self.ports.give_back(port);
    }
}

impl<O: Environment> WorkCalls for HostedCalls<'_, O> {
    fn compute(&mut self, work: Span) -> Time {
        if let Some(threads) = &mut self.threads {
            threads.push(Operation::Compute(work));
            return Time::NEVER;
        }
        self.cores.busy += work;
        self.uplink.now + work
    }
    fn keeps_core(&mut self, used: Span) -> bool {
        self.threads.is_some() || self.cores.goes_on(used)
    }
    fn leave_core(&mut self) {
        if self.threads.is_none() {
            self.cores.leave();
        }
    }
    fn completed(&mut self, user: u32, intended: Time) {
        let completion = Completion {
            owner: self.own.owner,
            user,
            intended,
            carried: None,
            because: self.because(),
        };
        self.uplink.tell(Event::TransactionCompleted(&completion));
    }
    fn finished(&mut self, user: u32) {
        self.uplink.tell(Event::UserFinished { owner: self.own.owner, user });
    }
}

impl<O: Environment> HostCalls for HostedCalls<'_, O> {
    fn listen(&mut self, port: u16, backlog: u32) -> bool {
        self.charge_call();
        self.listeners.listen(self.ports, self.program, self.own.server_port(port), backlog)
    }
    fn accept(&mut self, port: u16) -> Option<u32> {
        let listener = self
            .listeners
            .ports
            .get_mut(&self.own.server_port(port))
            .filter(|listener| listener.program == self.program)?;
        let socket = listener.waiting.pop_front()?;
        if let Some(threads) = &mut self.threads {
            threads.charge_call();
        }
        self.own.members.get_mut(&socket).expect("what waits keeps its socket").is_known = true;
        self.own.accepted.push_back(socket);
        Some(socket)
    }
    fn connect(&mut self, peer: Peer) -> Option<u32> {
        let own_port = self.ports.take_free(self.own.owner)?;
        let socket = self.add(Remote { host: peer.host, port: peer.port, own_port }, None, false);
        let now = self.uplink.now;
        let (tcp, uplink) = self.connection(socket);
        let before = tcp.handed();
        tcp.connect(now, uplink);
        self.charge_call();
        self.charge_sent(socket, before);
        Some(socket)
    }
    fn write(&mut self, socket: u32, bytes: u64) {
        let because = self.because();
        let cause = because.cause;
        if self.defers(socket, |socket, expects| Operation::Write {
            socket,
            expects,
            bytes,
            has_begun: false,
            cause,
        }) {
            return;
        }
        let now = self.uplink.now;
        let (tcp, uplink) = self.open_connection(socket);
        uplink.tell(Event::BytesWritten { socket, bytes, because });
        tcp.write(now, bytes, uplink);
    }
    fn follows(&mut self, cause: Option<Cause>) -> Option<Cause> {
        std::mem::replace(&mut self.cause, cause)
    }
    fn leave_unread(&mut self, socket: u32) {
        self.open_connection(socket).0.leave_unread();
        if let Some(member) = self.own.members.get_mut(&socket) {
            member.reads_late = true;
        }
    }
    fn keep_alive(&mut self, socket: u32) {
        self.open_connection(socket);
        if let Some(member) = self.own.members.get_mut(&socket) {
            member.unanswered = Some(0);
        }
    }
    fn read(&mut self, socket: u32, bytes: u64) {
        if self.defers(socket, |socket, expects| Operation::Read { socket, expects, bytes }) {
            return;
        }
        let now = self.uplink.now;
        let (tcp, uplink) = self.open_connection(socket);
        tcp.read(now, bytes, uplink);
    }
    fn shut_down(&mut self, socket: u32) {
        if self.defers(socket, |socket, expects| Operation::ShutDown { socket, expects }) {
            return;
        }
        let now = self.uplink.now;
        let (tcp, uplink) = self.open_connection(socket);
        tcp.shut_down(now, uplink);
    }
    fn close(&mut self, socket: u32) {
        let now = self.uplink.now;
        if !self.defers(socket, |socket, expects| Operation::Close { socket, expects }) {
            let (tcp, uplink) = self.open_connection(socket);
            tcp.close(now, uplink);
        }
        if let Some(member) = self.own.members.get_mut(&socket) {
            member.is_closed = true;
        }
    }
    fn ends(&self, socket: u32) -> Ends {
        let Remote { host, port, own_port } = self.own.members[&socket].remote;
        Ends { peer: Peer { host, port }, own_port }
    }
    fn part_completed(&mut self, since: Time) {
        self.uplink.tell(Event::PartCompleted { owner: self.own.owner, since });
    }
    fn storage_done(&mut self, done: &StorageDone) {
        self.uplink.tell(Event::StorageCompleted { owner: self.own.owner, done });
    }
    fn send_datagram(&mut self, message: Message) {
        let because = self.because();
        match &mut self.threads {
            Some(threads) => threads.push(Operation::SendMessage(message, because.cause)),
            None => self.send_message(message, because),
        }
    }
    fn ask_core(&mut self, thread: u32) -> bool {
        let now = self.uplink.now;
        if let Some(threads) = &mut self.threads {
            return threads.ask_core(self.program, self.own.owner, thread, now);
        }
        let has_core = self.cores.ask(Waiter::Thread { program: self.program, thread });
        if !has_core {
            let (waiter, cause) = (waiter_of(self.program, thread), self.cause_on_host());
            self.uplink.tell(Event::CoreRequested { waiter, cause });
        }
        has_core
    }
    fn wait_in_thread(&mut self, socket: u32, thread: u32) -> bool {
        let Some(threads) = &mut self.threads else { return false };
        threads.bind(self.program, self.own.owner, socket, thread);
        true
    }
}
