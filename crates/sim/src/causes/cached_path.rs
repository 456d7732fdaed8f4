//! Cached paths. A user who is behind schedule waits for all transactions that began since the
//! intended start, so the critical path of each passes through the path of the one before. The time
//! on the common stretch is summed once and not walked again.

use super::Explanation;
use super::frames::{Entry, FrameId, Window};
use super::loss::Loss;
use super::part::{Part, Parts};
use std::collections::{BTreeMap, VecDeque};
use tailrace_units::{Span, Time};

/// Visits of all cached paths, at about 300 bytes each; a path for which there is no room is walked
/// whole.
const VISITS_MAX: usize = 1 << 18;

/// An item that the walk finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// Time of a part.
    Part(Part),
    /// Of that, in a round trip that this window took.
    Windowed(Window),
    /// The beginning of such a round trip.
    Round,
    /// Of the time in queues, the time in this part, before this wire in this class.
    Queued(Part, u32, u8),
    /// Of the time in queues, the time in this part while frames of this workload were sent, until
    /// this time.
    Behind(Part, u32, Time),
}

/// One frame of a path: the interval of the walk from its arrival at the frame to its departure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) frame: FrameId,
    pub(super) entry: Entry,
    /// The round trip of the path at this frame.
    pub(super) round: Option<Window>,
    pub(super) from: Time,
    /// Where the path of the frame ends, and the path of its prior frame begins.
    pub(super) passed: Time,
    /// The time between the two is work.
    pub(super) is_after_work: bool,
    pub(super) to: Time,
    /// Number of times that were found on it.
    pub(super) times: u32,
    pub(super) losses: u32,
}

/// Sums over visits.
#[derive(Debug, Default)]
struct Sums {
    parts: Parts,
    windowed: [Span; 2],
    rounds: u32,
    queued_at: BTreeMap<(Part, u32, u8), Span>,
    behind: BTreeMap<(Part, u32), Span>,
}

/// The path of the latest transactions of one user, from the latest completion back.
#[derive(Debug, Default)]
pub(super) struct CachedPath {
    /// The start of the latest transaction: everything before it is cut off.
    start: Time,
    visits: VecDeque<Visit>,
    times: VecDeque<(Found, Span)>,
    losses: VecDeque<Loss>,
    sums: Sums,
    /// The oldest visit if the start lies within it, so that it counts in part.
    cut: Option<Cut>,
    fresh: Fresh,
    /// When the transaction before the latest was complete.
    before: Time,
}

#[derive(Debug)]
struct Cut {
    visit: Visit,
    times: Vec<(Found, Span)>,
    losses: Vec<Loss>,
}

/// Items that the present walk has found before it reached the cached path.
#[derive(Debug, Default)]
struct Fresh {
    visits: Vec<Visit>,
    times: Vec<(Found, Span)>,
    losses: Vec<Loss>,
    /// Lengths of the lists at the beginning of the current visit.
    times_before: usize,
    losses_before: usize,
}

/// The cached paths of users that are behind, by workload and user.
#[derive(Debug, Default)]
pub(super) struct CachedPaths {
    users: BTreeMap<(u32, u32), UserPath>,
    visits: usize,
}

#[derive(Debug, Default)]
struct UserPath {
    /// When the latest transaction was complete.
    end: Time,
    cached: CachedPath,
}

impl CachedPaths {
    /// Takes out the cached path for a transaction that lasted from `start` to `end`; the caller
    /// puts it back. None if the transaction began after all others were complete, so that its path
    /// does not pass through another.
    pub(super) fn take(
        &mut self,
        user: (u32, u32),
        (start, end): (Time, Time),
    ) -> Option<CachedPath> {
        let user = self.users.entry(user).or_default();
        let is_behind = start < std::mem::replace(&mut user.end, end);
        let cached = std::mem::take(&mut user.cached);
        self.visits -= cached.visits.len();
        is_behind.then_some(cached)
    }

