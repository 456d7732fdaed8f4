"""Semantic checks for spanning trees: keys of another protocol, VLANs in two trees, unknown
names."""

from collections.abc import Iterator

from tailrace.errors import KeyPath, closest
from tailrace.scenario.network.spanning_tree import INSTANCES_MAX, SpanningTree
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario

CHOSEN_SWITCHES_MAX = 256
CHOSEN_LINKS_MAX = 2_048
"""Links between switches up to which disjoint trees are computed; more would take seconds in every
trial."""
KEY_OF = {"rapid-pvst": "vlans", "mstp": "instances"}
"""Key with the trees of a protocol."""

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario, graph: Graph) -> Found:
    """Problems of the trees, and of settings that exclude them."""
    yield from _ports(scenario)
    section = scenario.network.spanning_tree
    if section is None:
        return
    at: KeyPath = ("network", "spanning_tree")
    yield from _trees(at, section, graph)
    if section.disjoint:
        yield from _disjoint((*at, "disjoint"), section, scenario, graph)
    for name, workload in scenario.workloads.items():
        for key in workload.pinned_keys():
            what = "a pinned path would not follow the spanning tree"
            yield ("workloads", name, key), what, "omit it, or omit network.spanning_tree"


def _ports(scenario: Scenario) -> Found:
    for index, link in enumerate(scenario.network.links):
        for name in link.port_priority:
            if name not in link.between:
                at: KeyPath = ("network", "links", index, "port_priority", name)
                yield (
                    at,
                    f"'{name}' is not an end of this link",
                    closest(name, link.between, "its ends"),
                )


def _trees(at: KeyPath, section: SpanningTree, graph: Graph) -> Found:
    for protocol, key in KEY_OF.items():
        if getattr(section, key) and section.protocol != protocol:
            yield (
                (*at, key),
                f"{key} requires protocol {protocol}, not {section.protocol}",
                f"write protocol: {protocol}, or remove {key}",
            )
            return
    if len(section.vlans) > INSTANCES_MAX:
        what = f"{len(section.vlans)} VLANs have separate trees"
        yield (*at, "vlans"), what, f"list at most {INSTANCES_MAX}, only those whose trees differ"
    key = KEY_OF.get(section.protocol, "")
    tree_of: dict[int, int] = {}
    for number, (vlans, priorities) in section.trees.items():
        for vlan in vlans:
            if vlan in tree_of:
                what = f"VLAN {vlan} already belongs to instance {tree_of[vlan]}"
                yield (*at, key, number, "vlans"), what, "list each VLAN in one instance"
                break
            tree_of[vlan] = number
        for name in priorities:
            if name not in graph.switch_names:
                hint = closest(name, graph.switches, "switches")
                yield (
                    (*at, key, number, "bridge_priority", name),
                    f"there is no switch '{name}'",
                    hint,
                )


def _disjoint(at: KeyPath, section: SpanningTree, scenario: Scenario, graph: Graph) -> Found:
    key = KEY_OF.get(section.protocol)
    if key is None or len(section.trees) < 2:
        hint = (
            "protocol: rapid-pvst with vlans: {10: {}, 20: {}}"
            if key is None
            else f"list two {key} or more"
        )
        yield at, "disjoint trees require at least two trees", hint
        return
    if any(priorities for _, priorities in section.trees.values()):
        yield (
            at,
            "disjoint and bridge_priority exclude each other",
            "remove disjoint, or every bridge_priority here",
        )
    switches = graph.switch_names
    between = sum(link.a in switches and link.b in switches for link in graph.links)
    if len(switches) > CHOSEN_SWITCHES_MAX or between > CHOSEN_LINKS_MAX:
        what = f"disjoint trees are not computed for {len(switches)} switches and {between} links"
        yield (
            at,
            what,
            f"the limits are {CHOSEN_SWITCHES_MAX} and {CHOSEN_LINKS_MAX}; "
            "set bridge_priority instead",
        )
    listed = {vlan for vlans, _ in section.trees.values() for vlan in vlans}
    for name, workload in scenario.workloads.items():
        if workload.vlan is None or workload.vlan not in listed:
            frames = "a frame without VLAN" if workload.vlan is None else f"VLAN {workload.vlan}"
            what = f"{frames} uses the first tree, which is not one of the disjoint trees"
            yield (
                ("workloads", name, "vlan"),
                what,
                f"give it a VLAN that network.spanning_tree.{key} lists",
            )
