//! The servers of the medium, and the pieces that wait for one of them.

use std::collections::VecDeque;

/// Activity of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Job {
    /// It reads or writes a piece for which the host waits.
    Piece(u32),
    /// It writes data from the cache.
    Drain { serial: u64, offset: u64, bytes: u64 },
}

/// Servers that are all alike.
#[derive(Clone, Debug)]
pub(crate) struct Servers {
    idle: u32,
    pieces: VecDeque<u32>,
    drains: VecDeque<Job>,
    /// The cache had the last server.
    has_drained: bool,
}

impl Servers {
    pub(crate) fn new(servers: u32) -> Servers {
        Servers {
            idle: servers,
            pieces: VecDeque::new(),
            drains: VecDeque::new(),
            has_drained: false,
        }
    }

    pub(crate) fn queue(&mut self, job: Job) {
        match job {
            Job::Piece(piece) => self.pieces.push_back(piece),
            Job::Drain { .. } => self.drains.push_back(job),
        }
    }

    pub(crate) fn release(&mut self) {
        self.idle += 1;
    }

    /// Gives an idle server to waiting work: to pieces first, and in turn with the cache where that
    /// is urgent.
    pub(crate) fn take(&mut self, drains_are_urgent: bool) -> Option<Job> {
        if self.idle == 0 {
            return None;
        }
        let turn_of_drains = self.pieces.is_empty() || drains_are_urgent && !self.has_drained;
        let drain = if turn_of_drains { self.drains.pop_front() } else { None };
        let job = match drain {
            Some(drain) => drain,
            None => Job::Piece(self.pieces.pop_front()?),
        };
        self.has_drained = matches!(job, Job::Drain { .. });
        self.idle -= 1;
        Some(job)
    }
}
