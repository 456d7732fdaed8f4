"""The Perfetto trace of chosen transactions: which tracks it has, and what stands on them.

Groups, from the top: one for each workload with its users, one for the sockets of each host, one for each wire that the
frames of the transactions passed (an interface of a host, or a port of a switch), in the order in which they passed
them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tailrace.results.causes.sentence import WORDS, sentence
from tailrace.timeline.chosen import Chosen
from tailrace.timeline.labels import REPEATED, dropped, label, shares
from tailrace.timeline.log import Frame, Hop, Log, Pause
from tailrace.timeline.perfetto import Args, Writer, lanes
from tailrace.timeline.queues import Depths, behind, depths, waited_from

SLICES_MAX = 200_000
"""Slices of frames of other connections: a trace of 30 MB, which the viewer opens in seconds."""
DEPTHS_MAX = 20_000
"""Values of one counter; beyond that the highest of each interval stays."""
QUANTUM_BITS = 512
"""Bit times of a pause quantum (IEEE 802.3 annex 31B)."""
PS_PER_S = 10**12
CAUSE_FLOWS = 1 << 40
"""Flows that lead from a frame to what was sent because of it count from here; those that follow a frame, from 0."""
USER_FLOWS = 1 << 41
"""Flows from and to users count from here."""


@dataclass
class Trace:
    """A trace, and what it leaves out."""

    content: bytes
    own_slices: int
    """Waits and transmissions of frames of the transactions' connections."""
    other_slices: int
    left_out: int
    """Transmissions of other frames that found no room."""


@dataclass
class _Drawing:
    log: Log
    writer: Writer = field(default_factory=Writer)
    own_slices: int = 0
    other_slices: int = 0
    left_out: int = 0
    causes: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """By frame, the frames that were sent because of it."""
    flows: dict[str, int] = field(default_factory=dict)
    """By name of the transaction, the flow from its user; that to its user has the next number."""
    tracks: dict[str, int] = field(default_factory=dict)
    """Of transactions, by their names."""


def trace_of(log: Log, chosen: Sequence[Chosen]) -> Trace:
    """The trace of these transactions."""
    drawing = _Drawing(log)
    drawing.flows = {one.name: USER_FLOWS + 2 * number for number, one in enumerate(chosen)}
    for frame in log.frames.values():
        if frame.prior is not None and frame.prior in log.frames:
            drawing.causes[frame.prior].append(frame.id)
    _users(drawing, chosen)
    _sockets(drawing, chosen)
    _completions(drawing, chosen)
    wires = _wires(log)
    room = SLICES_MAX
    for wire in wires:
        room -= _wire(drawing, wire, room)
    return Trace(drawing.writer.trace(), drawing.own_slices, drawing.other_slices, drawing.left_out + log.left_out)


def _wires(log: Log) -> list[str]:
    """Those that frames of watched connections passed or were to pass, by the first of them."""
    first: dict[str, int] = {}
    for wire, hops in log.hops.items():
        own = (hop.start_ps for hop in hops if hop.frame is not None)
        if (start_ps := next(own, None)) is not None:
            first[wire] = start_ps
    for wire, drops in log.drops.items():
        if any(drop.frame is not None for drop in drops):
            first.setdefault(wire, drops[0].at_ps)
    return sorted(first, key=lambda wire: (first[wire], wire))


def _users(drawing: _Drawing, chosen: Sequence[Chosen]) -> None:
    writer = drawing.writer
    for workload in dict.fromkeys(one.workload for one in chosen):
        group = writer.group(f"workload {workload}")
        own = sorted(
            (one for one in chosen if one.workload == workload), key=lambda one: (one.transaction.start_ps, one.id)
        )
        for user in sorted({one.transaction.user for one in own}):
            of_user = [one for one in own if one.transaction.user == user]
            spans = [(one.transaction.start_ps, one.transaction.end_ps) for one in of_user]
            for lane, one in sorted(zip(lanes(spans), of_user, strict=True), key=lambda each: each[0]):
                name = f"user {user}" if lane == 0 else f"user {user}, overlapping {lane}"
                _transaction(drawing, writer.track(group, name), one)


def _transaction(drawing: _Drawing, track: int, one: Chosen) -> None:
    """The transaction, and in it the parts of its critical path in their order."""
    writer, of = drawing.writer, one.transaction
    args: Args = {
        "latency_ps": of.latency_ps,
        "start_ps": of.start_ps,
        "end_ps": of.end_ps,
        "why": sentence(of),
        **{f"{part}_ps": time for part, time in of.parts.items()},
    }
    drawing.tracks[one.name] = track
    begins = [drawing.flows[one.name]] if _ends_of(drawing.log, one)[0] else []
    writer.begin(track, of.start_ps, one.name, args, begins)
    for step in drawing.log.steps.get((one.workload, of.user, of.start_ps), ()):
        where = f" at {step.wire}" if step.wire else ""
        time = {"time_ps": step.to_ps - step.from_ps}
        writer.slice(track, (step.from_ps, step.to_ps), WORDS.get(step.part, step.part) + where, time)
    writer.end(track, of.end_ps)


