//! Consequences of work on the cores, when it is done.

use super::calls::ThreadCalls;
use super::operations::{PIECE_BYTES, has_room, is_of_use};
use super::{Context, NO_TASK, Operation, ProgramEvent, Threads, Who};
use crate::Host;
use crate::cpu::{Done, Kind, TaskId};
use crate::environment::{Environment, ReceiveRing as _, Timer};
use crate::event::Event;
use crate::uplink::Uplink;
use tailrace_programs::cause::Because;
use tailrace_units::{Span, Time};

/// Datagrams that a program has sent and its thread has not got round to; more are not sent.
const DATAGRAMS_BEHIND_MAX: usize = 4_096;

impl<P> Host<P> {
    /// When the processor is due, or [`Time::NEVER`].
    pub fn poll_processor(&self) -> Time {
        self.threads.as_ref().map_or(Time::NEVER, |threads| threads.processor.poll_timeout())
    }

    /// Something on a core is done.
    #[cold]
    #[inline(never)]
    pub fn handle_processor(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        self.catch_up(now, out);
        self.run_processor(now, out);
    }

    /// Finishes work that is done by now, and begins the next. Earlier work has been finished.
    pub(crate) fn run_processor(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        if self.threads.is_none() {
            return;
        }
        self.run_at(now, out);
        let Host { threads, attachment, .. } = self;
        let threads = threads.as_mut().expect("the host has a processor");
        let due = threads.due_aloud();
        if std::mem::replace(&mut threads.armed, due) != due {
            out.arm(attachment, Timer::Processor, due);
        }
        if threads.leaves_frames && !threads.queues[0].is_scheduled {
            threads.leaves_frames = false;
            let next = out.ring(attachment).next_arrival();
            out.arm(attachment, Timer::Poll, next);
        }
        if threads.reported.is_some() && threads.has_changes() {
            out.arm(attachment, Timer::Hypervisor, now);
        }
    }

    pub(super) fn run_at(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        let due = loop {
            self.start_softirqs(now, out);
            let threads = self.threads.as_mut().expect("the host has a processor");
            match threads.processor.next_done(now) {
                Err(due) => break due,
                Ok(Done::Softirq(core)) => self.end_softirq_work(core, now, out),
                Ok(Done::Task(task)) if (task as usize) < threads.processor.cores() => {
                    self.end_softirq_work(task as usize, now, out);
                }
                Ok(Done::Task(task)) => self.end_operation(task, now, out),
            }
        };
        self.threads.as_mut().expect("the host has a processor").due = due;
    }

    fn end_operation(&mut self, task: TaskId, now: Time, out: &mut impl Environment<Place = P>) {
        let threads = self.threads.as_mut().expect("the host has a processor");
        threads.context = Context::Task(task);
        let thread = threads.thread(task);
        let (who, done) = (thread.who, thread.running.take());
        if let Some(done) = done {
            match who {
                Who::Unused => {}
                Who::Socket(_) if matches!(done, Operation::Overhead(_)) => {}
                Who::Socket(number) => self.act_for_socket(number, task, done, now, out),
                Who::Datagrams(number) => self.act_for_datagrams(number, done, now, out),
                Who::Program(program) => self.tell_program(now, program, out, |program, calls| {
                    calls.act(program, None, done)
                }),
                Who::Worker { program, thread } => {
                    self.tell_program(now, program, out, |program, calls| {
                        calls.act(program, Some(thread), done)
                    });
                }
            }
        }
        self.begin_operation(task, now);
    }

