//! Explanations as columns.

use super::{Explanation, LostDatagrams, Part};
use tailrace_record::{Column, Table};

/// Five tables; an index of a transaction is its row in `causes`. All times are picoseconds.
///
/// `causes`: workload, user, start and end, time by part (`Part::name`), round trips of a window
/// and their number. `causes_queues`: of the time of the parts that are queues, how much before
/// each wire in each class. `causes_behind`: of the same, how long frames of each workload were
/// sent (`u32::MAX` for frames of switches). `causes_losses`: frames of the path that were dropped.
/// `causes_lost`: by workload and place, datagrams that were lost, and are in no other table.
pub(crate) fn tables(of: &[Explanation], lost_datagrams: &LostDatagrams) -> Vec<Table> {
    let u32s = |value: fn(&Explanation) -> u32| Column::U32(of.iter().map(value).collect());
    let times = |value: fn(&Explanation) -> u64| Column::U64(of.iter().map(value).collect());
    let mut columns = vec![
        ("workload", u32s(|one| one.workload)),
        ("user", u32s(|one| one.user)),
        ("start_ps", times(|one| one.start.ps())),
        ("end_ps", times(|one| one.end.ps())),
        ("windowed_ps", times(|one| one.windowed.ps())),
        ("receive_windowed_ps", times(|one| one.receive_windowed.ps())),
        ("window_rounds", u32s(|one| one.window_rounds)),
    ];
    columns.extend(Part::ALL.map(|part| {
        (part.name(), Column::U64(of.iter().map(|one| one.parts.of(part).ps()).collect()))
    }));
    let queues = || {
        of.iter().zip(0..).flat_map(|(one, row): (_, u32)| {
            one.queued_at.iter().map(move |(queue, span)| (row, queue, span))
        })
    };
    let queued = vec![
        ("transaction", Column::U32(queues().map(|(row, ..)| row).collect())),
        ("part", Column::U32(queues().map(|(_, queue, _)| queue.0 as u32).collect())),
        ("wire", Column::U32(queues().map(|(_, queue, _)| queue.1).collect())),
        ("class", Column::U32(queues().map(|(_, queue, _)| queue.2.into()).collect())),
        ("time_ps", Column::U64(queues().map(|(.., span)| span.ps()).collect())),
    ];
    let others = || {
        of.iter().zip(0..).flat_map(|(one, row): (_, u32)| {
            one.behind.iter().map(move |(other, span)| (row, other, span))
        })
    };
    let behind = vec![
        ("transaction", Column::U32(others().map(|(row, ..)| row).collect())),
        ("part", Column::U32(others().map(|(_, other, _)| other.0 as u32).collect())),
        ("workload", Column::U32(others().map(|(_, other, _)| other.1).collect())),
        ("time_ps", Column::U64(others().map(|(.., span)| span.ps()).collect())),
    ];
    let losses = || {
        of.iter()
            .zip(0..)
            .flat_map(|(one, row): (_, u32)| one.losses.iter().map(move |loss| (row, loss)))
    };
    let lost = vec![
        ("transaction", Column::U32(losses().map(|(row, _)| row).collect())),
        ("wire", Column::U32(losses().map(|(_, loss)| loss.wire).collect())),
        ("by", Column::U32(losses().map(|(_, loss)| loss.by.number()).collect())),
        ("at_ps", Column::U64(losses().map(|(_, loss)| loss.at.ps()).collect())),
    ];
    vec![
        Table { name: "causes", columns },
        Table { name: "causes_queues", columns: queued },
        Table { name: "causes_behind", columns: behind },
        Table { name: "causes_losses", columns: lost },
        Table { name: "causes_lost", columns: lost_columns(lost_datagrams) },
    ]
}

fn lost_columns(lost: &LostDatagrams) -> Vec<(&'static str, Column)> {
    vec![
        ("workload", Column::U32(lost.keys().map(|location| location.0).collect())),
        ("wire", Column::U32(lost.keys().map(|location| location.1).collect())),
        ("by", Column::U32(lost.keys().map(|location| location.2.number()).collect())),
        ("datagrams", Column::U64(lost.values().copied().collect())),
    ]
}
