//! How a trial comes to have several threads: it begins on one, which measures the load of every
//! node for the division, and decides whether several pay where that is left to it.

use super::partition::Partition;
use super::receivers::openers;
use super::refusal::Refusal;
use super::whole::Owners;
use super::{Course, FOREVER, run_parted_since};
use crate::build::build;
use crate::clock::Stopwatch;
use crate::control::Control;
use crate::outcome::{self, Outcome};
use crate::sampling;
use crate::trigger::Trigger;
use crate::world::World;
use tailrace_plan::Plan;

/// How many threads a trial has.
#[derive(Clone, Copy, Debug)]
pub enum Cores {
    /// This many threads, or as many as its network has parts; one for a trial that ends while its
    /// load is measured.
    Exactly(usize),
    /// Up to this many if that is faster than one, and if this function says that the machine has
    /// room for so many threads.
    UpTo(usize, fn(usize) -> bool),
}

/// Runs one trial: the outcome is that of [`crate::run`]. Also returns the course of a run with
/// several threads.
///
/// # Errors
/// When several threads are asked for and impossible.
pub fn run_on(
    plan: &Plan,
    cores: Cores,
    control: &Control,
) -> Result<(Outcome, Option<Course>), Refusal> {
    let (Cores::Exactly(wanted) | Cores::UpTo(wanted, _)) = cores;
    if wanted <= 1 {
        return Ok((crate::run(plan, control), None));
    }
    let partition = match (Partition::balanced(plan, wanted), cores) {
        (Ok(partition), _) => partition,
        (Err(refusal), Cores::Exactly(_)) => return Err(refusal),
        (Err(_), Cores::UpTo(..)) => return Ok((crate::run(plan, control), None)),
    };
    let started = Stopwatch::start();
    let parts = partition.parts();
    let mut world = build(plan);
    world.trigger = match cores {
        Cores::Exactly(_) => Some(Trigger::certain(parts)),
        // It may have to be run twice, or stop for every flow.
        Cores::UpTo(..) if ends_with_its_work(&world) || !openers(&world).is_empty() => None,
        Cores::UpTo(_, has_room) => {
            let lookahead =
                Owners::of(plan, &partition, &world).lookahead(&world).unwrap_or(FOREVER);
            Some(Trigger::of(parts, lookahead, has_room))
        }
    };
    sampling::run_sampled(plan, &mut world, control);
    let is_pulled = world.trigger.as_ref().is_some_and(Trigger::is_pulled);
    if control.is_cancelled() || !is_pulled {
        return Ok((outcome::gather(plan, &mut world, started.elapsed(), control), None));
    }
    let partition = partition.by_load(plan, &frames_by_node(plan, &world));
    drop(world);
    let (outcome, course) = run_parted_since(&started, plan, &partition, control);
    Ok((outcome, Some(course)))
}

/// Whether a trial ends when something finite is done.
fn ends_with_its_work(world: &World) -> bool {
    let observe = &world.links.observe;
    !observe.lasts_to_stop && observe.workloads.iter().any(|workload| workload.users_left > 0)
}

/// Frames that hosts, and then switches, have handled so far.
fn frames_by_node(plan: &Plan, world: &World) -> Vec<u64> {
    let of_hosts = world
        .hosts
        .iter()
        .map(|host| host.counters())
        .map(|counted| counted.rx_frames + counted.tx_frames);
    let of_switches =
        world.switches.iter().zip(&plan.graph.ports[plan.graph.hosts..]).map(|(node, ports)| {
            let queues = (0..ports.len())
                .flat_map(|port| (0..node.switch.queues(port)).map(move |queue| (port, queue)));
            queues.map(|(port, queue)| node.switch.counters(port, queue, world.now).tx_frames).sum()
        });
    of_hosts.chain(of_switches).collect()
}
