"""A drawing of the network: hosts around one or two switches, or switches in tiers above their
hosts."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from tailrace.plan.types import Link, Plan
from tailrace.report.drawing.svg import percent, tag
from tailrace.results.format.numbers import rate_text, span_text
from tailrace.scenario.workloads.planned import workloads_of

# More hosts on one side than this are drawn as one box with their number.
HOSTS_DRAWN_MAX = 12
# More switches in a tier than this are drawn as one box.
SWITCHES_DRAWN_MAX = 16
NODE_HEIGHT_PX = 26
ROW_PX = 38
TIER_PX = 84
# How far the middle of a tier is lowered when a link would pass behind another switch of it.
BEND_PX = 72
# Width of a character of a label, on average.
CHARACTER_PX = 7.2


@dataclass(frozen=True)
class Node:
    """A box: its middle as (share of the width, pixels), its name, and the number of nodes that it
    represents."""

    text: str
    x: float
    y: float
    is_switch: bool
    members: tuple[str, ...]


def topology_chart(plan: Plan, forwards: Sequence[bool] = ()) -> Markup:
    """The network of a plan as a drawing that keeps the size of its text. `forwards` says of each
    link whether a spanning tree has it; the others are dashed. Without any, all links forward.
    """
    switches = [switch.name for switch in plan.switches]
    nodes = _beside(plan, switches) if len(switches) <= 2 else _tiers(plan, switches)
    height = int(max(node.y for node in nodes) + NODE_HEIGHT_PX / 2 + 6)
    marks = [*_links(plan, nodes, forwards), *(_box(node) for node in nodes)]
    drawing = tag(
        "svg",
        *marks,
        width="100%",
        height=height,
        role="img",
        aria_label=topology_words(plan),
        overflow="visible",
    )
    return tag("div", drawing, class_="plot topology", style="padding:4px 0")


def topology_words(plan: Plan) -> str:
    """A description of the drawing."""
    rates = Counter((link.rate_bps, link.delay_ps) for link in plan.links)
    links = ", ".join(
        f"{count} link{'s' * (count > 1)} of {rate_text(rate)} and {span_text(delay)}"
        for (rate, delay), count in rates.most_common(4)
    )
    mtus = sorted({host.mtu_bytes for host in plan.hosts})
    mtu = " and ".join(str(mtu) for mtu in mtus)
    hosts, switches = len(plan.hosts), len(plan.switches)
    return f"{hosts} hosts with MTU {mtu}, {switches} switch{'es' * (switches > 1)}, {links}."


def _beside(plan: Plan, switches: Sequence[str]) -> list[Node]:
    """Senders left, receivers right of one switch; for two switches each has its own side."""
    hosts = [host.name for host in plan.hosts]
    if len(switches) == 2:
        of_first = {
            _other(link, switches[0]) for link in plan.links if switches[0] in (link.a, link.b)
        }
        right = [host for host in hosts if host not in of_first]
    else:
        sinks = _sinks(plan)
        right = (
            [host for host in hosts if host in sinks]
            if 0 < len(sinks) < len(hosts)
            else hosts[len(hosts) // 2 :]
        )
    left = [host for host in hosts if host not in right]
    rows = max(_rows(left), _rows(right), 1)
    middle = rows * ROW_PX / 2 + 2
    at = {1: [0.5], 2: [0.36, 0.64]}.get(len(switches), [])
    boxes = [Node(name, x, middle, True, (name,)) for name, x in zip(switches, at, strict=True)]
    return [*_column(left, 0.13, middle), *boxes, *_column(right, 0.87, middle)]


def _tiers(plan: Plan, switches: Sequence[str]) -> list[Node]:
    """Switches by their distance from the nearest host, hosts below."""
    distance = _distances(plan)
    levels = sorted({distance.get(switch, 1) for switch in switches}, reverse=True)
    nodes: list[Node] = []
    y = NODE_HEIGHT_PX / 2 + 4.0
    for level in levels:
        names = [switch for switch in switches if distance.get(switch, 1) == level]
        row = _row(names, y, "switches", is_switch=True, drawn_max=SWITCHES_DRAWN_MAX)
        if len(row) > 2 and _skips(plan, names):
            row, y = _bent(row), y + BEND_PX
        nodes += row
        y += TIER_PX
    return nodes + _row(
        [host.name for host in plan.hosts], y, "hosts", is_switch=False, drawn_max=HOSTS_DRAWN_MAX
    )


def _skips(plan: Plan, names: Sequence[str]) -> bool:
    """Whether a link joins two switches of a tier that do not stand side by side."""
    index_of = {name: index for index, name in enumerate(names)}
    inside = [link for link in plan.links if link.a in index_of and link.b in index_of]
    return any(abs(index_of[link.a] - index_of[link.b]) > 1 for link in inside)


def _bent(row: Sequence[Node]) -> list[Node]:
    """The row bent downwards, to the hosts: no three of its nodes are in line, so that every link
    is seen."""
    widest = max(abs(node.x - 0.5) for node in row)
    return [
        replace(node, y=node.y + BEND_PX * (1 - ((node.x - 0.5) / widest) ** 2)) for node in row
    ]


def _row(
    names: Sequence[str], y: float, what: str, *, is_switch: bool, drawn_max: int
) -> list[Node]:
    if len(names) > drawn_max:
        return [Node(f"{len(names)} {what}", 0.5, y, is_switch, tuple(names))]
    is_crowded = len(names) > 6
    return [
        Node(str(i) if is_crowded else name, (i + 0.5) / len(names), y, is_switch, (name,))
        for i, name in enumerate(names)
    ]


def _column(names: Sequence[str], x: float, middle: float) -> list[Node]:
    if len(names) > HOSTS_DRAWN_MAX:
        return [Node(f"{len(names)} hosts", x, middle, False, tuple(names))]
    top = middle - (len(names) - 1) * ROW_PX / 2
    return [Node(name, x, top + i * ROW_PX, False, (name,)) for i, name in enumerate(names)]


def _rows(names: Sequence[str]) -> int:
    return 1 if len(names) > HOSTS_DRAWN_MAX else len(names)


def _sinks(plan: Plan) -> set[str]:
    """Hosts that receive the bulk of the traffic: clients of databases, destinations of the
    rest."""
    sinks: set[str] = set()
    for workload in workloads_of(plan):
        sinks.update(workload.ends.receivers)
    return sinks


def _distances(plan: Plan) -> dict[str, int]:
    neighbours: dict[str, list[str]] = {}
    for link in plan.links:
        neighbours.setdefault(link.a, []).append(link.b)
        neighbours.setdefault(link.b, []).append(link.a)
    distance = {host.name: 0 for host in plan.hosts}
    waiting = deque(distance)
    while waiting:
        node = waiting.popleft()
        for neighbour in neighbours.get(node, []):
            if neighbour not in distance:
                distance[neighbour] = distance[node] + 1
                waiting.append(neighbour)
    return distance


def _links(plan: Plan, nodes: Sequence[Node], forwards: Sequence[bool]) -> list[Markup]:
    """One line for all links between two boxes; it is dashed when none of them forwards."""
    box = {member: node for node in nodes for member in node.members}
    class_of: dict[tuple[float, float, float, float], str] = {}
    for link, is_open in zip(plan.links, forwards or [True] * len(plan.links), strict=True):
        a, b = sorted((box[link.a], box[link.b]), key=lambda node: (node.x, node.y))
        if a != b and (is_open or (a.x, a.y, b.x, b.y) not in class_of):
            class_of[a.x, a.y, b.x, b.y] = "link" if is_open else "link blocked"
    return [
        tag("line", x1=percent(ax), y1=ay, x2=percent(bx), y2=by, class_=class_of[ax, ay, bx, by])
        for ax, ay, bx, by in sorted(class_of)
    ]


def _box(node: Node) -> Markup:
    """A box around its middle: nested coordinates are moved by a percentage, their content is
    measured in pixels."""
    width = max(30.0, len(node.text) * CHARACTER_PX + 16)
    kind = "switch" if node.is_switch else "host"
    shape = tag(
        "rect",
        x=-width / 2,
        y=-NODE_HEIGHT_PX / 2,
        width=width,
        height=NODE_HEIGHT_PX,
        rx=4,
        class_=f"node {kind}",
    )
    text = tag("text", node.text, y=4.5, text_anchor="middle", class_="node-label")
    tip = tag("title", ", ".join(node.members[:40]))
    return tag("svg", tip, shape, text, x=percent(node.x), y=node.y, overflow="visible")


def _other(link: Link, name: str) -> str:
    return link.b if link.a == name else link.a