    /// The effect of an operation of a socket's program.
    fn act_for_socket(
        &mut self,
        number: u32,
        task: TaskId,
        done: Operation,
        now: Time,
        out: &mut impl Environment<Place = P>,
    ) {
        let Host { attachment, table, nic, threads, tcp: config, number: host, .. } = self;
        let threads = threads.as_mut().expect("the host has a processor");
        let socket = &mut table.sockets[number as usize];
        let before = socket.tcp.handed();
        let mut uplink = Uplink { nic, attachment, out, now, origin: None };
        let tcp = &mut socket.tcp;
        match done {
            Operation::Connect => tcp.connect(now, &mut uplink),
            Operation::Write { bytes, cause, .. } => {
                let core_wait = threads.thread(task).core_wait(now);
                let because = Because { host: *host, cause, core_wait };
                uplink.tell(Event::BytesWritten { socket: number, bytes, because });
                tcp.note_work(now, threads.awake_since(now));
                tcp.write(now, bytes, &mut uplink);
            }
            Operation::Read { bytes, .. } => tcp.read(now, bytes.min(tcp.unread()), &mut uplink),
            Operation::Learn(ProgramEvent::Readable { bytes, .. })
                if !threads.thread(task).reads_itself =>
            {
                tcp.read(now, bytes, &mut uplink)
            }
            Operation::Learn(_)
            | Operation::Compute(_)
            | Operation::Overhead(_)
            | Operation::ShutDown { .. }
            | Operation::Close { .. }
            | Operation::Send { .. }
            | Operation::SendMessage(..) => {}
        }
        threads.charge_sent(tcp, before, config.tso_bytes);
        let mut calls = ThreadCalls {
            number,
            expects: socket.expects,
            host: *host,
            owner: socket.owner,
            is_transient: socket.is_transient,
            has_finished: false,
            tcp,
            thread: threads.thread(task),
            attachment,
            out,
            now,
        };
        let app = &mut socket.app;
        match done {
            Operation::Compute(_) => app.handle_worked(now, &mut calls),
            Operation::Learn(ProgramEvent::Connected { .. }) => {
                app.handle_connected(now, &mut calls)
            }
            Operation::Learn(ProgramEvent::Readable { bytes, .. }) => {
                app.handle_readable(now, bytes, &mut calls)
            }
            Operation::Learn(ProgramEvent::Due) => {
                calls.thread.is_due_reported = false;
                app.handle_timeout(now, &mut calls);
            }
            Operation::Learn(_)
            | Operation::Connect
            | Operation::Write { .. }
            | Operation::Read { .. }
            | Operation::ShutDown { .. }
            | Operation::Close { .. }
            | Operation::Send { .. }
            | Operation::SendMessage(..)
            | Operation::Overhead(_) => {}
        }
        if calls.has_finished && socket.is_transient {
            return out.on_event(now, attachment, Event::FlowFinished { socket: number });
        }
        let due = socket.tcp.poll_timeout().min(threads.due_of(number, socket.app.poll_timeout()));
        out.hasten_socket(socket.timer, due);
    }

    fn act_for_datagrams(
        &mut self,
        number: u32,
        done: Operation,
        now: Time,
        out: &mut impl Environment<Place = P>,
    ) {
        let Host { attachment, nic, udp_sockets, threads, ip, .. } = self;
        let socket = &mut udp_sockets[number as usize];
        match done {
            Operation::Learn(ProgramEvent::Datagram(datagram)) => {
                let core_wait =
                    threads.as_ref().map_or(Span::ZERO, |threads| threads.core_wait(now));
                let event =
                    Event::DatagramReceived { owner: socket.owner, datagram: &datagram, core_wait };
                out.on_event(now, attachment, event);
            }
            Operation::Send { bytes } => {
                let packets = socket.send(
                    now,
                    bytes,
                    ip,
                    &mut Uplink { nic, attachment, out, now, origin: None },
                );
                threads.as_mut().expect("the host has a processor").charge_datagram(packets);
            }
            _ => {}
        }
    }

    /// The program of this socket for datagrams sends one when its thread has a core.
    #[cold]
    #[inline(never)]
    pub(crate) fn ask_to_send(
        &mut self,
        now: Time,
        number: u32,
        bytes: u32,
        out: &mut impl Environment<Place = P>,
    ) {
        self.catch_up(now, out);
        let threads = self.threads.as_mut().expect("the host has a processor");
        let task = threads.of_datagrams[number as usize];
        threads.context = Context::Softirq(threads.processor.core_of(task));
        let thread = threads.thread(task);
        if thread.operations.len() < DATAGRAMS_BEHIND_MAX {
            thread.operations.push_back(Operation::Send { bytes });
            threads.wake(task, now);
        } else {
            threads.counted.datagram_drops += 1;
        }
        self.run_processor(now, out);
    }

    /// Begins the next operation of a thread: the consequences of its last one, then its program's
    /// calls, then its events; without any it sleeps.
    fn begin_operation(&mut self, task: TaskId, now: Time) {
        let Host { threads, table, .. } = self;
        let threads = threads.as_mut().expect("the host has a processor");
        if threads.thread(task).owes_first() {
            return threads.begin(task, Operation::Overhead(Span::ZERO), now);
        }
        while let Some(next) = threads.thread(task).operations.pop_front() {
            let Some((socket, expects)) = next.about() else {
                return threads.begin(task, next, now);
            };
            let about = &table.sockets[socket as usize];
            if about.expects != expects || !is_of_use(&next, &about.tcp) {
                continue;
            }
            let Operation::Write { bytes, cause, .. } = next else {
                return threads.begin(task, next, now);
            };
            if !has_room(&about.tcp) {
                let thread = threads.thread(task);
                thread.operations.push_front(next);
                if thread.debt > Span::ZERO {
                    return threads.begin(task, Operation::Overhead(Span::ZERO), now);
                }
                thread.is_blocked = true;
                threads.blocked.push((socket, task));
                return threads.processor.sleep(task, now);
            }
            if bytes > PIECE_BYTES {
                let rest = Operation::Write {
                    socket,
                    expects,
                    bytes: bytes - PIECE_BYTES,
                    has_begun: true,
                    cause,
                };
                threads.thread(task).operations.push_front(rest);
            }
            return threads.begin(task, piece_of(next), now);
        }
        match threads.thread(task).inbox.pop_front() {
            Some(program_event) => threads.begin(task, Operation::Learn(program_event), now),
            None if threads.thread(task).debt > Span::ZERO => {
                threads.begin(task, Operation::Overhead(Span::ZERO), now)
            }
            None => threads.rest(task, now),
        }
    }
}

