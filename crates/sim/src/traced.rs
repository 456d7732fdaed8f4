//! A trial that is simulated once more up to the end of chosen windows, with a timeline of them.

use crate::Control;
use crate::causes::tables as tables_of_causes;
use crate::explain::{Unexplained, recorded};
use crate::outcome::Table;
use crate::timeline::{Wanted, tables};
use tailrace_plan::Plan;

/// Runs a trial until the last window is over. Returns the tables of causes of what was complete by then, and those of the timeline.
///
/// # Errors
/// When the plan has something of which the record would not be whole.
pub fn traced(plan: &Plan, control: &Control, wanted: &Wanted) -> Result<Vec<Table>, Unexplained> {
    let mut world = recorded(plan, control, Some(wanted))?;
    let observe = &mut world.links.observe;
    let recorder = observe.recorder.take().expect("this run is recorded");
    let timeline = observe.timeline.take().expect("this run has a timeline");
    let hosts = &world.hosts;
    let mut found = tables_of_causes(&recorder.explained);
    found.extend(tables(&timeline, &recorder, |(host, number)| hosts[usize::from(host)].sockets()[number as usize].port()));
    Ok(found)
}