def _completions(drawing: _Drawing, chosen: Sequence[Chosen]) -> None:
    """The completions, made after the sockets: flows connect simultaneous events in the order of their making."""
    for one in chosen:
        completes = [drawing.flows[one.name] + 1] if _ends_of(drawing.log, one)[1] else []
        drawing.writer.instant(
            drawing.tracks[one.name], one.transaction.end_ps, f"{one.name} complete", None, completes
        )


def _ends_of(log: Log, one: Chosen) -> tuple[Frame | None, Frame | None]:
    """The first frame with payload that the client sent for a transaction, and the last that it was given."""
    of = one.transaction
    own = [frame for frame in log.frames.values() if _is_of(log, frame, one) and frame.payload_bytes]
    sent = [frame for frame in own if frame.sender % 2 == 0 and of.start_ps <= frame.handed_ps <= of.end_ps]
    given = [
        frame
        for frame in own
        if frame.sender % 2 == 1 and frame.delivered_ps is not None and of.start_ps <= frame.delivered_ps <= of.end_ps
    ]
    first = min(sent, key=lambda frame: frame.id, default=None)
    return first, max(given, key=lambda frame: frame.delivered_ps or 0, default=None)


def _is_of(log: Log, frame: Frame, one: Chosen) -> bool:
    socket = log.sockets[frame.sender]
    return (socket.workload, socket.user) == (one.workload, one.transaction.user)


def _sockets(drawing: _Drawing, chosen: Sequence[Chosen]) -> None:
    writer, log = drawing.writer, drawing.log
    ends = [(one, *_ends_of(log, one)) for one in chosen]
    begins = {first.id: drawing.flows[one.name] for one, first, _ in ends if first}
    completes = {last.id: drawing.flows[one.name] + 1 for one, _, last in ends if last}
    by_socket: dict[int, list[tuple[int, int, Frame]]] = defaultdict(list)
    for frame in log.frames.values():
        by_socket[frame.sender].append((frame.handed_ps, 1, frame))
        if frame.delivered_ps is not None:
            by_socket[frame.sender ^ 1].append((frame.delivered_ps, 0, frame))
    groups: dict[str, int] = {}
    for number, socket in enumerate(log.sockets):
        group = groups.get(socket.host) or groups.setdefault(socket.host, writer.group(f"sockets of {socket.host}"))
        peer = log.sockets[number ^ 1]
        track = writer.track(group, f"{socket.name} to {peer.name} ({socket.workload}, user {socket.user})")
        for at_ps, is_sent, frame in sorted(by_socket[number], key=lambda each: each[:2]):
            if is_sent:
                flows = [frame.id, *([CAUSE_FLOWS + frame.id] if frame.prior in log.frames else [])]
                flows += (CAUSE_FLOWS + caused for caused in _caused(drawing, frame, by_sender=True))
                flows += [begins[frame.id]] if frame.id in begins else []
                writer.instant(track, at_ps, f"send {label(frame)}", _frame_args(frame), flows)
            else:
                flows = [frame.id, *(CAUSE_FLOWS + caused for caused in _caused(drawing, frame, by_sender=False))]
                flows += [completes[frame.id]] if frame.id in completes else []
                writer.instant(track, at_ps, f"receive {label(frame)}", _frame_args(frame), flows)
        _looks(drawing, track, number)


def _caused(drawing: _Drawing, frame: Frame, *, by_sender: bool) -> Iterable[int]:
    """What the sender of a frame sent after it, such as its repetition, or what its receiver answered."""
    of = drawing.log.frames
    return (caused for caused in drawing.causes.get(frame.id, ()) if (of[caused].sender == frame.sender) is by_sender)


def _looks(drawing: _Drawing, track: int, socket: int) -> None:
    writer, looks = drawing.writer, drawing.log.looks.get(socket, ())
    counters = [writer.counter(track, name) for name in ("congestion window", "in flight", "unsent")]
    before: tuple[int, ...] = ()
    for look in looks:
        now = look.cwnd_bytes, look.in_flight_bytes, look.unsent_bytes
        for counter, value, last in zip(counters, now, before or (-1, -1, -1), strict=True):
            if value != last:
                writer.count(counter, look.at_ps, value)
        before = now
        for count, what in ((look.timeouts, "retransmission timeout"), (look.probes, "tail loss probe")):
            if count:
                writer.instant(track, look.at_ps, what)
        if look.retransmits:
            writer.instant(track, look.at_ps, "retransmission", {"segments": look.retransmits})


