//! A program whose threads send frames, and its receiver.
//!
//! A thread prepares a frame on a core, waits for the lock of the transmit queue, holds it while it
//! hands the frame over, then begins with the next. A thread that waits for the lock keeps its
//! core, as at a spin lock of Linux.

use super::{HostCalls, Message, Program};
use std::collections::{BTreeSet, VecDeque};
use tailrace_transport::tcp::Failure;
use tailrace_units::{Distribution, RandomStream, Span, Time};

/// Configuration of a program that sends frames.
#[derive(Debug)]
pub struct FrameSourceConfig {
    /// Payload of each frame.
    pub payload_bytes: u32,
    /// Its threads.
    pub threads: u32,
    /// The first frame of each.
    pub start: Time,
    /// Pause of a thread after each of its frames.
    pub delay: Span,
    /// From one frame of a thread to its next, at the least.
    pub interval: Span,
    /// Time of a core for a frame, before the lock (picoseconds).
    pub cost: Distribution,
    /// Time for a frame under the lock (picoseconds).
    pub locked: Distribution,
    /// Frames of all threads; 0 for no end.
    pub count: u64,
    /// Costs come from here.
    pub random: RandomStream,
}

/// Activity of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ThreadState {
    /// Nothing, until it is due.
    Pause,
    /// It prepares a frame.
    Prepare,
    /// It waits for the lock.
    Wait,
    /// It has the lock, and hands the frame over.
    Send,
    /// It has sent all frames.
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    step: ThreadState,
    /// When its next frame is due at the earliest.
    next: Time,
    /// Frames that it will send.
    left: u64,
}

/// A program that sends frames.
#[derive(Debug)]
pub struct FrameSource {
    config: FrameSourceConfig,
    threads: Vec<Thread>,
    due: BTreeSet<(Time, u32)>,
    /// The lock of the transmit queue: its holder, and the waiting threads in order.
    holder: Option<u32>,
    waiting: VecDeque<u32>,
    /// The host decides when work is done: threads must request their cores themselves.
    has_processor: bool,
}

impl FrameSource {
    /// Before its first frame.
    pub fn new(config: FrameSourceConfig) -> FrameSource {
        let (count, number) = (config.count, u64::from(config.threads));
        let left = |thread: u64| {
            if count == 0 { u64::MAX } else { count / number + u64::from(thread < count % number) }
        };
        let threads: Vec<_> = (0..number)
            .map(|thread| Thread {
                step: ThreadState::Pause,
                next: config.start,
                left: left(thread),
            })
            .collect();
        let due = (0..config.threads).map(|thread| (config.start, thread)).collect();
        FrameSource {
            config,
            threads,
            due,
            holder: None,
            waiting: VecDeque::new(),
            has_processor: false,
        }
    }

    /// The thread begins with its next frame, or has none.
    fn begin(&mut self, number: u32, calls: &mut dyn HostCalls) {
        let thread = &mut self.threads[number as usize];
        if thread.left == 0 {
            thread.step = ThreadState::Over;
            return;
        }
        thread.step = ThreadState::Prepare;
        if calls.ask_core(number) {
            self.work(number, calls);
        }
    }

    /// The thread has a core for its step.
    fn work(&mut self, number: u32, calls: &mut dyn HostCalls) {
        let FrameSourceConfig { cost, locked, random, .. } = &mut self.config;
        let work = if self.threads[number as usize].step == ThreadState::Send {
            locked.draw(random)
        } else {
            cost.draw(random)
        };
        let done = calls.compute(Span::from_ps(work));
        if done.is_never() {
            self.has_processor = true;
        } else {
            self.due.insert((done, number));
        }
    }

    /// The work of the thread is done, or its pause is over.
    fn advance(&mut self, now: Time, number: u32, calls: &mut dyn HostCalls) {
        match self.threads[number as usize].step {
            ThreadState::Pause => self.begin(number, calls),
            ThreadState::Prepare if self.holder.is_none() => {
                (self.holder, self.threads[number as usize].step) =
                    (Some(number), ThreadState::Send);
                self.work(number, calls);
            }
            ThreadState::Prepare => {
                self.threads[number as usize].step = ThreadState::Wait;
                self.waiting.push_back(number);
            }
            ThreadState::Send => self.send(now, number, calls),
            ThreadState::Wait | ThreadState::Over => {
                unreachable!("a thread that waits has no work")
            }
        }
    }

