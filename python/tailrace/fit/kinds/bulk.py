"""Data in one direction: `stream` where it lasts, `flows` where many short transfers come one after
another."""

from collections.abc import Sequence

from tailrace.fit.conversations import Connection
from tailrace.fit.group import BITS, Group, Window, gaps_of, rate_per_s
from tailrace.fit.quantities import rate_text, size_text
from tailrace.fit.shapes import SIZES, TIMES, fitted
from tailrace.fit.workload import (
    SPAN_NS_LEAST,
    Fit,
    Origin,
    Setting,
    active_of,
    begin_settings,
    counted,
    distributed,
    is_counted,
)
from tailrace.scenario.workloads.stream import WRITE_BYTES_MIN

FLOWS_LEAST = 10
"""Transfers that show arrivals and sizes."""
SHORT_SHARE = 0.2
"""The median transfer of `flows` lasts for at most this share of the capture."""
STREAM_BITS_PER_S_LEAST = 1000
"""The slowest connection that a scenario's `rate` allows."""
LINE_SHARE = 0.85
"""A stream with at least this share of the line has no limit of its own: at 1500 bytes TCP carries
94.9 % as payload (docs/models/tcp.md), and control traffic takes a part.
"""


def is_many_short(connections: Sequence[Connection], window: Window) -> bool:
    """Enough transfers that come and go."""
    spans = sorted(one.span_ns for one in connections)
    return len(spans) >= FLOWS_LEAST and spans[len(spans) // 2] <= SHORT_SHARE * window.span_ns


def fit_flows(group: Group, window: Window) -> Fit:
    """Finite transfers with arrivals of their own."""
    source, destination, sent = _direction(group)
    sizes = fitted(sent, SIZES)
    interarrival = fitted(gaps_of(one.start_ns for one in group.connections), TIMES)
    settings = [
        Setting("sources", [source]),
        Setting("destinations", [destination]),
        distributed("sizes", sizes, Origin.MEASURED, "payload of each connection"),
        distributed(
            "interarrival", interarrival, Origin.MEASURED, "from one connection to the next"
        ),
    ]
    active = active_of(group.start_ns, group.start_ns + group.span_ns, window)
    is_finite = is_counted(len(sent), active, window)
    if is_finite:
        settings.append(Setting("flows", len(sent), Origin.MEASURED, "all of them"))
    settings += begin_settings(active)
    fits = {"sizes": sizes, "interarrival": interarrival}
    return Fit(
        "flows",
        tuple(settings),
        fits,
        counted(len(sent), sum(sent), active),
        active,
        is_finite,
        sum(sent),
    )


def fit_stream(group: Group, window: Window) -> Fit:
    """Transfers that last."""
    source, destination, sent = _direction(group)
    at_once = group.at_once
    rate = BITS * rate_per_s(sum(sent), group.span_ns)
    least = STREAM_BITS_PER_S_LEAST * at_once
    settings = [Setting("source", source), Setting("destination", destination)]
    settings.append(Setting("connections", at_once, Origin.MEASURED, "at the same time"))
    notes = []
    if rate < LINE_SHARE * window.line_bits_per_s:
        origin, note = Origin.MEASURED, "mean goodput while it lasts"
        if rate < least:
            origin, note = Origin.ASSUMED, f"the least of a stream; it has {rate_text(rate)}"
        settings.append(Setting("rate", rate_text(max(rate, least)), origin, note))
        notes.append(
            "whether the program or the network limited the stream is not visible; the "
            "program's limit is set"
        )
    active = active_of(group.start_ns, group.start_ns + group.span_ns, window)
    # Less than one write of a program has no rate, and one below the least rate ends sooner.
    is_small = (
        sum(sent) <= WRITE_BYTES_MIN * at_once or rate < least or group.span_ns < SPAN_NS_LEAST
    )
    is_finite = is_small or window.ends_early(group.start_ns + group.span_ns)
    if is_finite:
        settings.append(
            Setting("size", size_text(sum(sent) / at_once), Origin.MEASURED, "of each connection")
        )
    settings += begin_settings(active, is_first_at_start=False)
    if len(sent) != at_once:
        notes.append(
            f"{len(sent)} connections, {at_once} at the same time: these carry the data of all"
        )
    seen: dict[str, float] = (
        {"payload_bytes": sum(sent)} if is_small else {"goodput_bits_per_s": rate}
    )
    return Fit("stream", tuple(settings), {}, seen, active, is_finite, sum(sent), tuple(notes))


def _direction(group: Group) -> tuple[str, str, list[int]]:
    """The sender, the receiver, and the bytes of each connection."""
    up = sum(one.client_bytes for one in group.connections)
    down = sum(one.server_bytes for one in group.connections)
    if up >= down:
        return group.client, group.server, [max(1, one.client_bytes) for one in group.connections]
    return group.server, group.client, [max(1, one.server_bytes) for one in group.connections]
