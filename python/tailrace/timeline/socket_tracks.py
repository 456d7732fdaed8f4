"""Tracks of sockets: sent and received data of each end of a connection, and its state."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from tailrace.timeline.chosen import Chosen
from tailrace.timeline.drawing import CAUSE_FLOWS, Drawing
from tailrace.timeline.labels import label
from tailrace.timeline.log import Frame, Log, Socket


def ends_of(log: Log, one: Chosen) -> tuple[Frame | None, Frame | None]:
    """The first frame with payload on a transaction's path, and the frame with its last bytes."""
    members = log.members.get((one.workload, one.id))
    if members is None:
        return None, None
    first, last = (None if number is None else log.frames.get(number) for number in members[:2])
    return first, last


def draw_sockets(drawing: Drawing, chosen: Sequence[Chosen]) -> None:
    """One track for each end of a connection: frames that are sent and received, and its
    counters."""
    writer, log = drawing.writer, drawing.log
    ends = [(one, *ends_of(log, one)) for one in chosen]
    begins = {first.id: drawing.flows[one.name] for one, first, _ in ends if first}
    completes = {last.id: drawing.flows[one.name] + 1 for one, _, last in ends if last}
    by_socket: dict[int, list[tuple[int, int, Frame]]] = defaultdict(list)
    for frame in log.frames.values():
        by_socket[frame.sender].append((frame.handed_ps, 1, frame))
        if frame.delivered_ps is not None:
            by_socket[frame.sender ^ 1].append((frame.delivered_ps, 0, frame))
    groups: dict[str, int] = {}
    sends, receives = (
        ("enters the fabric:", "leaves the fabric:") if log.is_live else ("send", "receive")
    )
    for number, socket in enumerate(log.sockets):
        group = groups.get(socket.host) or groups.setdefault(
            socket.host, writer.group(_of_host(log, socket.host))
        )
        peer = log.sockets[number ^ 1]
        track = writer.track(group, f"{socket.name} to {peer.name} ({_whose(socket)})")
        for at_ps, is_sent, frame in sorted(by_socket[number], key=lambda each: each[:2]):
            if is_sent:
                flows = [frame.id, *([CAUSE_FLOWS + frame.id] if frame.prior in log.frames else [])]
                flows += (
                    CAUSE_FLOWS + caused for caused in _caused(drawing, frame, by_sender=True)
                )
                flows += [begins[frame.id]] if frame.id in begins else []
                writer.instant(
                    track, at_ps, f"{sends} {label(log, frame)}", drawing.frame_args(frame), flows
                )
            else:
                flows = [
                    frame.id,
                    *(CAUSE_FLOWS + caused for caused in _caused(drawing, frame, by_sender=False)),
                ]
                flows += [completes[frame.id]] if frame.id in completes else []
                writer.instant(
                    track,
                    at_ps,
                    f"{receives} {label(log, frame)}",
                    drawing.frame_args(frame),
                    flows,
                )
        _socket_samples(drawing, track, number)


def _of_host(log: Log, host: str) -> str:
    return f"live: frames of {host}, from the fabric's log" if log.is_live else f"sockets of {host}"


def _whose(socket: Socket) -> str:
    return socket.workload if socket.user is None else f"{socket.workload}, user {socket.user}"


def _caused(drawing: Drawing, frame: Frame, *, by_sender: bool) -> Iterable[int]:
    """Frames that the sender sent because of this one, such as its retransmission, or that its
    receiver sent in response."""
    of = drawing.log.frames
    return (
        caused
        for caused in drawing.causes.get(frame.id, ())
        if (of[caused].sender == frame.sender) is by_sender
    )


def _socket_samples(drawing: Drawing, track: int, socket: int) -> None:
    writer, samples = drawing.writer, drawing.log.samples.get(socket, ())
    counters = [
        writer.counter(track, name) for name in ("congestion window", "in flight", "unsent")
    ]
    before: tuple[int, ...] = ()
    for sample in samples:
        now = sample.cwnd_bytes, sample.in_flight_bytes, sample.unsent_bytes
        for counter, value, last in zip(counters, now, before or (-1, -1, -1), strict=True):
            if value != last:
                writer.count(counter, sample.at_ps, value)
        before = now
        for count, what in (
            (sample.timeouts, "retransmission timeout"),
            (sample.probes, "tail loss probe"),
        ):
            if count:
                writer.instant(track, sample.at_ps, what)
        if sample.retransmits:
            writer.instant(track, sample.at_ps, "retransmission", {"segments": sample.retransmits})
