//! Notifications of a program with several sockets.

use super::environment::Environment;
use super::event::Event;
use super::hosted_calls::HostedCalls;
use tailrace_programs::Program;
use tailrace_programs::cause::Cause;
use tailrace_transport::tcp::{Failure, SegmentEffect};

impl<O: Environment> HostedCalls<'_, O> {
    /// An open connection waits to be accepted. Returns the port.
    pub(super) fn queue(&mut self, socket: u32) -> u16 {
        let port = self.own.members[&socket].remote.own_port;
        let listener = self
            .listeners
            .ports
            .get_mut(&self.own.server_port(port))
            .expect("a connection came to a port at which the program listens");
        listener.waiting.push_back(socket);
        port
    }

    /// Notifies the program of everything that came for the sockets that it has just accepted.
    pub(super) fn tell_what_waited(&mut self, program: &mut dyn Program) {
        let has_processor = self.threads.is_some();
        while let Some(socket) = self.own.accepted.pop_front() {
            let now = self.uplink.now;
            let Some(reads_late) = self
                .own
                .members
                .get(&socket)
                .filter(|own| !own.is_closed)
                .map(|own| own.reads_late)
            else {
                continue;
            };
            let (tcp, uplink) = self.connection(socket);
            let (unread, has_ended) = (tcp.unread(), tcp.has_peer_closed());
            if !reads_late && !has_processor {
                tcp.read_at_once(now, uplink);
            }
            let progress =
                SegmentEffect { readable: unread, ended: has_ended, ..SegmentEffect::default() };
            self.tell(program, socket, &progress);
        }
    }

    /// Notifies the program of progress at one of its sockets.
    pub(super) fn tell(
        &mut self,
        program: &mut dyn Program,
        socket: u32,
        progress: &SegmentEffect,
    ) {
        let now = self.uplink.now;
        if progress.readable > 0 {
            self.count_goodput(progress.readable);
        }
        if self.threads.is_some() {
            return self.post(socket, progress);
        }
        self.cause = Some(Cause::now(socket, now));
        if progress.connected && self.is_open(socket) {
            program.handle_connected(now, socket, self);
        }
        if progress.readable > 0 && self.is_open(socket) {
            program.handle_readable(now, socket, progress.readable, self);
        }
        if progress.ended && self.is_open(socket) {
            program.handle_ended(now, socket, self);
        }
        self.tell_failure(program, socket);
    }

    /// Notifies the program if one of its sockets was closed before both ends had closed.
    pub(super) fn tell_failure(&mut self, program: &mut dyn Program, socket: u32) {
        if self.threads.is_some() {
            return self.post_failure(socket);
        }
        self.fail(program, socket);
    }

    /// The program learns why one of its sockets is gone.
    pub(super) fn fail(&mut self, program: &mut dyn Program, socket: u32) {
        if let Some(failure) = self.failure(socket)
            && let Some(member) = self.own.members.get_mut(&socket)
        {
            member.is_closed = true;
            program.handle_failed(self.uplink.now, socket, failure, self);
        }
    }

    /// Why a connection that the program knows of is gone.
    pub(super) fn failure(&self, socket: u32) -> Option<Failure> {
        self.table.sockets[socket as usize].tcp.failure().filter(|_| self.is_open(socket))
    }

    /// Bytes have come that can be read.
    pub(super) fn count_goodput(&mut self, bytes: u64) {
        if self.own.counts_goodput {
            self.uplink.tell(Event::BytesReceived { owner: self.own.owner, bytes });
        }
    }

    /// The connection of this socket is due.
    pub(super) fn handle_timeout(&mut self, program: &mut dyn Program, socket: u32) {
        let now = self.uplink.now;
        let member =
            self.own.members.get_mut(&socket).expect("a socket that is due is the program's");
        let is_idle = self.table.sockets[socket as usize].tcp.poll_timeout() > now;
        let asks_again = is_idle && member.asks_again();
        let (tcp, uplink) = self.connection(socket);
        let before = tcp.handed();
        match (is_idle, asks_again) {
            (false, _) => tcp.handle_timeout(now, uplink),
            (true, true) => tcp.send_keepalive(uplink),
            (true, false) => tcp.end_silence(uplink),
        }
        self.charge_sent(socket, before);
        self.tell_failure(program, socket);
    }
}
