//! A log happens once more, without a clock: the same network, the same frames, the same times.

use crate::log::{Entry, read};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use tailrace_lab::frame::LiveFrame;
use tailrace_lab::network::Network;
use tailrace_lab::network::Watched;
use tailrace_lab::network::outcome;
use tailrace_outcome::NetworkOutcome;
use tailrace_plan::Plan;
use tailrace_units::Time;

/// The result of a replay.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Replayed {
    /// At the last end of a measured interval.
    #[serde(flatten)]
    pub outcome: NetworkOutcome,
    /// Events of the watched frames; absent where none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Value>,
}

/// Lets the log of a plan happen again. Returns the outcome at its last end of a measured interval.
///
/// # Errors
/// When the log cannot be read, is not of this plan, or has no such end.
pub fn replay(plan: &Plan, log: &Path) -> Result<NetworkOutcome, String> {
    replay_watched(plan, log, &Watched::default()).map(|replayed| replayed.outcome)
}

/// The same, with the events of the watched frames.
///
/// # Errors
/// As those of a replay.
pub fn replay_watched(plan: &Plan, log: &Path, watched: &Watched) -> Result<Replayed, String> {
    let explain = |error: std::io::Error| format!("{}: {error}", log.display());
    let mut network = Network::new(plan, None);
    let mut last = None;
    for entry in read(log).map_err(explain)? {
        match entry.map_err(explain)? {
            Entry::Frame { advanced, arrival, frame } => {
                require_known(plan, &frame, log)?;
                catch_up(plan, &mut network, advanced, &mut |_, _, _| {});
                if arrival <= network.advanced() {
                    return Err(format!(
                        "{}: a frame arrives in the past: records are missing",
                        log.display()
                    ));
                }
                network.enter_at(usize::from(frame.from_host), frame, arrival);
            }
            Entry::Begin(at) => {
                catch_up(plan, &mut network, at, &mut |_, _, _| {});
                network.begin(plan, at);
                if !watched.windows_ps.is_empty() {
                    network.watch(at, watched);
                }
            }
            Entry::End(at) => {
                catch_up(plan, &mut network, at, &mut |_, _, _| {});
                network.settle(at);
                last = Some(outcome(plan, &network, at));
            }
        }
    }
    let outcome = last.ok_or_else(|| {
        format!("{}: the log ends before the measured interval does", log.display())
    })?;
    let timeline = (!watched.windows_ps.is_empty()).then(|| network.watched());
    Ok(Replayed { outcome, timeline })
}

/// Refuses a frame of a host that the plan does not have.
pub(crate) fn require_known(plan: &Plan, frame: &LiveFrame, log: &Path) -> Result<(), String> {
    let last = usize::from(frame.from_host).max(usize::from(frame.packet.to_host));
    if last < plan.graph.hosts {
        Ok(())
    } else {
        Err(format!("{}: the log has frames of hosts that the plan does not have", log.display()))
    }
}

/// Carries out everything that is due by then, step by step, and takes the frames that hosts would
/// have received: the host, the time, and the frame.
pub(crate) fn catch_up(
    plan: &Plan,
    network: &mut Network,
    until: Time,
    take: &mut impl FnMut(usize, Time, &LiveFrame),
) {
    loop {
        let next = network.poll_timeout();
        if next > until {
            return network.advance(until);
        }
        network.advance(next);
        for host in 0..plan.graph.hosts {
            while let Some((due, frame)) = network.poll_delivery(host, next) {
                take(host, due, &frame);
            }
            while network.poll_control_frame(host, next).is_some() {}
        }
    }
}