    /// The frame leaves; the lock is the next thread's.
    fn send(&mut self, now: Time, number: u32, calls: &mut dyn HostCalls) {
        calls.send_datagram(Message {
            socket: 0,
            number: now.ps(),
            bytes: self.config.payload_bytes,
        });
        self.holder = self.waiting.pop_front();
        let FrameSourceConfig { delay, interval, .. } = self.config;
        let thread = &mut self.threads[number as usize];
        thread.left = thread.left.saturating_sub(1);
        thread.next = (thread.next + interval).max(now + delay);
        thread.step = ThreadState::Pause;
        let next = thread.next;
        calls.leave_core();
        if next > now {
            self.due.insert((next, number));
        } else {
            self.begin(number, calls);
        }
        if let Some(holder) = self.holder {
            self.threads[holder as usize].step = ThreadState::Send;
            // Elsewhere it has kept its core.
            if !self.has_processor || calls.ask_core(holder) {
                self.work(holder, calls);
            }
        }
    }
}

impl Program for FrameSource {
    fn poll_timeout(&self) -> Time {
        self.due.first().map_or(Time::NEVER, |&(at, _)| at)
    }
    fn running(&self, _: &mut dyn FnMut(u32, Time)) {}
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        while let Some(&(at, number)) = self.due.first()
            && at <= now
        {
            self.due.pop_first();
            self.advance(now, number, calls);
        }
    }
    fn handle_core(&mut self, _: Time, thread: u32, calls: &mut dyn HostCalls) {
        self.work(thread, calls);
    }
    fn handle_worked(&mut self, now: Time, thread: u32, calls: &mut dyn HostCalls) {
        self.advance(now, thread, calls);
    }
    fn handle_connected(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("it opens no connection");
    }
    fn handle_waiting(&mut self, _: Time, _: u16, _: &mut dyn HostCalls) {
        unreachable!("it does not listen");
    }
    fn handle_readable(&mut self, _: Time, _: u32, _: u64, _: &mut dyn HostCalls) {
        unreachable!("it has no connection");
    }
    fn handle_ended(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("it has no connection");
    }
    fn handle_failed(&mut self, _: Time, _: u32, _: Failure, _: &mut dyn HostCalls) {
        unreachable!("it has no connection");
    }
}

/// A program that counts frames, and how long each was under way.
#[derive(Debug)]
pub struct FrameSink;

