//! Inputs of congestion control by a model: sent segments, acknowledgements, and whether the
//! application limits the connection.

use tailrace_units::{Span, Time};

use crate::tcp::Tcp;
use crate::tcp::congestion::{Ack, Path};
use crate::tcp::delivery_rate::RateSample;
use crate::tcp::recovery::ack_effect::AckEffect;

/// Each of these does nothing for a connection without a sampler, and is called only for one that
/// has it.
impl Tcp {
    /// Segment `number` is about to be sent.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_sample_sent(&mut self, now: Time, number: u64) {
        if self.board.in_flight() == 0 {
            self.congestion.handle_transmission_start(now);
        }
        if let Some(paced) = self.congestion.paced_mut() {
            paced.sampler.handle_sent(now, number, &self.board.ring);
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn begin_sample(&mut self, ack: u64) {
        let in_flight = self.board.in_flight();
        if let Some(paced) = self.congestion.paced_mut() {
            paced.sampler.begin(ack, in_flight, &self.board.ring);
        }
    }

    fn finish_sample(&mut self, now: Time, effect: &AckEffect, lost: u32) -> RateSample {
        let Some(paced) = self.congestion.paced_mut() else { return RateSample::default() };
        let mut sample =
            paced.sampler.finish(now, effect, lost, self.rtt.minimum(), &self.board.ring);
        sample.may_be_delayed = effect.acked == 1
            && sample.delivered == 1
            && sample.newest_bytes < u64::from(self.send.mss)
            && self.board.is_clean();
        sample
    }

    /// The connection is open: the model begins with the round trip of the opening.
    pub(crate) fn start_model(&mut self, now: Time) {
        let path = self.path();
        self.congestion.start_model(now, path);
    }

    fn path(&self) -> Path {
        let smoothed_us = self.rtt.smoothed().map(|span| span.ps() / 1_000_000);
        let minimum = self.rtt.minimum();
        let minimum_us = (minimum != Span::FOREVER).then(|| minimum.ps() / 1_000_000);
        Path { mss: self.send.mss, smoothed_us, minimum_us }
    }

    /// An acknowledgement has been read: the model takes its sample, and sets window and pace.
    #[cold]
    #[inline(never)]
    pub(crate) fn follow_model(
        &mut self,
        now: Time,
        effect: &AckEffect,
        newly_lost: u32,
        rtt: Option<Span>,
    ) {
        let mut sample = self.finish_sample(now, effect, newly_lost);
        sample.rtt_us = rtt.map(|rtt| rtt.ps() / 1_000_000);
        let path = self.path();
        let in_flight = self.board.in_flight();
        let lost = self.board.lost_marks;
        let state = self.recovery.state;
        self.congestion.follow_model(|paced| Ack {
            now,
            sample,
            state,
            in_flight,
            lost,
            path,
            paced,
        });
    }

    /// The application writes, or goes on writing when the buffer has room: if it has left the
    /// connection without data, what follows says nothing of the path
    /// (`tcp_rate_check_app_limited`).
    #[cold]
    #[inline(never)]
    pub(crate) fn note_app_limit(&mut self, now: Time) {
        let has_data = self.send.sendable() >= u64::from(self.send.mss);
        let in_flight = self.board.in_flight();
        if has_data
            || in_flight >= self.congestion.cwnd
            || self.board.lost_waiting > 0
            || self.small_queue.waiting(now) > 0
        {
            return;
        }
        if let Some(paced) = self.congestion.paced_mut() {
            paced.sampler.app_limited = (paced.sampler.delivered + u64::from(in_flight)).max(1);
        }
    }
}
