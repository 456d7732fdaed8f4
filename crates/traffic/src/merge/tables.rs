//! Tables that a simulated trial does not have.

use crate::counters::COUNTERS;
use crate::record::{Item, Record, Sample, Transaction};
use tailrace_plan::Plan;
use tailrace_record::{Column, Table};
use tailrace_units::{Span, Time};
use tailrace_workloads::has_lasting_connections;
use tailrace_workloads::outcome::{WINDOW_ROWS_MAX, WindowRow, tcp_windows};

/// From the intended start of each transaction to the first byte of its answer.
pub fn first_bytes(records: &[Record], end: Time) -> Table {
    let mut rows: Vec<&Transaction> = records
        .iter()
        .flat_map(|record| &record.items)
        .filter_map(|item| {
            if let Item::Transaction(transaction) = item { Some(transaction) } else { None }
        })
        .filter(|transaction| transaction.end <= end)
        .collect();
    rows.sort_by_key(|row| (row.workload, row.end, row.user, row.intended));
    let times = |of: fn(&Transaction) -> u64| Column::U64(rows.iter().map(|row| of(row)).collect());
    Table {
        name: "first_bytes",
        columns: vec![
            ("workload", Column::U32(rows.iter().map(|row| row.workload).collect())),
            ("user", Column::U32(rows.iter().map(|row| row.user).collect())),
            ("start_ps", times(|row| row.intended.ps())),
            ("first_byte_ps", times(|row| row.first_byte.since(row.intended).ps())),
        ],
    }
}

fn samples(records: &[Record]) -> impl Iterator<Item = &Sample> {
    let items = records.iter().flat_map(|record| &record.items);
    items.filter_map(
        |item| if let Item::Sample(sample) = item { Some(sample.as_ref()) } else { None },
    )
}

/// TCP's counters of each connection at every sample; `u64::MAX` where the system does not know.
pub fn tcp_samples(records: &[Record]) -> Table {
    let mut rows: Vec<&Sample> = samples(records).collect();
    rows.sort_by_key(|row| (row.workload, row.user, row.port, row.side, row.at));
    let numbers = |of: fn(&Sample) -> u32| Column::U32(rows.iter().map(|row| of(row)).collect());
    let mut columns = vec![
        ("workload", numbers(|row| row.workload)),
        ("user", numbers(|row| row.user)),
        ("side", numbers(|row| row.side.into())),
        ("client_port", numbers(|row| row.port.into())),
        ("at_ps", Column::U64(rows.iter().map(|row| row.at.ps()).collect())),
        ("received_bytes", Column::U64(rows.iter().map(|row| row.received).collect())),
    ];
    for (place, name) in COUNTERS.into_iter().enumerate() {
        columns.push((
            name,
            Column::U64(rows.iter().map(|row| row.counters.0[place].unwrap_or(u64::MAX)).collect()),
        ));
    }
    Table { name: "tcp_samples", columns }
}

/// Windows of lasting connections before the end, as a simulated trial has them.
pub fn windows(plan: &Plan, records: &[Record], end: Time) -> Table {
    let is_lasting =
        |sample: &&Sample| has_lasting_connections(&plan.workloads[sample.workload as usize]);
    let mut rows: Vec<WindowRow> = samples(records)
        .filter(is_lasting)
        .filter(|sample| sample.at <= end)
        .filter_map(window)
        .collect();
    rows.sort_by_key(|row| row.at);
    rows.truncate(WINDOW_ROWS_MAX);
    tcp_windows(rows)
}

fn window(sample: &Sample) -> Option<WindowRow> {
    let counter = |name| sample.counters.named(name);
    Some(WindowRow {
        workload: sample.workload,
        connection: sample.user,
        side: sample.side.into(),
        at: sample.at,
        window_segments: counter("snd_cwnd")?,
        threshold_segments: counter("snd_ssthresh")?,
        rtt: Span::from_us(counter("rtt_us")?),
        retransmits: counter("total_retrans")?,
    })
}
