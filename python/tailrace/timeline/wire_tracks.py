"""Tracks of ports and interfaces: waiting bytes before a wire, transmissions, drops, marks and
pauses."""

from collections import defaultdict
from collections.abc import Sequence

from tailrace.timeline.drawing import Drawing
from tailrace.timeline.labels import dropped, label, shares
from tailrace.timeline.log import Hop, Log, Pause
from tailrace.timeline.perfetto import Args, Writer, lanes
from tailrace.timeline.queues import Depths, behind, depths, waited_from

DEPTHS_MAX = 20_000
"""Values of one counter; beyond that the highest of each interval stays."""
QUANTUM_BITS = 512
"""Bit times of a pause quantum (IEEE 802.3 annex 31B)."""


def wires_of(log: Log) -> list[str]:
    """Wires on the paths of the chosen connections' frames, by the first frame of each."""
    first: dict[str, int] = {}
    for wire, hops in log.hops.items():
        own = (hop.start_ps for hop in hops if hop.frame is not None)
        if (start_ps := next(own, None)) is not None:
            first[wire] = start_ps
    for wire, drops in log.drops.items():
        if any(drop.frame is not None for drop in drops):
            first.setdefault(wire, drops[0].at_ps)
    return sorted(first, key=lambda wire: (first[wire], wire))


def draw_wire(drawing: Drawing, wire: str, room: int) -> int:
    """The tracks of one port or interface. Returns how many slices of other frames it has."""
    writer, log = drawing.writer, drawing.log
    node = wire.partition(">")[0]
    kind = "interface" if any(socket.host == node for socket in log.sockets) else "port"
    group = writer.group(
        f"live: {kind} {wire}, from the fabric's log" if log.is_live else f"{kind} {wire}"
    )
    hops = log.hops.get(wire, [])
    classes = sorted(
        {hop.class_ for hop in hops} | {drop.class_ for drop in log.drops.get(wire, ())}
    )
    whole = depths(log, wire)
    _count(writer, writer.counter(group, "queue"), whole)
    for class_ in classes if len(classes) > 1 else ():
        _count(writer, writer.counter(group, f"queue, class {class_}"), depths(log, wire, class_))
    events = writer.track(group, "events")
    _events(drawing, events, wire, whole)
    for class_ in classes:
        _waits(drawing, group, wire, class_)
    return _transmissions(drawing, writer.track(group, "wire"), hops, room)


def _count(writer: Writer, counter: int, of: Depths) -> None:
    """All values, or the highest of each of as many intervals as there is room for."""
    if len(of) > DEPTHS_MAX:
        width_ps = max(1, (of[-1][0] - of[0][0]) // DEPTHS_MAX)
        highest: dict[int, tuple[int, int]] = {}
        for at_ps, depth in of:
            interval = (at_ps - of[0][0]) // width_ps
            if interval not in highest or highest[interval][1] < depth:
                highest[interval] = at_ps, depth
        of = [*highest.values(), of[-1]]
    for at_ps, depth in of:
        writer.count(counter, at_ps, depth)


def _events(drawing: Drawing, track: int, wire: str, whole: Depths) -> None:
    """Drops and marks of all frames, and pauses."""
    writer, log = drawing.writer, drawing.log
    for drop in log.drops.get(wire, ()):
        own = log.frames.get(drop.frame) if drop.frame is not None else None
        what = f"{drop.workload}: {dropped(log, wire, drop, whole)}"
        args: dict[str, int | str] = {
            "bytes": drop.bytes,
            "class": drop.class_,
            "at_ps": drop.at_ps,
        }
        if own is not None:
            args |= drawing.frame_args(own)
        writer.instant(track, drop.at_ps, what, args, [own.id] if own else [])
    for mark in log.marks.get(wire, ()):
        writer.instant(
            track,
            mark.at_ps,
            f"{mark.workload}: marked",
            {"bytes": mark.bytes, "class": mark.class_},
        )
    for pause in log.pauses.get(wire, ()):
        writer.instant(
            track, pause.at_ps, _pause_text(pause, log.rates_bps[wire]), {"quanta": pause.quanta}
        )


def _pause_text(pause: Pause, rate_bps: int) -> str:
    if not pause.quanta:
        return f"pause of class {pause.class_} ends"
    longest_us = pause.quanta * QUANTUM_BITS * 1e6 / rate_bps
    return f"pause of class {pause.class_} for {longest_us:.0f} us at most"


def _waits(drawing: Drawing, group: int, wire: str, class_: int) -> None:
    """The waits of frames of watched connections in the queue of one class; those of others are in
    the counters."""
    writer, log = drawing.writer, drawing.log
    hops = [
        hop for hop in log.hops.get(wire, ()) if hop.frame in log.frames and hop.class_ == class_
    ]
    hops = sorted(
        (hop for hop in hops if waited_from(log, hop) < hop.start_ps),
        key=lambda hop: waited_from(log, hop),
    )
    if not hops:
        return
    spans = [(waited_from(log, hop), hop.start_ps) for hop in hops]
    by_lane: dict[int, list[tuple[tuple[int, int], Hop]]] = defaultdict(list)
    for lane, span, hop in zip(lanes(spans), spans, hops, strict=True):
        by_lane[lane].append((span, hop))
    for lane in sorted(by_lane):
        track = writer.track(group, f"queue of class {class_}")
        for span, hop in by_lane[lane]:
            frame = log.frames[hop.frame if hop.frame is not None else -1]
            whose = shares(behind(log.hops[wire], *span))
            args = {**drawing.frame_args(frame), "waited_ps": span[1] - span[0], "behind": whose}
            writer.slice(track, span, label(log, frame), args, [frame.id])
            drawing.own_slices += 1


def _transmissions(drawing: Drawing, track: int, hops: Sequence[Hop], room: int) -> int:
    """Draws the transmissions of a wire. Where there is no room for all, frames in front of the
    chosen ones come first."""
    writer, log = drawing.writer, drawing.log
    shown = _with_room(log, hops, room)
    for hop in hops:
        if hop.frame in log.frames:
            frame = log.frames[hop.frame if hop.frame is not None else -1]
            writer.slice(
                track,
                (hop.start_ps, hop.end_ps),
                label(log, frame),
                drawing.frame_args(frame),
                [frame.id],
            )
            drawing.own_slices += 1
        elif hop in shown:
            args: Args = {
                "bytes": hop.bytes,
                "class": hop.class_,
                "start_ps": hop.start_ps,
                "end_ps": hop.end_ps,
            }
            writer.slice(track, (hop.start_ps, hop.end_ps), hop.workload, args)
    others = sum(hop.frame not in log.frames for hop in hops)
    drawing.other_slices += len(shown)
    drawing.left_out += others - len(shown)
    return len(shown)


def _with_room(log: Log, hops: Sequence[Hop], room: int) -> set[Hop]:
    others = [hop for hop in hops if hop.frame not in log.frames]
    if len(others) <= room:
        return set(others)
    waits = sorted((waited_from(log, hop), hop.start_ps) for hop in hops if hop.frame in log.frames)
    merged: list[tuple[int, int]] = []
    for from_ps, to_ps in waits:
        if merged and from_ps <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], to_ps)
        else:
            merged.append((from_ps, to_ps))
    near: list[Hop] = []
    far: list[Hop] = []
    index = 0
    for hop in others:
        while index < len(merged) and merged[index][1] <= hop.start_ps:
            index += 1
        is_near = index < len(merged) and hop.end_ps > merged[index][0]
        (near if is_near else far).append(hop)
    return set([*near, *far][:room])
