//! Requests of storage in an outcome.

use crate::storage_record::{OfOp, StorageRecord};
use tailrace_outcome::{StorageDevices, StorageOp, StorageRequests, StorageWaits};

/// By operation: number, duration and waits of requests; and the activity of devices.
pub(super) fn storage_summary(record: &StorageRecord) -> StorageRequests {
    let [read, write, flush] = record.of.each_ref().map(of_op);
    let devices = StorageDevices {
        count: record.devices,
        pieces: record.pieces,
        pieces_wait_s: seconds(record.pieces_wait_ps),
        busy_s: seconds(record.busy.ps().into()),
    };
    StorageRequests { read, write, flush, devices: Some(devices) }
}

fn of_op(of: &OfOp) -> StorageOp {
    let [turn, processor, entry, network, r2t, queue, device] =
        of.waits_ps.map(|ps| Some(seconds(ps)));
    let waits_s = StorageWaits { turn, processor, entry, network, r2t, queue, device };
    StorageOp { count: of.latency.count(), bytes: of.bytes, latency: of.latency.summary(), waits_s }
}

/// Sums over all requests do not fit picoseconds in 64 bits.
fn seconds(ps: u128) -> f64 {
    ps as f64 * 1e-12
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::Span;

    #[test]
    fn device_times_are_reported_in_seconds() {
        let mut record = StorageRecord::new(2);
        (record.pieces, record.pieces_wait_ps, record.busy) = (7, 3_000_000_000, Span::from_ms(1));
        record.of[1].waits_ps[0] = 5_000_000_000;
        let summary = storage_summary(&record);
        assert_eq!(
            summary.devices,
            Some(StorageDevices { count: 2, pieces: 7, pieces_wait_s: 0.003, busy_s: 0.001 })
        );
        assert_eq!(
            (summary.write.waits_s.turn, summary.read.waits_s.turn),
            (Some(0.005), Some(0.0))
        );
    }
}
