//! Events of frames at wires.

use super::Of;
use tailrace_dataplane::DropCause;
use tailrace_units::Time;
use tailrace_wire::Pause;

/// Rows of each kind that are kept of other connections, and as many of watched ones: 100 MB of
/// each together.
const ROWS_MAX: usize = 1 << 20;

/// A frame passes a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) of: Of,
    pub(super) wire: u32,
    pub(super) since: Option<Time>,
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) arrival: Time,
}

/// A frame is dropped before a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropped {
    pub(super) of: Of,
    pub(super) wire: u32,
    pub(super) since: Option<Time>,
    pub(super) at: Time,
    /// None of a host's interface.
    pub(super) cause: Option<DropCause>,
}

/// A frame is marked before a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marked {
    pub(super) of: Of,
    pub(super) wire: u32,
    pub(super) at: Time,
}

/// A pause comes to the port that sends on a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paused {
    pub(super) wire: u32,
    pub(super) at: Time,
    pub(super) pause: Pause,
}

/// A program waited for a core of its host.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoreWait {
    /// Index of its socket among the watched ones.
    pub(super) socket_index: u32,
    pub(super) since: Time,
    pub(super) until: Time,
}

/// Rows that found no room.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftOut {
    pub(super) rows: u64,
    /// The time of the first of them; until then the log is complete.
    pub(super) from: Time,
}

impl Default for LeftOut {
    fn default() -> LeftOut {
        LeftOut { rows: 0, from: Time::NEVER }
    }
}

/// All of them, in the order of the calls.
#[derive(Debug, Default)]
pub(super) struct Hops {
    pub(super) sent: Vec<Hop>,
    pub(super) dropped: Vec<Dropped>,
    pub(super) marked: Vec<Marked>,
    pub(super) paused: Vec<Paused>,
    pub(super) left_out: LeftOut,
}

impl Hops {
    pub(super) fn add(&mut self, hop: Hop) {
        keep(&mut self.sent, hop, (hop.start, hop.of.frame.is_some()), &mut self.left_out);
    }

    pub(super) fn dropped(&mut self, dropped: Dropped) {
        keep(
            &mut self.dropped,
            dropped,
            (dropped.at, dropped.of.frame.is_some()),
            &mut self.left_out,
        );
    }

    pub(super) fn marked(&mut self, marked: Marked) {
        keep(&mut self.marked, marked, (marked.at, marked.of.frame.is_some()), &mut self.left_out);
    }

    pub(super) fn paused(&mut self, paused: Paused) {
        keep(&mut self.paused, paused, (paused.at, false), &mut self.left_out);
    }
}

/// Rows of watched connections have room for as many again.
fn keep<T>(rows: &mut Vec<T>, row: T, (at, is_watched): (Time, bool), left_out: &mut LeftOut) {
    if rows.len() < ROWS_MAX << u8::from(is_watched) {
        rows.push(row);
    } else {
        left_out.rows += 1;
        left_out.from = left_out.from.min(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_whole_until_the_earliest_row_that_found_no_room() {
        let mut left_out = LeftOut::default();
        let mut rows = vec![(); ROWS_MAX - 1];
        for at in [10, 30, 20, 40] {
            keep(&mut rows, (), (Time::from_ps(at), false), &mut left_out);
        }
        assert_eq!((rows.len(), left_out.rows, left_out.from), (ROWS_MAX, 3, Time::from_ps(20)));
        keep(&mut rows, (), (Time::from_ps(5), true), &mut left_out);
        assert_eq!(
            (rows.len(), left_out.rows),
            (ROWS_MAX + 1, 3),
            "watched connections have room of their own"
        );
    }
}
