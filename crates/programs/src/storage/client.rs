//! The program of an initiator.

use super::job::{Job, JobConfig};
use super::path::{Command, Done, Outcome, Path, PathWaits};
use crate::cause::{Came, Cause, Work};
use crate::requests::PAUSE_AFTER_FAILURE;
use crate::{HostCalls, Program, StorageDone, Tallies, Waits};
use std::collections::{BTreeSet, VecDeque};
use tailrace_blockdev::{Op, Request};
use tailrace_transport::tcp::Failure;
use tailrace_units::{Span, Time};

/// Configuration of an initiator.
#[derive(Debug)]
pub struct StorageClientConfig {
    /// Its jobs.
    pub jobs: Vec<JobConfig>,
    /// The way to the device.
    pub path: Box<dyn Path>,
    /// Time of a processor for a request that reads.
    pub read_cost: Span,
    /// The same for one that writes, or flushes.
    pub write_cost: Span,
}

/// A request that has begun.
#[derive(Clone, Copy, Debug)]
struct Begun {
    job: u32,
    intended: Time,
    /// When the job meant to begin the request of this slot: before `intended` for a flush, if a
    /// request was held back there.
    place_since: Time,
    began: Time,
    submitted: Time,
    request: Request,
    is_running: bool,
}

/// A job, with its thread.
#[derive(Debug)]
struct Threaded {
    job: Job,
    /// Requests that wait for its thread.
    ready: VecDeque<u32>,
    /// It works, or waits for a core.
    is_busy: bool,
    /// Starts that wait for the end of a flush.
    held: Vec<Time>,
    is_finished: bool,
}

/// The program of an initiator.
#[derive(Debug)]
pub struct StorageClient {
    jobs: Vec<Threaded>,
    path: Box<dyn Path>,
    costs: [Span; 2],
    begun: Vec<Begun>,
    free_tags: Vec<u32>,
    /// Starts of requests by time and order, with the job.
    starts: BTreeSet<(Time, u64, u32)>,
    next_start: u64,
    /// When threads have worked.
    worked: BTreeSet<(Time, u32)>,
    tallies: Tallies,
}

impl StorageClient {
    /// An initiator that has begun nothing.
    pub fn new(config: StorageClientConfig) -> StorageClient {
        let StorageClientConfig { jobs, path, read_cost, write_cost } = config;
        let threaded = |config| {
            let job = Job::new(config);
            Threaded {
                job,
                ready: VecDeque::new(),
                is_busy: false,
                held: Vec::new(),
                is_finished: false,
            }
        };
        let mut client = StorageClient {
            jobs: jobs.into_iter().map(threaded).collect(),
            path,
            costs: [read_cost, write_cost],
            begun: Vec::new(),
            free_tags: Vec::new(),
            starts: BTreeSet::new(),
            next_start: 0,
            worked: BTreeSet::new(),
            tallies: Tallies::default(),
        };
        for number in 0..client.jobs.len() as u32 {
            let (at, times) = client.jobs[number as usize].job.first_starts();
            (0..times).for_each(|_| client.note_start(at, number));
        }
        client
    }

    fn note_start(&mut self, at: Time, job: u32) {
        self.starts.insert((at, self.next_start, job));
        self.next_start += 1;
    }

    /// Everything that can go on does.
    fn settle(&mut self, now: Time, calls: &mut dyn HostCalls) {
        loop {
            if let Some(done) = self.path.poll_done() {
                self.handle_done(now, done, calls);
            } else if let Some(&(at, number)) = self.worked.first()
                && at <= now
            {
                self.worked.pop_first();
                self.handle_work_done(now, number, calls);
            } else if let Some(&(at, _, number)) = self.starts.first()
                && at <= now
            {
                self.starts.pop_first();
                self.begin(now, at, number, calls);
            } else {
                return;
            }
        }
    }

