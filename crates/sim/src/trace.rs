//! A trial whose network events are all kept: transmissions of hosts, and their treatment by
//! observed ports. For comparisons with other engines; memory grows with the run.

use crate::outcome::{Outcome, gather};
use crate::{Control, build};
use std::time::Duration;
use tailrace_network::{End, PortEvent, SwitchNode};
use tailrace_plan::Plan;
use tailrace_units::Time;
use tailrace_wire::Packet;

/// Network events of a trial.
#[derive(Debug)]
pub struct Trace {
    /// Frames of hosts in the order in which they came to their switches: when, from which host,
    /// and the frame.
    pub entered: Vec<(Time, u32, Packet)>,
    /// By switch and observed port, in order, all events there.
    pub events: Vec<Vec<PortEvent>>,
    /// The outcome.
    pub outcome: Outcome,
}

/// Runs one trial to its last moment, also when its workloads are complete before. Warm-ups are not
/// traced.
pub fn trace(plan: &Plan) -> Trace {
    let mut world = build::build(plan);
    assert!(world.warm_up.is_none(), "a trace is counted from its beginning");
    world.switches.iter_mut().for_each(SwitchNode::keep_events);
    let mut host_of = vec![None; world.links.wires.len()];
    (0..)
        .zip(&world.hosts)
        .for_each(|(host, node)| host_of[node.attachment().wire_out as usize] = Some(host));
    for (host, links) in (0..).zip(&world.links.bonds) {
        links.iter().for_each(|link| host_of[link.out as usize] = Some(host));
    }
    let mut entered = Vec::new();
    loop {
        let (at, source) = world.links.agenda.next();
        if at > world.stop_at {
            break;
        }
        world.now = at;
        world.events += 1;
        if let Some(&Some(host)) = host_of.get(source as usize) {
            let wire = &world.links.wires[source as usize];
            debug_assert!(matches!(wire.end, End::Switch { .. }), "a host is linked to a switch");
            entered.extend(wire.next_frame().map(|(arrival, packet)| (arrival, host, packet)));
        }
        world.handle_aside(at, source);
    }
    let control = Control::default();
    world.run_until(world.stop_at, &control);
    let events =
        world.switches.iter().flat_map(SwitchNode::events).map(<[PortEvent]>::to_vec).collect();
    Trace { entered, events, outcome: gather(plan, &mut world, Duration::ZERO, &control) }
}
