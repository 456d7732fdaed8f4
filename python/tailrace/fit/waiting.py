"""Waiting in the network while a capture was taken: round trips over time beside the shortest one.

An acknowledgement without data is sent by the other end's kernel, not by its program. The time to
it contains the queues on the way and no work of programs.
"""

from bisect import bisect_left
from collections.abc import Iterable
from statistics import quantiles

LOADED = 2.0
"""Round trips show waiting when a quarter of them exceed the shortest by this factor, and at least
`SAMPLES_LEAST`."""
SAMPLES_LEAST = 8
LOADED_NS_LEAST = 50_000
"""They are longer by this too: interrupts are raised late by tens of microseconds on quiet
paths."""
APART_NS_MAX = 25_000_000
"""Maximum distance of a round trip from the times for which it is used."""
DELAYED_NS_LEAST = 35_000_000
"""A longer time may be an acknowledgement that its sender delayed (Linux: 40 ms at least), and is
not used."""


class Waits:
    """Round trips from the point of capture to one end, over time."""

    def __init__(self, samples: Iterable[tuple[int, int]], shortest_ns: int) -> None:
        """`samples` are times of acknowledgements and round trips."""
        ordered = sorted(one for one in samples if one[1] - shortest_ns < DELAYED_NS_LEAST)
        self._shortest_ns = shortest_ns
        self._at_ns = [at_ns for at_ns, _ in ordered]
        self._rtt_ns = [rtt_ns for _, rtt_ns in ordered]
        self.is_loaded = self._shows_waiting()

    def _shows_waiting(self) -> bool:
        if not self._shortest_ns or len(self._rtt_ns) < SAMPLES_LEAST:
            return False
        upper = quantiles(self._rtt_ns, n=4)[2]
        return upper > LOADED * self._shortest_ns and upper > self._shortest_ns + LOADED_NS_LEAST

    def near(self, at_ns: int) -> int:
        """The round trip that was seen next, or before; the shortest where none is near or they
        show no waiting."""
        if not self.is_loaded:
            return self._shortest_ns
        after = bisect_left(self._at_ns, at_ns)
        for index in (after, after - 1):
            if 0 <= index < len(self._at_ns) and abs(self._at_ns[index] - at_ns) <= APART_NS_MAX:
                return self._rtt_ns[index]
        return self._shortest_ns
