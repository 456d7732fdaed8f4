//! A host whose kernel and programs take time of its cores: threads, their events and their
//! operations.
//!
//! Each program with one socket is a thread; a program with several has one thread that receives
//! events and one for each core that it requests. A thread that has its core does one operation
//! after the other: it receives an event (a system call and a copy), works, writes (another one).
//! The effect of an operation takes place when its work is done. The work of sending follows the
//! sending, and is charged to the sender: a thread, or the soft interrupt that an acknowledgement
//! or a timer has come to.

mod calls;
mod deliver;
mod guest;
mod operations;
mod program_events;
mod queues;
mod run;
mod silent;
mod softirq;

pub use queues::ReceiveCounters;

use crate::cpu::{CoreSet, NewTask, Processor, ProcessorConfig, TaskId};
pub(super) use operations::Operation;
pub(super) use program_events::ProgramEvent;
use queues::RxQueue;
use softirq::Softirq;
use std::collections::{BTreeMap, VecDeque};
use tailrace_transport::tcp::{Handed, Tcp};
use tailrace_units::{Span, Time};

pub(super) const NO_TASK: TaskId = u32::MAX;

/// Cost of the kernel's work on a core.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelCosts {
    /// Each received frame (driver, GRO).
    pub per_frame: Span,
    /// Each NAPI poll.
    pub per_poll: Span,
    /// Each receive interrupt.
    pub per_interrupt: Span,
    /// Each burst or acknowledgement that is handed to the interface.
    pub per_send: Span,
    /// Each system call.
    pub system_call: Span,
    /// Femtoseconds for each byte that a program reads.
    pub read_byte_fs: u64,
    /// Femtoseconds for each byte that a program writes.
    pub write_byte_fs: u64,
    /// Each thread that is woken.
    pub wake_up: Span,
    /// The same where it wakes on a core that has nothing to run.
    pub idle_exit: Span,
}

/// The processor of a host, and the kernel's settings on it.
#[derive(Clone, Debug)]
pub struct ProcessorPolicy {
    /// Cores and scheduler.
    pub processor: ProcessorConfig,
    /// Costs of the kernel, beside those of the receive policy.
    pub costs: KernelCosts,
    /// The core of each receive queue's interrupt.
    pub irq_cores: Vec<u32>,
    /// The control group of each workload's programs.
    pub groups: Vec<u32>,
    /// Frames of one receive soft interrupt (Linux `netdev_budget`).
    pub budget_frames: u32,
    /// Longest receive soft interrupt (Linux `netdev_budget_usecs`).
    pub budget: Span,
    /// Super-frames come whole: the interface of a virtual machine, with offloads.
    pub receives_whole: bool,
}

/// The context in which the kernel acts now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Context {
    /// The soft interrupt of this core.
    Softirq(usize),
    Task(TaskId),
}

/// The owner of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    /// The program of a socket.
    Socket(u32),
    /// The program of a socket for datagrams.
    Datagrams(u32),
    /// A program with several sockets: the thread that receives events.
    Program(u32),
    /// A thread of such a program that has asked for a core.
    Worker { program: u32, thread: u32 },
    /// Free for another owner.
    Unused,
}

/// A thread.
#[derive(Debug)]
pub(super) struct Thread {
    who: Who,
    /// Its next operations.
    operations: VecDeque<Operation>,
    /// The operation on its core.
    running: Option<Operation>,
    /// Events that it will receive after that.
    inbox: VecDeque<ProgramEvent>,
    /// Work that follows from its operations.
    debt: Span,
    /// It reads by itself: it is notified of bytes before it has read them.
    reads_itself: bool,
    /// It waits, or has waited, for events of one socket of its program: it keeps its number.
    is_bound: bool,
    /// When it was woken last.
    awake: Time,
    /// Work since then.
    worked: Span,
    /// It waits for room in the send buffer.
    is_blocked: bool,
    /// It has been notified, or will be, that its deadline has come.
    is_due_reported: bool,
}

impl Thread {
    /// How long it has been awake and not at work: wake-up, other threads, soft interrupts.
    pub(super) fn core_wait(&self, now: Time) -> Span {
        now.since(self.awake).less(self.worked)
    }

    /// Whether the work that follows from earlier operations is done before the next, and not with
    /// it: the next is the program's own work.
    fn owes_first(&self) -> bool {
        self.debt > Span::ZERO && matches!(self.operations.front(), Some(Operation::Compute(_)))
    }
}

