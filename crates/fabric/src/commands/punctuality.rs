//! How late this machine wakes an idle thread: a lower bound on the lateness of every switch
//! program that sleeps. The fabric's own lateness comes on top.

use crate::clock::{Clock, thread_time};
use crate::lateness::{Lateness, Stalls};
use crate::plane::TICK;
use crate::sys::thread::{be_realtime, use_exact_timers};
use serde_json::{Value, json};
use std::time::Duration;
use tailrace_units::{Span, Time};

/// Sleeps from tick to tick for so long, as the data plane's thread does at most. The answer has
/// the percentiles of its lateness, and the share of a core that waking up took.
///
/// # Errors
/// When there can be no thread.
pub(super) fn measure(length: Duration) -> Result<Value, String> {
    let thread = std::thread::Builder::new()
        .name("punctuality".into())
        .spawn(move || sleep_and_wake(length));
    let thread = thread.map_err(|error| format!("starting a thread: {error}"))?;
    thread.join().map_err(|_| "the measurement of this machine's timer lateness has failed".into())
}

fn sleep_and_wake(length: Duration) -> Value {
    // Without the right to it, it is measured as the data plane would run then.
    let is_realtime = be_realtime().is_ok();
    use_exact_timers();
    let (mut lateness, mut stalls) = (Lateness::new(), Stalls::default());
    let (clock, processor) = (Clock::start(), thread_time());
    let end = Time::ZERO + Span::from_ns(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
    let mut now = clock.now();
    while now < end {
        let meant = Time::from_ps((now.ps() / TICK.ps() + 1) * TICK.ps());
        clock.sleep_until(meant);
        now = clock.now();
        lateness.record(now.since(meant));
        stalls.add(now.since(meant));
    }
    json!({
        "lateness_us": lateness.summary(),
        "stalls": stalls.summary(),
        "core_share": (thread_time() - processor).as_secs_f64() / now.as_secs_f64(),
        "realtime": is_realtime,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_only_sleeps_wakes_late_and_never_early() {
        let report = measure(Duration::from_millis(20)).expect("there are threads");
        assert!(report["lateness_us"]["p50"].as_f64() > Some(0.0), "{report}");
        assert!(report["core_share"].as_f64() > Some(0.0), "{report}");
    }
}
