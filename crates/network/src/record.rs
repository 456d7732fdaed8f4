//! The record of an observed port of a switch, owned by the port.

use crate::NetworkFrame;
use tailrace_dataplane::{DropCause, Notification};
use tailrace_record::{DepthHistogram, Series, Traffic};
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// Depth and traffic of one port over time.
#[derive(Clone, Debug)]
pub struct PortRecord {
    /// Bytes that wait.
    pub depth: DepthHistogram,
    /// Bytes whose transmission began, without overhead.
    pub tx_bytes: Series,
    /// Frames dropped.
    pub drop_frames: Series,
    /// Frames marked.
    pub mark_frames: Series,
    /// The source of the frames.
    pub traffic: Traffic,
    /// Times count from here.
    begin: Time,
    /// Everything that happened, where a test asks for it.
    events: Option<Vec<PortEvent>>,
}

/// An event at a port, for comparisons between engines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortEvent {
    /// The transmission of a frame begins and ends.
    Sent(Time, Time, Packet),
    /// A frame is dropped.
    Dropped(Time, DropCause, Packet),
    /// A frame is marked.
    Marked(Time, Packet),
    /// The congestion point of a queue notifies the source of a frame.
    Notified(Time, Notification, Packet),
}

impl PortRecord {
    /// An empty record with the bins that the plan asks for, of so many sources of traffic.
    pub(crate) fn new(plan: &tailrace_plan::RawObserve, sources: usize) -> PortRecord {
        let bins = (plan.series_bins as usize).max(2);
        let width = Span::from_ps(plan.series_bin_ps.max(1));
        let series = || Series::new(bins, width);
        PortRecord {
            depth: DepthHistogram::new(bins, width),
            tx_bytes: series(),
            drop_frames: series(),
            mark_frames: series(),
            traffic: Traffic::new(sources),
            begin: Time::ZERO,
            events: None,
        }
    }

    /// Begins anew at `now`, with this many bytes waiting: its times count from there.
    pub(crate) fn begin(&mut self, empty: &PortRecord, now: Time, waiting_bytes: u64) {
        *self = PortRecord { begin: now, events: self.events.take(), ..empty.clone() };
        self.depth.change(Time::ZERO, waiting_bytes);
    }

    /// Times at depths and frames by source count from `now` on; series stay.
    pub(crate) fn begin_counting(&mut self, now: Time) {
        self.depth.begin_counting(self.since_begin(now));
        self.traffic.begin_counting();
    }

    /// Keeps every event from now on. Memory grows with the run: for tests.
    pub(crate) fn keep_events(&mut self) {
        self.events = Some(Vec::new());
    }

    pub(crate) fn events(&self) -> &[PortEvent] {
        self.events.as_deref().unwrap_or_default()
    }

    /// A frame left. Not inlined, so that ports that nothing observes pay a comparison and no more.
    #[inline(never)]
    pub(crate) fn sent<F: NetworkFrame>(
        &mut self,
        (start, end): (Time, Time),
        source: Option<usize>,
        frame: &F,
    ) {
        self.tx_bytes.add(self.since_begin(start), u64::from(frame.bytes()));
        if let Some(source) = source {
            self.traffic.sent(source, frame.priority(), frame.bytes() as u16);
        }
        self.keep(|| PortEvent::Sent(start, end, *frame.packet()));
    }

    /// A frame of a source was dropped. The source counts only for drops without room: queue
    /// management chooses its drops.
    pub(crate) fn dropped<F: NetworkFrame>(
        &mut self,
        at: Time,
        source: Option<usize>,
        frame: &F,
        cause: DropCause,
    ) {
        self.drop_frames.add(self.since_begin(at), 1);
        if let (Some(source), DropCause::TailDrop | DropCause::BufferFull) = (source, cause) {
            self.traffic.dropped(source, frame.priority(), frame.bytes() as u16);
        }
        self.keep(|| PortEvent::Dropped(at, cause, *frame.packet()));
    }

    pub(crate) fn marked<F: NetworkFrame>(&mut self, at: Time, frame: &F) {
        self.mark_frames.add(self.since_begin(at), 1);
        self.keep(|| PortEvent::Marked(at, *frame.packet()));
    }

    pub(crate) fn notified<F: NetworkFrame>(
        &mut self,
        at: Time,
        frame: &F,
        notification: Notification,
    ) {
        self.keep(|| PortEvent::Notified(at, notification, *frame.packet()));
    }

    /// This many bytes wait from `at` on.
    #[inline(never)]
    pub(crate) fn depth(&mut self, at: Time, bytes: u64) {
        self.depth.change(self.since_begin(at), bytes);
    }

    fn since_begin(&self, at: Time) -> Time {
        Time::ZERO + at.since(self.begin)
    }

    #[inline]
    fn keep(&mut self, event: impl FnOnce() -> PortEvent) {
        if let Some(events) = &mut self.events {
            events.push(event());
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tailrace_plan::RawObserve;
    use tailrace_record::Tally;

    /// Four bins of a microsecond.
    pub(crate) fn observe() -> RawObserve {
        RawObserve {
            ports: Vec::new(),
            series_bins: 4,
            series_bin_ps: 1_000_000,
            transactions_max: 0,
            digest: false,
            warm_up_ps: 0,
            windows_ps: 0,
            interfaces_ps: 0,
        }
    }

    fn frame() -> Packet {
        Packet { frame_bytes: 1_500, ..Packet::default() }
    }

    fn record() -> PortRecord {
        let mut record = PortRecord::new(&observe(), 2);
        record.sent((Time::ZERO, Time::from_ps(1)), Some(1), &frame());
        for cause in DropCause::ALL {
            record.dropped(Time::ZERO, Some(1), &frame(), cause);
        }
        record
    }

    #[test]
    fn a_source_loses_the_frames_that_find_no_room_and_not_those_that_are_chosen() {
        // Tail drop and a full buffer.
        assert_eq!(
            record().traffic.tally(1, |_| true),
            Tally { sent_frames: 1, dropped_frames: 2 }
        );
        assert_eq!(record().traffic.tally(0, |_| true), Tally::default());
    }

    #[test]
    fn after_the_warm_up_traffic_is_counted_anew_and_series_are_kept() {
        let mut record = record();
        record.begin_counting(Time::from_ps(10));
        assert_eq!(record.traffic.tally(1, |_| true), Tally::default());
        assert_eq!(record.drop_frames.bins()[0], DropCause::ALL.len() as u64);
    }
}
