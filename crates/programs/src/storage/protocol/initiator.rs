//! The initiator's side of a session.

use super::{Pdu, PduKind, Rules, Served};
use std::collections::VecDeque;
use std::sync::Arc;
use tailrace_blockdev::{Op, Request};
use tailrace_units::{Span, Time};

/// Lengths of requests and offsets in their data are numbers of 32 bits in all protocols.
const REQUEST_BYTES_MAX: u64 = u32::MAX as u64;

/// A request that has ended, and its waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The program's number for it.
    pub job: u64,
    /// The request.
    pub request: Request,
    /// From when the session was given it until it was set up: for the connection and the log-in.
    pub set_up: Span,
    /// From then until its command was sent: for an entry of the queue of commands.
    pub entry: Span,
    /// While it had data of a write that the target had not asked for, and no more that it was
    /// allowed to send.
    pub ready_to_transfer: Span,
    /// Times that the target reports.
    pub served: Served,
    /// From when the session was given it.
    pub total: Span,
}

impl Completion {
    /// The rest: on the way, behind other data in buffers and queues.
    pub fn network(&self) -> Span {
        let Completion {
            set_up,
            entry,
            ready_to_transfer,
            served: Served { queue, device, .. },
            total,
            ..
        } = *self;
        Span::from_ps(total.ps() - (set_up + entry + ready_to_transfer + queue + device).ps())
    }
}

/// A request that is under way.
#[derive(Clone, Copy, Debug)]
struct Task {
    job: u64,
    request: Request,
    begun: Time,
    sent_at: Time,
    /// Bytes of data that were sent or have arrived, from the start.
    moved: u32,
    /// Since when it waits for the target to ask for data.
    stalled: Option<Time>,
    ready_to_transfer: Span,
}

/// The initiator's side of a session.
#[derive(Debug)]
pub struct InitiatorSession {
    rules: Arc<Rules>,
    step: usize,
    /// Since when commands can be sent.
    ready_since: Time,
    /// Requests that wait for the set-up, or for room.
    waiting: VecDeque<(u64, Request, Time)>,
    /// By tag.
    tasks: Vec<Option<Task>>,
    free: Vec<u32>,
    under_way: u32,
    /// Commands that were sent, and those that may be.
    sent: u32,
    window: u32,
    out: VecDeque<Pdu>,
    done: VecDeque<Completion>,
}

impl InitiatorSession {
    /// Over a connection that is open.
    pub fn new(rules: Arc<Rules>) -> InitiatorSession {
        let (waiting, out, done) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let window = rules.commands;
        let mut session = InitiatorSession {
            rules,
            step: 0,
            ready_since: Time::ZERO,
            waiting,
            tasks: Vec::new(),
            free: Vec::new(),
            under_way: 0,
            sent: 0,
            window,
            out,
            done,
        };
        session.set_up();
        session
    }

    /// Whether commands can be sent.
    pub fn is_ready(&self) -> bool {
        self.step == self.rules.set_up.len()
    }

    /// Requests that were given to it and have not ended.
    pub fn unanswered(&self) -> usize {
        self.under_way as usize + self.waiting.len()
    }

    /// Carries a request, as soon as there is room for it.
    pub fn begin(&mut self, now: Time, job: u64, request: Request) {
        assert!(
            request.bytes <= REQUEST_BYTES_MAX && (request.bytes > 0) == (request.op != Op::Flush),
            "reads and writes have data"
        );
        self.waiting.push_back((job, request, now));
        self.send_waiting(now);
    }

    /// The next unit to write to the connection.
    pub fn poll_pdu(&mut self) -> Option<Pdu> {
        self.out.pop_front()
    }

    /// Since when what a unit carries, which is to be written now, has waited for an entry of the
    /// queue of commands; none where it has not.
    pub fn waited_for_entry(&self, now: Time, pdu: &Pdu) -> Option<Time> {
        let task = if matches!(pdu.kind, PduKind::SetUp) {
            None
        } else {
            self.tasks.get(pdu.tag as usize)?.as_ref()
        }?;
        let since = task.begun.max(self.ready_since);
        (task.sent_at == now && since < now).then_some(since)
    }

    /// The next request that has ended.
    pub fn poll_done(&mut self) -> Option<Completion> {
        self.done.pop_front()
    }

    /// A unit of the target has arrived.
    pub fn handle_pdu(&mut self, now: Time, pdu: Pdu) {
        match pdu.kind {
            PduKind::SetUp => {
                self.step += 1;
                self.set_up();
                self.ready_since = now;
            }
            PduKind::ReadyToTransfer { length } => self.send_burst(now, pdu, length),
            PduKind::DataIn { status } => {
                self.receive(pdu);
                if let Some(served) = status {
                    self.end(now, pdu.tag, served);
                }
            }
            PduKind::Response { status } => self.end(now, pdu.tag, status),
            PduKind::Command { .. } | PduKind::DataOut { .. } => {
                unreachable!("initiators send these")
            }
        }
        if !matches!(pdu.kind, PduKind::SetUp) {
            self.window = pdu.window;
        }
        self.send_waiting(now);
    }

