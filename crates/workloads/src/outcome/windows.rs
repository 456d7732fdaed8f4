//! Windows of lasting connections over time.

use tailrace_record::{Column, Table};
use tailrace_units::{Span, Time};

/// Rows of a trial; later ones are not recorded.
pub const WINDOW_ROWS_MAX: usize = 1 << 20;

/// One end of a connection at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowRow {
    /// Index of the workload.
    pub workload: u32,
    /// Counts within the workload, in the order in which connections are made.
    pub connection: u32,
    /// 0 at the client, 1 at the server.
    pub side: u32,
    /// When.
    pub at: Time,
    /// Congestion window in segments.
    pub window_segments: u64,
    /// Slow-start threshold in segments.
    pub threshold_segments: u64,
    /// Smoothed round trip.
    pub rtt: Span,
    /// Segments that were sent again so far.
    pub retransmits: u64,
}

/// The rows by connection and time.
pub fn tcp_windows(mut rows: Vec<WindowRow>) -> Table {
    rows.sort_by_key(|row| (row.workload, row.connection, row.side, row.at));
    let small = |of: fn(&WindowRow) -> u32| Column::U32(rows.iter().map(of).collect());
    let large = |of: fn(&WindowRow) -> u64| Column::U64(rows.iter().map(of).collect());
    Table {
        name: "tcp_windows",
        columns: vec![
            ("workload", small(|row| row.workload)),
            ("connection", small(|row| row.connection)),
            ("side", small(|row| row.side)),
            ("at_ps", large(|row| row.at.ps())),
            ("window_segments", large(|row| row.window_segments)),
            ("threshold_segments", large(|row| row.threshold_segments)),
            ("rtt_ps", large(|row| row.rtt.ps())),
            ("retransmits", large(|row| row.retransmits)),
        ],
    }
}