impl Program for FrameSink {
    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
    fn running(&self, _: &mut dyn FnMut(u32, Time)) {}
    fn handle_datagram(&mut self, _: Time, message: Message, calls: &mut dyn HostCalls) {
        calls.completed(0, Time::from_ps(message.number));
    }
    fn handle_timeout(&mut self, _: Time, _: &mut dyn HostCalls) {}
    fn handle_core(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("it asks for no core");
    }
    fn handle_connected(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("it opens no connection");
    }
    fn handle_waiting(&mut self, _: Time, _: u16, _: &mut dyn HostCalls) {
        unreachable!("it does not listen");
    }
    fn handle_readable(&mut self, _: Time, _: u32, _: u64, _: &mut dyn HostCalls) {
        unreachable!("it has no connection");
    }
    fn handle_ended(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("it has no connection");
    }
    fn handle_failed(&mut self, _: Time, _: u32, _: Failure, _: &mut dyn HostCalls) {
        unreachable!("it has no connection");
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake_host::Fake;
    use super::*;

    fn source(threads: u32, change: impl FnOnce(&mut FrameSourceConfig)) -> FrameSource {
        let mut config = FrameSourceConfig {
            payload_bytes: 958,
            threads,
            start: Time::ZERO,
            delay: Span::ZERO,
            interval: Span::ZERO,
            cost: Distribution::Constant(1_000),
            locked: Distribution::Constant(0),
            count: 0,
            random: RandomStream::new(1, "frames"),
        };
        change(&mut config);
        FrameSource::new(config)
    }

    /// Frames by the time at which each leaves, until the end (picoseconds). The fake host works
    /// from time zero on; this one from now.
    fn sent(mut source: FrameSource, end: u64) -> Vec<u64> {
        run(&mut source, end)
    }

    fn run(source: &mut FrameSource, end: u64) -> Vec<u64> {
        let mut host = Clocked::default();
        while source.poll_timeout() <= Time::from_ps(end) {
            host.now = source.poll_timeout();
            source.handle_timeout(host.now, &mut host);
        }
        host.fake.sent.iter().map(|message| message.number).collect()
    }

    /// A host without limits that knows the time.
    #[derive(Default)]
    struct Clocked {
        fake: Fake,
        now: Time,
    }

    impl super::super::WorkCalls for Clocked {
        fn compute(&mut self, work: Span) -> Time {
            self.now + work
        }
        fn keeps_core(&mut self, _: Span) -> bool {
            true
        }
        fn leave_core(&mut self) {}
        fn completed(&mut self, _: u32, _: Time) {}
        fn finished(&mut self, _: u32) {}
    }

    impl HostCalls for Clocked {
        fn listen(&mut self, _: u16, _: u32) -> bool {
            true
        }
        fn accept(&mut self, _: u16) -> Option<u32> {
            None
        }
        fn connect(&mut self, _: super::super::Peer) -> Option<u32> {
            None
        }
        fn write(&mut self, _: u32, _: u64) {}
        fn leave_unread(&mut self, _: u32) {}
        fn keep_alive(&mut self, _: u32) {}
        fn read(&mut self, _: u32, _: u64) {}
        fn shut_down(&mut self, _: u32) {}
        fn close(&mut self, _: u32) {}
        fn ends(&self, socket: u32) -> super::super::Ends {
            self.fake.ends(socket)
        }
        fn part_completed(&mut self, _: Time) {}
        fn send_datagram(&mut self, message: Message) {
            self.fake.send_datagram(message);
        }
        fn ask_core(&mut self, _: u32) -> bool {
            true
        }
    }

    #[test]
    fn the_cost_of_a_frame_bounds_each_thread() {
        assert_eq!(sent(source(1, |_| ()), 5_000), [1_000, 2_000, 3_000, 4_000, 5_000]);
        assert_eq!(sent(source(3, |_| ()), 5_000).len(), 15);
    }

    #[test]
    fn the_lock_bounds_all_threads_together() {
        let locked = |threads: u32| {
            sent(
                source(threads, |config| {
                    (config.cost, config.locked) =
                        (Distribution::Constant(200), Distribution::Constant(800));
                }),
                80_000,
            )
        };
        assert_eq!(locked(1).len(), 80);
        // The first frame leaves after 1000 ps, then one every 800.
        for threads in [2, 6] {
            let times = locked(threads);
            assert_eq!(times.len(), 99);
            assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 800), "one thread at a time");
        }
    }

    #[test]
    fn threads_get_the_lock_in_the_order_in_which_they_came() {
        let mut source = source(4, |config| {
            (config.cost, config.locked, config.count) =
                (Distribution::Constant(200), Distribution::Constant(800), 400);
        });
        assert_eq!(run(&mut source, 81_000).len(), 101);
        let left: Vec<u64> = source.threads.iter().map(|thread| thread.left).collect();
        assert_eq!(left, [74, 75, 75, 75], "of a hundred each");
    }

    #[test]
    fn threads_begin_at_the_start() {
        assert_eq!(
            sent(source(2, |config| config.start = Time::from_ps(7_000)), 9_000),
            [8_000, 8_000, 9_000, 9_000]
        );
    }

    #[test]
    fn a_thread_pauses_after_its_frame_and_keeps_to_its_interval() {
        assert_eq!(
            sent(source(1, |config| config.delay = Span::from_ps(4_000)), 12_000),
            [1_000, 6_000, 11_000]
        );
        assert_eq!(
            sent(source(1, |config| config.interval = Span::from_ps(4_000)), 12_000),
            [1_000, 5_000, 9_000]
        );
        // Behind its interval it sends at once.
        let slow = source(1, |config| {
            (config.interval, config.cost) = (Span::from_ps(500), Distribution::Constant(1_000))
        });
        assert_eq!(sent(slow, 3_000), [1_000, 2_000, 3_000]);
    }

    #[test]
    fn the_threads_share_the_count_and_end() {
        assert_eq!(sent(source(4, |config| config.count = 10), 1_000_000).len(), 10);
    }
}
