"""Topology generators: predictable names, the right degrees, everything joined."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab import problems, sound
from tailrace.scenario.network.network import Network
from tailrace.scenario.network.topology import Graph, expand, node_count

pytestmark = pytest.mark.smoke


def graph(**network: Any) -> Graph:
    return expand(Network.model_validate(network))


def degree(of: Graph, name: str) -> int:
    return len(of.neighbours(name))


def test_a_star_joins_every_host_to_its_switch() -> None:
    star = graph(topology={"kind": "star", "switch": "leaf", "hosts": 3})
    assert (star.hosts, star.switches) == (["h1", "h2", "h3"], ["leaf"])
    assert star.neighbours("leaf") == ["h1", "h2", "h3"]


def test_a_dumbbell_has_one_link_in_the_middle() -> None:
    dumbbell = graph(
        topology={"kind": "dumbbell", "left": 2, "right": ["sink"], "bottleneck_rate": "1Gbit/s"}
    )
    assert dumbbell.hosts == ["left1", "left2", "sink"]
    assert next((k.a, k.b, k.rate_bps) for k in dumbbell.links) == ("left", "right", 10**9)
    assert dumbbell.rates_bps["sink"] == 10**10


def test_every_leaf_is_joined_to_every_spine() -> None:
    fabric = graph(topology={"kind": "leaf-spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 4})
    assert fabric.neighbours("leaf2") == ["h5", "h6", "h7", "h8", "spine1", "spine2"]
    assert fabric.neighbours("spine1") == ["leaf1", "leaf2", "leaf3"]


@pytest.mark.parametrize("k", [2, 4, 8])
def test_every_switch_of_a_fat_tree_has_k_ports(k: int) -> None:
    tree = graph(topology={"kind": "fat-tree", "k": k})
    assert len(tree.hosts) == k**3 // 4
    assert len(tree.switches) == 5 * k * k // 4
    assert {degree(tree, switch) for switch in tree.switches} == {k}
    assert all(tree.has_path("h1", host) for host in tree.hosts)


def test_core_switches_join_one_aggregation_switch_of_each_pod() -> None:
    tree = graph(topology={"kind": "fat-tree", "k": 4})
    assert tree.neighbours("core1") == ["agg1_1", "agg2_1", "agg3_1", "agg4_1"]
    assert tree.neighbours("core3") == ["agg1_2", "agg2_2", "agg3_2", "agg4_2"]


def test_a_link_of_ones_own_changes_the_generated_one_or_joins_anew() -> None:
    star = graph(
        topology={"kind": "star", "switch": "leaf", "hosts": 2},
        hosts=["far"],
        switches=["hub"],
        links=[
            {"between": ["leaf", "h2"], "rate": "1Gbit/s"},
            {"between": ["leaf", "hub"]},
            {"between": ["leaf", "hub"]},
            {"between": ["hub", "far"], "delay": "1ms"},
        ],
    )
    assert [(k.a, k.b, k.rate_bps) for k in star.links[:2]] == [
        ("h1", "leaf", 10**10),
        ("h2", "leaf", 10**9),
    ]
    assert [{k.a, k.b} for k in star.links[2:]] == [
        {"leaf", "hub"},
        {"leaf", "hub"},
        {"hub", "far"},
    ]
    assert (star.links[-1].delay_ps, star.links[0].delay_ps) == (10**9, 500_000)


@given(
    topology=st.one_of(
        st.builds(lambda n: {"kind": "star", "hosts": n}, st.integers(1, 20)),
        st.builds(
            lambda a, b: {"kind": "dumbbell", "left": a, "right": b},
            st.integers(1, 9),
            st.integers(1, 9),
        ),
        st.builds(
            lambda a, b, c: {"kind": "leaf-spine", "leaves": a, "spines": b, "hosts_per_leaf": c},
            *[st.integers(1, 6)] * 3,
        ),
        st.builds(lambda k: {"kind": "fat-tree", "k": 2 * k}, st.integers(1, 4)),
    )
)
def test_every_topology_is_joined_and_counted_right(topology: dict[str, Any]) -> None:
    network = Network.model_validate({"topology": topology})
    made = expand(network)
    assert len(set(made.nodes)) == len(made.nodes) == node_count(network)
    assert {degree(made, host) for host in made.hosts} == {1}
    assert set(made.islands.values()) == {0}


def test_hosts_of_a_leaf_spine_network_have_the_names_that_are_given_leaf_by_leaf() -> None:
    shape = {"kind": "leaf-spine", "leaves": 2, "spines": 1, "hosts": ["web", "db", "archive"]}
    fabric = graph(topology=shape)
    assert fabric.hosts == ["web", "db", "archive"]
    assert [fabric.neighbours(name) for name in fabric.hosts] == [["leaf1"], ["leaf1"], ["leaf2"]]
    wide = graph(topology=shape | {"hosts_per_leaf": 1, "leaves": 4})
    assert [wide.neighbours(name) for name in wide.hosts] == [["leaf1"], ["leaf2"], ["leaf3"]]


def test_a_fat_tree_may_have_fewer_hosts_than_fit_and_names_of_their_own() -> None:
    tree = graph(topology={"kind": "fat-tree", "k": 4, "hosts": ["a", "b", "c"]})
    assert [tree.neighbours(name) for name in tree.hosts] == [["edge1_1"], ["edge1_1"], ["edge1_2"]]
    assert graph(topology={"kind": "fat-tree", "k": 4, "hosts": 16}) == graph(
        topology={"kind": "fat-tree", "k": 4}
    )


@pytest.mark.parametrize(
    ("topology", "what"),
    [
        (
            {"kind": "fat-tree", "k": 4, "hosts": 17},
            "17 hosts do not fit: a fat tree of k = 4 has room for 16",
        ),
        ({"kind": "leaf-spine", "leaves": 2, "spines": 1}, "the topology has no hosts"),
        (
            {
                "kind": "leaf-spine",
                "leaves": 2,
                "spines": 1,
                "hosts_per_leaf": 1,
                "hosts": ["client", "db", "bulk"],
            },
            "3 hosts do not fit: 2 leaves have room for 2",
        ),
    ],
)
def test_hosts_that_do_not_fit_are_refused(topology: dict[str, object], what: str) -> None:
    assert any(what in found for found in problems(sound(network__topology=topology)))
