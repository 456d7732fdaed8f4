//! Tables of workloads.

use super::CutOff;
use super::ideal::Ideal;
use crate::WorkloadRecord;
use tailrace_plan::Plan;
use tailrace_record::{Column, Table};

/// Transactions and flows that are complete.
pub fn transactions(plan: &Plan, records: &[WorkloadRecord]) -> Table {
    let (sizes, ideals) = flows(plan, records);
    let rows = || {
        let workloads = records.iter().enumerate();
        workloads.flat_map(|(index, record)| record.rows.iter().map(move |row| (index as u32, row)))
    };
    Table {
        name: "transactions",
        columns: vec![
            ("workload", Column::U32(rows().map(|(workload, _)| workload).collect())),
            ("user", Column::U32(rows().map(|(_, row)| row.user).collect())),
            ("start_ps", Column::U64(rows().map(|(_, row)| row.start.ps()).collect())),
            ("latency_ps", Column::U64(rows().map(|(_, row)| row.latency.ps()).collect())),
            ("size_bytes", Column::U64(sizes)),
            ("ideal_ps", Column::U64(ideals)),
        ],
    }
}

/// Of each transaction the bytes that its flow carried and the least time for that; 0 where it was
/// no flow of a random size.
fn flows(plan: &Plan, records: &[WorkloadRecord]) -> (Vec<u64>, Vec<u64>) {
    let mut ideal = Ideal::new(plan);
    let (mut sizes, mut ideals) = (Vec::new(), Vec::new());
    for record in records {
        sizes.extend(record.carried.iter().map(|flow| flow.bytes));
        ideals.extend(record.carried.iter().map(|flow| ideal.time(flow).ps()));
        let others = record.rows.len() - record.carried.len();
        sizes.extend(std::iter::repeat_n(0, others));
        ideals.extend(std::iter::repeat_n(0, others));
    }
    (sizes, ideals)
}

/// Transactions and flows that the end of the trial cut off.
pub fn running(cut_off: &[CutOff]) -> Table {
    let rows = || {
        cut_off
            .iter()
            .zip(0_u32..)
            .flat_map(|(own, index)| own.rows.iter().map(move |row| (index, row)))
    };
    Table {
        name: "cut_off",
        columns: vec![
            ("workload", Column::U32(rows().map(|(workload, _)| workload).collect())),
            ("user", Column::U32(rows().map(|(_, row)| row.user).collect())),
            ("start_ps", Column::U64(rows().map(|(_, row)| row.start.ps()).collect())),
            ("waited_ps", Column::U64(rows().map(|(_, row)| row.latency.ps()).collect())),
        ],
    }
}

/// Goodput over time.
pub fn workload_series(records: &[WorkloadRecord]) -> Table {
    let rows = || {
        let workloads = records.iter().zip(0_u32..);
        let series =
            workloads.filter_map(|(record, index)| Some((index, record.goodput.as_ref()?)));
        series.flat_map(|(index, series)| {
            series.bins().iter().zip(0_u32..).map(move |(&bytes, bin)| (index, series, bin, bytes))
        })
    };
    Table {
        name: "workload_series",
        columns: vec![
            ("workload", Column::U32(rows().map(|row| row.0).collect())),
            ("bin", Column::U32(rows().map(|row| row.2).collect())),
            (
                "start_ps",
                Column::U64(rows().map(|row| row.1.width().times(u64::from(row.2)).ps()).collect()),
            ),
            ("goodput_bytes", Column::U64(rows().map(|row| row.3).collect())),
        ],
    }
}
