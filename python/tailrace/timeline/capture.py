"""The capture of chosen transactions: the frames of their connections, with a comment on each.

Every frame stands in it once, at the interface of the host that sent it, as captures on both hosts
would have it. A capture at a port has those that came to that port.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tailrace import _native
from tailrace.results.causes.sentence import sentence
from tailrace.results.format.numbers import span_text
from tailrace.timeline.chosen import Chosen
from tailrace.timeline.headers import headers, shift_of
from tailrace.timeline.labels import REPEATED, dropped, label, waited
from tailrace.timeline.log import Drop, Frame, Hop, Log
from tailrace.timeline.queues import Depths, depths

SNAP_BYTES = 128
"""More than the longest headers: 18 + 20 + 60 bytes."""
PS_PER_NS = 1000


@dataclass(frozen=True)
class _Way:
    """Where one frame was."""

    hops: list[tuple[str, Hop]]
    drops: list[tuple[str, Drop]]


def capture_of(log: Log, chosen: Sequence[Chosen], version: str, port: str | None = None) -> bytes:
    """A pcapng file, as the sending hosts see the frames, or as the port before a wire does."""
    ways = _ways(log)
    described = " ".join(
        f"{one.name}: {(one.why or sentence(one.transaction)).rstrip('.')}." for one in chosen
    )
    shift = shift_of(max((frame.window_bytes for frame in log.frames.values()), default=0))
    writer = _native.PcapngFile(
        f"tailrace {version}", f"{described} Windows are scaled by 2^{shift}."
    )
    interfaces: dict[str, int] = {}
    numbers: dict[int, int] = {}
    whole: dict[str, Depths] = {wire: depths(log, wire) for wire in log.drops}
    packets = sorted(_packets(log, ways, port))
    for number, (at_ps, id_, wire) in enumerate(packets, 1):
        frame = log.frames[id_]
        if wire not in interfaces:
            what = "port" if port else "interface"
            interfaces[wire] = writer.interface(
                wire, f"{what} {wire}", log.rates_bps[wire], SNAP_BYTES
            )
        numbers[id_] = number
        content = headers(frame, log.sockets[frame.sender], log.sockets[frame.sender ^ 1], shift)
        comment = "; ".join(_comments(log, frame, ways[id_], numbers, whole))
        writer.packet(interfaces[wire], at_ps // PS_PER_NS, content, frame.frame_bytes, comment)
    return writer.content()


def _packets(log: Log, ways: dict[int, _Way], port: str | None) -> list[tuple[int, int, str]]:
    """When, which frame, on which interface."""
    if port is None:
        first = {
            id_: next((wire for wire, _ in [*way.hops, *way.drops]), None)
            for id_, way in ways.items()
        }
        return [
            (frame.handed_ps, id_, wire)
            for id_, frame in log.frames.items()
            if (wire := first.get(id_))
        ]
    sent = [
        (hop.start_ps, id_, wire)
        for id_, way in ways.items()
        for wire, hop in way.hops
        if wire == port
    ]
    lost = [
        (drop.at_ps, id_, wire)
        for id_, way in ways.items()
        for wire, drop in way.drops
        if wire == port
    ]
    return [*sent, *lost]


def _ways(log: Log) -> dict[int, _Way]:
    ways: dict[int, _Way] = defaultdict(lambda: _Way([], []))
    for wire, hops in log.hops.items():
        for hop in hops:
            if hop.frame is not None and hop.frame in log.frames:
                ways[hop.frame].hops.append((wire, hop))
    for wire, drops in log.drops.items():
        for drop in drops:
            if drop.frame is not None and drop.frame in log.frames:
                ways[drop.frame].drops.append((wire, drop))
    for way in ways.values():
        way.hops.sort(key=lambda passed: passed[1].start_ps)
    return ways


def _comments(
    log: Log, frame: Frame, way: _Way, numbers: dict[int, int], whole: dict[str, Depths]
) -> list[str]:
    words = [label(log, frame)]
    if frame.repeats is not None:
        why = REPEATED.get(frame.prior_part or "", "repeated in the same recovery")
        copy = numbers.get(frame.repeats)
        words.append(why + (f", copy of packet {copy}" if copy else ""))
    words += [text for wire, hop in way.hops if (text := waited(log, wire, hop)) is not None]
    marks = [
        wire for wire, at_wire in log.marks.items() for mark in at_wire if mark.frame == frame.id
    ]
    words += [f"marked at {wire}" for wire in marks]
    words += [dropped(log, wire, drop, whole[wire]) for wire, drop in way.drops]
    if frame.delivered_ps is not None:
        words.append(
            f"handed to the transport after {span_text(frame.delivered_ps - frame.handed_ps)}"
        )
    elif not way.drops:
        words.append("still under way at the end of the window")
    return words
