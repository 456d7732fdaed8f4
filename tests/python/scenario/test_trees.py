"""Spanning trees and VLANs in a scenario: what they become in the plan, and what is refused."""

import copy
import json
from typing import Any

import pytest

from lab import load, problems, sound
from tailrace.experiment.native import spanning_trees
from tailrace.outcome.types import BlockedPort
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.workloads.planned import planned_workloads

RING: dict[str, Any] = {
    "hosts": ["client", "db", "bulk"],
    "switches": ["leaf", "north", "south"],
    "links": [
        {"between": ["leaf", "north"]},
        {"between": ["north", "south"], "rate": "40Gbit/s"},
        {"between": ["south", "leaf"], "path_cost": 77, "port_priority": {"south": 64}},
        *({"between": [host, "leaf"]} for host in ("client", "db", "bulk")),
    ],
}


def changed(changes: dict[str, object]) -> dict[str, object]:
    """Three switches in a ring with one tree, all hosts at one of them, and then these changes."""
    return (
        copy.deepcopy({"network": RING | {"spanning_tree": {"protocol": "rstp"}}, "arms": {}})
        | changes
    )


def plan(**changes: object) -> dict[str, Any]:
    """The plan of the ring."""
    return lower(load(**changed(changes)).arms["base"], "base", 1)


def cost_at(rate: str) -> int:
    """Path cost of a link of this rate."""
    made = plan(network__links__0={"between": ["leaf", "north"], "rate": rate})
    cost: int = made["spanning_tree"]["trees"][0]["path_cost"][0]
    return cost


def test_without_trees_and_vlans_a_plan_has_neither() -> None:
    made = plan(network__spanning_tree=None)
    assert "spanning_tree" not in made
    assert "vlan" not in json.dumps(made)


def test_one_tree_has_the_priorities_and_costs_of_the_standard_unless_others_are_stated() -> None:
    made = plan(
        switches__north__bridge_priority=4096, switches__defaults={"bridge_priority": 61440}
    )
    (tree,) = made["spanning_tree"]["trees"]
    assert (tree["instance"], tree["vlans"], made["spanning_tree"]["disjoint"]) == (0, [], False)
    assert tree["bridge_priority"] == [61440, 4096, 61440]
    # 20 Tbit/s over 10 and 40 Gbit/s, and the one that the scenario states.
    assert tree["path_cost"] == [2000, 500, 77, 2000, 2000, 2000]
    assert tree["port_priority"] == [[128, 128], [128, 128], [64, 128], *[[128, 128]] * 3]


@pytest.mark.parametrize(
    ("rate", "cost"),
    [
        ("10Mbit/s", 2_000_000),
        ("100Mbit/s", 200_000),
        ("1Gbit/s", 20_000),
        ("100Gbit/s", 200),
        ("1Tbit/s", 20),
    ],
)
def test_path_costs_are_those_of_the_table(rate: str, cost: int) -> None:
    assert cost_at(rate) == cost


def test_costs_have_the_bounds_of_the_standard() -> None:
    assert [cost_at(rate) for rate in ("1kbit/s", "30Tbit/s")] == [200_000_000, 1]


def test_a_link_of_a_topology_takes_a_cost() -> None:
    network = {
        "topology": {"kind": "dumbbell", "left": ["client", "bulk"], "right": ["db"]},
        "links": [{"between": ["right", "left"], "path_cost": 5, "port_priority": {"left": 16}}],
        "spanning_tree": {"protocol": "rstp"},
    }
    made = lower(load(network=network, switches=..., policies=..., arms={}).arms["base"], "base", 1)
    (tree,) = made["spanning_tree"]["trees"]
    assert (tree["path_cost"][0], tree["port_priority"][0]) == (5, [16, 128])
    assert made["links"][0]["rate_bps"] == 10**10


def test_instances_and_vlans_are_trees() -> None:
    instances = {
        1: {"vlans": "10-12,30", "bridge_priority": {"south": 0}},
        2: {"vlans": [40, "50-51"]},
    }
    made = plan(
        network__spanning_tree={"protocol": "mstp", "instances": instances},
        workloads__backup__vlan=50,
    )
    trees = made["spanning_tree"]["trees"]
    assert [(tree["instance"], tree["vlans"]) for tree in trees] == [
        (0, []),
        (1, [10, 11, 12, 30]),
        (2, [40, 50, 51]),
    ]
    assert [tree["bridge_priority"] for tree in trees] == [
        [32768] * 3,
        [32768, 32768, 0],
        [32768] * 3,
    ]
    assert planned_workloads(made)[1].vlan == 50
    made = plan(
        network__spanning_tree={
            "protocol": "rapid-pvst",
            "vlans": {7: {"bridge_priority": {"north": 4096}}},
        }
    )
    assert [(tree["instance"], tree["vlans"]) for tree in made["spanning_tree"]["trees"]] == [
        (0, []),
        (7, [7]),
    ]


def test_the_simulator_computes_the_trees_of_a_plan() -> None:
    found = spanning_trees(canonical_json(plan(switches__south__bridge_priority=4096)))
    assert [(tree.instance, tree.roots) for tree in found] == [(0, ["south"])]
    # leaf is 77 from the root, north 500: what is left between the two is blocked at the farther.
    assert found[0].blocked == [BlockedPort(node="north", towards="leaf", port=1, link=0)]
    costs = {bridge.name: bridge.root_path_cost for bridge in found[0].bridges}
    assert costs == {"leaf": 77, "north": 500, "south": 0}
    assert spanning_trees(canonical_json(plan(network__spanning_tree=None))) == []


