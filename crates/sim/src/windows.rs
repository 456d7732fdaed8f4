//! Congestion windows of lasting connections, sampled in equal intervals. Sampling changes nothing
//! else.

use tailrace_host::Socket;
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};
use tailrace_workloads::has_lasting_connections;
use tailrace_workloads::outcome::{WINDOW_ROWS_MAX, WindowRow};

/// The samples.
pub(crate) struct Windows {
    pub(crate) interval: Span,
    /// By workload: whether its connections last.
    lasting: Vec<bool>,
    pub(crate) rows: Vec<WindowRow>,
}

impl Windows {
    /// Of a plan that wants them.
    pub(crate) fn of(plan: &Plan) -> Option<Windows> {
        let interval = Span::from_ps(plan.raw.observe.windows_ps);
        let lasting = plan.workloads.iter().map(has_lasting_connections).collect();
        (interval > Span::ZERO).then(|| Windows { interval, lasting, rows: Vec::new() })
    }

    /// Adds a row for each end of a lasting connection that is open.
    pub(crate) fn sample<'a>(&mut self, now: Time, sockets: impl Iterator<Item = &'a Socket>) {
        let mut connections = vec![0_u32; self.lasting.len()];
        for (number, socket) in sockets.enumerate() {
            let (workload, side) = (socket.owner(), number as u32 % 2);
            if !self.lasting[workload as usize] {
                continue;
            }
            let connection = connections[workload as usize];
            connections[workload as usize] += side;
            // An end without a round trip is not open.
            if let Some(rtt) = socket.tcp().smoothed_rtt()
                && self.rows.len() < WINDOW_ROWS_MAX
            {
                let tcp = socket.tcp();
                self.rows.push(WindowRow {
                    workload,
                    connection,
                    side,
                    at: now,
                    window_segments: tcp.cwnd().into(),
                    threshold_segments: tcp.ssthresh().into(),
                    rtt,
                    retransmits: tcp.stats().retransmits,
                });
            }
        }
    }
}
