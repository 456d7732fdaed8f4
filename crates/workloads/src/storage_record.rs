//! The record of requests of storage: by operation, and by wait.

use tailrace_blockdev::Op;
use tailrace_programs::{StorageDone, Waits};
use tailrace_record::Latency;
use tailrace_units::Span;

/// Requests of storage that are complete.
#[derive(Debug, Default)]
pub struct StorageRecord {
    /// How many devices there are.
    pub devices: u64,
    /// Of those that read, that write, and that flush.
    pub of: [OfOp; 3],
    /// Pieces of requests that devices completed.
    pub pieces: u64,
    /// From submission to completion of each, added up (picoseconds).
    pub pieces_wait_ps: u128,
    /// How long devices had something to do, added up.
    pub busy: Span,
}

/// Requests that ask for the same.
#[derive(Debug, Default)]
pub struct OfOp {
    /// From the intended start.
    pub latency: Latency,
    /// The bytes that they read or wrote.
    pub bytes: u64,
    /// Their waits, added up (picoseconds), in the order of [`Waits::NAMES`].
    pub waits_ps: [u128; Waits::NAMES.len()],
}

impl StorageRecord {
    /// Names of operations, as in results.
    pub const NAMES: [&'static str; 3] = ["read", "write", "flush"];

    /// Of so many devices.
    pub fn new(devices: u64) -> StorageRecord {
        StorageRecord { devices, ..StorageRecord::default() }
    }

    /// A request is complete.
    pub fn note(&mut self, done: &StorageDone) {
        let of = match done.op {
            Op::Read => &mut self.of[0],
            Op::Write => &mut self.of[1],
            Op::Flush => &mut self.of[2],
        };
        of.latency.record(done.waits.whole());
        of.bytes += done.bytes;
        of.waits_ps
            .iter_mut()
            .zip(done.waits.parts())
            .for_each(|(sum, part)| *sum += u128::from(part.ps()));
        self.pieces += u64::from(done.pieces);
        self.pieces_wait_ps += u128::from(done.pieces_wait.ps());
        self.busy += done.busy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::Time;

    #[test]
    fn each_request_counts_where_its_name_is() {
        let mut record = StorageRecord::new(1);
        for (op, us) in [(Op::Read, 10), (Op::Write, 20), (Op::Flush, 30)] {
            let waits =
                Waits { queue: Span::from_us(us), device: Span::from_us(1), ..Waits::default() };
            let bytes = us * 100;
            let (intended, pieces_wait, busy) = (Time::ZERO, waits.whole(), Span::from_us(us));
            record.note(&StorageDone {
                user: 0,
                op,
                bytes,
                intended,
                waits,
                pieces: 2,
                pieces_wait,
                busy,
            });
        }
        let queue = Waits::NAMES.iter().position(|&name| name == "queue").expect("it is a part");
        let found = StorageRecord::NAMES
            .iter()
            .zip(&record.of)
            .map(|(&name, of)| (name, of.bytes, of.waits_ps[queue]));
        let expected = [
            ("read", 1_000, 10_000_000),
            ("write", 2_000, 20_000_000),
            ("flush", 3_000, 30_000_000),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert!(record.of.iter().all(|of| of.latency.count() == 1));
        assert_eq!(
            (record.pieces, record.pieces_wait_ps, record.busy),
            (6, 63_000_000, Span::from_us(60))
        );
    }
}