    /// The time since which frames are needed for this user's next transactions: earlier ones are
    /// in the cached path. None if there is no cached path.
    pub(super) fn needs_since(&self, user: (u32, u32)) -> Option<Time> {
        let cached = &self.users.get(&user)?.cached;
        (!cached.visits.is_empty()).then_some(cached.before)
    }

    /// Keeps it, if there is room.
    pub(super) fn put(&mut self, user: (u32, u32), cached: CachedPath) {
        if self.visits + cached.visits.len() <= VISITS_MAX {
            self.visits += cached.visits.len();
            self.users.entry(user).or_default().cached = cached;
        }
    }
}

impl CachedPath {
    /// A walk begins, of a transaction with this start.
    pub(super) fn begin(&mut self, start: Time) {
        self.fresh = Fresh::default();
        if start < self.start {
            self.forget();
        }
        self.start = start;
    }

    /// Whether the cached path passes here. Its later part is dropped.
    pub(super) fn passes(
        &mut self,
        frame: FrameId,
        entry: Entry,
        round: Option<Window>,
        at: Time,
    ) -> bool {
        while self.visits.front().is_some_and(|latest| latest.from > at) {
            let Some(visit) = self.visits.pop_front() else { break };
            self.times.drain(..visit.times as usize).for_each(|time| self.sums.take(time));
            self.losses.drain(..visit.losses as usize);
        }
        self.visits.front().is_some_and(|latest| {
            (latest.frame, latest.entry, latest.round, latest.from) == (frame, entry, round, at)
        })
    }

    /// The walk comes to a frame.
    pub(super) fn visit(&mut self) {
        (self.fresh.times_before, self.fresh.losses_before) =
            (self.fresh.times.len(), self.fresh.losses.len());
    }

    /// The walk continues from the frame.
    pub(super) fn leave(&mut self, visit: Visit) {
        let Fresh { visits, times, losses, times_before, losses_before } = &mut self.fresh;
        let (times, losses) =
            ((times.len() - *times_before) as u32, (losses.len() - *losses_before) as u32);
        visits.push(Visit { times, losses, ..visit });
    }

    /// Notes an item.
    pub(super) fn note(&mut self, found: Found, span: Span) {
        self.fresh.times.push((found, span));
    }

    /// Notes a loss.
    pub(super) fn note_loss(&mut self, loss: Loss) {
        self.fresh.losses.push(loss);
    }

    /// When the walk was at a frame that may have been forgotten.
    pub(super) fn moment(&self, frame: FrameId, entry: Entry) -> Option<Time> {
        self.visits
            .iter()
            .find(|visit| (visit.frame, visit.entry) == (frame, entry))
            .map(|visit| visit.from)
    }

    /// The walk has reached the cached path, which leads from there to the start. Adds the items on
    /// it; work on which the start lies is `own`.
    pub(super) fn follow(&mut self, found: &mut Explanation, own: Part) {
        let start = self.start;
        self.cut.take_if(|cut| cut.visit.from <= start);
        while let Some(&visit) = self.visits.back()
            && visit.to <= start
        {
            self.visits.pop_back();
            let times: Vec<_> =
                self.times.drain(self.times.len() - visit.times as usize..).collect();
            let losses = self.losses.drain(self.losses.len() - visit.losses as usize..).collect();
            times.iter().for_each(|&time| self.sums.take(time));
            self.cut = Some(Cut { visit, times, losses }).filter(|cut| cut.visit.from > start);
        }
        self.sums.add_to(found);
        found.losses.extend(&self.losses);
        if let Some(cut) = &self.cut {
            cut.add_to(found, start, own);
        }
        self.keep_fresh();
    }

    /// The walk has reached its start, and is the whole cached path from now on.
    pub(super) fn replace(&mut self) {
        let (start, fresh) = (self.start, std::mem::take(&mut self.fresh));
        self.forget();
        (self.start, self.fresh) = (start, fresh);
        self.keep_fresh();
    }

    /// Forgets the path.
    pub(super) fn forget(&mut self) {
        *self = CachedPath::default();
    }

