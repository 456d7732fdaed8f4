//! Samples of the delivery rate (Linux `tcp_rate.c`; draft-cheng-iccrg-delivery-rate-estimation):
//! each acknowledgement yields the number of segments that were delivered since the newest of those
//! that it delivers was sent, and the time that this took. Only congestion control by a model uses
//! them.

use std::collections::VecDeque;

use tailrace_units::{Span, Time};

use super::recovery::ack_effect::AckEffect;
use super::recovery::segment_ring::{Record, SACKED, SegmentRing};

/// A moment in whole microseconds, as Linux keeps it.
pub(super) fn microseconds(time: Time) -> u64 {
    time.ps() / 1_000_000
}

/// State when a segment was sent.
#[derive(Clone, Copy)]
struct Snapshot {
    /// When the segment was sent that was the newest of those delivered by then.
    first_sent: Time,
    /// When the last delivery was.
    delivered_at: Time,
    /// Segments delivered by then.
    delivered: u64,
    is_app_limited: bool,
}

/// The newest of the segments that an acknowledgement delivers.
#[derive(Clone, Copy)]
struct Newest {
    sent: Time,
    end: u64,
    bytes: u64,
    then: Snapshot,
}

/// The sample of one acknowledgement.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct RateSample {
    /// Segments delivered since the newest of the acknowledged ones was sent.
    pub(super) delivered: u64,
    /// The time that took, in microseconds; `None` if it is not known, or shorter than a round trip
    /// can be.
    pub(super) interval_us: Option<u64>,
    /// Segments delivered before that segment was sent.
    pub(super) prior_delivered: u64,
    /// The application had too little to send in that time.
    pub(super) is_app_limited: bool,
    /// Segments that this acknowledgement delivers, and that it shows to be lost.
    pub(super) acked: u32,
    pub(super) lost: u32,
    /// Segments in flight before it came.
    pub(super) prior_in_flight: u32,
    /// Round trip of the newest segment, if known.
    pub(super) rtt_us: Option<u64>,
    /// Payload of that segment.
    pub(super) newest_bytes: u64,
    /// It is of one short segment, whose acknowledgement may have been delayed.
    pub(super) may_be_delayed: bool,
}

/// The counters of a connection, and a snapshot for each segment in flight.
pub(super) struct Sampler {
    snapshots: VecDeque<Snapshot>,
    /// Number of the segment that the first of them is for.
    base: u64,
    /// Segments delivered; the SYN is one.
    pub(super) delivered: u64,
    pub(super) delivered_at: Time,
    first_sent: Time,
    /// Samples are limited by the application until this many are delivered; 0 for not at all.
    pub(super) app_limited: u64,
    prior_in_flight: u32,
    newest: Option<Newest>,
}

impl Sampler {
    pub(super) fn new() -> Sampler {
        Sampler {
            snapshots: VecDeque::new(),
            base: 0,
            delivered: 1,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited: 0,
            prior_in_flight: 0,
            newest: None,
        }
    }

    /// Segment `number` is sent, for the first time or again (`tcp_rate_skb_sent`).
    pub(super) fn handle_sent(&mut self, now: Time, number: u64, ring: &SegmentRing) {
        if ring.is_empty() {
            self.first_sent = now;
            self.delivered_at = now;
        }
        let snapshot = Snapshot {
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            is_app_limited: self.app_limited != 0,
        };
        let place = (number - self.base) as usize;
        if place == self.snapshots.len() {
            self.snapshots.push_back(snapshot);
        } else {
            self.snapshots[place] = snapshot;
        }
    }

    /// An acknowledgement of everything before `ack` comes; the ring still has it all.
    pub(super) fn begin(&mut self, ack: u64, in_flight: u32, ring: &SegmentRing) {
        self.prior_in_flight = in_flight;
        self.newest = None;
        while self.base < ring.tail {
            let record = ring.get(self.base);
            if record.end() > ack {
                break;
            }
            let then = self.snapshots.pop_front().expect("every segment in flight has a snapshot");
            if !record.has(SACKED) {
                self.note(record, ring.start_of(self.base), then);
            }
            self.base += 1;
        }
    }

    /// A segment is delivered (`tcp_rate_skb_delivered`).
    fn note(&mut self, record: Record, start: u64, then: Snapshot) {
        let is_newer = self
            .newest
            .is_none_or(|newest| (newest.sent, newest.end) < (record.sent, record.end()));
        if is_newer {
            self.newest = Some(Newest {
                sent: record.sent,
                end: record.end(),
                bytes: record.end() - start,
                then,
            });
        }
    }

