//! Small drawings whose trees can be worked out on paper.

use crate::drawing::{Drawing, roles};
use tailrace_plan::Plan;

/// 20 Tbit/s over the rate (IEEE 802.1Q-2018 table 13-4).
const AT_100M: u32 = 200_000;
const AT_1G: u32 = 20_000;
const AT_10G: u32 = 2_000;

fn all_roles(plan: &Plan, switches: usize) -> Vec<String> {
    (0..switches).map(|switch| roles(plan, switch)).collect()
}

fn costs(plan: &Plan) -> Vec<u64> {
    plan.trees[0].bridges.iter().map(|bridge| bridge.root_path_cost).collect()
}

/// Three switches that are all alike: the first is the root, and of the link that is left the lower
/// bridge is designated.
#[test]
fn in_a_triangle_the_link_away_from_the_root_is_blocked_at_the_higher_bridge() {
    let plan = Drawing::new(3, &[(0, 1, AT_1G), (0, 2, AT_1G), (1, 2, AT_1G)]).common();
    assert_eq!(all_roles(&plan, 3), ["DD", "RD", "RA"]);
    assert_eq!(costs(&plan), [0, u64::from(AT_1G), u64::from(AT_1G)]);
}

/// The example by which Perlman explains the algorithm (Interconnections, 2nd edition, chapter 3):
/// bridge 92 hears root 41 at distance 19 from bridge 125, at 12 from 315 and from 111, and at 13
/// from 90; bridge 81 knows of nobody better than itself. It is 13 from the root by the port to
/// 111, designated towards 81 and 125, and blocks 315 and 90.
#[test]
fn bridge_92_of_perlman_s_book_chooses_its_fourth_port() {
    // In the order of their numbers: 41, 81, 90, 92, 111, 125, 315.
    let (b41, b81, b90, b92, b111, b125, b315) = (0, 1, 2, 3, 4, 5, 6);
    let links = [(b92, b81, 1), (b92, b125, 1), (b92, b315, 1), (b92, b111, 1), (b92, b90, 1)];
    let to_root = [(b41, b125, 19), (b41, b315, 12), (b41, b111, 12), (b41, b90, 13)];
    let plan = Drawing::new(7, &[links.as_slice(), &to_root].concat()).common();
    assert_eq!(roles(&plan, b92), "DDARA");
    assert_eq!(plan.trees[0].bridges[b92].root_path_cost, 13);
    // 81 and 125 are nearer to the root by 92 than by what they knew.
    assert_eq!((roles(&plan, b81), roles(&plan, b125)), ("R".into(), "RA".into()));
    assert_eq!(costs(&plan)[b125], 14);
}

/// A slow link to the root loses against two fast ones: 200 000 > 2 000 + 20 000.
#[test]
fn a_way_of_two_fast_links_is_nearer_than_one_slow_link() {
    let plan = Drawing::new(3, &[(0, 1, AT_10G), (1, 2, AT_1G), (0, 2, AT_100M)]).common();
    assert_eq!(all_roles(&plan, 3), ["DD", "RD", "RA"]);
    assert_eq!(costs(&plan), [0, 2_000, 22_000]);
}

#[test]
fn the_lowest_priority_is_the_root_whatever_its_index() {
    let mut drawing = Drawing::new(3, &[(0, 1, AT_1G), (0, 2, AT_1G), (1, 2, AT_1G)]);
    drawing.bridge_priority[2] = 4096;
    let plan = drawing.common();
    assert_eq!(plan.trees[0].bridges.iter().map(|bridge| bridge.root).collect::<Vec<_>>(), [2; 3]);
    assert_eq!(all_roles(&plan, 3), ["DR", "AR", "DD"]);
}

/// Between equal ways the lower designated bridge counts before the ports.
#[test]
fn of_two_equal_ways_the_one_over_the_lower_bridge_is_taken() {
    let links = [(3, 2, AT_1G), (3, 1, AT_1G), (0, 1, AT_1G), (0, 2, AT_1G)];
    let mut drawing = Drawing::new(4, &links);
    assert_eq!(roles(&drawing.common(), 3), "AR");
    drawing.bridge_priority[2] = 28_672;
    assert_eq!(
        roles(&drawing.common(), 3),
        "RD",
        "now 2 is the root itself, and 1 is farther from it than 3"
    );
    drawing.bridge_priority[0] = 4096;
    assert_eq!(roles(&drawing.common(), 3), "RA");
}