    fn keep_fresh(&mut self) {
        let Fresh { visits, times, losses, .. } = std::mem::take(&mut self.fresh);
        self.before = visits.last().map_or(self.before, |visit| visit.to);
        times.iter().for_each(|&time| self.sums.add(time));
        visits.into_iter().rev().for_each(|visit| self.visits.push_front(visit));
        times.into_iter().rev().for_each(|time| self.times.push_front(time));
        losses.into_iter().rev().for_each(|loss| self.losses.push_front(loss));
    }
}

impl Cut {
    /// Adds the items between the start and the point where the walk came to the frame.
    fn add_to(&self, found: &mut Explanation, start: Time, own: Part) {
        let Visit { from, passed, is_after_work, .. } = self.visit;
        let (mut at, mut left, mut is_own) = (from, Span::ZERO, false);
        for &(what, span) in &self.times {
            match what {
                Found::Part(part) => {
                    is_own = is_after_work && at <= passed;
                    let since = Time::from_ps(at.ps() - span.ps());
                    left = at.since(since.max(start).min(at));
                    found.parts.add(if is_own { own } else { part }, left);
                    at = since;
                }
                Found::Windowed(window) if !is_own => {
                    found.windowed += left;
                    if window == Window::Receiver {
                        found.receive_windowed += left;
                    }
                }
                Found::Round if !is_after_work => found.window_rounds += 1,
                Found::Windowed(_) | Found::Round => {}
                Found::Queued(part, wire, class) => {
                    add_to(&mut found.queued_at, (part, wire, class), left)
                }
                Found::Behind(part, workload, until) => {
                    add_to(
                        &mut found.behind,
                        (part, workload),
                        span.min(until.max(start).since(start)),
                    );
                }
            }
        }
        found.losses.extend(&self.losses);
    }
}

/// Adds a span to a sum. A path has only entries that took time.
pub(super) fn add_to<K: Ord>(sums: &mut BTreeMap<K, Span>, key: K, span: Span) {
    if span > Span::ZERO {
        *sums.entry(key).or_insert(Span::ZERO) += span;
    }
}

impl Sums {
    fn add(&mut self, (found, span): (Found, Span)) {
        match found {
            Found::Part(part) => self.parts.add(part, span),
            Found::Windowed(window) => self.windowed[window as usize] += span,
            Found::Round => self.rounds += 1,
            Found::Queued(part, wire, class) => {
                add_to(&mut self.queued_at, (part, wire, class), span)
            }
            Found::Behind(part, workload, _) => add_to(&mut self.behind, (part, workload), span),
        }
    }

    /// Subtracts an item that was added. Sums of zero are removed: a path has only the queues in
    /// which it waited.
    fn take(&mut self, (found, span): (Found, Span)) {
        match found {
            Found::Part(part) => self.parts.take(part, span),
            Found::Windowed(window) => {
                let sum = &mut self.windowed[window as usize];
                *sum = less(*sum, span);
            }
            Found::Round => self.rounds -= 1,
            Found::Queued(part, wire, class) => {
                take_from(&mut self.queued_at, (part, wire, class), span)
            }
            Found::Behind(part, workload, _) => take_from(&mut self.behind, (part, workload), span),
        }
    }

    fn add_to(&self, found: &mut Explanation) {
        for part in Part::ALL {
            found.parts.add(part, self.parts.of(part));
        }
        let [of_receiver, of_congestion] =
            [Window::Receiver, Window::Congestion].map(|window| self.windowed[window as usize]);
        found.windowed += of_receiver + of_congestion;
        found.receive_windowed += of_receiver;
        found.window_rounds += self.rounds;
        for (&queue, &span) in &self.queued_at {
            add_to(&mut found.queued_at, queue, span);
        }
        for (&workload, &span) in &self.behind {
            add_to(&mut found.behind, workload, span);
        }
    }
}

fn less(sum: Span, span: Span) -> Span {
    Span::from_ps(sum.ps() - span.ps())
}

fn take_from<K: Ord>(sums: &mut BTreeMap<K, Span>, key: K, span: Span) {
    if let Some(sum) = sums.get_mut(&key) {
        *sum = less(*sum, span);
        if *sum == Span::ZERO {
            sums.remove(&key);
        }
    }
}
