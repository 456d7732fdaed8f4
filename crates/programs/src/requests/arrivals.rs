//! Requests that arrive by themselves, with times of more arrivals.

use tailrace_units::{Distribution, RandomStream, Span, Time};

const MILLI: u128 = 1_000;

/// A time with more arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spike {
    /// Thousandths of the usual rate; above 0.
    pub factor_milli: u64,
    /// Its begin.
    pub from: Time,
    /// Its end.
    pub until: Time,
}

/// Arrivals to be drawn.
#[derive(Clone, Debug)]
pub struct ArrivalsConfig {
    /// Picoseconds between arrivals.
    pub gap: Distribution,
    /// In order, without overlap.
    pub spikes: Vec<Spike>,
    /// They begin after this.
    pub start: Time,
    /// How many; 0 for no end.
    pub count: u64,
    /// Of all that are drawn a client takes one in `clients`, and its first is this one.
    pub client: u64,
    /// How many clients draw the same arrivals.
    pub clients: u64,
    /// The same for all clients.
    pub random: RandomStream,
}

/// The arrivals of one client. They depend on nothing else.
#[derive(Clone, Debug)]
pub struct Arrivals {
    config: ArrivalsConfig,
    next: Time,
    /// The number of the next.
    number: u64,
    spike: usize,
    has_reported_end: bool,
}

impl Arrivals {
    /// Draws the first.
    pub fn new(config: ArrivalsConfig) -> Arrivals {
        Arrivals::begun(config, Arrivals::advance)
    }

    /// The first of all comes at `start`, without a gap before it.
    pub fn at_start(config: ArrivalsConfig) -> Arrivals {
        Arrivals::begun(config, |_| ())
    }

    fn begun(config: ArrivalsConfig, draw_first: fn(&mut Arrivals)) -> Arrivals {
        let (next, number) = (config.start, 0);
        let mut arrivals = Arrivals { config, next, number, spike: 0, has_reported_end: false };
        draw_first(&mut arrivals);
        // One that has no part in a finite number has nothing to end.
        arrivals.has_reported_end =
            arrivals.config.count > 0 && arrivals.config.client >= arrivals.config.count;
        (0..arrivals.config.client).for_each(|_| arrivals.pass());
        arrivals
    }

    /// When the next comes, or [`Time::NEVER`] after the last.
    pub fn next_at(&self) -> Time {
        self.next
    }

    /// Takes the one that comes next: its number among all.
    pub fn take(&mut self) -> u64 {
        let number = self.number;
        (0..self.config.clients).for_each(|_| self.pass());
        number
    }

    /// Whether the last has come; true once.
    pub(super) fn tells_end(&mut self) -> bool {
        let has_ended = self.next.is_never();
        has_ended && !std::mem::replace(&mut self.has_reported_end, true)
    }

    fn pass(&mut self) {
        self.number += 1;
        self.advance();
    }

    fn advance(&mut self) {
        let ArrivalsConfig { ref gap, count, ref mut random, .. } = self.config;
        if self.next.is_never() || count > 0 && self.number >= count {
            self.next = Time::NEVER;
            return;
        }
        let gap = gap.draw(random);
        self.next = self.after(gap);
    }

    /// The time at which a gap of usual time has passed: in a spike it passes `factor` times as
    /// fast.
    fn after(&mut self, gap: u64) -> Time {
        let (mut at, mut left) = (self.next, u128::from(gap) * MILLI);
        loop {
            while self.config.spikes.get(self.spike).is_some_and(|spike| spike.until <= at) {
                self.spike += 1;
            }
            let (factor, until) = match self.config.spikes.get(self.spike) {
                Some(spike) if spike.from <= at => (u128::from(spike.factor_milli), spike.until),
                Some(spike) => (MILLI, spike.from),
                None => (MILLI, Time::NEVER),
            };
            let needed = left.div_ceil(factor);
            let room = u128::from(until.since(at).ps());
            if needed <= room || until.is_never() {
                return Time::from_ps(
                    u64::try_from(u128::from(at.ps()) + needed).unwrap_or(u64::MAX),
                );
            }
            left -= room * factor;
            at = until;
        }
    }
}

/// So much later than the start of a user whose request has failed: otherwise one whose server
/// refuses would ask without end.
pub(crate) const PAUSE_AFTER_FAILURE: Span = Span::from_ms(100);