/// Threads of a program that ask for cores.
#[derive(Debug, Default)]
struct Workers {
    main: TaskId,
    by_number: BTreeMap<u32, TaskId>,
    /// The thread that waits for events of a socket, if it is not the main one.
    of_socket: BTreeMap<u32, u32>,
    idle: Vec<TaskId>,
}

/// The threads of a host with its processor.
pub(super) struct Threads {
    pub(super) processor: Processor,
    costs: KernelCosts,
    groups: Vec<u32>,
    budget_frames: u32,
    budget: Span,
    receives_whole: bool,
    context: Context,
    queues: Vec<RxQueue>,
    softirqs: Vec<Softirq>,
    /// By task, without the first ones, which are the kernel's.
    list: Vec<Thread>,
    of_socket: Vec<TaskId>,
    of_datagrams: Vec<TaskId>,
    programs: Vec<Workers>,
    /// Threads that wait for room in the send buffer of a socket.
    blocked: Vec<(u32, TaskId)>,
    pub(super) counted: ReceiveCounters,
    /// Cores whose soft interrupt may have something to do that does not run, if there are any.
    to_start: CoreSet,
    may_start: bool,
    /// Frames stay in the ring until a poll takes them: the interrupt is off.
    leaves_frames: bool,
    /// Cores whose work may have no consequences when it is done.
    silent: CoreSet,
    /// When the processor is due, and the deadline that the engine knows: work without consequences
    /// needs no deadline.
    due: Time,
    armed: Time,
    /// Of a virtual machine, the state that was reported to its hypervisor.
    reported: Option<guest::Effects>,
}

impl Threads {
    pub(super) fn new(policy: ProcessorPolicy, gro_bytes: u32, ring_frames: usize) -> Threads {
        let processor = Processor::new(policy.processor);
        Threads {
            softirqs: (0..processor.cores()).map(|_| Softirq::new(gro_bytes)).collect(),
            queues: policy
                .irq_cores
                .iter()
                .map(|&core| RxQueue::new(core as usize, ring_frames))
                .collect(),
            processor,
            costs: policy.costs,
            groups: policy.groups,
            budget_frames: policy.budget_frames,
            budget: policy.budget,
            receives_whole: policy.receives_whole,
            context: Context::Softirq(0),
            list: Vec::new(),
            of_socket: Vec::new(),
            of_datagrams: Vec::new(),
            programs: Vec::new(),
            blocked: Vec::new(),
            counted: ReceiveCounters::default(),
            to_start: CoreSet::default(),
            may_start: false,
            leaves_frames: false,
            silent: CoreSet::default(),
            due: Time::NEVER,
            armed: Time::NEVER,
            reported: None,
        }
    }

    fn add_thread(&mut self, who: Who, owner: u32) -> TaskId {
        let task = self.processor.add_task(NewTask { owner, group: self.groups[owner as usize] });
        let thread = Thread {
            who,
            operations: VecDeque::new(),
            running: None,
            inbox: VecDeque::new(),
            debt: Span::ZERO,
            reads_itself: false,
            is_bound: false,
            awake: Time::ZERO,
            worked: Span::ZERO,
            is_blocked: false,
            is_due_reported: false,
        };
        let at = task as usize - self.processor.cores();
        match self.list.get_mut(at) {
            Some(slot) => *slot = thread,
            None => self.list.push(thread),
        }
        task
    }

    fn thread(&mut self, task: TaskId) -> &mut Thread {
        &mut self.list[task as usize - self.processor.cores()]
    }

    /// A socket with a program of its own was opened.
    pub(super) fn add_socket(&mut self, number: u32, owner: u32) {
        let task = self.add_thread(Who::Socket(number), owner);
        put(&mut self.of_socket, number, task);
    }

    /// It was given back.
    pub(super) fn remove_socket(&mut self, number: u32) {
        let Some(task) = self.task_of(number) else { return };
        self.of_socket[number as usize] = NO_TASK;
        let thread = self.thread(task);
        thread.who = Who::Unused;
        thread.operations.clear();
        thread.inbox.clear();
        self.blocked.retain(|&(_, blocked)| blocked != task);
        self.processor.remove(task);
    }

    pub(super) fn add_datagrams(&mut self, number: u32, owner: u32) {
        let task = self.add_thread(Who::Datagrams(number), owner);
        put(&mut self.of_datagrams, number, task);
    }

