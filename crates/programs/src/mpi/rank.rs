//! One rank: a process on a core of its own that is busy with the library, or polls it.

use super::net::Net;
use super::schedule::{CommRank, ScheduleStep};
use super::script::{Call, Job, Script};
use super::time_at;
use super::wire::Item;
use crate::HostCalls;
use crate::cause::Cause;
use std::collections::VecDeque;
use std::sync::Arc;
use tailrace_units::{RandomStream, Span, Time};

/// The present work of the rank, or the action at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Work {
    /// The script goes on.
    Next,
    /// This message of the step is handed over.
    Send(usize),
    /// This came from a rank.
    Take(u32, Item),
    /// The data of an announced message are handed over to this rank.
    Put(u32, u64),
    /// Received data is combined.
    Combine,
}

/// Messages to and from another rank. Messages of a pair are matched in order.
#[derive(Clone, Default, Debug)]
struct Partner {
    /// Receives without a message: bytes.
    posted: VecDeque<u64>,
    /// Messages without a receive.
    unexpected: VecDeque<Item>,
    /// Messages that were announced and not asked for.
    announced: VecDeque<u64>,
}

/// The iteration that a rank runs.
#[derive(Clone, Copy, Debug)]
struct Running {
    /// The iteration of this size; none for a barrier.
    size: Option<u32>,
    counts: bool,
    since: Time,
    next_step: u32,
}

/// One rank.
#[derive(Debug)]
pub(super) struct Rank {
    pub(super) number: u32,
    job: Arc<Job>,
    script: Script,
    running: Option<Running>,
    step: ScheduleStep,
    sent: usize,
    /// Sends and receives of the step that are not complete.
    outstanding: u32,
    partners: Vec<Partner>,
    inbox: VecDeque<(u32, Item)>,
    /// The cause of its acts, beside its own work since then.
    cause: Option<Cause>,
    busy_until: Time,
    work: Option<Work>,
    pub(super) iterations: u64,
    pub(super) messages: u64,
}

impl Rank {
    pub(super) fn new(number: u32, job: Arc<Job>, start: Time, random: RandomStream) -> Rank {
        Rank {
            number,
            script: Script::new(Arc::clone(&job), random),
            running: None,
            step: ScheduleStep::default(),
            sent: 0,
            outstanding: 0,
            partners: vec![Partner::default(); job.ranks as usize],
            inbox: VecDeque::new(),
            cause: None,
            busy_until: start,
            work: Some(Work::Next),
            iterations: 0,
            messages: 0,
            job,
        }
    }

    /// When it wants to be called.
    pub(super) fn poll_timeout(&self) -> Time {
        if self.work.is_some() { self.busy_until } else { Time::NEVER }
    }

    /// The iteration that it is in and that counts: its number among all sizes and ranks, and when
    /// it began.
    pub(super) fn running(&self) -> Option<(u32, Time)> {
        let Running { size, counts, since, .. } = self.running?;
        size.filter(|_| counts).map(|size| (self.record(size), since))
    }

    fn record(&self, size: u32) -> u32 {
        size * self.job.ranks + self.number
    }

    /// Something has come from another rank. It is handled when the rank polls the library; it is
    /// the cause of the next act of a rank that has no other work.
    pub(super) fn handle_item(&mut self, from: u32, item: Item, cause: Option<Cause>) {
        if self.work.is_none() && self.inbox.is_empty() {
            self.cause = cause;
        }
        self.inbox.push_back((from, item));
    }

    /// Does all that can be done by now.
    pub(super) fn advance(&mut self, now: Time, net: &mut Net, calls: &mut dyn HostCalls) {
        loop {
            if self.work.is_some() && self.busy_until > now {
                return;
            }
            if let Some(work) = self.work.take() {
                net.cause = self.cause;
                calls.follows(self.cause);
                self.apply(now, work, net, calls);
            } else if let Some((from, item)) = self.inbox.pop_front() {
                let copied = if let Item::Eager(bytes) = item { bytes } else { 0 };
                let costs = self.job.costs;
                let is_local = net.is_local(from);
                let cost =
                    if is_local { Span::ZERO } else { costs.receive + time_at(costs.copy, copied) };
                self.begin(now + cost, Work::Take(from, item));
            } else if let Some(&(to, _)) = self.step.sends.get(self.sent) {
                let cost = if net.is_local(to) { Span::ZERO } else { self.job.costs.send };
                self.begin(now + cost, Work::Send(self.sent));
                self.sent += 1;
            } else if self.running.is_some() && self.outstanding == 0 {
                self.begin(now + time_at(self.job.costs.combine, self.step.combine), Work::Combine);
            } else {
                return;
            }
        }
    }

    fn begin(&mut self, until: Time, work: Work) {
        (self.busy_until, self.work) = (until, Some(work));
    }