    fn begin(&mut self, now: Time, intended: Time, number: u32, calls: &mut dyn HostCalls) {
        let threaded = &mut self.jobs[number as usize];
        let asked = match threaded.job.begin() {
            Ok(asked) => asked,
            Err(waits) => {
                if waits {
                    threaded.held.push(intended);
                }
                return;
            }
        };
        self.tallies.begun += u64::from(asked.op != Op::Flush);
        // The writes that a flush covers have begun before: it is not late. The request that was
        // held back in its slot is.
        let place_since = intended;
        let intended = if asked.op == Op::Flush { now } else { intended };
        let request = Request { op: asked.op, offset: asked.offset, bytes: asked.bytes, tag: 0 };
        let begun = Begun {
            job: number,
            intended,
            place_since,
            began: now,
            submitted: now,
            request,
            is_running: true,
        };
        let tag = self.take_tag(begun);
        self.jobs[number as usize].ready.push_back(tag);
        self.work_on(now, number, calls);
        self.note_next(number);
    }

    /// Of requests that arrive by themselves, the start of the next one.
    fn note_next(&mut self, number: u32) {
        if let Some(at) = self.jobs[number as usize].job.next_start() {
            self.note_start(at, number);
        }
    }

    fn take_tag(&mut self, begun: Begun) -> u32 {
        let tag = self.free_tags.pop().unwrap_or(self.begun.len() as u32);
        let begun = Begun { request: Request { tag: tag.into(), ..begun.request }, ..begun };
        if tag as usize == self.begun.len() {
            self.begun.push(begun);
        } else {
            self.begun[tag as usize] = begun;
        }
        tag
    }

    /// The thread of a job takes the completed requests, if it has no other work.
    fn work_on(&mut self, now: Time, number: u32, calls: &mut dyn HostCalls) {
        while !self.jobs[number as usize].is_busy
            && let Some(&tag) = self.jobs[number as usize].ready.front()
        {
            if self.cost(tag) == Span::ZERO {
                self.submit_first(now, number, calls);
            } else {
                self.jobs[number as usize].is_busy = true;
                if calls.ask_core(number) {
                    self.work(number, calls);
                }
            }
        }
    }

    /// The thread of a job has a core.
    fn work(&mut self, number: u32, calls: &mut dyn HostCalls) {
        let &tag = self.jobs[number as usize]
            .ready
            .front()
            .expect("a thread asks for a core to work on something");
        let until = calls.compute(self.cost(tag));
        self.worked.insert((until, number));
    }

    fn handle_work_done(&mut self, now: Time, number: u32, calls: &mut dyn HostCalls) {
        calls.leave_core();
        self.jobs[number as usize].is_busy = false;
        self.submit_first(now, number, calls);
        self.work_on(now, number, calls);
    }

    fn submit_first(&mut self, now: Time, number: u32, calls: &mut dyn HostCalls) {
        let tag = self.jobs[number as usize].ready.pop_front().expect("something is ready");
        let begun = &mut self.begun[tag as usize];
        begun.submitted = now;
        self.path.submit(
            now,
            Command { tag, job: number, request: begun.request, began: begun.began },
            calls,
        );
    }

    fn cost(&self, tag: u32) -> Span {
        let [read, write] = self.costs;
        if self.begun[tag as usize].request.op == Op::Read { read } else { write }
    }

    fn handle_done(&mut self, now: Time, done: Done, calls: &mut dyn HostCalls) {
        let Done { tag, at, outcome } = done;
        let begun = self.begun[tag as usize];
        self.begun[tag as usize].is_running = false;
        self.free_tags.push(tag);
        let is_flush = begun.request.op == Op::Flush;
        match outcome {
            Outcome::Complete(waits) => self.tell(now, at, &begun, waits, calls),
            Outcome::Failed => self.tallies.failed += u64::from(!is_flush),
        }
        let pause = if outcome == Outcome::Failed { PAUSE_AFTER_FAILURE } else { Span::ZERO };
        self.go_on(now, &begun, pause, calls);
    }

