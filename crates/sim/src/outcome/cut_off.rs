//! Censored transactions and flows: those running at the end of a trial.

use crate::world::World;
use tailrace_workloads::outcome::CutOff;

/// By workload.
pub(super) fn cut_off(world: &World) -> Vec<CutOff> {
    let now = world.now;
    let mut found: Vec<CutOff> =
        world.links.observe.workloads.iter().map(|_| CutOff::default()).collect();
    world.running(&mut |owner, user, start| {
        let rows_max = world.links.observe.workloads[owner as usize].rows_max;
        found[owner as usize].note(user, start, now, rows_max);
    });
    found
}