    /// The acknowledgement has been read: `newest_held` is one more than the number of the newest
    /// segment that it reports as held.
    pub(super) fn finish(
        &mut self,
        now: Time,
        effect: &AckEffect,
        lost: u32,
        minimum: Span,
        ring: &SegmentRing,
    ) -> RateSample {
        if effect.newest_held != 0 {
            let number = effect.newest_held - 1;
            self.note(
                ring.get(number),
                ring.start_of(number),
                self.snapshots[(number - self.base) as usize],
            );
        }
        let acked = effect.delivered();
        self.delivered += u64::from(acked);
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if acked > 0 {
            self.delivered_at = now;
        }
        let mut sample = RateSample {
            acked,
            lost,
            prior_in_flight: self.prior_in_flight,
            ..RateSample::default()
        };
        if let Some(Newest { sent, then, bytes, .. }) = self.newest {
            self.first_sent = sent;
            sample.newest_bytes = bytes;
            sample.prior_delivered = then.delivered;
            sample.delivered = self.delivered - then.delivered;
            sample.is_app_limited = then.is_app_limited;
            let took = |from, to| microseconds(to).saturating_sub(microseconds(from));
            let interval_us = took(then.first_sent, sent).max(took(then.delivered_at, now));
            sample.interval_us = (interval_us > 0
                && interval_us >= microseconds(Time::ZERO + minimum))
            .then_some(interval_us);
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// The two phases of a round are measured, sending and acknowledging, and the longer one
    /// counts: acknowledgements that come all at once do not make the path faster than the sender
    /// was.
    #[test]
    fn compressed_acknowledgements_do_not_raise_the_rate() {
        let mut sampler = Sampler::new();
        let mut ring = SegmentRing::new(0);
        let finish = |sampler: &mut Sampler, ms, acked, ring: &SegmentRing| {
            let effect = AckEffect { acked, ..AckEffect::default() };
            sampler.finish(at_ms(ms), &effect, 0, Span::from_ms(1), ring)
        };
        for (number, ms) in (0..10).chain([12]).enumerate() {
            let number = number as u64;
            if number == 10 {
                sampler.begin(1000, 10, &ring);
                let first = finish(&mut sampler, 10, 1, &ring);
                assert_eq!((first.delivered, first.interval_us), (1, Some(10_000)));
                ring.pop();
            }
            sampler.handle_sent(at_ms(ms), number, &ring);
            ring.push(at_ms(ms), (number + 1) * 1000);
        }
        // Acknowledged from 10 to 13 ms, but sent from 0 to 12.
        sampler.begin(11_000, 10, &ring);
        let sample = finish(&mut sampler, 13, 10, &ring);
        assert_eq!(
            (sample.delivered, sample.interval_us, sample.prior_in_flight),
            (10, Some(12_000), 10)
        );
        assert_eq!(sample.newest_bytes, 1000);
    }

    #[test]
    fn an_interval_below_the_round_trip_is_no_sample() {
        let mut sampler = Sampler::new();
        let mut ring = SegmentRing::new(0);
        sampler.handle_sent(at_ms(0), 0, &ring);
        ring.push(at_ms(0), 1000);
        sampler.begin(1000, 1, &ring);
        let effect = AckEffect { acked: 1, ..AckEffect::default() };
        assert_eq!(sampler.finish(at_ms(4), &effect, 0, Span::from_ms(5), &ring).interval_us, None);
    }

    /// Segments that are sent until the mark is delivered say nothing about the path; later ones
    /// do.
    #[test]
    fn the_limit_of_the_application_ends_when_what_was_in_flight_is_delivered() {
        let mut sampler = Sampler::new();
        let mut ring = SegmentRing::new(0);
        let mut limited = Vec::new();
        sampler.app_limited = 3;
        for number in 0..4 {
            sampler.handle_sent(at_ms(10 * number), number, &ring);
            ring.push(at_ms(10 * number), (number + 1) * 1000);
            sampler.begin((number + 1) * 1000, 1, &ring);
            let effect = AckEffect { acked: 1, ..AckEffect::default() };
            limited.push(
                sampler
                    .finish(at_ms(10 * number + 5), &effect, 0, Span::from_ms(1), &ring)
                    .is_app_limited,
            );
            ring.pop();
        }
        assert_eq!(limited, [true, true, true, false]);
    }
}