    /// Reports a completed request. The time until the program learns of it is time of the
    /// processor.
    fn tell(
        &mut self,
        now: Time,
        at: Time,
        begun: &Begun,
        path: PathWaits,
        calls: &mut dyn HostCalls,
    ) {
        let &Begun { job, intended, began, submitted, request, .. } = begun;
        let user = self.jobs[job as usize].job.user;
        let PathWaits { entry, network, r2t, queue, device, pieces, pieces_wait, busy } = path;
        let processor = submitted.since(began) + now.since(at);
        let waits =
            Waits { turn: began.since(intended), processor, entry, network, r2t, queue, device };
        debug_assert_eq!(
            waits.whole(),
            now.since(intended),
            "the parts of the time of a request are all of it"
        );
        let Request { op, bytes, .. } = request;
        calls.storage_done(&StorageDone {
            user,
            op,
            bytes,
            intended,
            waits,
            pieces,
            pieces_wait,
            busy,
        });
        if op != Op::Flush {
            self.tallies.answered += 1;
            // Without a network, the input came from the device.
            let own = Cause {
                came: Came::Nothing,
                by: submitted,
                waited: Span::ZERO,
                work: Work::Device,
            };
            let before = (network + r2t == Span::ZERO).then(|| calls.follows(Some(own)));
            calls.completed(user, intended);
            if let Some(before) = before {
                calls.follows(before);
            }
        }
    }

    /// Begins the requests that the end of a request permits.
    fn go_on(&mut self, now: Time, begun: &Begun, pause: Span, calls: &mut dyn HostCalls) {
        let number = begun.job;
        let next = self.jobs[number as usize].job.end(now, begun.request.op, pause);
        if begun.request.op == Op::Flush {
            let held = std::mem::take(&mut self.jobs[number as usize].held);
            held.into_iter().for_each(|at| self.note_start(at, number));
        }
        if let Some(at) = next {
            let is_late = begun.request.op == Op::Flush && begun.place_since < begun.began;
            self.note_start(if is_late { begun.place_since } else { at }, number);
        }
        self.note_next(number);
        let threaded = &mut self.jobs[number as usize];
        if threaded.job.is_over() && !std::mem::replace(&mut threaded.is_finished, true) {
            calls.finished(threaded.job.user);
        }
    }
}

impl Program for StorageClient {
    fn poll_timeout(&self) -> Time {
        let start = self.starts.first().map_or(Time::NEVER, |&(at, ..)| at);
        let worked = self.worked.first().map_or(Time::NEVER, |&(at, _)| at);
        start.min(worked).min(self.path.poll_timeout())
    }
    fn running(&self, each: &mut dyn FnMut(u32, Time)) {
        for begun in
            self.begun.iter().filter(|begun| begun.is_running && begun.request.op != Op::Flush)
        {
            each(self.jobs[begun.job as usize].job.user, begun.intended);
        }
    }
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        self.path.handle_timeout(now, calls);
        self.settle(now, calls);
    }
    fn handle_core(&mut self, now: Time, thread: u32, calls: &mut dyn HostCalls) {
        self.work(thread, calls);
        self.settle(now, calls);
    }
    fn handle_worked(&mut self, now: Time, thread: u32, calls: &mut dyn HostCalls) {
        // On a host with a processor the end of the work was not known.
        self.worked.remove(&(Time::NEVER, thread));
        self.worked.insert((now, thread));
        self.handle_timeout(now, calls);
    }
    fn handle_connected(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        self.path.handle_connected(now, socket, calls);
        self.settle(now, calls);
    }
    fn handle_waiting(&mut self, _: Time, port: u16, _: &mut dyn HostCalls) {
        unreachable!("an initiator listens at no port, not at {port}");
    }
    fn handle_readable(&mut self, now: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls) {
        self.path.handle_readable(now, socket, bytes, calls);
        self.settle(now, calls);
    }
    fn handle_ended(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        self.path.handle_ended(now, socket, calls);
        self.settle(now, calls);
    }
    fn handle_failed(&mut self, now: Time, socket: u32, why: Failure, calls: &mut dyn HostCalls) {
        self.path.handle_failed(now, socket, why, calls);
        self.settle(now, calls);
    }
    fn tallies(&self) -> Tallies {
        let mut sum = self.path.tallies();
        sum.add(&self.tallies);
        sum
    }
}
