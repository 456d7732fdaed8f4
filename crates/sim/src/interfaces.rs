//! The counters of all interfaces, sampled in equal intervals. Sampling changes nothing else.

use tailrace_outcome::Interface;
use tailrace_plan::Plan;
use tailrace_record::{Column, Table};
use tailrace_units::{Span, Time};

/// Most rows that are kept: later ones are left out.
const ROWS_MAX: usize = 1_000_000;
/// Counters of a row.
const COUNTERS: usize = 8;

/// The counters of a row, under the names of outcomes.
fn counters(counts: &Interface) -> [(&'static str, Option<u64>); COUNTERS] {
    [
        ("rx_frames", counts.rx_frames),
        ("rx_errors", counts.rx_errors),
        ("rx_dropped", counts.rx_dropped),
        ("rx_overruns", counts.rx_overruns),
        ("tx_frames", counts.tx_frames),
        ("tx_errors", counts.tx_errors),
        ("tx_dropped", counts.tx_dropped),
        ("tx_overruns", counts.tx_overruns),
    ]
}

/// Samples of the counters of interfaces.
pub(crate) struct InterfaceSeries {
    pub(crate) interval: Span,
    /// Interface, time, counters.
    rows: Vec<(u32, Time, [u64; COUNTERS])>,
}

impl InterfaceSeries {
    /// Of a plan that wants it.
    pub(crate) fn of(plan: &Plan) -> Option<InterfaceSeries> {
        let interval = Span::from_ps(plan.raw.observe.interfaces_ps);
        (interval > Span::ZERO).then(|| InterfaceSeries { interval, rows: Vec::new() })
    }

    /// Adds the rows of all interfaces. Counters that cannot be counted are zero here; the outcome
    /// says which these are.
    pub(crate) fn sample(&mut self, now: Time, netstat: &[Interface]) {
        if self.rows.len() + netstat.len() > ROWS_MAX {
            return;
        }
        let counted = |row: &Interface| counters(row).map(|(_, count)| count.unwrap_or(0));
        self.rows.extend(netstat.iter().zip(0..).map(|(row, number)| (number, now, counted(row))));
    }

    /// As a table.
    pub(crate) fn table(&self) -> Table {
        let counter =
            |place: usize| Column::U64(self.rows.iter().map(|row| row.2[place]).collect());
        let mut columns = vec![
            ("interface", Column::U32(self.rows.iter().map(|row| row.0).collect())),
            ("at_ps", Column::U64(self.rows.iter().map(|row| row.1.ps()).collect())),
        ];
        let names = counters(&Interface::default()).map(|(name, _)| name);
        columns.extend(names.into_iter().enumerate().map(|(place, name)| (name, counter(place))));
        Table { name: "interface_series", columns }
    }
}
