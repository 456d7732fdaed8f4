"""Connections between two hosts to one port, and when they were there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tailrace.fit.conversations import Connection
from tailrace.fit.paths import Path

NS_PER_S = 10**9
BITS = 8


@dataclass(frozen=True)
class Group:
    """Connections of one client's host to a port of one server's host."""

    client: str
    server: str
    port: int
    connections: Sequence[Connection]
    path: Path

    @property
    def start_ns(self) -> int:
        """Of the first frame."""
        return min(one.start_ns for one in self.connections)

    @property
    def span_ns(self) -> int:
        """From the first frame to the last, at least 1 ns."""
        return max(1, max(one.end_ns for one in self.connections) - self.start_ns)

    @property
    def at_once(self) -> int:
        """The most connections at one time."""
        return most_at_once((one.start_ns, one.end_ns) for one in self.connections)


@dataclass(frozen=True)
class Window:
    """Properties that all groups share."""

    start_ns: int
    span_ns: int
    line_bits_per_s: int
    """Stated or estimated speed of the links."""
    rtt_ns: int
    """Shortest round trip of all connections, which gives the links their delay; 0: none was
    seen."""

    def begins_late(self, start_ns: int) -> bool:
        """Traffic from this time on was not there for a noticeable part of the capture."""
        return start_ns - self.start_ns > LATE_SHARE * self.span_ns

    def ends_early(self, end_ns: int) -> bool:
        """Traffic until this time was not there for a noticeable part of the capture."""
        return self.start_ns + self.span_ns - end_ns > LATE_SHARE * self.span_ns


LATE_SHARE = 0.02
"""Share of a capture below which traffic counts as being there from its beginning, or to its
end."""


def most_at_once(spans: Iterable[tuple[int, int]]) -> int:
    """Maximum number of overlapping spans; one that ends where another begins does not overlap
    it."""
    changes = sorted(
        change for start, end in spans for change in ((start, 1), (max(end, start + 1), -1))
    )
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def rate_per_s(count: int, span_ns: int) -> float:
    """Events per second."""
    return count * NS_PER_S / span_ns


def gaps_of(times_ns: Iterable[int]) -> list[int]:
    """Times between consecutive events, at least 1 ns: a scenario has no gap of zero."""
    ordered = sorted(times_ns)
    return [max(1, later - earlier) for earlier, later in pairwise(ordered)]


def percentile(values: Sequence[float], share: float) -> float:
    """Of a sample that is not empty: the value below which this share is, 0 to 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
