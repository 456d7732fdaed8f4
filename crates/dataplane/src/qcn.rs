//! Quantised congestion notification at the congestion point (IEEE 802.1Qau, clause 30; defaults of
//! IEEE8021-CN-MIB).

use tailrace_units::RandomStream;

/// The stronger the feedback, the more often the queue samples: bytes between samples by the upper
/// three bits of the feedback.
const SAMPLE_BYTES: [u64; 8] = [150_000, 75_000, 50_000, 37_500, 30_000, 25_000, 21_500, 18_500];
/// The bytes between two samples vary at random, so that flows are not sampled in step: uniform
/// from 85 to 115 % of the table (`cp-net-device.cc` of ns-3-dcn, after the standard's clause
/// 30.2.1).
const JITTER_MIN_PERCENT: u64 = 85;
const JITTER_MAX_PERCENT: u64 = 115;
/// Feedback is quantised to six bits.
const FEEDBACK_MAX: u64 = 63;

/// Parameters of a congestion point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QcnPolicy {
    /// Set point of the queue depth (Q_eq), bytes: 26 000 by default, at least 100.
    pub set_point_bytes: u64,
    /// Weight of the queue's growth: 2 by default (cpW = 1, w = 2^1).
    pub weight: u64,
}

/// The content of a congestion notification message, for the source of a sampled frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notification {
    /// Quantised feedback, 1 to 63.
    pub feedback: u8,
    /// Q_eq - Q in octets (the standard sends it in units of 64).
    pub offset: i64,
    /// Q - Q_old in octets.
    pub delta: i64,
}

/// A congestion point: one queue.
#[derive(Clone, Debug)]
pub struct CongestionPoint {
    policy: QcnPolicy,
    random: RandomStream,
    left_until_sample: i64,
    depth_before: u64,
    /// Notifications sent.
    pub sent: u64,
    /// Sum of their feedback.
    pub feedback_sum: u64,
}

impl CongestionPoint {
    /// A congestion point with a random stream of its own for the sampling jitter.
    pub fn new(policy: QcnPolicy, random: RandomStream) -> CongestionPoint {
        let left_until_sample = SAMPLE_BYTES[0] as i64;
        CongestionPoint {
            policy,
            random,
            left_until_sample,
            depth_before: 0,
            sent: 0,
            feedback_sum: 0,
        }
    }

    /// A frame was queued; `depth_bytes` includes it. Returns a notification for its source when it
    /// is sampled and the queue is congested.
    pub(crate) fn enqueued(&mut self, bytes: u32, depth_bytes: u64) -> Option<Notification> {
        self.left_until_sample -= i64::from(bytes);
        if self.left_until_sample > 0 {
            return None;
        }
        let QcnPolicy { set_point_bytes, weight } = self.policy;
        let offset = set_point_bytes as i64 - depth_bytes as i64;
        let delta = depth_bytes as i64 - self.depth_before as i64;
        self.depth_before = depth_bytes;
        let most = ((2 * weight + 1) * set_point_bytes) as i64;
        let congestion = (weight as i64 * delta - offset).clamp(0, most) as u64;
        let feedback = (congestion * (FEEDBACK_MAX + 1) / most as u64).min(FEEDBACK_MAX);
        self.left_until_sample = self.jittered(SAMPLE_BYTES[(feedback / 8) as usize]);
        if feedback == 0 {
            return None;
        }
        self.sent += 1;
        self.feedback_sum += feedback;
        Some(Notification { feedback: feedback as u8, offset, delta })
    }

    /// Bytes until the next sample, with the standard's jitter.
    fn jittered(&mut self, bytes: u64) -> i64 {
        let spread = JITTER_MAX_PERCENT - JITTER_MIN_PERCENT;
        (bytes * JITTER_MIN_PERCENT / 100 + self.random.below(bytes * spread / 100 + 1)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point() -> CongestionPoint {
        CongestionPoint::new(
            QcnPolicy { set_point_bytes: 26_000, weight: 2 },
            RandomStream::new(1, "test"),
        )
    }

    #[test]
    fn a_queue_below_its_set_point_sends_nothing_and_the_largest_feedback_is_63() {
        let mut calm = point();
        (0..150)
            // the first sample sees the queue grow from nothing
            .for_each(|_| assert!(calm.enqueued(1_500, 20_000).is_none_or(|n| n.delta == 20_000)));
        assert!((0..1_000).all(|_| calm.enqueued(1_500, 20_000).is_none()));
        let mut worst = point();
        let first = (0..200).find_map(|_| worst.enqueued(1_500, 200_000));
        // |Fb| is limited to (2w + 1) Qeq = 130 000
        assert_eq!(first.map(|n| n.feedback), Some(63));
    }

    #[test]
    fn stronger_feedback_means_more_samples() {
        let samples = |depth: u64| {
            let mut point = point();
            (0..100_000).filter(|_| point.enqueued(1_500, depth).is_some()).count()
        };
        // Constant depth: the feedback is the offset alone. 150 MB pass; a sample waits for a whole
        // frame, 750 bytes on average.
        let mild = samples(26_000 + 4_100); // feedback 2: 150 kB between samples
        let severe = samples(26_000 + 130_000); // 63: 18.5 kB
        assert!((985..=1_005).contains(&mild), "{mild}");
        assert!((7_710..=7_870).contains(&severe), "{severe}");
    }

    /// Fb = -(Q_off + w Q_delta) in 1/64 of (2w + 1) Q_eq, from one sample to the next.
    #[test]
    fn feedback_weighs_the_offset_and_twice_the_growth() {
        let mut point = point();
        let mut next =
            |depth| (0..200).find_map(|_| point.enqueued(1_500, depth)).expect("it is congested");
        let fields = |n: Notification| (n.feedback, n.offset, n.delta);
        assert_eq!(fields(next(40_000)), (46, -14_000, 40_000)); // 94 000 of 130 000
        assert_eq!(fields(next(56_000)), (30, -30_000, 16_000)); // 62 000
        // A queue that shrinks twice as fast as it is too long is left alone; the sample after that
        // sees it stand still.
        assert_eq!(fields(next(46_000)), (9, -20_000, 0));
    }
}
