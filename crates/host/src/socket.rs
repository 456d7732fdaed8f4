//! A socket: a transport endpoint with the program that uses it.

use super::Waiter;
use super::cores::Cores;
use super::environment::Environment;
use super::event::{Carried, Completion, Event};
use super::uplink::Uplink;
use tailrace_programs::cause::{Because, Cause};
use tailrace_programs::{App, SocketCalls, WorkCalls};
use tailrace_transport::ip::{Identity, Ip};
use tailrace_transport::tcp::{Tcp, TcpStats};
use tailrace_transport::transmit::Transmit;
use tailrace_transport::udp::{Noting, SendBuffer, Udp};
use tailrace_units::{Span, Time};

/// A socket to be opened, with its program.
#[derive(Debug)]
pub struct NewSocket {
    /// The identity that its packets carry.
    pub identity: Identity,
    /// Hash of the packets that belong here: a late packet of an earlier connection with the same
    /// number does not match.
    pub expects: u32,
    /// The program that uses it.
    pub app: App,
    /// The owner for which the program works.
    pub owner: u32,
    /// The engine's name for its deadline.
    pub timer: u32,
    /// The local port, which is given back with the socket if it is ephemeral.
    pub port: u16,
    /// Whether bytes that arrive here count as the owner's goodput.
    pub counts_goodput: bool,
    /// The socket is given back when its program has finished.
    pub is_transient: bool,
}

/// A socket for datagrams to be opened.
#[derive(Clone, Copy, Debug)]
pub struct NewUdpSocket {
    /// The identity that its datagrams carry.
    pub identity: Identity,
    /// Hash of the datagrams that belong here.
    pub expects: u32,
    /// The owner for which its program works.
    pub owner: u32,
    /// Link, IP and UDP headers of a datagram, without the tag of a VLAN.
    pub header_bytes: u32,
    /// The program that uses it, if it is one with several sockets.
    pub program: Option<u32>,
}

/// One end of a flow of datagrams. Its program sends when the engine asks it to, and measures
/// arrivals.
#[derive(Clone, Debug)]
pub(super) struct UdpSocket {
    pub(super) udp: Udp,
    /// Datagrams that may wait in the interface; without a send buffer its program never waits.
    pub(super) send_buffer: Option<SendBuffer>,
    pub(super) owner: u32,
    pub(super) expects: u32,
    /// The program that uses it, and its number there.
    pub(super) program: Option<(u32, u32)>,
}

impl UdpSocket {
    /// Sends a datagram. Returns how many packets were handed to the interface.
    pub(super) fn send(
        &mut self,
        now: Time,
        payload_bytes: u32,
        ip: &mut Ip,
        down: &mut impl Transmit,
    ) -> u32 {
        let (packet, header_bytes) =
            (self.udp.datagram(now, payload_bytes), self.udp.header_bytes());
        match &mut self.send_buffer {
            Some(buffer) => ip.send(packet, header_bytes, &mut Noting { down, buffer }),
            None => ip.send(packet, header_bytes, down),
        }
    }
}

/// One end of a connection.
pub struct Socket {
    pub(super) tcp: Tcp,
    pub(super) app: App,
    pub(super) owner: u32,
    pub(super) timer: u32,
    /// 0 for a socket that was given back.
    pub(super) expects: u32,
    pub(super) port: u16,
    pub(super) counts_goodput: bool,
    pub(super) is_transient: bool,
}

impl Socket {
    /// The transport.
    pub fn tcp(&self) -> &Tcp {
        &self.tcp
    }
    /// The program.
    pub fn app(&self) -> &App {
        &self.app
    }
    /// The owner for which the program works.
    pub fn owner(&self) -> u32 {
        self.owner
    }
    /// The engine's name for its deadline.
    pub fn timer(&self) -> u32 {
        self.timer
    }
    /// The local port.
    pub fn port(&self) -> u16 {
        self.port
    }
    /// Whether bytes that arrive here count as the owner's goodput.
    pub fn counts_goodput(&self) -> bool {
        self.counts_goodput
    }
    /// Whether packets of this hash are for it.
    pub fn expects(&self, flow_hash: u32) -> bool {
        self.expects == flow_hash
    }
    /// Bytes that have still to reach it before its program finishes and the socket is given back;
    /// none for all others.
    pub fn awaited(&self) -> Option<u64> {
        match &self.app {
            App::StreamSink(sink) if self.is_transient && self.expects != 0 => {
                Some(sink.missing().saturating_sub(self.tcp.held()))
            }
            _ => None,
        }
    }
    /// Counters of its connection, unless it was given back.
    pub fn stats(&self) -> Option<&TcpStats> {
        (self.expects != 0).then(|| self.tcp.stats())
    }
    /// When its transport or its program is due.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.tcp.poll_timeout().min(self.app.poll_timeout())
    }
}

/// The part of the host that the program of one socket may access.
pub(super) struct OwnSocket<'a, O: Environment> {
    pub(super) number: u32,
    pub(super) host: u16,
    pub(super) owner: u32,
    pub(super) is_transient: bool,
    pub(super) has_finished: bool,
    pub(super) tcp: &'a mut Tcp,
    pub(super) cores: &'a mut Cores<Waiter>,
    pub(super) uplink: Uplink<'a, O>,
}

impl<O: Environment> SocketCalls for OwnSocket<'_, O> {
    fn connect(&mut self) {
        self.tcp.connect(self.uplink.now, &mut self.uplink);
    }
    fn write(&mut self, bytes: u64) {
        let because = Because { host: self.host, cause: None, core_wait: Span::ZERO };
        self.uplink.tell(Event::BytesWritten { socket: self.number, bytes, because });
        self.tcp.write(self.uplink.now, bytes, &mut self.uplink);
    }
    fn leave_unread(&mut self) {
        self.tcp.leave_unread();
    }
    fn read(&mut self, bytes: u64) {
        self.tcp.read(self.uplink.now, bytes, &mut self.uplink);
    }
    fn ask_core(&mut self) -> bool {
        let has_core = self.cores.ask(Waiter::Socket(self.number));
        if !has_core {
            let cause = Cause::now(self.number, self.uplink.now);
            self.uplink
                .tell(Event::CoreRequested { waiter: self.number.into(), cause: Some(cause) });
        }
        has_core
    }
}

impl<O: Environment> WorkCalls for OwnSocket<'_, O> {
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
        let ends = || Carried {
            source: self.tcp.peer_host(),
            destination: self.host,
            bytes: self.tcp.received(),
        };
        let carried = self.is_transient.then(ends);
        let (owner, now) = (self.owner, self.uplink.now);
        let cause = Some(Cause::now(self.number, now));
        let because = Because { host: self.host, cause, core_wait: Span::ZERO };
        self.uplink.tell(Event::TransactionCompleted(&Completion {
            owner,
            user,
            intended,
            carried,
            because,
        }));
    }
    fn finished(&mut self, user: u32) {
        self.has_finished = true;
        self.uplink.tell(Event::UserFinished { owner: self.owner, user });
    }
}
