//! The barrier and the mailboxes of a trial in parts under every interleaving of their threads that
//! matters, and every value that the orderings of their atomic numbers let a thread read (loom).
//! These are the files of the simulator itself, with loom's atomic numbers and locks in place of
//! those of the standard library.

#[path = "../../src/parallel/barrier.rs"]
mod barrier;
#[path = "../../src/parallel/mailboxes.rs"]
mod mailboxes;

/// In place of `parallel/sync.rs`.
mod sync {
    pub(super) use loom::hint;
    pub(super) use loom::sync::Mutex;
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(super) use std::sync::PoisonError;

    #[derive(Clone, Copy, Debug)]
    pub(super) struct Schedule;

    impl Schedule {
        pub(super) fn of_this_thread() -> Schedule {
            Schedule
        }
        pub(super) fn delay(self, _part: usize, _meeting: (usize, bool)) {}
    }

    pub(super) mod thread {
        pub(in super::super) use loom::thread::yield_now;
        pub(in super::super) use std::thread::panicking;

        /// Loom has no time.
        pub(in super::super) fn park_timeout(_: std::time::Duration) {
            yield_now();
        }
    }
}

mod threads {
    pub(super) fn another_has_failed() -> ! {
        panic!("another thread has failed")
    }
}

mod agenda {
    pub(super) type Source = u32;
}

use barrier::{Barrier, WindowReport};
use loom::cell::UnsafeCell;
use loom::sync::Arc as LoomArc;
use mailboxes::{Board, CrossingFrame, Mailboxes};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tailrace_units::Time;
use tailrace_wire::Packet;

/// Threads: two that wait for a third can take turns for ever in loom, which is not fair.
const THREADS: usize = 2;

/// More than there are: a fault may have no end of them.
const PERMUTATIONS_MAX: usize = 100_000;

/// Runs a function with the number of each thread, in all interleavings with so many preemptions.
fn explored<S: 'static>(preemptions: Option<usize>, shared: fn() -> S, run: fn(&S, usize)) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_permutations = Some(PERMUTATIONS_MAX);
    let explored = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&explored);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let shared = LoomArc::new(shared());
        let others: Vec<_> = (1..THREADS)
            .map(|number| {
                let shared = LoomArc::clone(&shared);
                loom::thread::spawn(move || run(&shared, number))
            })
            .collect();
        run(&shared, 0);
        others.into_iter().for_each(|other| other.join().expect("it ends"));
    });
    assert!(explored.load(Ordering::Relaxed) < PERMUTATIONS_MAX, "some were left out");
}

/// Cells that only the barrier protects: by thread, its writes in even and in odd windows.
struct Cells {
    barrier: Barrier,
    cells: Vec<[UnsafeCell<usize>; 2]>,
}

fn cells() -> Cells {
    let cells = (0..THREADS).map(|_| [0, 0].map(UnsafeCell::new)).collect();
    Cells { barrier: Barrier::new(THREADS), cells }
}

fn report_of(window: usize, number: usize) -> WindowReport {
    let at = Time::from_ps((10 * window + number) as u64);
    WindowReport {
        next: at,
        finished: (window + number) as u64,
        events: number as u64,
        is_to_pause: window == 1,
        flow_end: (at, 7),
    }
}

/// Every window is written before a meeting, and read by all after it; the next but one is written
/// to the same places.
fn meet_in_windows(Cells { barrier, cells }: &Cells, number: usize) {
    let _guard = barrier.guard();
    for window in 0..3 {
        cells[number][window % 2].with_mut(|own| {
            // SAFETY: loom fails where anything else has access that no ordering tells to be before
            // or after.
            #[expect(unsafe_code, reason = "what the barrier orders and nothing else")]
            unsafe {
                *own = window + 1;
            }
        });
        let together = barrier.meet(number, window, report_of(window, number));
        let all = (0..THREADS).map(|number| report_of(window, number));
        assert_eq!(together.next, report_of(window, 0).next, "the earliest of all");
        assert_eq!(together.finished, all.map(|report| report.finished).sum::<u64>(), "of all");
        assert_eq!(together.events, THREADS as u64 - 1, "the most");
        assert_eq!((together.is_to_pause, together.flow_end), (window == 1, (together.next, 7)));
        for other in cells {
            // SAFETY: as above.
            #[expect(unsafe_code, reason = "what the barrier orders and nothing else")]
            let read = other[window % 2].with(|other| unsafe { *other });
            assert_eq!(read, window + 1, "it was written before the meeting");
        }
    }
}

#[test]
fn what_is_written_before_a_meeting_is_read_after_it() {
    explored(None, cells, meet_in_windows);
}

/// Messages between parts.
struct Post {
    barrier: Barrier,
    mailboxes: Mailboxes,
    board: Board<usize>,
}

fn post() -> Post {
    Post {
        barrier: Barrier::new(THREADS),
        mailboxes: Mailboxes::new(THREADS),
        board: Board::new(THREADS),
    }
}

/// As the parts do: they meet, read, and post for the next meeting.
fn exchange(Post { barrier, mailboxes, board }: &Post, number: usize) {
    let all = |window: usize| (0..THREADS).map(move |from| 10 * window + from);
    for window in 0..4 {
        barrier.meet(number, window, WindowReport::NOTHING);
        let mut came = Vec::new();
        mailboxes.collect(number, window, |crossing| {
            came.extend(
                crossing.iter().map(|frame| (frame.wire as usize, frame.arrival, frame.packet.seq)),
            );
        });
        let posted = if window == 0 { Vec::new() } else { all(window).collect() };
        assert_eq!(board.read(window), posted, "the news of the window before");
        assert_eq!(
            came,
            posted
                .into_iter()
                .map(|posted| (posted, Time::from_ps(number as u64), window as u64))
                .collect::<Vec<_>>(),
            "and its crossing"
        );
        let next = window + 1;
        board.post(number, next, &mut vec![10 * next + number]);
        for to in 0..THREADS {
            let (wire, arrival) = ((10 * next + number) as u32, Time::from_ps(to as u64));
            let frame = CrossingFrame {
                wire,
                arrival,
                packet: Packet { seq: next as u64, ..Packet::default() },
            };
            mailboxes.post((number, to), next, &mut vec![frame]);
        }
    }
}

#[test]
fn what_is_posted_before_a_meeting_is_collected_after_it_once() {
    explored(Some(3), post, exchange);
}