def _frame_args(frame: Frame) -> dict[str, int | str]:
    args: dict[str, int | str] = {
        "frame": frame.id,
        "seq": frame.seq,
        "ack": frame.ack,
        "payload_bytes": frame.payload_bytes,
        "frame_bytes": frame.frame_bytes,
        "window_bytes": frame.window_bytes,
        "handed_ps": frame.handed_ps,
    }
    if frame.delivered_ps is not None:
        args["delivered_ps"] = frame.delivered_ps
    if frame.repeats is not None:
        args["repeats"] = frame.repeats
        args["why"] = REPEATED.get(frame.prior_part or "", "repeated in the same recovery")
    if frame.sack:
        args["sack"] = ", ".join(f"{left}-{right}" for left, right in frame.sack)
    return args


def _wire(drawing: _Drawing, wire: str, room: int) -> int:
    """The tracks of one port or interface. Returns how many slices of other frames it has."""
    writer, log = drawing.writer, drawing.log
    node = wire.partition(">")[0]
    kind = "interface" if any(socket.host == node for socket in log.sockets) else "port"
    group = writer.group(f"{kind} {wire}")
    hops = log.hops.get(wire, [])
    classes = sorted({hop.class_ for hop in hops} | {drop.class_ for drop in log.drops.get(wire, ())})
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


def _events(drawing: _Drawing, track: int, wire: str, whole: Depths) -> None:
    """Drops and marks of all frames, and pauses."""
    writer, log = drawing.writer, drawing.log
    for drop in log.drops.get(wire, ()):
        own = log.frames.get(drop.frame) if drop.frame is not None else None
        what = f"{drop.workload}: {dropped(log, wire, drop, whole)}"
        args: dict[str, int | str] = {"bytes": drop.bytes, "class": drop.class_, "at_ps": drop.at_ps}
        if own is not None:
            args |= _frame_args(own)
        writer.instant(track, drop.at_ps, what, args, [own.id] if own else [])
    for mark in log.marks.get(wire, ()):
        writer.instant(track, mark.at_ps, f"{mark.workload}: marked", {"bytes": mark.bytes, "class": mark.class_})
    for pause in log.pauses.get(wire, ()):
        writer.instant(track, pause.at_ps, _pause_text(pause, log.rates_bps[wire]), {"quanta": pause.quanta})


def _pause_text(pause: Pause, rate_bps: int) -> str:
    if not pause.quanta:
        return f"pause of class {pause.class_} ends"
    longest_us = pause.quanta * QUANTUM_BITS * 1e6 / rate_bps
    return f"pause of class {pause.class_} for {longest_us:.0f} us at most"


def _waits(drawing: _Drawing, group: int, wire: str, class_: int) -> None:
    """The waits of frames of watched connections in the queue of one class; those of others are in the counters."""
    writer, log = drawing.writer, drawing.log
    hops = [hop for hop in log.hops.get(wire, ()) if hop.frame in log.frames and hop.class_ == class_]
    hops = sorted((hop for hop in hops if waited_from(log, hop) < hop.start_ps), key=lambda hop: waited_from(log, hop))
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
            args = {**_frame_args(frame), "waited_ps": span[1] - span[0], "behind": whose}
            writer.slice(track, span, label(frame), args, [frame.id])
            drawing.own_slices += 1


def _transmissions(drawing: _Drawing, track: int, hops: Sequence[Hop], room: int) -> int:
    """What the wire sent. Where there is no room for all, frames that own ones waited behind come first."""
    writer, log = drawing.writer, drawing.log
    shown = _with_room(log, hops, room)
    for hop in hops:
        if hop.frame in log.frames:
            frame = log.frames[hop.frame if hop.frame is not None else -1]
            writer.slice(track, (hop.start_ps, hop.end_ps), label(frame), _frame_args(frame), [frame.id])
            drawing.own_slices += 1
        elif hop in shown:
            args: Args = {"bytes": hop.bytes, "class": hop.class_, "start_ps": hop.start_ps, "end_ps": hop.end_ps}
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
    place = 0
    for hop in others:
        while place < len(merged) and merged[place][1] <= hop.start_ps:
            place += 1
        is_near = place < len(merged) and hop.end_ps > merged[place][0]
        (near if is_near else far).append(hop)
    return set([*near, *far][:room])