    fn apply(&mut self, now: Time, work: Work, net: &mut Net, calls: &mut dyn HostCalls) {
        match work {
            Work::Next => self.call_next(now, net, calls),
            Work::Combine => self.begin_step(now, net, calls),
            Work::Send(at) => {
                let (to, bytes) = self.step.sends[at];
                self.send(now, to, bytes, net, calls);
            }
            Work::Put(to, bytes) => {
                net.send(now, (self.number, to), Item::Data(bytes), calls);
                net.send(now, (self.number, to), Item::Fin, calls);
                self.outstanding -= 1;
            }
            Work::Take(from, item) => self.take(now, from, item, net, calls),
        }
    }

    fn send(&mut self, now: Time, to: u32, bytes: u64, net: &mut Net, calls: &mut dyn HostCalls) {
        if net.is_local(to) || bytes <= self.job.eager_limit {
            net.send(now, (self.number, to), Item::Eager(bytes), calls);
            self.outstanding -= 1;
        } else {
            self.partners[to as usize].announced.push_back(bytes);
            net.send(now, (self.number, to), Item::Announce(bytes), calls);
        }
    }

    fn take(&mut self, now: Time, from: u32, item: Item, net: &mut Net, calls: &mut dyn HostCalls) {
        let partner = &mut self.partners[from as usize];
        match item {
            Item::Eager(_) | Item::Announce(_) => {
                partner.unexpected.push_back(item);
                self.match_next(now, from, net, calls);
            }
            Item::Put => {
                let bytes =
                    partner.announced.pop_front().expect("only what was announced is asked for");
                self.begin(now + self.job.costs.send, Work::Put(from, bytes));
            }
            Item::Data(_) => {}
            Item::Fin => self.count_message(),
            Item::Hello { .. } | Item::Welcome => unreachable!("connections are the host's"),
        }
    }

    /// The first receive of a partner gets its first message.
    fn match_next(&mut self, now: Time, from: u32, net: &mut Net, calls: &mut dyn HostCalls) {
        let partner = &mut self.partners[from as usize];
        if partner.posted.is_empty() || partner.unexpected.is_empty() {
            return;
        }
        let (posted, message) = (partner.posted.pop_front(), partner.unexpected.pop_front());
        match message {
            Some(Item::Eager(bytes)) => {
                assert_eq!(posted, Some(bytes), "both ranks know the length of a message");
                self.count_message();
            }
            Some(Item::Announce(bytes)) => {
                assert_eq!(posted, Some(bytes), "both ranks know the length of a message");
                net.send(now, (self.number, from), Item::Put, calls);
            }
            _ => unreachable!("only messages wait for receives"),
        }
    }

    fn count_message(&mut self) {
        self.messages += 1;
        self.outstanding -= 1;
    }

    fn call_next(&mut self, now: Time, net: &mut Net, calls: &mut dyn HostCalls) {
        match self.script.next() {
            None => calls.finished(self.number),
            Some(Call::Compute(time)) => self.begin(now + time, Work::Next),
            Some(Call::Barrier) => self.start(now, None, false, net, calls),
            Some(Call::Iteration { size, counts }) => {
                self.start(now, Some(size), counts, net, calls)
            }
        }
    }

    fn start(
        &mut self,
        now: Time,
        size: Option<u32>,
        counts: bool,
        net: &mut Net,
        calls: &mut dyn HostCalls,
    ) {
        self.running = Some(Running { size, counts, since: now, next_step: 0 });
        self.begin_step(now, net, calls);
    }

    /// The step before is over. Begins the next, or ends the call behind the last.
    fn begin_step(&mut self, now: Time, net: &mut Net, calls: &mut dyn HostCalls) {
        let Some(running) = &mut self.running else { return };
        let caller = CommRank { rank: self.number, ranks: self.job.ranks };
        let (collective, bytes) = match running.size.map(|size| self.job.sizes[size as usize]) {
            Some(size) => (size.collective, size.bytes),
            None => (self.job.barrier, 0),
        };
        let has_step = collective.step(caller, bytes, running.next_step, &mut self.step);
        running.next_step += 1;
        self.sent = 0;
        if !has_step {
            return self.end(now, net, calls);
        }
        self.outstanding = (self.step.sends.len() + self.step.receives.len()) as u32;
        for at in 0..self.step.receives.len() {
            let (from, bytes) = self.step.receives[at];
            self.partners[from as usize].posted.push_back(bytes);
            self.match_next(now, from, net, calls);
        }
    }

    fn end(&mut self, now: Time, net: &mut Net, calls: &mut dyn HostCalls) {
        let Running { size, counts, since, .. } = self.running.take().expect("a call ends once");
        self.step.clear();
        if let Some(size) = size.filter(|_| counts && self.job.pattern.is_timed_by(self.number)) {
            self.iterations += 1;
            calls.completed(self.record(size), since);
        }
        self.call_next(now, net, calls);
    }
}
