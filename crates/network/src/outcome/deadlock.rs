//! Deadlock: a cycle of pauses whose frames can never be forwarded.
//!
//! A paused queue waits for its neighbour's ingress group to drain, and that for the queues which
//! hold the group's frames. A queue is dead when all that it waits for is dead. One cycle of dead
//! queues is reported.

use crate::{NetworkFrame, SwitchNode};
use std::collections::BTreeMap;
use tailrace_plan::Plan;
use tailrace_units::Time;

/// Switch, port, queue.
type QueueLocation = (usize, usize, usize);

/// The links of a cycle of switches that wait for each other at `now`, such as `sw1>sw2`, in order;
/// empty when there is none. The switches must be settled.
pub fn deadlock<F: NetworkFrame>(plan: &Plan, nodes: &[SwitchNode<F>], now: Time) -> Vec<String> {
    let dead = without_the_living(waiting(plan, nodes, now));
    circle(&dead).into_iter().map(|(switch, port, _)| link_name(plan, switch, port)).collect()
}

/// For each paused queue, the queues for which it waits.
fn waiting<F: NetworkFrame>(
    plan: &Plan,
    nodes: &[SwitchNode<F>],
    now: Time,
) -> BTreeMap<QueueLocation, Vec<QueueLocation>> {
    let graph = &plan.graph;
    let mut waiting = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for (port, end) in graph.ports[graph.hosts + index].iter().enumerate() {
            let Some(next) = end.peer.checked_sub(graph.hosts) else { continue };
            let in_port = graph.port_of_link(end.link, end.peer);
            for (queue, priority) in node.switch.paused_queues(port, now) {
                if let Some(holders) = nodes[next].switch.waits_for(in_port, priority) {
                    let locations = holders.into_iter().map(|(port, queue)| (next, port, queue));
                    waiting.insert((index, port, queue), locations.collect());
                }
            }
        }
    }
    waiting
}

/// Removes the queues that wait for one that can still send.
fn without_the_living(
    mut waiting: BTreeMap<QueueLocation, Vec<QueueLocation>>,
) -> BTreeMap<QueueLocation, Vec<QueueLocation>> {
    loop {
        let is_dead = |wanted: &Vec<QueueLocation>| {
            !wanted.is_empty() && wanted.iter().all(|queue| waiting.contains_key(queue))
        };
        let living: Vec<QueueLocation> = waiting
            .iter()
            .filter(|(_, wanted)| !is_dead(wanted))
            .map(|(&queue, _)| queue)
            .collect();
        if living.is_empty() {
            return waiting;
        }
        living.iter().for_each(|queue| drop(waiting.remove(queue)));
    }
}

/// A cycle of dead queues, starting at its first location.
fn circle(dead: &BTreeMap<QueueLocation, Vec<QueueLocation>>) -> Vec<QueueLocation> {
    let mut way: Vec<QueueLocation> = Vec::new();
    let mut at = dead.first_key_value().map(|(&queue, _)| queue);
    while let Some(queue) = at {
        if let Some(start) = way.iter().position(|&seen| seen == queue) {
            let mut found = way.split_off(start);
            let first = (0..found.len()).min_by_key(|&i| found[i]).expect("a cycle has locations");
            found.rotate_left(first);
            return found;
        }
        way.push(queue);
        at = dead[&queue].first().copied();
    }
    Vec::new()
}

fn link_name(plan: &Plan, switch: usize, port: usize) -> String {
    let graph = &plan.graph;
    let node = graph.hosts + switch;
    format!("{}>{}", graph.names[node], graph.names[graph.ports[node][port].peer])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_waits_for_the_dead_alone_is_dead() {
        let (a, b, c, out) = ((0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0));
        let circle_of_three = BTreeMap::from([(a, vec![b]), (b, vec![c]), (c, vec![a])]);
        assert_eq!(circle(&without_the_living(circle_of_three.clone())), [a, b, c]);
        let mut with_a_way_out = circle_of_three;
        with_a_way_out.insert(b, vec![c, out]);
        assert_eq!(circle(&without_the_living(with_a_way_out)), []);
    }
}
