//! Calls of a program with one socket whose host has a processor: they take effect when its thread
//! has worked on them.

use super::{Operation, Thread};
use crate::environment::Environment;
use crate::event::{Carried, Completion, Event};
use tailrace_programs::cause::{Because, Cause};
use tailrace_programs::{SocketCalls, WorkCalls};
use tailrace_transport::tcp::Tcp;
use tailrace_units::{Span, Time};

pub(super) struct ThreadCalls<'a, O: Environment> {
    pub(super) number: u32,
    pub(super) expects: u32,
    pub(super) host: u16,
    pub(super) owner: u32,
    pub(super) is_transient: bool,
    pub(super) has_finished: bool,
    pub(super) tcp: &'a Tcp,
    pub(super) thread: &'a mut Thread,
    pub(super) attachment: &'a O::Place,
    pub(super) out: &'a mut O,
    pub(super) now: Time,
}

impl<O: Environment> SocketCalls for ThreadCalls<'_, O> {
    fn connect(&mut self) {
        self.thread.operations.push_back(Operation::Connect);
    }
    fn write(&mut self, bytes: u64) {
        let &mut ThreadCalls { number: socket, expects, .. } = self;
        self.thread.operations.push_back(Operation::Write {
            socket,
            expects,
            bytes,
            has_begun: false,
            cause: None,
        });
    }
    fn leave_unread(&mut self) {
        self.thread.reads_itself = true;
    }
    fn read(&mut self, bytes: u64) {
        let &mut ThreadCalls { number: socket, expects, .. } = self;
        self.thread.operations.push_back(Operation::Read { socket, expects, bytes });
    }
    /// It runs: its thread has a core.
    fn ask_core(&mut self) -> bool {
        true
    }
}

impl<O: Environment> WorkCalls for ThreadCalls<'_, O> {
    fn compute(&mut self, work: Span) -> Time {
        self.thread.operations.push_back(Operation::Compute(work));
        Time::NEVER
    }
    /// The scheduler takes the core from a thread that had it too long; it need not be asked.
    fn keeps_core(&mut self, _: Span) -> bool {
        true
    }
    /// A thread with nothing to do sleeps by itself.
    fn leave_core(&mut self) {}
    fn completed(&mut self, user: u32, intended: Time) {
        let ends = || Carried {
            source: self.tcp.peer_host(),
            destination: self.host,
            bytes: self.tcp.received(),
        };
        let carried = self.is_transient.then(ends);
        let cause = Some(Cause::now(self.number, self.now));
        let because =
            Because { host: self.host, cause, core_wait: self.thread.core_wait(self.now) };
        let completion = Completion { owner: self.owner, user, intended, carried, because };
        self.out.on_event(self.now, self.attachment, Event::TransactionCompleted(&completion));
    }
    fn finished(&mut self, user: u32) {
        self.has_finished = true;
        self.out.on_event(
            self.now,
            self.attachment,
            Event::UserFinished { owner: self.owner, user },
        );
    }
}
