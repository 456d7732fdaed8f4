//! Runs a world, and looks at it in equal intervals where the plan asks for that.

use crate::control::Control;
use crate::outcome::netstat::netstat;
use crate::world::World;
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};

/// Runs to the end, and looks at windows of connections and counters of interfaces, as the plan says.
pub(crate) fn run_and_look(plan: &Plan, world: &mut World, control: &Control) {
    let (mut windows, mut interfaces) = (world.windows.take(), world.interface_series.take());
    let at_windows = windows.as_ref().map_or(Span::ZERO, |windows| windows.interval);
    let at_interfaces = interfaces.as_ref().map_or(Span::ZERO, |series| series.interval);
    let mut until = Time::ZERO;
    while until < world.stop_at && !world.is_done() && !world.is_cancelled {
        until = next_multiple(until, at_windows).min(next_multiple(until, at_interfaces)).min(world.stop_at);
        world.run_until(until, control);
        if world.is_done() {
            break;
        }
        let is_due = |interval: Span| until == world.stop_at || until.ps().is_multiple_of(interval.ps());
        if let Some(windows) = windows.as_mut().filter(|_| is_due(at_windows)) {
            windows.look(world.now, world.all_sockets());
        }
        if let Some(series) = interfaces.as_mut().filter(|_| is_due(at_interfaces)) {
            series.look(world.now, &netstat(plan, world));
        }
    }
    (world.windows, world.interface_series) = (windows, interfaces);
}

/// The next multiple of an interval after `now`; never without one.
fn next_multiple(now: Time, interval: Span) -> Time {
    now.ps().checked_div(interval.ps()).map_or(Time::NEVER, |passed| Time::ZERO + interval.times(passed + 1))
}
