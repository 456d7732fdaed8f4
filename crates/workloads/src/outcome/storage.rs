//! What an outcome tells of requests of storage.

use super::latency;
use crate::storage_record::{OfOp, StorageRecord};
use serde_json::{Map, Value, json};
use tailrace_endpoint::app::Waits;

/// By what was asked for: how many, how long, and what they waited for; and what devices did.
pub(super) fn storage_summary(record: &StorageRecord) -> Value {
    let mut summary: Map<String, Value> =
        StorageRecord::NAMES.iter().zip(&record.of).map(|(&name, of)| (name.to_owned(), of_op(of))).collect();
    summary.insert(
        "devices".to_owned(),
        json!({
            "count": record.devices,
            "pieces": record.pieces,
            "pieces_wait_s": seconds(record.pieces_wait_ps),
            "busy_s": seconds(record.busy.ps().into()),
        }),
    );
    summary.into()
}

fn of_op(of: &OfOp) -> Value {
    let waits: Map<String, Value> =
        Waits::NAMES.iter().zip(of.waits_ps).map(|(&name, ps)| (name.to_owned(), seconds(ps).into())).collect();
    json!({"count": of.latency.count(), "bytes": of.bytes, "latency": latency(&of.latency), "waits_s": waits})
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
    fn what_devices_did_is_told_in_seconds() {
        let mut record = StorageRecord::new(2);
        (record.pieces, record.pieces_wait_ps, record.busy) = (7, 3_000_000_000, Span::from_ms(1));
        record.of[1].waits_ps[0] = 5_000_000_000;
        let summary = storage_summary(&record);
        assert_eq!(summary["devices"], json!({"count": 2, "pieces": 7, "pieces_wait_s": 0.003, "busy_s": 0.001}));
        assert_eq!(summary["write"]["waits_s"][Waits::NAMES[0]], json!(0.005));
        assert_eq!(summary["read"]["waits_s"][Waits::NAMES[0]], json!(0.0));
    }
}
