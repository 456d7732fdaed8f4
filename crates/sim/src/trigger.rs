//! The decision when a trial that has begun on one thread begins again on several.

use std::num::NonZeroU64;
use tailrace_units::{Span, Time};

/// Events of the first stretch of a trial, in which its load is measured: less than a tenth of a
/// second.
pub(super) const STRETCH_EVENTS: u64 = 1 << 18;
/// Events of each part in a window, times the number of parts, from which several threads are to be
/// used: windows cost a tenth of the time then, and more with each part. `benches/cores.py
/// --predict` measures both: docs/models/parallel.md.
pub(super) const WINDOW_EVENTS_MIN: u64 = 50;
/// Work that is repeated is at most this share of the whole.
const PROGRESS_MAX: f64 = 0.125;

/// Checks now and then whether several threads pay.
#[derive(Clone, Debug)]
pub(crate) struct Trigger {
    /// Events of all parts in the time of a window from which on it triggers, and the length of a
    /// window; none where it triggers after the first stretch in any case.
    wanted: Option<(NonZeroU64, Span)>,
    /// Whether the machine has memory and free cores for all parts.
    has_room: fn(usize) -> bool,
    parts: usize,
    /// Events before the next check.
    next: u64,
    /// Events and time at the previous check.
    seen: (u64, Time),
    is_pulled: bool,
}

impl Trigger {
    /// Triggers after the first stretch.
    pub(super) fn certain(parts: usize) -> Trigger {
        Trigger {
            wanted: None,
            has_room: |_| true,
            parts,
            next: STRETCH_EVENTS,
            seen: (0, Time::ZERO),
            is_pulled: false,
        }
    }

    /// Triggers when several threads pay.
    pub(super) fn of(parts: usize, lookahead: Span, has_room: fn(usize) -> bool) -> Trigger {
        let events = NonZeroU64::new((parts * parts) as u64 * WINDOW_EVENTS_MIN);
        Trigger {
            wanted: events.map(|events| (events, lookahead)),
            has_room,
            ..Trigger::certain(parts)
        }
    }

    /// Whether to switch to several threads, after this many events. The completed share of the
    /// trial decides too, because that work is repeated.
    pub(crate) fn is_due(&mut self, events: u64, now: Time, progress: f64) -> bool {
        if events < self.next || self.is_pulled {
            return self.is_pulled;
        }
        let Some((wanted, lookahead)) = self.wanted else {
            self.is_pulled = true;
            return true;
        };
        // The beginning, in which connections open, is not typical: the first check only notes it.
        let (events_before, since) = std::mem::replace(&mut self.seen, (events, now));
        self.next = 2 * events;
        let windows = now.since(since).ps().div_ceil(lookahead.ps().max(1)).max(1);
        let is_dense = (events - events_before) / windows >= wanted.get();
        self.is_pulled = events_before > 0
            && is_dense
            && progress <= PROGRESS_MAX
            && (self.has_room)(self.parts);
        self.is_pulled
    }

    /// Whether it has triggered.
    pub(super) fn is_pulled(&self) -> bool {
        self.is_pulled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of checks after 2^18, 2^19, ... events at which it triggers.
    fn pulled(mut trigger: Trigger, events_per_window: u64, progress: f64) -> Option<u32> {
        (18..24).find(|&power| {
            let events = 1_u64 << power;
            trigger.is_due(events, Time::ZERO + Span::from_us(events / events_per_window), progress)
        })
    }

    #[test]
    fn several_threads_are_for_dense_windows_of_long_trials() {
        let trigger = Trigger::of(4, Span::from_us(1), |_| true);
        let enough = 17 * WINDOW_EVENTS_MIN;
        assert_eq!(
            pulled(trigger.clone(), enough, 0.01),
            Some(19),
            "the first stretch is not typical"
        );
        assert_eq!(
            pulled(trigger.clone(), 15 * WINDOW_EVENTS_MIN, 0.01),
            None,
            "windows are too short of events"
        );
        assert_eq!(pulled(trigger, enough, 0.5), None, "half of it is done");
        assert_eq!(
            pulled(Trigger::of(4, Span::from_us(1), |parts| parts < 4), enough, 0.01),
            None,
            "there is no room"
        );
        assert_eq!(pulled(Trigger::certain(4), 1, 0.9), Some(18), "so it was asked for");
    }
}
