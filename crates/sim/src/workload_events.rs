//! Events of workloads: applied at once, or logged in each part of a trial and applied in the order
//! in which one thread would have handled them.

use crate::agenda::Source;
use tailrace_host::Carried;
use tailrace_units::Time;
use tailrace_workloads::WorkloadRecord;

/// An event of a workload that counts in the order in which it happens.
#[derive(Clone, Debug)]
pub(crate) enum WorkloadEvent {
    /// A transaction is complete.
    Completed {
        /// Counts within the workload.
        user: u32,
        /// When it was meant to start.
        intended: Time,
        /// The completed flow.
        carried: Option<Carried>,
    },
    /// So is a part of one that began then.
    Part(Time),
    /// A datagram that was sent then has come.
    Datagram(Time),
    /// A user has nothing more to do.
    Finished(u32),
}

/// The position of an event in the order of all: its time, its source, and how often that source
/// has been due at that time before.
pub(crate) type EventKey = (Time, Source, u32);

/// A workload event, with its position in the order of events.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The simulator event in which it was reported.
    pub(crate) key: EventKey,
    /// When it happened.
    pub(crate) now: Time,
    pub(crate) workload: u32,
    pub(crate) event: WorkloadEvent,
}

/// The log of one part.
#[derive(Debug)]
pub(crate) struct Log {
    /// The event that is being handled.
    pub(crate) event: EventKey,
    pub(crate) entries: Vec<Entry>,
    /// How many of them report that a user has finished.
    pub(crate) finished: u64,
}

impl Default for Log {
    fn default() -> Log {
        Log { event: (Time::ZERO, Source::MAX, 0), entries: Vec::new(), finished: 0 }
    }
}

impl Log {
    /// An event is about to be handled.
    #[inline]
    pub(crate) fn begin(&mut self, at: Time, source: Source) {
        let repeated =
            if (self.event.0, self.event.1) == (at, source) { self.event.2 + 1 } else { 0 };
        self.event = (at, source, repeated);
    }

    pub(crate) fn note(&mut self, now: Time, workload: usize, event: WorkloadEvent) {
        self.finished += u64::from(matches!(event, WorkloadEvent::Finished(_)));
        self.entries.push(Entry { key: self.event, now, workload: workload as u32, event });
    }
}

/// Adds an event to the record of its workload. Returns whether that was the last of its users.
pub(crate) fn apply(record: &mut WorkloadRecord, now: Time, event: &WorkloadEvent) -> bool {
    match *event {
        WorkloadEvent::Completed { user, intended, carried } => {
            record.completed(now, user, intended);
            if let Some(carried) = carried {
                record.carried(carried);
            }
        }
        WorkloadEvent::Part(since) => record.parts.record(now.since(since)),
        WorkloadEvent::Datagram(sent) => record.measured(0, sent, now.since(sent)),
        WorkloadEvent::Finished(user) => return record.finished(now, user),
    }
    false
}
