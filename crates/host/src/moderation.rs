//! Interrupt moderation: how long after a first arrival the host polls its receive ring.
//!
//! It belongs to the ring, which is on the far side of the link for the host and on the near side
//! for the sender: the first frame on its way sets the time of the poll, before the host has seen
//! anything.

use tailrace_units::{Distribution, RandomStream, Span, Time};

/// The moderation of one receive ring.
#[derive(Debug)]
pub struct Moderation {
    /// From a first arrival to its poll.
    delay: Span,
    /// Random addition to it; `None` if there is none, because a constant is part of the time
    /// itself.
    jitter: Option<Distribution>,
    stream: RandomStream,
}

impl Moderation {
    /// Polls `coalesce` after a first arrival, and as many picoseconds more as `jitter` draws from
    /// `stream`.
    pub fn new(coalesce: Span, jitter: Distribution, stream: RandomStream) -> Moderation {
        match jitter {
            Distribution::Constant(ps) => {
                Moderation { delay: coalesce + Span::from_ps(ps), jitter: None, stream }
            }
            drawn => Moderation { delay: coalesce, jitter: Some(drawn), stream },
        }
    }

    /// Whether frames are polled as they arrive.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.jitter.is_none() && self.delay == Span::ZERO
    }

    /// When a frame that arrives at `arrival` after a quiet time is polled.
    #[inline]
    pub fn poll_after(&mut self, arrival: Time) -> Time {
        match &self.jitter {
            None => arrival + self.delay,
            Some(jitter) => arrival + self.delay + Span::from_ps(jitter.draw(&mut self.stream)),
        }
    }
}