def test_chosen_trees_say_the_costs_by_which_they_come_about() -> None:
    network = {
        "topology": {"kind": "leaf-spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 1},
        "spanning_tree": {"protocol": "rapid-pvst", "disjoint": True, "vlans": {10: {}, 20: {}}},
    }
    workloads = {
        f"of-{vlan}": {"kind": "stream", "source": "h1", "destination": "h3", "vlan": vlan}
        for vlan in (10, 20)
    }
    loaded = load(network=network, switches=..., policies=..., workloads=workloads, arms={})
    found = spanning_trees(canonical_json(lower(loaded.arms["base"], "base", 1)))
    uplinks = [index for index in range(9) if index % 3]
    used = [[index for index in uplinks if tree.path_costs[index] == 1] for tree in found[1:]]
    # Every leaf has its two uplinks after its host; each tree has a spine, and one link to the
    # other where no host is.
    assert [
        set(links) >= wanted for links, wanted in zip(used, ({1, 4, 7}, {2, 5, 8}), strict=True)
    ] == [True, True]
    assert [len(links) for links in used] == [4, 4]


PVST = {"protocol": "rapid-pvst", "disjoint": True, "vlans": {10: {}, 20: {}}}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"switches__leaf__bridge_priority": 5000},
            "switches.leaf.bridge_priority: 5000 is not a bridge priority"
            " (hint: 0 to 61440 in steps of 4096, such as 4096)",
        ),
        (
            {"network__links__2__port_priority": {"north": 64}},
            "network.links.2.port_priority.north: 'north' is not an end of this link (hint: "
            "did you mean 'south'?)",
        ),
        (
            {"network__spanning_tree": {"protocol": "rstp", "vlans": {10: {}}}},
            "network.spanning_tree.vlans: vlans requires protocol rapid-pvst, not rstp"
            " (hint: write protocol: rapid-pvst, or remove vlans)",
        ),
        (
            {"network__spanning_tree": {"protocol": "mstp", "instances": {1: {"vlans": "9-8"}}}},
            "network.spanning_tree.instances.1.vlans: '9-8' is not a range of VLANs"
            " (hint: write 1 to 4094, the lower one first)",
        ),
        (
            {
                "network__spanning_tree": {
                    "protocol": "mstp",
                    "instances": {1: {"vlans": 5}, 2: {"vlans": "4-6"}},
                }
            },
            "network.spanning_tree.instances.2.vlans: VLAN 5 already belongs to instance 1"
            " (hint: list each VLAN in one instance)",
        ),
        (
            {
                "network__spanning_tree": {
                    "protocol": "rapid-pvst",
                    "vlans": {5: {"bridge_priority": {"nord": 0}}},
                }
            },
            "network.spanning_tree.vlans.5.bridge_priority.nord: there is no switch 'nord'"
            " (hint: did you mean 'north'?)",
        ),
        (
            {
                "network__spanning_tree": {
                    "protocol": "rapid-pvst",
                    "vlans": {vlan: {} for vlan in range(1, 66)},
                }
            },
            "network.spanning_tree.vlans: 65 VLANs have separate trees"
            " (hint: list at most 64, only those whose trees differ)",
        ),
        (
            {"network__spanning_tree": {"protocol": "rstp", "disjoint": True}},
            "network.spanning_tree.disjoint: disjoint trees require at least two trees"
            " (hint: protocol: rapid-pvst with vlans: {10: {}, 20: {}})",
        ),
        (
            {"network__spanning_tree": PVST, "workloads__orders__vlan": 10},
            "workloads.backup.vlan: a frame without VLAN uses the first tree, which is not one of "
            "the disjoint trees (hint: give it a VLAN that network.spanning_tree.vlans lists)",
        ),
        (
            {
                "network__spanning_tree": PVST
                | {"vlans": {10: {}, 20: {"bridge_priority": {"north": 0}}}},
                "workloads__orders__vlan": 10,
                "workloads__backup__vlan": 20,
            },
            "network.spanning_tree.disjoint: disjoint and bridge_priority exclude each other"
            " (hint: remove disjoint, or every bridge_priority here)",
        ),
        (
            {"workloads__backup__pin_forward": ["leaf"]},
            "workloads.backup.pin_forward: a pinned path would not follow the spanning tree"
            " (hint: omit it, or omit network.spanning_tree)",
        ),
        (
            {"workloads__backup__vlan": 4095},
            "workloads.backup.vlan: 4095 is out of range (hint: write at most 4094)",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_a_hint(changes: dict[str, object], expected: str) -> None:
    assert problems(sound(**changed(changes))) == [expected]


def test_more_switches_than_can_be_chosen_for_are_refused() -> None:
    network = {
        "topology": {"kind": "leaf-spine", "leaves": 256, "spines": 2, "hosts_per_leaf": 1},
        "spanning_tree": PVST,
    }
    workloads = {"w": {"kind": "stream", "source": "h1", "destination": "h3", "vlan": 10}}
    (said,) = problems(
        sound(network=network, switches=..., policies=..., workloads=workloads, arms={})
    )
    assert (
        "disjoint trees are not computed for 258 switches and 512 links (hint: the limits are "
        "256 and 2048" in said
    )