/// Of parallel links the one with the lower port at the root's side forwards; a port's priority
/// counts before its number.
#[test]
fn of_parallel_links_the_designated_port_decides() {
    let mut drawing = Drawing::new(2, &[(0, 1, AT_1G), (1, 0, AT_1G), (0, 1, AT_1G)]);
    assert_eq!(all_roles(&drawing.common(), 2), ["DDD", "RAA"]);
    drawing.port_priority[1] = (128, 112);
    assert_eq!(all_roles(&drawing.common(), 2), ["DDD", "ARA"]);
    // The priority at the end that is away from the root decides nothing.
    drawing.port_priority = vec![(128, 128), (128, 128), (128, 16)];
    assert_eq!(all_roles(&drawing.common(), 2), ["DDD", "RAA"]);
    drawing.links[2].2 = AT_10G;
    assert_eq!(all_roles(&drawing.common(), 2), ["DDD", "AAR"]);
}

/// Two drawings in one: each has a root.
#[test]
fn every_piece_of_a_drawing_has_a_root() {
    let plan = Drawing::new(4, &[(0, 1, AT_1G), (2, 3, AT_1G)]).common();
    assert_eq!(
        plan.trees[0].bridges.iter().map(|bridge| bridge.root).collect::<Vec<_>>(),
        [0, 0, 2, 2]
    );
    assert_eq!(all_roles(&plan, 4), ["D", "R", "D", "R"]);
}

#[test]
fn nonsense_is_refused_with_its_location() {
    let plan = Drawing::new(2, &[(0, 1, AT_1G)]).plan(2, false);
    let said = |location: &str, value: serde_json::Value| {
        let mut plan = plan.clone();
        *plan.pointer_mut(location).expect("the location is in the plan") = value;
        Plan::parse(&plan.to_string())
            .err()
            .map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    };
    let tree = "/spanning_tree/trees/1";
    for (location, value, expected) in [
        ("/spanning_tree/trees".into(), "[]", "spanning_tree: must have 1 to 65 trees"),
        (
            format!("{tree}/bridge_priority"),
            "[1, 0]",
            "spanning_tree.trees[1]: bridge_priority must be 0 to 61440 in steps of 4096",
        ),
        (
            format!("{tree}/bridge_priority"),
            "[0]",
            "spanning_tree.trees[1]: bridge_priority must have a number for each switch",
        ),
        (
            format!("{tree}/path_cost/0"),
            "0",
            "spanning_tree.trees[1]: path_cost must be 1 to 200 000 000",
        ),
        (
            format!("{tree}/path_cost/0"),
            "200000001",
            "spanning_tree.trees[1]: path_cost must be 1 to 200 000 000",
        ),
        (
            format!("{tree}/path_cost"),
            "[1]",
            "spanning_tree.trees[1]: path_cost and port_priority must have an entry for each link",
        ),
        (
            format!("{tree}/port_priority/0"),
            "[8, 0]",
            "spanning_tree.trees[1]: port_priority must be 0 to 240 in steps of 16",
        ),
        (format!("{tree}/vlans"), "[4095]", "spanning_tree: VLANs must be 1 to 4094"),
        (format!("{tree}/vlans"), "[7, 7]", "spanning_tree: a VLAN must have only one tree"),
        (format!("{tree}/instance"), "0", "spanning_tree: two trees have the same number"),
        (
            "/spanning_tree/trees/0/vlans".into(),
            "[5]",
            "spanning_tree: the list of VLANs of the first tree must be empty: it is for all VLANs that no other tree lists",
        ),
        (
            "/workloads/0/body/stream/pin_forward".into(),
            "[\"s0\", \"s1\"]",
            "w: a path cannot be pinned in a network with spanning trees",
        ),
    ] {
        assert_eq!(
            said(&location, serde_json::from_str(value).expect("it is JSON")),
            expected,
            "{location} = {value}"
        );
    }
    assert_eq!(said("/seed", 2.into()), "accepted");
}
