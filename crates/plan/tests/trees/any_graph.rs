//! Any graph, with many ties: the settled state is what the standard demands of it, found here by
//! other means.

use crate::drawing::{Drawing, any_links};
use tailrace_plan::{Plan, PortRole};
use tailrace_units::RandomStream;

const GRAPHS: usize = 400;
const SWITCHES_MAX: u64 = 9;

/// Few different numbers, so that ties are common.
fn any_drawing(random: &mut RandomStream) -> Drawing {
    let switches = 2 + random.below(SWITCHES_MAX - 1) as usize;
    let extra = random.below(8) as usize;
    let links: Vec<(usize, usize, u32)> = any_links(random, switches, extra)
        .into_iter()
        .map(|(a, b)| (a, b, 1 + random.below(3) as u32))
        .collect();
    let mut drawing = Drawing::new(switches, &links);
    drawing
        .bridge_priority
        .iter_mut()
        .for_each(|priority| *priority = 4096 * random.below(3) as u16);
    let mut ports = || 16 * random.below(2) as u8;
    drawing.port_priority.iter_mut().for_each(|priority| *priority = (ports(), ports()));
    drawing
}

/// Cheapest ways between all switches (Floyd and Warshall).
fn distances(drawing: &Drawing) -> Vec<Vec<u64>> {
    let n = drawing.switches;
    let mut distance = vec![vec![u64::from(u32::MAX); n]; n];
    (0..n).for_each(|node| distance[node][node] = 0);
    for &(a, b, cost) in &drawing.links {
        let cost = u64::from(cost).min(distance[a][b]);
        (distance[a][b], distance[b][a]) = (cost, cost);
    }
    for (via, from, to) in
        (0..n).flat_map(|via| (0..n).flat_map(move |from| (0..n).map(move |to| (via, from, to))))
    {
        distance[from][to] = distance[from][to].min(distance[from][via] + distance[via][to]);
    }
    distance
}

/// The state of a switch at one of its ports: the port, the neighbour, its port, and the link's
/// cost.
struct Seen {
    port: usize,
    own: (u8, usize),
    peer: usize,
    peers: (u8, usize),
    cost: u64,
}

fn ports_of(drawing: &Drawing, plan: &Plan, switch: usize) -> Vec<Seen> {
    let graph = &plan.graph;
    let port_id = |node: usize, link: usize| {
        let port =
            graph.ports[node].iter().position(|end| end.link == link).expect("it ends there");
        let (at_a, at_b) = drawing.port_priority[link];
        (if graph.links[link].a == node { at_a } else { at_b }, port)
    };
    let node = graph.hosts + switch;
    let ends = graph.ports[node].iter().enumerate().filter(|(_, end)| end.peer >= graph.hosts);
    ends.map(|(port, end)| Seen {
        port,
        own: port_id(node, end.link),
        peer: end.peer - graph.hosts,
        peers: port_id(end.peer, end.link),
        cost: u64::from(drawing.links[end.link].2),
    })
    .collect()
}

#[test]
fn ties_are_broken_by_bridge_and_then_by_port() {
    let mut random = RandomStream::new(1, "any-graph");
    for _ in 0..GRAPHS {
        let drawing = any_drawing(&mut random);
        let plan = drawing.common();
        let id = |switch: usize| (drawing.bridge_priority[switch], switch);
        let root =
            (0..drawing.switches).min_by_key(|&switch| id(switch)).expect("there are switches");
        let distance = &distances(&drawing)[root];
        for switch in 0..drawing.switches {
            let bridge = &plan.trees[0].bridges[switch];
            let ports = ports_of(&drawing, &plan, switch);
            let best = ports.iter().min_by_key(|seen| {
                (distance[seen.peer] + seen.cost, id(seen.peer), seen.peers, seen.own)
            });
            let root_port = if switch == root { None } else { best.map(|seen| seen.port) };
            assert_eq!(
                (bridge.root, bridge.root_path_cost, bridge.root_port),
                (root, distance[switch], root_port),
                "{drawing:?}"
            );
            for seen in &ports {
                let is_nearer = (distance[switch], id(switch), seen.own)
                    < (distance[seen.peer], id(seen.peer), seen.peers);
                let expected = match (root_port == Some(seen.port), is_nearer) {
                    (true, _) => PortRole::Root,
                    (false, true) => PortRole::Designated,
                    (false, false) => PortRole::Alternate,
                };
                assert_eq!(bridge.roles[seen.port], expected, "{drawing:?}");
            }
        }
    }
}

/// One link fewer than switches, no loop: every switch is reached over what forwards, in one way.
#[test]
fn what_forwards_is_a_spanning_tree() {
    let mut random = RandomStream::new(2, "any-graph");
    for _ in 0..GRAPHS {
        let drawing = any_drawing(&mut random);
        let plan = drawing.common();
        let tree = &plan.trees[0];
        let mut piece: Vec<usize> = (0..drawing.switches).collect();
        let mut links = 0;
        for (&(a, b, _), _) in
            drawing.links.iter().zip(&tree.forwards).filter(|(_, forwards)| **forwards)
        {
            let (a, b) = (piece[a], piece[b]);
            assert_ne!(a, b, "a loop in {drawing:?}");
            piece.iter_mut().filter(|piece| **piece == b).for_each(|piece| *piece = a);
            links += 1;
        }
        assert_eq!(links, drawing.switches - 1);
        assert!(
            tree.forwards[drawing.links.len()..].iter().all(|&forwards| forwards),
            "links to hosts forward"
        );
        let mut ways = vec![0; plan.graph.hosts * drawing.switches];
        let forwards = |link: usize| tree.forwards[link];
        plan.graph.each_route(forwards, |switch, hosts, ports| {
            hosts.iter().for_each(|&host| ways[host * drawing.switches + switch] += ports.len());
        });
        assert!(ways.iter().all(|&ways| ways == 1), "one way to every host");
    }
}
