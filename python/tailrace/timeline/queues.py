"""Waiting bytes before a wire over time, from the log, and the frames in front of a waiting one."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from tailrace.timeline.log import Drop, Hop, Log

Depths = list[tuple[int, int]]
"""Times in picoseconds, and the bytes that wait from then on."""


def depths(log: Log, wire: str, class_: int | None = None) -> Depths:
    """Bytes of frames that wait before a wire, without the frame that is being sent; of all
    classes, or of one.

    A frame whose arrival lies before the window waits from its begin. Frames that leave after the
    log are not in it, and nothing is known after the moment until which the log is whole.
    """
    changes: dict[int, int] = defaultdict(int)
    for hop in log.hops.get(wire, ()):
        if class_ in (None, hop.class_):
            changes[_since(log, hop.since_ps, hop.start_ps)] += hop.bytes
            changes[hop.start_ps] -= hop.bytes
    for drop in log.drops.get(wire, ()):
        if class_ in (None, drop.class_):
            changes[_since(log, drop.since_ps, drop.at_ps)] += drop.bytes
            changes[drop.at_ps] -= drop.bytes
    found: Depths = []
    depth = 0
    for at_ps in sorted(changes):
        if log.whole_until_ps is not None and at_ps >= log.whole_until_ps:
            break
        if changes[at_ps] or not found:
            depth += changes[at_ps]
            found.append((at_ps, depth))
    return found


def depth_at(of: Depths, at_ps: int) -> int:
    """Bytes that wait at a moment."""
    index = bisect_right(of, at_ps, key=lambda depth: depth[0])
    return of[index - 1][1] if index else 0


def waited_from(log: Log, of: Hop | Drop) -> int:
    """Since when a frame waited before its wire, in the window."""
    return _since(log, of.since_ps, of.start_ps if isinstance(of, Hop) else of.at_ps)


def behind(hops: Sequence[Hop], from_ps: int, to_ps: int) -> dict[str, int]:
    """For how long frames of each workload were sent between two moments, in picoseconds, from the
    longest.

    `hops` are those of the wire, in the order of transmission.
    """
    found: dict[str, int] = defaultdict(int)
    index = max(0, bisect_right(hops, from_ps, key=lambda hop: hop.start_ps) - 1)
    for hop in hops[index:]:
        if hop.start_ps >= to_ps:
            break
        found[hop.workload] += max(0, min(hop.end_ps, to_ps) - max(hop.start_ps, from_ps))
    return {name: time for name, time in sorted(found.items(), key=lambda each: -each[1]) if time}


def _since(log: Log, since_ps: int | None, until_ps: int) -> int:
    if since_ps is not None:
        return since_ps
    return max((from_ps for from_ps, _ in log.windows_ps if from_ps <= until_ps), default=until_ps)
