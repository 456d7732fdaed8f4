//! Inputs of programs with several sockets, and their effects on the host.

use super::Host;
use super::environment::{Environment, Timer};
use super::hosted_calls::HostedCalls;
use super::opening::Opener;
use super::programs::{Hosted, NewProgram};
use super::socket::Socket;
use super::uplink::Uplink;
use tailrace_programs::cause::Cause;
use tailrace_programs::{Message, Program, Tallies};
use tailrace_transport::tcp::Segment;
use tailrace_transport::udp::Datagram;
use tailrace_units::Time;

impl<P> Host<P> {
    /// Adds a program; it is called first when it is due. Returns its number.
    pub fn add_program(&mut self, new: NewProgram) -> u32 {
        let (owner, number) = (new.owner, self.hosted.len() as u32);
        if let Some((port, backlog)) = new.program.port() {
            assert!(
                self.listeners.listen_early(&mut self.ports, number, (port, owner), backlog),
                "each server of an owner has a port"
            );
        }
        self.hosted.push(Hosted::new(new));
        if let Some(threads) = &mut self.threads {
            threads.add_program(number, owner);
        }
        number
    }

    /// When this program or one of its connections is due.
    pub fn poll_program(&self, program: u32) -> Time {
        self.hosted[program as usize].poll_timeout()
    }

    /// Sockets that this program has, with those of connections that it has closed and that are not
    /// over.
    pub fn sockets_of(&self, program: u32) -> usize {
        self.hosted[program as usize].own.members.len()
    }

    /// The sockets of this program, with those of connections that it has closed and that are not
    /// over.
    pub fn program_sockets(&self, program: u32) -> impl Iterator<Item = &Socket> {
        self.hosted[program as usize]
            .own
            .members
            .keys()
            .map(|&number| &self.table.sockets[number as usize])
    }

    /// Calls `each` with the workload of this program and everything that it has begun and not
    /// completed.
    pub fn running_of(&self, program: u32, mut each: impl FnMut(u32, u32, Time)) {
        let Hosted { program, own } = &self.hosted[program as usize];
        program.running(&mut |user, intended| each(own.owner, user, intended));
    }

    /// The workload of this program, and its counters.
    pub fn tallies_of(&self, program: u32) -> (u32, Tallies) {
        let Hosted { program, own } = &self.hosted[program as usize];
        (own.owner, program.tallies())
    }

    /// The deadline of a program or of one of its connections has come.
    pub fn handle_program_timeout(
        &mut self,
        now: Time,
        program: u32,
        out: &mut impl Environment<Place = P>,
    ) {
        self.catch_up(now, out);
        self.begin_interrupt(program);
        self.tell_program(now, program, out, |program, calls| {
            for socket in calls.own.due_by(now) {
                calls.handle_timeout(program, socket);
            }
            if program.poll_timeout() <= now {
                calls.tell_due(program);
            }
        });
        self.grant_cores(now, out);
        self.run_processor(now, out);
    }

    /// A segment for a port: a connection is opened with the program that listens there.
    #[cold]
    pub(super) fn admit_segment(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        out: &mut impl Environment<Place = P>,
    ) {
        let Opener { to_port, owner, .. } = Opener::of(segment.packet);
        let Some(listener) = self.listeners.find(to_port, owner) else {
            return self.refuse_opening(now, segment, out);
        };
        self.tell_program(now, listener.program, out, |_, calls| {
            if let Some(socket) = calls.admit(segment.packet) {
                calls.handle_segment(socket, segment);
            }
        });
    }

    /// Hands a segment to a socket of a program, and the resulting events to the program.
    #[inline(never)]
    pub(super) fn deliver_to_program(
        &mut self,
        now: Time,
        program: u32,
        socket: u32,
        segment: &Segment<'_>,
        out: &mut impl Environment<Place = P>,
    ) {
        self.tell_program(now, program, out, |program, calls| {
            let is_open = calls.is_open(socket);
            let progress = calls.handle_segment(socket, segment);
            if is_open {
                calls.tell(program, socket, &progress);
            } else if progress.connected {
                let port = calls.queue(socket);
                calls.tell_waiting(program, port);
            }
        });
        self.grant_cores(now, out);
    }

    /// Hands a datagram to a program.
    #[inline(never)]
    pub(super) fn deliver_message(
        &mut self,
        now: Time,
        program: u32,
        socket: u32,
        datagram: &Datagram,
        out: &mut impl Environment<Place = P>,
    ) {
        let message = Message { socket, number: datagram.number, bytes: datagram.payload_bytes };
        self.tell_program(now, program, out, |program, calls| {
            calls.cause = Some(Cause::datagram(socket, message.number, now));
            calls.count_goodput(message.bytes.into());
            program.handle_datagram(now, message, calls);
        });
        self.grant_cores(now, out);
    }

    /// Calls a program, then carries out the consequences of its calls.
    pub(super) fn tell_program<O: Environment<Place = P>>(
        &mut self,
        now: Time,
        program: u32,
        out: &mut O,
        call: impl FnOnce(&mut dyn Program, &mut HostedCalls<'_, O>),
    ) {
        let Host {
            attachment,
            nic,
            table,
            udp_sockets,
            hosted,
            listeners,
            connections,
            cores,
            threads,
            tcp,
            ports,
            number,
            ip,
            ..
        } = self;
        let Hosted { program: called, own } = &mut hosted[program as usize];
        let uplink = Uplink { attachment, nic, out, now, origin: None };
        let threads = threads.as_deref_mut();
        let mut calls = HostedCalls {
            program,
            host: *number,
            own,
            table,
            udp_sockets,
            listeners,
            connections,
            config: tcp,
            ports,
            ip,
            cores,
            threads,
            uplink,
            cause: None,
        };
        call(called.as_mut(), &mut calls);
        calls.tell_what_waited(called.as_mut());
        calls.settle();
        let hosted = &self.hosted[program as usize];
        out.arm(&self.attachment, Timer::Socket(hosted.own.timer), hosted.poll_timeout());
    }
}
