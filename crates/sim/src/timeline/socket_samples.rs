//! Watched sockets over time: a row for each change.

use tailrace_transport::tcp::TcpStats;
use tailrace_units::Time;

/// Rows that are kept.
const ROWS_MAX: usize = 1 << 20;

/// A socket at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketSample {
    pub(crate) stats: TcpStats,
    /// Congestion window in segments.
    pub(crate) cwnd: u32,
    /// Segments on their way, as the sender believes.
    pub(crate) in_flight: u32,
    /// Bytes per segment.
    pub(crate) mss: u32,
    /// Bytes written and never sent.
    pub(crate) unsent: u64,
}

/// A change of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) at: Time,
    /// Its index among the watched ones.
    pub(super) socket: u32,
    pub(super) cwnd_bytes: u64,
    pub(super) in_flight_bytes: u64,
    pub(super) unsent_bytes: u64,
    /// Timeouts, tail loss probes and repetitions since the previous sample.
    pub(super) events: [u32; 3],
}

/// The rows, and the latest sample of each socket.
#[derive(Debug)]
pub(super) struct SocketSamples {
    pub(super) rows: Vec<Row>,
    last: Vec<Option<SocketSample>>,
    pub(super) left_out: u64,
}

impl SocketSamples {
    /// For this many sockets.
    pub(super) fn new(sockets: usize) -> SocketSamples {
        SocketSamples { rows: Vec::new(), last: vec![None; sockets], left_out: 0 }
    }

    pub(super) fn note(&mut self, at: Time, socket: u32, sample: SocketSample) {
        let before = self.last[socket as usize].replace(sample);
        let row = row((at, socket), before.as_ref(), &sample);
        let is_same = before.is_some_and(|before| {
            let values =
                |sample: &SocketSample| (sample.cwnd, sample.in_flight, sample.mss, sample.unsent);
            values(&before) == values(&sample) && row.events == [0; 3]
        });
        if is_same {
            return;
        }
        if self.rows.len() < ROWS_MAX {
            self.rows.push(row);
        } else {
            self.left_out += 1;
        }
    }
}

fn row((at, socket): (Time, u32), before: Option<&SocketSample>, sample: &SocketSample) -> Row {
    let segments = |segments: u32| u64::from(segments) * u64::from(sample.mss);
    let since = sample.stats.since(&before.unwrap_or(sample).stats);
    Row {
        at,
        socket,
        cwnd_bytes: segments(sample.cwnd),
        in_flight_bytes: segments(sample.in_flight),
        unsent_bytes: sample.unsent,
        events: [since.timeouts, since.tail_loss_probes, since.retransmits]
            .map(|count| count as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_row_and_counts_what_happened_since() {
        let mut samples = SocketSamples::new(1);
        let mut sample = SocketSample {
            stats: TcpStats::default(),
            cwnd: 10,
            in_flight: 2,
            mss: 100,
            unsent: 7,
        };
        samples.note(Time::from_ps(1), 0, sample);
        samples.note(Time::from_ps(2), 0, sample);
        sample.stats.timeouts += 1;
        sample.stats.retransmits += 2;
        samples.note(Time::from_ps(3), 0, sample);
        let seen: Vec<_> = samples
            .rows
            .iter()
            .map(|row| (row.at.ps(), row.cwnd_bytes, row.in_flight_bytes, row.events))
            .collect();
        assert_eq!(seen, [(1, 1_000, 200, [0, 0, 0]), (3, 1_000, 200, [1, 0, 2])]);
    }
}
