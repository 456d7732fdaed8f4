"""Connections of a live trial as the fabric saw them: when each frame began on its host's link,
where it waited, when it was due at the other host, and which were dropped (docs/models/causes.md).
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tailrace.results.causes.causes import Loss
from tailrace.timeline.log import Frame, Hop, Log, Pause

CLIENT, SERVER = 0, 1
ACK_BYTES_MAX = 98
"""Of a frame without data: Ethernet, a tag, IPv4, and TCP with timestamps and three blocks (RFC
2018)."""
BITS_PER_QUANTUM = 512
"""IEEE 802.3 annex 31B."""
PS_PER_S = 10**12
BITS_PER_BYTE = 8


class Wait(NamedTuple):
    """A frame waited before a wire."""

    wire: str
    class_: int
    from_ps: int
    to_ps: int
    paused_ps: int

    @property
    def queue(self) -> str:
        """`leaf>client`, with the class in all classes but the first."""
        return f"{self.wire} class {self.class_}" if self.class_ else self.wire


@dataclass(frozen=True)
class Crossing:
    """A frame that the fabric carried from one host to the other."""

    begun_ps: int
    """On the link of its host."""
    delivered_ps: int
    bytes: int
    waits: tuple[Wait, ...]
    serialisation_ps: int
    propagation_ps: int

    @property
    def has_data(self) -> bool:
        """Whether it is longer than an acknowledgement."""
        return self.bytes > ACK_BYTES_MAX


@dataclass
class Connection:
    """Both directions of a connection; the index is the host that receives."""

    client: tuple[int, int]
    """Index of the host in the plan, and port."""
    server: tuple[int, int]
    to: tuple[list[Crossing], list[Crossing]] = field(default_factory=lambda: ([], []))
    """By the time of delivery."""
    lost: tuple[list[Loss], list[Loss]] = field(default_factory=lambda: ([], []))
    """Frames that would have come here, by the time of the drop."""

    def last_before(self, side: int, at_ps: int) -> Crossing | None:
        """The last frame that came to a side by then."""
        index = bisect_right(self.to[side], at_ps, key=lambda one: one.delivered_ps)
        return self.to[side][index - 1] if index else None

    def lost_between(self, side: int, from_ps: int, to_ps: int) -> list[Loss]:
        """Frames for a side that were dropped in this time."""
        of = self.lost[side]
        begin = bisect_left(of, from_ps, key=lambda one: one.at_ps)
        return of[begin : bisect_right(of, to_ps, key=lambda one: one.at_ps)]


class Paths:
    """The path of a frame in the plan: links of hosts, which it passes before it enters, and
    switches."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self._latency_ps = {str(one["name"]): int(one["latency_ps"]) for one in plan["switches"]}
        of = {str(link[end]): link for link in plan["links"] for end in ("a", "b")}
        self._links = [of[str(host["name"])] for host in plan["hosts"]]
        self._overhead_bytes = int(plan["framing"]["overhead_bytes"])

    def latency_ps(self, wire: str) -> int:
        """Of the switch before a wire."""
        return self._latency_ps.get(wire.partition(">")[0], 0)

    def of_host_ps(self, host: int, size: int) -> tuple[int, int]:
        """Serialisation and propagation of a frame of this size in bytes on the link of a host."""
        link = self._links[host]
        bits = (size + self._overhead_bytes) * BITS_PER_BYTE
        return -(-bits * PS_PER_S // int(link["rate_bps"])), int(link["delay_ps"])


def connections_of(log: Log, paths: Paths) -> list[Connection]:
    """Connections in the order of the log's sockets; frames of which the log has not all hops are
    left out."""
    pairs = zip(log.sockets[::2], log.sockets[1::2], strict=True)
    found = [
        Connection((one.address, one.port), (other.address, other.port)) for one, other in pairs
    ]
    hops: dict[int, list[tuple[str, Hop]]] = defaultdict(list)
    for wire, of in log.hops.items():
        for hop in of:
            if hop.frame in log.frames:
                hops[hop.frame].append((wire, hop))
    paused = {wire: _paused(of, log.rates_bps[wire]) for wire, of in log.pauses.items()}
    for frame in log.frames.values():
        crossing = _crossing(
            frame, log.sockets[frame.sender].address, hops.get(frame.id, []), paused, paths
        )
        if crossing is not None:
            found[frame.sender // 2].to[_receiver(frame)].append(crossing)
    for wire, drops in log.drops.items():
        for drop in drops:
            lost = None if drop.frame is None else log.frames.get(drop.frame)
            if lost is not None:
                found[lost.sender // 2].lost[_receiver(lost)].append(Loss(wire, drop.at_ps))
    for connection in found:
        for side in (CLIENT, SERVER):
            connection.to[side].sort(key=lambda one: (one.delivered_ps, one.begun_ps))
            connection.lost[side].sort(key=lambda one: one.at_ps)
    return found


def _receiver(frame: Frame) -> int:
    return SERVER if frame.sender % 2 == 0 else CLIENT


Paused = Mapping[str, Mapping[int, Sequence[tuple[int, int]]]]
"""By wire and class, when it was paused."""


def _crossing(
    frame: Frame, host: int, hops: list[tuple[str, Hop]], paused: Paused, paths: Paths
) -> Crossing | None:
    if frame.delivered_ps is None or not hops:
        return None
    hops.sort(key=lambda hop: hop[1].start_ps)
    if hops[-1][1].arrival_ps != frame.delivered_ps or any(hop.since_ps is None for _, hop in hops):
        return None
    serialisation_ps, propagation_ps = paths.of_host_ps(host, frame.frame_bytes)
    begun_ps, at_ps, waits = (
        frame.handed_ps - serialisation_ps - propagation_ps,
        frame.handed_ps,
        [],
    )
    for wire, hop in hops:
        start_ps = max(at_ps, hop.start_ps)  # a switch may begin before the last byte has come
        end_ps = max(start_ps, hop.end_ps)
        queued_ps = min(start_ps, at_ps + paths.latency_ps(wire))
        times = paused.get(wire, {}).get(hop.class_, ())
        waits.append(
            Wait(wire, hop.class_, queued_ps, start_ps, _overlap(times, queued_ps, start_ps))
        )
        serialisation_ps += end_ps - start_ps
        propagation_ps += queued_ps - at_ps + hop.arrival_ps - end_ps
        at_ps = hop.arrival_ps
    return Crossing(
        begun_ps, at_ps, frame.frame_bytes, tuple(waits), serialisation_ps, propagation_ps
    )


def _paused(pauses: Sequence[Pause], rate_bps: int) -> dict[int, list[tuple[int, int]]]:
    """By class; a later pause replaces an earlier one, and one of no time ends it."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pause in sorted(pauses):
        of = found[pause.class_]
        if of and of[-1][1] > pause.at_ps:
            of[-1] = (of[-1][0], pause.at_ps)
        of.append(
            (pause.at_ps, pause.at_ps + pause.quanta * BITS_PER_QUANTUM * PS_PER_S // rate_bps)
        )
    return dict(found)


def _overlap(times: Sequence[tuple[int, int]], from_ps: int, to_ps: int) -> int:
    first = max(0, bisect_right(times, from_ps, key=lambda time: time[0]) - 1)
    total = 0
    for begin, end in times[first:]:
        if begin >= to_ps:
            break
        total += max(0, min(end, to_ps) - max(begin, from_ps))
    return total


@dataclass
class AtQueue:
    """The waits and drops of frames at one port and class."""

    waited_ps: list[int] = field(default_factory=list)
    """Of each frame that was sent on."""
    paused_ps: int = 0
    paused_frames: int = 0
    dropped: int = 0
    """Drops of all classes of the port, stored with the first class."""


def at_queues(connections: Sequence[Connection]) -> dict[str, AtQueue]:
    """By queue the waits and drops of these connections' frames, the longest waits first."""
    found: dict[str, AtQueue] = defaultdict(AtQueue)
    for wait in _waits(connections):
        of = found[wait.queue]
        of.waited_ps.append(wait.to_ps - wait.from_ps)
        of.paused_ps += wait.paused_ps
        of.paused_frames += wait.paused_ps > 0
    dropped = Counter(loss.port for one in connections for side in one.lost for loss in side)
    for port, count in dropped.items():
        first = next((queue for queue in found if queue.partition(" ")[0] == port), port)
        found[first].dropped += count
    return _ordered(found)


def merged_queues(several: Iterable[Mapping[str, AtQueue]]) -> dict[str, AtQueue]:
    """By queue the waits and drops of several workloads' frames."""
    found: dict[str, AtQueue] = defaultdict(AtQueue)
    for queue, own in (item for queues in several for item in queues.items()):
        of = found[queue]
        of.waited_ps += own.waited_ps
        of.paused_ps += own.paused_ps
        of.paused_frames += own.paused_frames
        of.dropped += own.dropped
    return _ordered(found)


def _ordered(queues: Mapping[str, AtQueue]) -> dict[str, AtQueue]:
    """The longest waits first."""
    return dict(sorted(queues.items(), key=lambda item: -sum(item[1].waited_ps)))


def _waits(connections: Sequence[Connection]) -> Iterator[Wait]:
    for one in connections:
        for side in one.to:
            for crossing in side:
                yield from crossing.waits
