"""Lowers spanning trees: a number for every switch and link."""

from typing import Any

from tailrace.scenario.network.spanning_tree import PATH_COST_MAX, PORT_PRIORITY
from tailrace.scenario.network.topology import Graph, Joined
from tailrace.scenario.scenario import Scenario

COST_BPS = 20 * 10**12
"""IEEE 802.1Q-2018 table 13-4 (802.1D-2004 table 17-3): a link's recommended path cost is 20 Tbit/s
over its rate."""

Raw = dict[str, Any]


def lower_trees(scenario: Scenario, graph: Graph) -> Raw:
    """The `spanning_tree` of a plan, under its key; empty without one."""
    section = scenario.network.spanning_tree
    if section is None:
        return {}
    usual = {name: scenario.switch(name).bridge_priority for name in graph.switches}
    same = {
        "path_cost": [path_cost(link) for link in graph.links],
        "port_priority": [_port_priorities(link) for link in graph.links],
    }
    trees = {0: ([], {}), **section.trees}
    return {
        "spanning_tree": {
            "trees": [
                {
                    "instance": number,
                    "vlans": vlans,
                    "bridge_priority": list((usual | own).values()),
                    **same,
                }
                for number, (vlans, own) in trees.items()
            ],
            "disjoint": section.disjoint,
        }
    }


def path_cost(link: Joined) -> int:
    """The stated path cost, or the one of the link's rate."""
    if link.path_cost is not None:
        return link.path_cost
    return min(max(COST_BPS // link.rate_bps, 1), PATH_COST_MAX)


def _port_priorities(link: Joined) -> list[int]:
    return [link.port_priority.get(end, PORT_PRIORITY) for end in (link.a, link.b)]
