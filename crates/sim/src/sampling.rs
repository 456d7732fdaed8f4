//! Runs a world, and samples it in equal intervals if the plan asks for that.

use crate::control::Control;
use crate::outcome::netstat::netstat;
use crate::world::World;
use tailrace_network::OnWires;
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};

/// Runs a world, on one thread or several.
pub(crate) trait Engine {
    /// The world as it is between two stretches of time.
    fn whole(&mut self) -> &mut World;
    /// Runs until all finite workloads are complete, this time is over, or the trial is cancelled.
    fn run_until(&mut self, until: Time, control: &Control);
}

impl Engine for World {
    fn whole(&mut self) -> &mut World {
        self
    }
    fn run_until(&mut self, until: Time, control: &Control) {
        self.run_until(until, control);
    }
}

/// Runs to the end, and samples windows of connections and counters of interfaces as the plan says.
pub(crate) fn run_sampled(plan: &Plan, engine: &mut impl Engine, control: &Control) {
    let world = engine.whole();
    let (mut windows, mut interfaces) = (world.windows.take(), world.interface_series.take());
    let at_windows = windows.as_ref().map_or(Span::ZERO, |windows| windows.interval);
    let at_interfaces = interfaces.as_ref().map_or(Span::ZERO, |series| series.interval);
    let stop_at = world.stop_at;
    let mut until = Time::ZERO;
    while until < stop_at && !engine.whole().is_done() && !engine.whole().is_cancelled {
        until =
            next_multiple(until, at_windows).min(next_multiple(until, at_interfaces)).min(stop_at);
        engine.run_until(until, control);
        let world = engine.whole();
        // Between two samples there may be fewer events than the event loop handles between two
        // checks of the control.
        if world.is_done() || world.is_cancelled_by(control) {
            break;
        }
        let is_due = |interval: Span| until == stop_at || until.ps().is_multiple_of(interval.ps());
        if let Some(windows) = windows.as_mut().filter(|_| is_due(at_windows)) {
            windows.sample(world.now, world.all_sockets());
        }
        if let Some(series) = interfaces.as_mut().filter(|_| is_due(at_interfaces)) {
            let on_wires = OnWires::of(&world.links.wires, &world.switches, world.now);
            series.sample(world.now, &netstat(plan, world, &on_wires).collect::<Vec<_>>());
        }
    }
    let world = engine.whole();
    (world.windows, world.interface_series) = (windows, interfaces);
}

/// The next multiple of an interval after `now`; never without one.
fn next_multiple(now: Time, interval: Span) -> Time {
    now.ps()
        .checked_div(interval.ps())
        .map_or(Time::NEVER, |passed| Time::ZERO + interval.times(passed + 1))
}
