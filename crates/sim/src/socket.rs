//! A socket in the world: a transport endpoint with the program that uses it.

use crate::agenda::Source;
use crate::observe::Carried;
use crate::surroundings::Uplink;
use crate::world::World;
use tailrace_endpoint::app::{App, Desk};
use tailrace_endpoint::gro::Aggregate;
use tailrace_endpoint::transport::{Segment, Tcp};
use tailrace_units::{Span, Time};

/// Which socket a program has, and for which workload it works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) socket: u32,
    pub(crate) workload: u32,
}

/// One end of a connection.
pub(crate) struct Socket {
    pub(crate) tcp: Tcp,
    pub(crate) app: App,
    pub(crate) host: u32,
    pub(crate) owner: Owner,
    /// Hash of the packets that belong here: a late packet of an earlier connection in this slot does not match.
    pub(crate) expects: u32,
    /// Whether bytes that arrive here count as the workload's goodput.
    pub(crate) counts_goodput: bool,
    /// A flow's socket is given back when the flow is complete.
    pub(crate) is_transient: bool,
    /// The other end.
    pub(crate) peer: u32,
}

/// What one socket's program may touch.
struct SocketDesk<'a, 'b> {
    host: u16,
    tcp: &'a mut Tcp,
    uplink: &'a mut Uplink<'b>,
    owner: Owner,
    /// A flow: what it carried and between whom is kept.
    is_transient: bool,
    has_finished: bool,
}

impl Desk for SocketDesk<'_, '_> {
    fn connect(&mut self) {
        self.tcp.connect(self.uplink.now, self.uplink);
    }
    fn write(&mut self, bytes: u64) {
        self.tcp.write(self.uplink.now, bytes, self.uplink);
    }
    fn leave_unread(&mut self) {
        self.tcp.leave_unread();
    }
    fn read(&mut self, bytes: u64) {
        self.tcp.read(self.uplink.now, bytes, self.uplink);
    }
    fn ask_core(&mut self) -> bool {
        self.uplink.host.cores.ask(self.owner.socket)
    }
    fn compute(&mut self, work: Span) -> Time {
        self.uplink.host.cores.busy += work;
        self.uplink.now + work
    }
    fn keeps_core(&mut self, used: Span) -> bool {
        self.uplink.host.cores.goes_on(used)
    }
    fn leave_core(&mut self) {
        self.uplink.host.cores.leave();
    }
    fn completed(&mut self, user: u32, intended: Time) {
        let now = self.uplink.now;
        let workload = self.owner.workload as usize;
        self.uplink.roads.observe.completed(now, workload, user, intended);
        if self.is_transient {
            let (source, destination) = (self.tcp.peer_host(), self.host);
            let carried = Carried { source, destination, bytes: self.tcp.received() };
            self.uplink.roads.observe.workloads[workload].carried(carried);
        }
    }
    fn finished(&mut self, user: u32) {
        self.has_finished = true;
        let now = self.uplink.now;
        self.uplink.roads.observe.finished(now, self.owner.workload as usize, user);
    }
}

impl World {
    pub(crate) fn socket_source(&self, socket: u32) -> Source {
        self.first_socket_source + socket
    }

    /// The transport's or the program's deadline has come.
    #[inline(never)]
    pub(crate) fn wake_socket(&mut self, now: Time, index: u32) {
        let source = self.socket_source(index);
        let (socket, mut uplink) = self.socket_and_uplink(index, now);
        if socket.tcp.poll_timeout() <= now {
            socket.tcp.handle_timeout(now, &mut uplink);
        }
        if socket.app.poll_timeout() <= now {
            return self.wake_program(now, index);
        }
        let due = socket.tcp.poll_timeout().min(socket.app.poll_timeout());
        self.roads.agenda.arm(source, due);
    }

    /// The program's deadline has come. It may leave its core to others.
    fn wake_program(&mut self, now: Time, index: u32) {
        self.call_program(now, index, |app, desk| app.handle_timeout(now, desk));
        let host = self.sockets[index as usize].host as usize;
        while let Some(next) = self.hosts[host].cores.poll_granted() {
            self.call_program(now, next, |app, desk| app.handle_core(desk));
        }
    }

    fn call_program(&mut self, now: Time, index: u32, call: impl FnOnce(&mut App, &mut SocketDesk<'_, '_>)) {
        let source = self.socket_source(index);
        let (socket, mut uplink) = self.socket_and_uplink(index, now);
        let mut desk = SocketDesk {
            host: socket.host as u16,
            tcp: &mut socket.tcp,
            uplink: &mut uplink,
            owner: socket.owner,
            is_transient: socket.is_transient,
            has_finished: false,
        };
        call(&mut socket.app, &mut desk);
        let due = socket.tcp.poll_timeout().min(socket.app.poll_timeout());
        self.roads.agenda.arm(source, due);
    }

    /// Hands up what a poll gathered.
    pub(crate) fn deliver(&mut self, now: Time, host: u32) {
        let mut gro = std::mem::take(&mut self.roads.stages[host as usize].gro);
        for aggregate in gro.aggregates() {
            self.merge_slots[aggregate.packet.to_endpoint as usize] = 0;
        }
        for aggregate in gro.aggregates() {
            let Aggregate { packet, payload_bytes, segments, .. } = aggregate;
            self.deliver_segment(now, &Segment { packet, payload_bytes: *payload_bytes, segments: *segments });
        }
        gro.clear();
        self.roads.stages[host as usize].gro = gro;
    }

    /// Hands a segment to its socket and what follows from it to the program.
    #[inline]
    pub(crate) fn deliver_segment(&mut self, now: Time, segment: &Segment<'_>) {
        let index = segment.packet.to_endpoint;
        let source = self.socket_source(index);
        let (socket, mut uplink) = self.socket_and_uplink(index, now);
        if socket.expects != segment.packet.flow_hash {
            return;
        }
        let progress = socket.tcp.handle_segment(now, segment, &mut uplink);
        if progress.connected || progress.readable > 0 {
            let owner = socket.owner;
            if socket.counts_goodput && progress.readable > 0 {
                uplink.roads.observe.workloads[owner.workload as usize].received(now, progress.readable);
            }
            let mut desk = SocketDesk {
                host: socket.host as u16,
                tcp: &mut socket.tcp,
                uplink: &mut uplink,
                owner,
                is_transient: socket.is_transient,
                has_finished: false,
            };
            if progress.connected {
                socket.app.handle_connected(now, &mut desk);
            }
            if progress.readable > 0 {
                socket.app.handle_readable(now, progress.readable, &mut desk);
            }
            if desk.has_finished && socket.is_transient {
                return self.retire(index);
            }
        }
        // Deadlines move later all the time; the agenda hears only of earlier ones and asks again when the old one comes.
        let due = socket.tcp.poll_timeout().min(socket.app.poll_timeout());
        if due < self.roads.agenda.due(source) {
            self.roads.agenda.arm(source, due);
        }
    }

    /// Gives back both ends of a completed flow. Late packets of it find that they are not expected.
    fn retire(&mut self, index: u32) {
        let peer = self.sockets[index as usize].peer;
        for end in [index, peer] {
            let source = self.socket_source(end);
            self.roads.agenda.arm(source, Time::NEVER);
            let socket = &mut self.sockets[end as usize];
            self.roads.observe.workloads[socket.owner.workload as usize].retired.add(socket.tcp.stats());
            socket.expects = 0;
        }
        self.free_sockets.push(index.min(peer));
    }
}
