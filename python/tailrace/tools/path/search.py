"""The largest payload that a path carries, by bisection over sizes that are tried several times."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

HEADERS_BYTES = 28
"""IPv4 without options (20, RFC 791), and UDP (RFC 768) or an ICMP echo (RFC 792): 8."""
CONTROL_BYTES = 64
"""Payload of the small probes, which show whether the other end answers and how often the path
loses frames anyway."""
MTU_MAX = 65_535
"""The total length of an IPv4 packet has 16 bits."""
USUAL_MTUS = (9_216, 9_000, 1_500, 1_492, 1_450, 1_400, 1_280, 576)
"""Tried before other sizes between the bounds: jumbo frames, Ethernet, PPPoE, tunnels, the least of
IPv6 and IPv4."""


@dataclass(frozen=True)
class Attempt:
    """Several probes of one size."""

    payload_bytes: int
    sent: int
    received: int
    own_mtu: int | None = None
    """The sender's kernel answered "message too long" with this MTU."""
    router_mtu: int | None = None
    """A router answered "fragmentation needed" with this MTU."""
    router: str | None = None
    icmp: str | None = None
    """Another ICMP error, or what the sender's kernel says of its interface."""
    largest_fragment_bytes: int = 0
    """The reply came in fragments, of which this was the largest; 0 when it came whole."""

    @property
    def passes(self) -> bool:
        """Whether one arrived: a single arrival proves it."""
        return self.received > 0

    @property
    def hint_mtu(self) -> int | None:
        """The MTU that the answer names."""
        return self.own_mtu if self.own_mtu is not None else self.router_mtu


Try = Callable[[int, int], Attempt]
"""Sends so many probes of a payload."""


class NoAnswerError(Exception):
    """Not even small probes arrive."""


@dataclass
class Found:
    """What a search has found."""

    largest: Attempt
    """The largest payload that passes."""
    failed: Attempt | None
    """The smallest payload that does not; None when the largest possible one passes."""
    control: Attempt
    """All small probes together."""
    attempts: list[Attempt] = field(default_factory=list)
    is_complete: bool = True
    """Whether the two differ by one byte: the deadline did not end the search."""

    @property
    def mtu(self) -> int:
        """The MTU of the path."""
        return self.largest.payload_bytes + HEADERS_BYTES


def find_largest(try_size: Try, expected_mtu: int, tries: int, deadline_s: float) -> Found:
    """The largest payload that passes.

    Raises `NoAnswerError` when not even small probes arrive. Beyond `deadline_s` (of
    `time.monotonic`) the bounds found until then are returned.
    """
    control = try_size(CONTROL_BYTES, tries)
    if not control.passes:
        raise NoAnswerError(control.icmp or "")
    passed, failed, attempts = control, None, [control]
    low, high = CONTROL_BYTES, MTU_MAX - HEADERS_BYTES + 1
    candidates = _candidates(expected_mtu)
    while high - low > 1 and time.monotonic() < deadline_s:
        size = next((size for size in candidates if low < size < high), (low + high) // 2)
        attempt = try_size(size, tries)
        attempts.append(attempt)
        if attempt.passes:
            low, passed = size, attempt
        else:
            high, failed = size, attempt
            if attempt.hint_mtu is not None:
                hinted = attempt.hint_mtu - HEADERS_BYTES
                candidates = [hinted, hinted + 1, *candidates]
    return Found(passed, failed, control, attempts, is_complete=high - low == 1)


def _candidates(expected_mtu: int) -> list[int]:
    """The expected size and the next, then usual ones: most paths need no bisection."""
    return list(_both(expected_mtu)) + [size for mtu in USUAL_MTUS for size in _both(mtu)]


def _both(mtu: int) -> Iterator[int]:
    yield mtu - HEADERS_BYTES
    yield mtu - HEADERS_BYTES + 1
