//! The barrier at which the threads of a trial wait for each other after every window and exchange
//! their reports.

use super::sync::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, Schedule, hint, thread,
};
use super::threads::another_has_failed;
use crate::agenda::Source;
use tailrace_units::Time;

/// Rounds of waiting in which a thread spins: a fraction of a microsecond for each hundred.
const SPINS: u32 = 500;
/// Rounds in which it yields the processor before it sleeps.
const YIELDS: u32 = 2_000;

/// The report of a part at the end of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WindowReport {
    /// When its next event is due, or the first frame that it has handed over arrives.
    pub(super) next: Time,
    /// How many users have finished in it since the threads began.
    pub(super) finished: u64,
    /// The events that it has handled in the window; together, the most of them.
    pub(super) events: u64,
    /// Whether the threads are to end early.
    pub(super) is_to_pause: bool,
    /// The first event that can end a flow of another part.
    pub(super) flow_end: (Time, Source),
}

impl WindowReport {
    /// The report of a part without events.
    pub(super) const NOTHING: WindowReport = WindowReport {
        next: Time::NEVER,
        finished: 0,
        events: 0,
        is_to_pause: false,
        flow_end: (Time::NEVER, Source::MAX),
    };
}

/// The reports of one part, on a cache line of its own: those of even and of odd windows.
#[derive(Debug, Default)]
#[repr(align(128))]
struct ReportSlot {
    next: [AtomicU64; 2],
    finished: [AtomicU64; 2],
    events: [AtomicU64; 2],
    is_to_pause: [AtomicBool; 2],
    flow_end: [(AtomicU64, AtomicU32); 2],
}

/// A barrier for a fixed number of threads.
#[derive(Debug)]
pub(super) struct Barrier {
    slots: Vec<ReportSlot>,
    waiting: AtomicUsize,
    /// Counts completed rounds.
    round: AtomicU32,
    /// A thread has panicked: the others end too.
    is_broken: AtomicBool,
    /// The schedule of the thread that began the trial.
    schedule: Schedule,
}

impl Barrier {
    pub(super) fn new(threads: usize) -> Barrier {
        let slots = std::iter::repeat_with(ReportSlot::default).take(threads).collect();
        let (waiting, round, is_broken) =
            (AtomicUsize::new(0), AtomicU32::new(0), AtomicBool::new(false));
        Barrier { slots, waiting, round, is_broken, schedule: Schedule::of_this_thread() }
    }

    /// Waits until every thread has reported on this window, and returns the reports combined. A
    /// report is kept until all threads have read it: its slot is written again in the window after
    /// the next.
    ///
    /// # Panics
    /// When another thread has panicked.
    pub(super) fn meet(&self, part: usize, window: usize, report: WindowReport) -> WindowReport {
        let parity = window % 2;
        let own = &self.slots[part];
        own.next[parity].store(report.next.ps(), Ordering::Relaxed);
        own.finished[parity].store(report.finished, Ordering::Relaxed);
        own.events[parity].store(report.events, Ordering::Relaxed);
        own.is_to_pause[parity].store(report.is_to_pause, Ordering::Relaxed);
        own.flow_end[parity].0.store(report.flow_end.0.ps(), Ordering::Relaxed);
        own.flow_end[parity].1.store(report.flow_end.1, Ordering::Relaxed);
        self.schedule.delay(part, (window, false));
        self.wait();
        self.schedule.delay(part, (window, true));
        let mut together = WindowReport::NOTHING;
        for slot in &self.slots {
            together.next =
                together.next.min(Time::from_ps(slot.next[parity].load(Ordering::Relaxed)));
            together.finished += slot.finished[parity].load(Ordering::Relaxed);
            together.events = together.events.max(slot.events[parity].load(Ordering::Relaxed));
            let (at, source) = &slot.flow_end[parity];
            let flow_end =
                (Time::from_ps(at.load(Ordering::Relaxed)), source.load(Ordering::Relaxed));
            together.flow_end = together.flow_end.min(flow_end);
            together.is_to_pause |= slot.is_to_pause[parity].load(Ordering::Relaxed);
        }
        together
    }

    fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        // The last thread to arrive acquires the writes that the others have released by arriving,
        // and releases all of them with the new round.
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.slots.len() {
            self.waiting.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut rounds = 0;
        while self.round.load(Ordering::Acquire) == round {
            if self.is_broken.load(Ordering::Relaxed) {
                another_has_failed();
            }
            rounds += 1;
            if rounds < SPINS {
                hint::spin_loop();
            } else if rounds < SPINS + YIELDS {
                thread::yield_now();
            } else {
                thread::park_timeout(std::time::Duration::from_micros(50));
            }
        }
    }

    /// Lets the others end when the thread that holds this panics.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

/// See [`Barrier::guard`].
pub(super) struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.is_broken.store(true, Ordering::Relaxed);
        }
    }
}
