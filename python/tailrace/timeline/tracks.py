"""The Perfetto trace of chosen transactions: its tracks and their contents.

Groups, from the top: one for each workload with its users, one for the sockets of each host, one
for the cores of each host with a processor and of each hypervisor, and one for each wire that the
frames of the transactions passed (an interface of a host, or a port of a switch), in the order in
which they passed them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tailrace.results.causes.causes import NO_USER
from tailrace.results.causes.sentence import WORDS, sentence
from tailrace.timeline.chosen import Chosen
from tailrace.timeline.core_tracks import draw_cores
from tailrace.timeline.drawing import USER_FLOWS, Drawing
from tailrace.timeline.log import Log
from tailrace.timeline.perfetto import Args, lanes
from tailrace.timeline.socket_tracks import draw_sockets, ends_of
from tailrace.timeline.wire_tracks import draw_wire, wires_of

SLICES_MAX = 200_000
"""Slices of frames of other connections: a trace of 30 MB, which the viewer opens in seconds."""


@dataclass
class Trace:
    """A trace, and a note on omitted parts."""

    content: bytes
    own_slices: int
    """Waits and transmissions of frames of the transactions' connections."""
    other_slices: int
    left_out: int
    """Transmissions of other frames that found no room."""


def trace_of(log: Log, chosen: Sequence[Chosen]) -> Trace:
    """The trace of these transactions."""
    drawing = Drawing(log)
    drawing.flows = {one.name: USER_FLOWS + 2 * number for number, one in enumerate(chosen)}
    for frame in log.frames.values():
        if frame.prior is not None and frame.prior in log.frames:
            drawing.causes[frame.prior].append(frame.id)
    for one in chosen:
        members = log.members.get((one.workload, one.id))
        for number in members.frames if members else ():
            drawing.whose[number].append(one.name)
    _users(drawing, chosen)
    draw_sockets(drawing, chosen)
    _completions(drawing, chosen)
    draw_cores(drawing)
    room = SLICES_MAX
    for wire in wires_of(log):
        room -= draw_wire(drawing, wire, room)
    return Trace(
        drawing.writer.trace(),
        drawing.own_slices,
        drawing.other_slices,
        drawing.left_out + log.left_out,
    )


def _users(drawing: Drawing, chosen: Sequence[Chosen]) -> None:
    writer = drawing.writer
    for workload in dict.fromkeys(one.workload for one in chosen):
        group = writer.group(_of_workload(drawing.log, workload, chosen))
        own = sorted(
            (one for one in chosen if one.workload == workload),
            key=lambda one: (one.transaction.start_ps, one.id),
        )
        for user in sorted({one.transaction.user for one in own}):
            of_user = [one for one in own if one.transaction.user == user]
            spans = [(one.transaction.start_ps, one.transaction.end_ps) for one in of_user]
            for lane, one in sorted(
                zip(lanes(spans), of_user, strict=True), key=lambda each: each[0]
            ):
                name = _of_user(drawing.log, one)
                name = name if lane == 0 else f"{name}, overlapping {lane}"
                _transaction(drawing, writer.track(group, name), one)


def _of_user(log: Log, one: Chosen) -> str:
    user = one.transaction.user
    if one.is_interval:
        return "interval" if log.is_live else f"interval of connection {user}"
    return "by itself" if user == NO_USER else f"user {user}"


def _of_workload(log: Log, workload: str, chosen: Sequence[Chosen]) -> str:
    if not log.is_live:
        return f"workload {workload}"
    is_interval = any(one.is_interval for one in chosen if one.workload == workload)
    return f"live: {workload}, " + (
        "whose program logs no operations" if is_interval else "from the program's log"
    )


def _transaction(drawing: Drawing, track: int, one: Chosen) -> None:
    """The transaction, and in it the parts of its critical path in their order."""
    writer, of = drawing.writer, one.transaction
    args: Args = {
        "latency_ps": of.latency_ps,
        "start_ps": of.start_ps,
        "end_ps": of.end_ps,
        "why": one.why or sentence(of),
        **{f"{part}_ps": time for part, time in of.parts.items()},
    }
    drawing.tracks[one.name] = track
    begins = [drawing.flows[one.name]] if ends_of(drawing.log, one)[0] else []
    writer.begin(track, of.start_ps, one.name, args, begins)
    for step in drawing.log.steps.get((one.workload, one.id), ()):
        where = f" at {step.wire}" if step.wire else ""
        time = {"time_ps": step.to_ps - step.from_ps}
        writer.slice(
            track, (step.from_ps, step.to_ps), WORDS.get(step.part, step.part) + where, time
        )
    writer.end(track, of.end_ps)


def _completions(drawing: Drawing, chosen: Sequence[Chosen]) -> None:
    """The completions, made after the sockets: flows connect simultaneous events in the order of
    their making."""
    for one in chosen:
        completes = [drawing.flows[one.name] + 1] if ends_of(drawing.log, one)[1] else []
        drawing.writer.instant(
            drawing.tracks[one.name],
            one.transaction.end_ps,
            f"{one.name} complete",
            None,
            completes,
        )
