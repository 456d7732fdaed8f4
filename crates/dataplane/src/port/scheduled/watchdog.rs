//! The watchdog of a port that chooses: it drops the frames behind a pause that does not end.

use super::{Exit, Scheduled};
use crate::port::Watchdog;
use crate::{DropCause, Frame, Outputs, QueueNo};
use tailrace_units::Time;

impl<F: Frame> Scheduled<F> {
    /// When the watchdog checks next: at the end of a detection or restoration time.
    pub(super) fn next_watch(&self, at: Time, watchdog: Watchdog) -> Time {
        let detections = self.queues.iter().zip(&self.storms).filter_map(|(q, storm)| {
            let since = self.pause.paused_since(at, q.head()?.priority())?;
            storm.is_none().then_some(since + watchdog.detection)
        });
        detections.filter(|&due| due > at).min().unwrap_or(Time::NEVER)
    }

    /// Detects storms and flushes their queues; ends storms whose pause is over.
    pub(super) fn watch(&mut self, exit: &mut Exit<'_, impl Outputs<F>>, at: Time) {
        let Some(watchdog) = self.watchdog else { return };
        for queue in 0..self.queues.len() {
            let Some(priority) = self.queues[queue].head().map(F::priority) else { continue };
            let stuck = self
                .pause
                .paused_since(at, priority)
                .is_some_and(|since| at >= since + watchdog.detection);
            if stuck && self.storms[queue].is_none() {
                self.storms[queue] = Some(at);
                self.storms_detected += 1;
                self.flush(exit, at, queue);
            }
        }
    }

    /// Whether frames that arrive at a queue are dropped. A storm is over when the pause has been
    /// for long enough; the next frame finds out.
    #[inline(never)]
    pub(super) fn is_in_storm(&mut self, now: Time, queue: QueueNo, priority: u8) -> bool {
        let Some(watchdog) = self.watchdog else { return false };
        if self.storms[queue].is_some()
            && now >= self.pause.ends_at(priority) + watchdog.restoration
        {
            self.storms[queue] = None;
            self.storms_ended += 1;
        }
        self.storms[queue].is_some()
    }

    fn flush(&mut self, exit: &mut Exit<'_, impl Outputs<F>>, at: Time, queue: QueueNo) {
        while self.queues[queue].len() > 0 {
            let (_, bytes) = self.release_head(exit, at, queue);
            let q = &mut self.queues[queue];
            let frame = q.fetch_head();
            q.counters.count_drop(DropCause::Watchdog, bytes);
            exit.out.dropped(at, exit.transmitter.number, queue, &frame, DropCause::Watchdog);
        }
    }
}
