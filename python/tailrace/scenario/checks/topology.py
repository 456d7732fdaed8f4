"""Semantic checks for topologies: impossible sizes, hosts that do not fit."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.network import FatTree, LeafSpine, host_count
from tailrace.scenario.network.topology import NODES_MAX, node_count
from tailrace.scenario.scenario import Scenario

AT: KeyPath = ("network", "topology")
Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario) -> Found:
    """Problems that prevent the network from being built."""
    match scenario.network.topology:
        case FatTree() as tree:
            yield from _fat_tree(tree)
        case LeafSpine() as shape:
            yield from _leaf_spine(shape)
        case _:
            pass
    count = node_count(scenario.network)
    if count > NODES_MAX:
        yield AT, f"the network has {count} nodes", f"the limit is {NODES_MAX}"
    if count == 0:
        yield (
            ("network",),
            "the network has no hosts",
            "give a topology, or hosts, switches and links",
        )


def _fat_tree(tree: FatTree) -> Found:
    if tree.k < 2 or tree.k % 2:
        yield (
            (*AT, "k"),
            f"{tree.k} is not an even number of at least 2",
            "write an even number such as 4, 8 or 16",
        )
    elif (given := host_count(tree.hosts)) > tree.capacity:
        what = f"{given} hosts do not fit: a fat tree of k = {tree.k} has room for {tree.capacity}"
        yield (*AT, "hosts"), what, "raise k"


def _leaf_spine(shape: LeafSpine) -> Found:
    for key in ("leaves", "spines", "hosts_per_leaf"):
        if getattr(shape, key) == 0:
            yield (*AT, key), f"a leaf-spine network needs at least one of {key}", "write 1 or more"
    if shape.hosts is None and shape.hosts_per_leaf is None:
        yield AT, "the topology has no hosts", "add hosts_per_leaf: 8, or hosts: [web, db]"
    room = shape.leaves * shape.at_each_leaf
    if (given := host_count(shape.hosts)) > room:
        what = f"{given} hosts do not fit: {shape.leaves} leaves have room for {room}"
        yield (*AT, "hosts"), what, "raise hosts_per_leaf, or omit it"
