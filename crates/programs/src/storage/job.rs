//! A job: a thread of an initiator that has requests under way.

use super::pattern::{Draws, Pattern};
use crate::Arrivals;
use tailrace_blockdev::Op;
use tailrace_units::{Distribution, RandomStream, Span, Time};

/// Configuration of a job.
#[derive(Debug)]
pub struct JobConfig {
    /// Counts within the workload.
    pub user: u32,
    /// Requests that it has under way at most, at least one.
    pub depth: u32,
    /// When requests begin.
    pub pace: Pace,
    /// Requests until it ends; 0 for no end.
    pub requests: u64,
    /// Bytes until it ends; 0 for no end.
    pub bytes: u64,
    /// A flush follows so many writes; 0 for none.
    pub flush_every: u64,
    /// The pattern of its requests.
    pub pattern: Pattern,
    /// The random stream of the pattern.
    pub random: RandomStream,
}

/// When the requests of a job begin.
#[derive(Debug)]
pub enum Pace {
    /// Each follows one that has ended, after a pause (picoseconds).
    Closed {
        /// The first ones.
        start: Time,
        /// Pauses.
        think: Distribution,
        /// The random stream of pauses.
        random: RandomStream,
    },
    /// By themselves.
    Open(Arrivals),
}

/// The next request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    pub(super) op: Op,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// A job, with where it is.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) user: u32,
    pace: Pace,
    /// Requests that may be begun besides those under way.
    pub(super) free: u32,
    /// Begun, except flushes.
    begun: u64,
    requests: u64,
    /// Bytes that are still to be asked for.
    bytes_left: Option<u64>,
    pub(super) underway: u32,
    flush_every: u64,
    writes: u64,
    is_flushing: bool,
    /// A start is noted for it, or the flush that it waits for.
    is_armed: bool,
    draws: Draws,
}

impl Job {
    pub(super) fn new(config: JobConfig) -> Job {
        let JobConfig { user, depth, pace, requests, bytes, flush_every, pattern, random } = config;
        Job {
            user,
            pace,
            free: depth,
            begun: 0,
            requests,
            bytes_left: (bytes > 0).then_some(bytes),
            underway: 0,
            flush_every,
            writes: 0,
            is_flushing: false,
            is_armed: false,
            draws: Draws::new(pattern, random),
        }
    }

    /// When requests begin at first: once for each that may be under way in a closed loop.
    pub(super) fn first_starts(&mut self) -> (Time, u32) {
        match &self.pace {
            Pace::Closed { start, .. } => (*start, std::mem::take(&mut self.free)),
            Pace::Open(_) => self.next_start().map_or((Time::NEVER, 0), |at| (at, 1)),
        }
    }

    /// When the next of those that arrive begins, if one may and that is not noted.
    pub(super) fn next_start(&mut self) -> Option<Time> {
        let Pace::Open(arrivals) = &self.pace else { return None };
        let may = self.free > 0 && !self.is_armed && !self.is_flushing && !self.is_used_up();
        (may && !arrivals.next_at().is_never()).then(|| {
            self.is_armed = true;
            arrivals.next_at()
        })
    }

    /// A noted start has come. Returns the request, unless the job waits for a flush (`Err(true)`)
    /// or is finished (`Err(false)`).
    pub(super) fn begin(&mut self) -> Result<Asked, bool> {
        self.is_armed = false;
        if self.is_flushing {
            return Err(true);
        }
        if self.is_used_up() {
            return Err(false);
        }
        let is_open = matches!(self.pace, Pace::Open(_));
        self.free -= u32::from(is_open);
        self.underway += 1;
        if self.flush_every > 0 && self.writes >= self.flush_every {
            (self.writes, self.is_flushing) = (0, true);
            return Ok(Asked { op: Op::Flush, offset: 0, bytes: 0 });
        }
        if let Pace::Open(arrivals) = &mut self.pace {
            arrivals.take();
        }
        let (op, offset, bytes) = self.draws.draw();
        self.begun += 1;
        self.writes += u64::from(op == Op::Write);
        if let Some(left) = &mut self.bytes_left {
            *left = left.saturating_sub(bytes);
        }
        Ok(Asked { op, offset, bytes })
    }

    /// A request has ended. Returns when the next one in its slot begins, of a closed loop.
    pub(super) fn end(&mut self, now: Time, op: Op, pause: Span) -> Option<Time> {
        self.underway -= 1;
        self.is_flushing &= op != Op::Flush;
        match &mut self.pace {
            Pace::Open(_) => {
                self.free += 1;
                None
            }
            Pace::Closed { .. } if op == Op::Flush => Some(now),
            Pace::Closed { think, random, .. } => {
                Some(now + Span::from_ps(think.draw(random)).max(pause))
            }
        }
    }

    /// Whether it asks for no more.
    fn is_used_up(&self) -> bool {
        self.requests > 0 && self.begun >= self.requests || self.bytes_left == Some(0)
    }

    /// Whether it asks for no more, and has nothing under way.
    pub(super) fn is_over(&self) -> bool {
        self.underway == 0 && self.is_used_up()
    }
}