    /// Requests that have not ended when the connection is closed.
    pub fn take_unanswered(&mut self) -> impl Iterator<Item = (u64, Request)> {
        let under_way = self
            .tasks
            .iter_mut()
            .filter_map(|task| task.take().map(|task| (task.job, task.request)));
        under_way.chain(self.waiting.drain(..).map(|(job, request, _)| (job, request)))
    }

    /// Sends the steps that are its own, until the target's turn comes.
    fn set_up(&mut self) {
        while let Some(step) =
            self.rules.set_up.get(self.step).filter(|step| step.is_from_initiator)
        {
            self.out.push_back(Pdu {
                kind: PduKind::SetUp,
                tag: 0,
                offset: 0,
                data: 0,
                bytes: step.bytes,
                window: 0,
            });
            self.step += 1;
        }
    }

    fn send_waiting(&mut self, now: Time) {
        while self.is_ready()
            && self.sent != self.window
            && self.under_way < self.rules.requests
            && let Some((job, request, begun)) = self.waiting.pop_front()
        {
            self.send_command(now, job, request, begun);
        }
    }

    /// The command with the data that may go with it, and the data that may follow without being
    /// asked for.
    fn send_command(&mut self, now: Time, job: u64, request: Request, begun: Time) {
        let (op, length) = (request.op, request.bytes as u32);
        let immediate = self.rules.immediate_of(op, length);
        let unsolicited = if op == Op::Write { self.rules.unsolicited_of(length) } else { 0 };
        let is_stalled = op == Op::Write && unsolicited < length;
        let stalled = is_stalled.then_some(now);
        let task = Task {
            job,
            request,
            begun,
            sent_at: now,
            moved: immediate,
            stalled,
            ready_to_transfer: Span::ZERO,
        };
        let tag = self.take_tag(task);
        (self.under_way, self.sent) = (self.under_way + 1, self.sent.wrapping_add(1));
        let is_final = unsolicited == immediate;
        self.out.push_back(self.rules.pdu(
            PduKind::Command { request, is_final },
            tag,
            0,
            immediate,
        ));
        if !is_final {
            self.send_data(tag, unsolicited);
        }
    }

    fn take_tag(&mut self, task: Task) -> u32 {
        if let Some(tag) = self.free.pop() {
            self.tasks[tag as usize] = Some(task);
            return tag;
        }
        self.tasks.push(Some(task));
        self.tasks.len() as u32 - 1
    }

    fn task(&mut self, tag: u32) -> &mut Task {
        self.tasks[tag as usize].as_mut().expect("targets speak of requests that are under way")
    }

    /// Data from where it stands up to `until`, in units that the target takes.
    fn send_data(&mut self, tag: u32, until: u32) {
        let most = self.rules.data_out;
        while self.task(tag).moved < until {
            let offset = self.task(tag).moved;
            let data = most.min(until - offset);
            self.task(tag).moved += data;
            let is_final = offset + data == until;
            self.out.push_back(self.rules.pdu(PduKind::DataOut { is_final }, tag, offset, data));
        }
    }

    fn send_burst(&mut self, now: Time, pdu: Pdu, length: u32) {
        let task = self.task(pdu.tag);
        assert!(pdu.offset == task.moved, "data is asked for in order, once");
        let (until, all) = (pdu.offset + length, task.request.bytes as u32);
        assert!(length > 0 && until <= all, "no more is asked for than there is");
        if let Some(since) = task.stalled.take() {
            task.ready_to_transfer += now.since(since);
        }
        task.stalled = (until < all).then_some(now);
        self.send_data(pdu.tag, until);
    }

    fn receive(&mut self, pdu: Pdu) {
        let task = self.task(pdu.tag);
        assert!(task.request.op == Op::Read, "data comes for reads");
        assert!(
            pdu.offset == task.moved && pdu.offset + pdu.data <= task.request.bytes as u32,
            "data comes in order, once"
        );
        task.moved += pdu.data;
    }

    fn end(&mut self, now: Time, tag: u32, served: Served) {
        let task = self.tasks[tag as usize].take().expect("a request has one status");
        assert!(task.moved == task.request.bytes as u32, "the status comes when all data has");
        self.free.push(tag);
        self.under_way -= 1;
        self.done.push_back(Completion {
            job: task.job,
            request: task.request,
            set_up: self.ready_since.max(task.begun).since(task.begun),
            entry: task.sent_at.since(self.ready_since.max(task.begun)),
            ready_to_transfer: task.ready_to_transfer,
            served,
            total: now.since(task.begun),
        });
    }
}