/// The first piece of a write.
fn piece_of(write: Operation) -> Operation {
    match write {
        Operation::Write { socket, expects, bytes, has_begun, cause } => {
            Operation::Write { socket, expects, bytes: bytes.min(PIECE_BYTES), has_begun, cause }
        }
        other => other,
    }
}

impl Threads {
    fn begin(&mut self, task: TaskId, operation: Operation, now: Time) {
        let costs = self.costs;
        let thread = self.thread(task);
        let (kind, mut work) = operation.work(&costs, thread.reads_itself);
        if kind == Kind::System {
            work += std::mem::take(&mut thread.debt);
        }
        thread.worked += work;
        thread.running = Some(operation);
        let is_silent = matches!(operation, Operation::Overhead(_));
        self.note_silent(self.processor.core_of(task), is_silent);
        self.processor.set_work(task, kind, work, now);
    }

    /// A thread has no work. One that had requested a core can serve another number, unless it
    /// waits for events of a socket.
    fn rest(&mut self, task: TaskId, now: Time) {
        if let Who::Worker { program, thread } = self.thread(task).who {
            let is_bound = self.thread(task).is_bound;
            let workers = &mut self.programs[program as usize];
            if !is_bound && workers.by_number.remove(&thread).is_some() {
                workers.idle.push(task);
            }
        }
        self.processor.sleep(task, now);
    }

    /// A thread of a program requests a core. Returns whether it has one: it does if it asks for
    /// itself.
    pub(crate) fn ask_core(&mut self, program: u32, owner: u32, thread: u32, now: Time) -> bool {
        if let Context::Task(task) = self.context
            && self.thread(task).who == (Who::Worker { program, thread })
        {
            return true;
        }
        let task = self.worker(program, owner, thread);
        self.post(task, ProgramEvent::Core, now);
        false
    }

    /// The task of a thread of a program.
    fn worker(&mut self, program: u32, owner: u32, thread: u32) -> TaskId {
        let who = Who::Worker { program, thread };
        let workers = &mut self.programs[program as usize];
        let known = workers.by_number.get(&thread).copied().or_else(|| workers.idle.pop());
        let task = known.unwrap_or_else(|| self.add_thread(who, owner));
        debug_assert_ne!(task, NO_TASK, "the thread is a task");
        self.programs[program as usize].by_number.insert(thread, task);
        self.thread(task).who = who;
        task
    }

    /// A thread of a program waits for events of this socket.
    pub(crate) fn bind(&mut self, program: u32, owner: u32, socket: u32, thread: u32) {
        let task = self.worker(program, owner, thread);
        self.thread(task).is_bound = true;
        self.programs[program as usize].of_socket.insert(socket, thread);
    }

    /// The task that waits for events of a socket of a program, or for all other events.
    pub(super) fn waiting_for(&self, program: u32, socket: Option<u32>) -> TaskId {
        let workers = &self.programs[program as usize];
        let bound = socket
            .and_then(|socket| workers.of_socket.get(&socket))
            .and_then(|thread| workers.by_number.get(thread));
        bound.copied().unwrap_or(workers.main)
    }

    /// Adds the next operation of the running thread.
    pub(crate) fn push(&mut self, operation: Operation) {
        let Context::Task(task) = self.context else {
            panic!("a program calls its host from a thread")
        };
        self.thread(task).operations.push_back(operation);
    }

    /// Work of a datagram that was sent in so many packets: each fragment passes the queue and the
    /// driver.
    pub(crate) fn charge_datagram(&mut self, packets: u32) {
        self.charge(self.costs.per_send.times(packets.into()));
    }

    /// A system call that takes effect at once.
    pub(crate) fn charge_call(&mut self) {
        self.charge(self.costs.system_call);
    }
}