    pub(super) fn add_program(&mut self, program: u32, owner: u32) {
        let main = self.add_thread(Who::Program(program), owner);
        self.programs.push(Workers { main, ..Workers::default() });
    }

    /// The thread of a socket that is not a program's.
    fn task_of(&self, socket: u32) -> Option<TaskId> {
        self.of_socket.get(socket as usize).copied().filter(|&task| task != NO_TASK)
    }

    /// When the program of a socket is due, unless it has been notified.
    fn due_of(&self, socket: u32, due: Time) -> Time {
        let is_reported = self
            .task_of(socket)
            .is_some_and(|task| self.list[task as usize - self.processor.cores()].is_due_reported);
        if is_reported { Time::NEVER } else { due }
    }

    /// How long the thread that acts now has been awake and not at work.
    pub(crate) fn core_wait(&self, now: Time) -> Span {
        match self.context {
            Context::Softirq(_) => Span::ZERO,
            Context::Task(task) => self.list[task as usize - self.processor.cores()].core_wait(now),
        }
    }

    /// Since when the thread that acts now has worked or waited for a core.
    pub(super) fn awake_since(&self, now: Time) -> Time {
        match self.context {
            Context::Softirq(_) => now,
            Context::Task(task) => self.list[task as usize - self.processor.cores()].awake,
        }
    }

    /// Charges work to the thread or soft interrupt that acts now.
    pub(super) fn charge(&mut self, work: Span) {
        match self.context {
            Context::Softirq(core) => {
                self.softirqs[core].debt += work;
                self.may_start(core);
            }
            Context::Task(task) => self.thread(task).debt += work,
        }
    }

    /// The soft interrupt of a core may have something to do.
    fn may_start(&mut self, core: usize) {
        self.to_start.insert(core);
        self.may_start = true;
    }

    /// Charges the work for what a connection has handed to the interface since `before`.
    pub(super) fn charge_sent(&mut self, tcp: &Tcp, before: Handed, burst_bytes: u32) {
        let after = tcp.handed();
        if self.costs.per_send == Span::ZERO || after == before {
            return;
        }
        let burst = u64::from((burst_bytes / tcp.mss()).max(1));
        let handed = (after.segments - before.segments).div_ceil(burst) + after.acks - before.acks;
        self.charge(self.costs.per_send.times(handed));
    }

    /// Posts an event to a thread, and wakes it if it sleeps and does not wait for something else.
    fn post(&mut self, task: TaskId, program_event: ProgramEvent, now: Time) {
        let thread = self.thread(task);
        program_event.add_to(&mut thread.inbox);
        if !thread.is_blocked {
            self.wake(task, now);
        }
    }

    fn wake(&mut self, task: TaskId, now: Time) {
        if self.processor.is_asleep(task) {
            self.charge(self.costs.wake_up);
            if let Some(core) = self.processor.wake(task, now)
                && self.processor.runnable(core) == 1
            {
                self.charge(self.costs.idle_exit);
            }
            let thread = self.thread(task);
            (thread.awake, thread.worked) = (now, Span::ZERO);
        }
    }

    /// A socket of a program is given back: its number may be another's soon.
    pub(super) fn forget_socket(&mut self, program: u32, socket: u32, now: Time) {
        let task = self.waiting_for(program, Some(socket));
        self.thread(task).inbox.retain(|program_event| program_event.socket() != Some(socket));
        self.programs[program as usize].of_socket.remove(&socket);
        while let Some(at) = self.blocked.iter().position(|&(blocked, _)| blocked == socket) {
            self.go_on(at, now);
        }
    }

    /// A thread that waited for room goes on.
    fn go_on(&mut self, at: usize, now: Time) {
        let (_, task) = self.blocked.swap_remove(at);
        self.thread(task).is_blocked = false;
        self.wake(task, now);
    }

    /// There is room in the send buffer of this socket: the thread that waited for it continues.
    pub(super) fn unblock(&mut self, socket: u32, tcp: &Tcp, now: Time) {
        if self.blocked.is_empty() || !operations::has_room(tcp) {
            return;
        }
        while let Some(at) = self.blocked.iter().position(|&(blocked, _)| blocked == socket) {
            self.go_on(at, now);
        }
    }
}

fn put(tasks: &mut Vec<TaskId>, number: u32, task: TaskId) {
    if tasks.len() <= number as usize {
        tasks.resize(number as usize + 1, NO_TASK);
    }
    tasks[number as usize] = task;
}
