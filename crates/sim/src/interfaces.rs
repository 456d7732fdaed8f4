//! The counters of all interfaces, read in equal intervals. Reading changes nothing else.

use serde_json::Value;
use tailrace_plan::Plan;
use tailrace_record::{Column, Table};
use tailrace_units::{Span, Time};

/// Most rows that are kept: later ones are left out.
const ROWS_MAX: usize = 1_000_000;
/// The counters of a row, under the names of outcomes.
const COUNTERS: [&str; 8] =
    ["rx_frames", "rx_errors", "rx_dropped", "rx_overruns", "tx_frames", "tx_errors", "tx_dropped", "tx_overruns"];

/// What was read.
pub(crate) struct InterfaceSeries {
    pub(crate) interval: Span,
    /// Interface, time, counters.
    rows: Vec<(u32, Time, [u64; COUNTERS.len()])>,
}

impl InterfaceSeries {
    /// Of a plan that wants it.
    pub(crate) fn of(plan: &Plan) -> Option<InterfaceSeries> {
        let interval = Span::from_ps(plan.raw.observe.interfaces_ps);
        (interval > Span::ZERO).then(|| InterfaceSeries { interval, rows: Vec::new() })
    }

    /// Adds the rows of all interfaces. What cannot be counted is zero here; the outcome tells which that is.
    pub(crate) fn look(&mut self, now: Time, netstat: &[Value]) {
        if self.rows.len() + netstat.len() > ROWS_MAX {
            return;
        }
        let counted = |row: &Value| COUNTERS.map(|name| row[name].as_u64().unwrap_or(0));
        self.rows.extend(netstat.iter().zip(0..).map(|(row, number)| (number, now, counted(row))));
    }

    /// As a table.
    pub(crate) fn table(&self) -> Table {
        let counter = |place: usize| Column::U64(self.rows.iter().map(|row| row.2[place]).collect());
        let mut columns = vec![
            ("interface", Column::U32(self.rows.iter().map(|row| row.0).collect())),
            ("at_ps", Column::U64(self.rows.iter().map(|row| row.1.ps()).collect())),
        ];
        columns.extend(COUNTERS.iter().enumerate().map(|(place, &name)| (name, counter(place))));
        Table { name: "interface_series", columns }
    }
}
