//! The link between host and device: data crosses it one piece after the other.

use crate::config::LinkConfig;
use crate::requests::Op;
use tailrace_units::{Pace, Span, Time};

/// The link, with when it is free.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    paces: [Pace; 2],
    free: [Time; 2],
    is_duplex: bool,
}

impl Link {
    pub(crate) fn new(config: LinkConfig) -> Link {
        Link {
            paces: [config.read.pace(0), config.write.pace(0)],
            free: [Time::ZERO; 2],
            is_duplex: config.is_duplex,
        }
    }

    /// How long so much data takes.
    pub(crate) fn time(&self, op: Op, bytes: u64) -> Span {
        self.paces[usize::from(op == Op::Write)].time_to_send(bytes)
    }

    /// Data crosses after earlier data. Returns when it is across.
    pub(crate) fn cross(&mut self, now: Time, op: Op, bytes: u64) -> Time {
        let way = usize::from(op == Op::Write && self.is_duplex);
        self.free[way] = self.free[way].max(now) + self.time(op, bytes);
        self.free[way]
    }
}
