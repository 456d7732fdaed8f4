//! Calls of a program with several sockets whose host has a processor: a thread delivers its
//! events, and its calls take effect when the thread that makes them has worked on them.

use super::environment::Environment;
use super::event::Event;
use super::hosted_calls::HostedCalls;
use super::threads::{Operation, ProgramEvent};
use tailrace_programs::Program;
use tailrace_programs::cause::Because;
use tailrace_transport::tcp::{Handed, SegmentEffect};

impl<O: Environment> HostedCalls<'_, O> {
    /// Posts the events of a socket to the program's thread.
    pub(super) fn post(&mut self, socket: u32, progress: &SegmentEffect) {
        if !self.is_open(socket) {
            return;
        }
        if progress.connected {
            self.post_event(ProgramEvent::Connected { socket });
        }
        if progress.readable > 0 {
            self.post_event(ProgramEvent::Readable { socket, bytes: progress.readable });
        }
        if progress.ended {
            self.post_event(ProgramEvent::Ended { socket });
        }
        if progress.acked > 0
            && let Some(threads) = &mut self.threads
        {
            threads.unblock(socket, &self.table.sockets[socket as usize].tcp, self.uplink.now);
        }
        self.post_failure(socket);
    }

    /// Posts an event if a socket was closed before both ends had closed.
    pub(super) fn post_failure(&mut self, socket: u32) {
        if self.failure(socket).is_some() {
            self.post_event(ProgramEvent::Failed { socket });
            let (table, now) = (&*self.table, self.uplink.now);
            if let Some(threads) = &mut self.threads {
                threads.unblock(socket, &table.sockets[socket as usize].tcp, now);
            }
        }
    }

    fn post_event(&mut self, program_event: ProgramEvent) {
        if let Some(threads) = &mut self.threads {
            threads.tell_program(self.program, program_event, self.uplink.now);
        }
    }

    /// The deadline of the program has come.
    pub(super) fn tell_due(&mut self, program: &mut dyn Program) {
        if self.threads.is_none() {
            return program.handle_timeout(self.uplink.now, self);
        }
        if !std::mem::replace(&mut self.own.is_due_reported, true) {
            self.post_event(ProgramEvent::Due);
        }
    }

    /// A connection waits at a port of the program.
    pub(super) fn tell_waiting(&mut self, program: &mut dyn Program, port: u16) {
        match self.threads {
            None => program.handle_waiting(self.uplink.now, port, self),
            Some(_) => self.post_event(ProgramEvent::Waiting { port }),
        }
    }

    /// Whether a call takes effect later: when the thread has worked on it.
    pub(super) fn defers(
        &mut self,
        socket: u32,
        operation: impl FnOnce(u32, u32) -> Operation,
    ) -> bool {
        let Some(threads) = &mut self.threads else { return false };
        threads.push(operation(socket, self.table.sockets[socket as usize].expects));
        true
    }

    /// A system call that takes effect at once.
    pub(super) fn charge_call(&mut self) {
        if let Some(threads) = &mut self.threads {
            threads.charge_call();
        }
    }

    /// Charges the work of sending for a connection.
    pub(super) fn charge_sent(&mut self, socket: u32, before: Handed) {
        if let Some(threads) = &mut self.threads {
            threads.charge_sent(
                &self.table.sockets[socket as usize].tcp,
                before,
                self.config.tso_bytes,
            );
        }
    }

    /// Work of a datagram that was sent in so many packets.
    pub(super) fn charge_datagram(&mut self, packets: u32) {
        if let Some(threads) = &mut self.threads {
            threads.charge_datagram(packets);
        }
    }

    /// Carries out the effect of the work of a program's thread; `worker` is its number if it is
    /// not the thread that receives events.
    pub(super) fn act(&mut self, program: &mut dyn Program, worker: Option<u32>, done: Operation) {
        let now = self.uplink.now;
        match done {
            Operation::Learn(program_event) => self.learn(program, worker, program_event),
            Operation::Compute(_) => {
                let thread = worker.expect("a program works in threads that have asked for a core");
                program.handle_worked(now, thread, self);
            }
            Operation::SendMessage(message, cause) => {
                let because = Because { cause, ..self.because() };
                self.send_message(message, because);
            }
            Operation::Connect | Operation::Send { .. } | Operation::Overhead(_) => {}
            Operation::Write { .. }
            | Operation::Read { .. }
            | Operation::ShutDown { .. }
            | Operation::Close { .. } => {
                self.act_on_socket(done);
            }
        }
    }

    fn act_on_socket(&mut self, done: Operation) {
        let Some((socket, expects)) = done.about() else { return };
        if self.table.sockets[socket as usize].expects != expects
            || !self.own.members.contains_key(&socket)
        {
            return;
        }
        let now = self.uplink.now;
        let before = self.table.sockets[socket as usize].tcp.handed();
        let awake = self.threads.as_ref().map_or(now, |threads| threads.awake_since(now));
        let because = self.because();
        let (tcp, uplink) = self.connection(socket);
        match done {
            Operation::Write { bytes, cause, .. } => {
                uplink.tell(Event::BytesWritten {
                    socket,
                    bytes,
                    because: Because { cause, ..because },
                });
                tcp.note_work(now, awake);
                tcp.write(now, bytes, uplink);
            }
            Operation::Read { bytes, .. } => tcp.read(now, bytes.min(tcp.unread()), uplink),
            Operation::ShutDown { .. } => tcp.shut_down(now, uplink),
            _ => tcp.close(now, uplink),
        }
        self.charge_sent(socket, before);
    }

    fn learn(
        &mut self,
        program: &mut dyn Program,
        worker: Option<u32>,
        program_event: ProgramEvent,
    ) {
        let now = self.uplink.now;
        self.cause = program_event.cause(now);
        match program_event {
            ProgramEvent::Due => {
                self.own.is_due_reported = false;
                program.handle_timeout(now, self);
            }
            ProgramEvent::Core => {
                program.handle_core(now, worker.expect("a thread has asked for it"), self)
            }
            ProgramEvent::Waiting { port } => program.handle_waiting(now, port, self),
            ProgramEvent::Connected { socket } if self.is_open(socket) => {
                program.handle_connected(now, socket, self)
            }
            ProgramEvent::Readable { socket, bytes } if self.is_open(socket) => {
                self.learn_of_bytes(program, socket, bytes)
            }
            ProgramEvent::Ended { socket } if self.is_open(socket) => {
                program.handle_ended(now, socket, self)
            }
            ProgramEvent::Failed { socket } => self.fail(program, socket),
            ProgramEvent::Connected { .. }
            | ProgramEvent::Readable { .. }
            | ProgramEvent::Ended { .. }
            | ProgramEvent::Datagram(_) => {}
            ProgramEvent::Message(message) => {
                self.count_goodput(message.bytes.into());
                program.handle_datagram(now, message, self);
            }
        }
    }

    fn learn_of_bytes(&mut self, program: &mut dyn Program, socket: u32, bytes: u64) {
        let now = self.uplink.now;
        if !self.own.members[&socket].reads_late {
            let before = self.table.sockets[socket as usize].tcp.handed();
            let (tcp, uplink) = self.connection(socket);
            tcp.read(now, bytes.min(tcp.unread()), uplink);
            self.charge_sent(socket, before);
        }
        program.handle_readable(now, socket, bytes, self);
    }
}
