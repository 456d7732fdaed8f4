//! Explanations as columns.

use super::{Explanation, Part};
use std::collections::BTreeMap;
use tailrace_record::{Column, Table};
use tailrace_units::Span;

/// Four tables; an index of a transaction is its row in `causes`. All times are picoseconds.
///
/// `causes`: workload, user, start and end, time by part (`Part::name`), round trips of a window and their number. `causes_queues`: of
/// the time in queues of switches, how much before each wire. `causes_behind`: of the same, how long frames of each workload were sent
/// (`u32::MAX` for frames of switches). `causes_losses`: frames of the path that were dropped.
pub(crate) fn tables(of: &[Explanation]) -> Vec<Table> {
    let u32s = |value: fn(&Explanation) -> u32| Column::U32(of.iter().map(value).collect());
    let times = |value: fn(&Explanation) -> u64| Column::U64(of.iter().map(value).collect());
    let mut columns = vec![
        ("workload", u32s(|one| one.workload)),
        ("user", u32s(|one| one.user)),
        ("start_ps", times(|one| one.start.ps())),
        ("end_ps", times(|one| one.end.ps())),
        ("windowed_ps", times(|one| one.windowed.ps())),
        ("window_rounds", u32s(|one| one.window_rounds)),
    ];
    columns.extend(Part::ALL.map(|part| (part.name(), Column::U64(of.iter().map(|one| one.parts.of(part).ps()).collect()))));
    let spans = |name, key, of_one: fn(&Explanation) -> &BTreeMap<u32, Span>| {
        let rows = || of.iter().zip(0..).flat_map(|(one, row)| of_one(one).iter().map(move |(&key, span)| (row, key, span.ps())));
        let columns = vec![
            ("transaction", Column::U32(rows().map(|row| row.0).collect())),
            (key, Column::U32(rows().map(|row| row.1).collect())),
            ("time_ps", Column::U64(rows().map(|row| row.2).collect())),
        ];
        Table { name, columns }
    };
    let losses = || of.iter().zip(0..).flat_map(|(one, row): (_, u32)| one.losses.iter().map(move |loss| (row, loss)));
    let lost = vec![
        ("transaction", Column::U32(losses().map(|(row, _)| row).collect())),
        ("wire", Column::U32(losses().map(|(_, loss)| loss.wire).collect())),
        ("in_ring", Column::U32(losses().map(|(_, loss)| loss.in_ring.into()).collect())),
        ("at_ps", Column::U64(losses().map(|(_, loss)| loss.at.ps()).collect())),
    ];
    vec![
        Table { name: "causes", columns },
        spans("causes_queues", "wire", |one| &one.queued_at),
        spans("causes_behind", "workload", |one| &one.behind),
        Table { name: "causes_losses", columns: lost },
    ]
}
