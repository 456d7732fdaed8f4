//! Observation of a running trial: windows and shares, which its final result does not contain.

use crate::clock::Stopwatch;
use crate::outcome::{Outcome, gather};
use crate::{Control, build};
use tailrace_host::Socket;
use tailrace_plan::Plan;
use tailrace_transport::tcp::TcpStats;
use tailrace_units::{Span, Time};

/// The side of a connection that opened it, at one moment.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionState {
    /// Index of the workload.
    pub workload: u32,
    /// Congestion window in segments.
    pub cwnd_segments: u32,
    /// Slow start threshold in segments.
    pub ssthresh_segments: u32,
    /// Segments on their way, as the sender believes.
    pub in_flight_segments: u32,
    /// Smoothed round trip; `None` before the first.
    pub smoothed_rtt: Option<Span>,
    /// DCTCP's marked share in 1024ths; `None` for other congestion controls.
    pub marked_share_1024: Option<u32>,
    /// Its counters.
    pub stats: TcpStats,
}

impl ConnectionState {
    fn of(socket: &Socket) -> ConnectionState {
        let tcp = socket.tcp();
        ConnectionState {
            workload: socket.owner(),
            cwnd_segments: tcp.cwnd(),
            ssthresh_segments: tcp.ssthresh(),
            in_flight_segments: tcp.in_flight(),
            smoothed_rtt: tcp.smoothed_rtt(),
            marked_share_1024: tcp.marked_share_1024(),
            stats: *tcp.stats(),
        }
    }
}

/// Runs one trial as [`crate::run`] does and shows its connections, in the order in which they were
/// opened, after every `period`. Observation does not change the outcome, which is that of `run`.
pub fn watch(
    plan: &Plan,
    control: &Control,
    period: Span,
    mut observe: impl FnMut(Time, &[ConnectionState]),
) -> Outcome {
    assert!(period > Span::ZERO, "the period is above zero");
    let started = Stopwatch::start();
    let mut world = build::build(plan);
    let mut until = Time::ZERO;
    while until < world.stop_at && !world.is_done() && !world.is_cancelled {
        until = (until + period).min(world.stop_at);
        world.run_until(until, control);
        // The opener has the even number of each pair.
        let openers: Vec<ConnectionState> =
            world.all_sockets().step_by(2).map(ConnectionState::of).collect();
        observe(world.now, &openers);
    }
    gather(plan, &mut world, started.elapsed(), control)
}
