"""Where frames ended, on a path whose counters are known.

The ports tell that count frames above their MTU; without them, the counters of the interfaces along
the path.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tailrace.outcome.types import NetworkOutcome, Outcome
from tailrace.results.ports.interfaces import Row, difference, rows_of

PortLocation = tuple[int, str, str, str]
"""Place of a port in the outcome, its switch and the node at its other end; `ingress` or
`egress`."""


@dataclass(frozen=True)
class Point:
    """A place on a path where frames are counted."""

    node: str
    towards: str | None
    """The neighbour; None at a host with one interface."""
    is_sent: bool

    @property
    def words(self) -> str:
        """The place, as it stands in a sentence."""
        if self.towards is None:
            return f"the interface of {self.node}"
        return f"{self.node}>{self.towards}"


@dataclass(frozen=True)
class Counted:
    """What a network has counted."""

    too_long: Mapping[PortLocation, int] = field(default_factory=dict)
    """Frames longer than the MTU of a port."""
    rows: Sequence[Row] = ()
    """Interfaces."""

    @classmethod
    def of(cls, told: Outcome | NetworkOutcome) -> "Counted":
        """From an outcome, or from what a fabric tells."""
        found = {
            (number, port.node, port.towards, side): frames
            for number, port in enumerate(told.ports)
            if (drops := port.mtu_drops) is not None
            for side, frames in (("egress", drops.egress), ("ingress", drops.ingress))
        }
        return cls(found, rows_of(told.netstat))

    def since(self, before: "Counted") -> "Counted":
        """What was counted after an earlier reading."""
        found = {
            location: frames - before.too_long.get(location, 0)
            for location, frames in self.too_long.items()
        }
        return Counted(found, difference(self.rows, before.rows))


def located(
    plan: Mapping[str, Any], ends: tuple[str, str], counted: Counted, probes: int
) -> dict[str, Any] | None:
    """Where `probes` frames ended that were sent while `counted` was counted; None when the
    counters do not tell."""
    return _by_mtu(counted) or _by_interfaces(points(plan, ends), counted.rows, probes)


def _by_mtu(counted: Counted) -> dict[str, Any] | None:
    """The port that has counted most frames above its MTU."""
    if not any(counted.too_long.values()):
        return None
    (_, node, towards, side), frames = max(counted.too_long.items(), key=lambda each: each[1])
    mtu = {(row.node, row.towards): row.mtu_bytes for row in counted.rows}.get((node, towards))
    name = f"{node}>{towards}"
    stated = f", whose MTU is {mtu}" if mtu else ""
    how = "arriving at" if side == "ingress" else "leaving by"
    return {
        "port": name,
        "side": side,
        "mtu_bytes": mtu,
        "frames": frames,
        "words": f"dropped by {node}, {how} its port {name}{stated}: the port counted {frames}",
    }


def _by_interfaces(
    path: Sequence[Point], rows: Sequence[Row], probes: int
) -> dict[str, Any] | None:
    """The first interface on the path that did not count the probes. Other traffic hides it: then
    nothing is told."""
    by_name = {(row.node, row.towards): row for row in reversed(rows)}
    last: tuple[Point, int] | None = None
    for point in path:
        row = by_name.get((point.node, point.towards))
        count = None if row is None else (row.tx_frames if point.is_sent else row.rx_frames)
        if count is None:
            continue
        if count < probes:
            return _between(last, point, count, probes)
        last = point, count
    return None


def _between(
    last: tuple[Point, int] | None, point: Point, count: int, probes: int
) -> dict[str, Any]:
    verb = "sent" if point.is_sent else "received"
    after = ""
    if last is not None:
        before, seen = last
        after = f" between {before.words} ({'sent' if before.is_sent else 'received'} {seen}) and"
    else:
        after = " before"
    return {
        "after": None if last is None else last[0].words,
        "before": point.words,
        "words": f"lost{after} {point.words} ({verb} {count} of {probes})",
    }


def points(plan: Mapping[str, Any], ends: tuple[str, str]) -> list[Point]:
    """The counted places on a shortest path, in the order in which a frame passes them."""
    nodes = shortest(plan, ends)
    found = [Point(nodes[0], None, is_sent=True)] if nodes else []
    for before, node, after in zip(nodes, nodes[1:], nodes[2:], strict=False):
        found += [Point(node, before, is_sent=False), Point(node, after, is_sent=True)]
    return [*found, Point(nodes[-1], None, is_sent=False)] if nodes else []


def shortest(plan: Mapping[str, Any], ends: tuple[str, str]) -> list[str]:
    """The nodes of a shortest path; empty when there is none."""
    near: dict[str, list[str]] = {}
    for link in plan["links"]:
        near.setdefault(link["a"], []).append(link["b"])
        near.setdefault(link["b"], []).append(link["a"])
    came: dict[str, str | None] = {ends[0]: None}
    waiting = deque([ends[0]])
    while waiting and ends[1] not in came:
        node = waiting.popleft()
        for other in near.get(node, []):
            if other not in came:
                came[other] = node
                waiting.append(other)
    path: list[str] = []
    at: str | None = ends[1] if ends[1] in came else None
    while at is not None:
        path.append(at)
        at = came[at]
    return path[::-1]
