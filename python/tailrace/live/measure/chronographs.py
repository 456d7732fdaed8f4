"""The limits of live hosts' connections: the kernel's chronographs, from `ss --info --memory` at
several times.

Linux reports for how long a connection was busy, limited by the peer's window and by its send
buffer. The rest of the busy time between two samples is divided by the state of the connection at
the second (docs/models/verdict.md).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from msgspec import convert

from tailrace.live.lab.lab import Lab
from tailrace.live.measure.closings import Closed, Meant, end_of
from tailrace.outcome.types import Limits
from tailrace.programs.command import Command

LIMIT_S = 10.0
EVERY_S = 0.5
"""Time between two samples: two hosts cost about three milliseconds of one core."""
PS_PER_S = 10**12
US_PER_S = 10**6
FULL_SHARE = 2 / 3
"""A program that waited for room goes on when a third of the send buffer is free (Linux
`sk_stream_is_writeable`)."""
DATA_SHARE_MIN = 0.01
"""A connection with a smaller part of the segments of the busiest one is a control connection."""
TIMES = (
    "send_buffer",
    "receive_window",
    "congestion",
    "recovery",
    "interface",
    "queued",
    "reader_late",
)
COLUMNS = 4
"""Recv-Q, Send-Q and both ends, where all sockets have one state."""

Ends = tuple[tuple[str, int], tuple[str, int]]


@dataclass(frozen=True)
class Looked:
    """One end of a connection at one moment."""

    busy_us: int
    window_us: int
    buffer_us: int
    waiting_share: float
    """Of the smoothed round trip above the minimum."""
    state: str
    """The state that gets the rest of the busy time; empty for the application."""
    is_late: bool
    """Whether unread bytes fill more than half of the receive buffer."""
    segments: int
    """Segments with data, sent so far."""


@dataclass
class Counted:
    """Sums over the samples of one end, in microseconds."""

    last: Looked
    last_s: float
    open_us: float = 0.0
    segments: int = 0
    times_us: dict[str, float] = field(default_factory=lambda: dict.fromkeys(TIMES, 0.0))

    def add(self, at_s: float, now: Looked) -> None:
        """Adds a later sample."""
        span_us, before = (at_s - self.last_s) * US_PER_S, self.last
        window_us, buffer_us = now.window_us - before.window_us, now.buffer_us - before.buffer_us
        rest_us = max(0, now.busy_us - before.busy_us - window_us - buffer_us)
        self.open_us += span_us
        self.segments += now.segments - before.segments
        self.times_us["send_buffer"] += buffer_us
        self.times_us["receive_window"] += window_us
        waited_us = window_us + buffer_us + (rest_us if now.state == "send_buffer" else 0)
        self.times_us["queued"] += waited_us * now.waiting_share
        self.times_us["reader_late"] += span_us if now.is_late else 0
        if now.state:
            self.times_us[now.state] += rest_us
        self.last, self.last_s = now, at_s


class Chronographs:
    """The ends of connections of all hosts, by host."""

    def __init__(self, counted_from_s: float) -> None:
        self._counted_from_s = counted_from_s
        self._ends: dict[str, dict[Ends, Counted]] = {}

    def sample(self, host: str, at_s: float, text: str) -> None:
        """Adds the output of `ss` for a host. Before the end of the warm-up it only resets the
        start."""
        known = self._ends.setdefault(host, {})
        for ends, now in parse(text):
            if ends not in known or at_s <= self._counted_from_s:
                known[ends] = Counted(now, at_s)
            else:
                known[ends].add(at_s, now)

    def of(self, meant: Meant) -> Limits | None:
        """Times of both ends of a workload's connections together; None where none was seen
        twice."""
        pairs: dict[frozenset[tuple[str, int]], list[Counted]] = {}
        for host, at_server in ((meant.server, True), (meant.client, False)):
            for (local, peer), counted in self._ends.get(host, {}).items():
                if meant.has(Closed(local, peer, {}, None, None), at_server=at_server):
                    pairs.setdefault(frozenset((local, peer)), []).append(counted)
        most = max((_segments(ends) for ends in pairs.values()), default=0)
        busy = [ends for ends in pairs.values() if _segments(ends) >= most * DATA_SHARE_MIN]
        open_us = sum(max(end.open_us for end in ends) for ends in busy)
        if not open_us:
            return None
        ps = {
            f"{name}_ps": _ps(sum(end.times_us[name] for ends in busy for end in ends))
            for name in TIMES
        }
        return convert({"open_ps": _ps(open_us), **ps}, Limits)


def _segments(ends: Sequence[Counted]) -> int:
    return sum(end.segments for end in ends)


def _ps(us: float) -> int:
    return round(us * (PS_PER_S // US_PER_S))


def sockets_text(lab: Lab, host: str, moment: int) -> str:
    """The output of `ss` for a host's established connections."""
    argv = ["ss", "--no-header", "--tcp", "--info", "--memory", "--numeric", "state", "established"]
    return lab.run(Command(f"ss-{moment}-{host}", argv, host=host, observes=True), LIMIT_S)


def parse(text: str) -> list[tuple[Ends, Looked]]:
    """Parses pairs of lines: the ends of a connection, and indented its state."""
    found = []
    for first, second in pairwise(text.splitlines()):
        words = first.split()
        if first[:1].isspace() or not second[:1].isspace() or len(words) < COLUMNS:
            continue
        local, peer = end_of(words[2]), end_of(words[3])
        if local and peer:
            found.append(((local, peer), _looked(second)))
    return found


def _looked(text: str) -> Looked:
    smoothed, least = _float(r"\brtt:([\d.]+)/", text), _float(r"\bminrtt:([\d.]+)", text)
    unread, buffer = _int(r"\bskmem:\(r(\d+)", text), _int(r",rb(\d+)", text)
    return Looked(
        busy_us=_ms(r"\bbusy", text),
        window_us=_ms(r"\brwnd_limited", text),
        buffer_us=_ms(r"\bsndbuf_limited", text),
        waiting_share=max(0.0, 1 - least / smoothed) if smoothed else 0.0,
        state=_state(text),
        is_late=2 * unread > buffer,
        segments=_int(r"\bdata_segs_out:(\d+)", text),
    )


def _state(text: str) -> str:
    """As `state_of` of `crates/traffic/src/limits.rs`."""
    queued, buffer = _int(r"\bskmem:[^)]*,w(\d+)", text), _int(r",tb(\d+)", text)
    unacked, window = _int(r"\bunacked:(\d+)", text), _int(r"\bcwnd:(\d+)", text)
    waits_for_room = queued >= FULL_SHARE * buffer > 0
    if _int(r"\blost:(\d+)", text) or _int(r"\bretrans:(\d+)/", text):
        return "recovery"
    if not _int(r"\bnotsent:(\d+)", text):
        return "send_buffer" if waits_for_room else ""
    if 2 * _int(r"\bskmem:[^)]*,t(\d+)", text) > unacked * _int(r"\bmss:(\d+)", text):
        return "interface"
    return "send_buffer" if waits_for_room and unacked < window * FULL_SHARE else "congestion"


def _int(pattern: str, text: str) -> int:
    """0 for a value that `ss` omits."""
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _float(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    return float(found[1]) if found else 0.0


def _ms(name: str, text: str) -> int:
    """`busy:1204ms` in microseconds."""
    return _int(rf"{name}:(\d+)ms", text) * 1000


def busy_permille(used_s: Sequence[float], span_s: float) -> int:
    """How busy the busiest of some programs was, in thousandths of one core."""
    return round(1000 * max(used_s, default=0.0) / span_s) if span_s else 0
