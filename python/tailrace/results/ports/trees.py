"""Spanning trees of an outcome, in words."""

from collections import Counter

from tailrace.errors import few
from tailrace.outcome.types import BlockedPort, Tree
from tailrace.plan.types import Plan
from tailrace.scenario.workloads.planned import workloads_of

BLOCKED_MAX = 6
"""Blocked ports that are named one by one."""
RANGES_MAX = 6


def tree_words(tree: Tree, plan: Plan) -> str:
    """`instance 1 (VLAN 10): root spine1; blocked leaf2>spine2`; ports of parallel links have their
    numbers."""
    joined = Counter(frozenset((link.a, link.b)) for link in plan.links)
    blocked = [_port_name(port, joined) for port in tree.blocked]
    words = f"instance {tree.instance}{_vlans(tree.vlans)}: root {few(tree.roots, BLOCKED_MAX)}"
    return (
        f"{words}; blocked {few(blocked, BLOCKED_MAX)}"
        if blocked
        else f"{words}; no port is blocked"
    )


def carries(tree: Tree, trees: list[Tree], plan: Plan) -> bool:
    """Whether a workload of the plan takes this tree: by its VLAN, or the first where no tree has
    that."""
    used = {own.vlan for own in workloads_of(plan)}
    listed = {vlan for other in trees for vlan in other.vlans}
    return bool(used & set(tree.vlans)) or (tree is trees[0] and bool(used - listed))


def _port_name(port: BlockedPort, joined: Counter[frozenset[str]]) -> str:
    """A port by its neighbour, and by its number too where several links join the two."""
    name = f"{port.node}>{port.towards}"
    return (
        f"{name} (port {port.port})" if joined[frozenset((port.node, port.towards))] > 1 else name
    )


def _vlans(vlans: list[int]) -> str:
    """` (VLANs 10, 20-29)`."""
    ranges: list[tuple[int, int]] = []
    for vlan in vlans:
        if ranges and ranges[-1][1] == vlan - 1:
            ranges[-1] = (ranges[-1][0], vlan)
        else:
            ranges.append((vlan, vlan))
    named = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    return f" (VLAN{'s' * (len(vlans) > 1)} {few(named, RANGES_MAX)})" if named else ""
