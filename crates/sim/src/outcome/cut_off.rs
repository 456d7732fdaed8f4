//! Censored transactions and flows: those running at the end of a trial.

use crate::world::World;
use tailrace_units::Time;
use tailrace_workloads::outcome::CutOff;

/// By workload.
pub(super) fn cut_off(world: &World) -> Vec<CutOff> {
    let now = world.now;
    let mut found: Vec<CutOff> = world.links.observe.workloads.iter().map(|_| CutOff::default()).collect();
    let mut note = |owner: u32, user: u32, start: Time| {
        let rows_max = world.links.observe.workloads[owner as usize].rows_max;
        found[owner as usize].note(user, start, now, rows_max);
    };
    for socket in world.all_sockets() {
        socket.app().running(now, |user, start| note(socket.owner(), user, start));
    }
    for place in &world.programs {
        world.hosts[place.host as usize].running_of(place.number, &mut note);
    }
    found
}
