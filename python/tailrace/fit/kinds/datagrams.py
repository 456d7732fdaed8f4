"""Datagrams: `datagrams` where they go one way, `requests` over UDP where most are answered."""

from collections.abc import Iterator, Sequence
from itertools import chain

from tailrace.fit.conversations import DatagramFlow
from tailrace.fit.group import Window, gaps_of
from tailrace.fit.kinds.latencies import latencies_seen
from tailrace.fit.shapes import SIZES, TIMES, fitted
from tailrace.fit.workload import (
    Fit,
    Origin,
    Setting,
    active_of,
    begin_settings,
    counted,
    distributed,
    is_counted,
)

ANSWERED_LEAST = 0.5
"""Share of datagrams with an answer from which they are requests."""


def fit_datagrams(
    source: str, destination: str, flows: Sequence[DatagramFlow], window: Window
) -> Iterator[Fit]:
    """All datagrams between two hosts, to one port and back."""
    sent, returned = sum(one.sent for one in flows), sum(one.returned for one in flows)
    if ANSWERED_LEAST * sent <= returned <= sent:
        yield _requests(source, destination, flows, window)
        return
    yield _one_way(source, destination, flows, window, is_returned=False)
    if returned > 1:
        yield _one_way(destination, source, flows, window, is_returned=True)


def _one_way(
    source: str,
    destination: str,
    flows: Sequence[DatagramFlow],
    window: Window,
    *,
    is_returned: bool,
) -> Fit:
    listed = [one for flow in flows for one in flow.datagrams if one.is_returned == is_returned]
    times = [one.at_ns for one in listed]
    sizes = fitted([one.payload_bytes for one in listed], SIZES)
    interarrival = fitted(gaps_of(times) or [window.span_ns], TIMES)
    settings = [
        Setting("source", source),
        Setting("destination", destination),
        distributed("sizes", sizes, Origin.MEASURED, "payload"),
        distributed("interarrival", interarrival, Origin.MEASURED, "from one to the next"),
    ]
    count = sum(one.returned if is_returned else one.sent for one in flows)
    # The table of datagrams has a limit: with more, the flows have the time of the last one.
    end_ns = max(times) if len(times) == count else max(one.end_ns for one in flows)
    active = active_of(min(times), end_ns, window)
    is_finite = is_counted(count, active, window)
    if is_finite:
        settings.append(Setting("count", count, Origin.MEASURED, "all of them"))
    settings += begin_settings(active)
    data = sum(one.returned_bytes if is_returned else one.sent_bytes for one in flows)
    fits = {"sizes": sizes, "interarrival": interarrival}
    return Fit(
        "datagrams", tuple(settings), fits, counted(count, data, active), active, is_finite, data
    )


def _requests(client: str, server: str, flows: Sequence[DatagramFlow], window: Window) -> Fit:
    answered = list(chain.from_iterable(map(_pairs, flows)))
    waits = [wait for _, _, wait in answered]
    sent = [one.at_ns for flow in flows for one in flow.datagrams if not one.is_returned]
    fits = {
        "arrivals": fitted(gaps_of(sent) or [window.span_ns], TIMES),
        "request": fitted([request for request, _, _ in answered], SIZES),
        "response": fitted([response for _, response, _ in answered], SIZES),
        "server_time": fitted(
            [max(0, wait - window.rtt_ns) for wait in waits], TIMES, keeps_few=True
        ),
    }
    # The answer to the last one may come later, and some are lost.
    active = active_of(min(sent), max(max(sent), *(one.end_ns for one in flows)), window)
    is_finite = is_counted(len(sent), active, window)
    settings = (
        Setting("client", client),
        Setting("server", server),
        Setting("protocol", "udp"),
        distributed("arrivals", fits["arrivals"], Origin.MEASURED, "from one request to the next"),
        *([Setting("requests", len(sent), Origin.MEASURED, "all of them")] if is_finite else []),
        *begin_settings(active),
        distributed("request", fits["request"], Origin.MEASURED, "payload"),
        distributed("response", fits["response"], Origin.MEASURED, "payload"),
        distributed(
            "server_time",
            fits["server_time"],
            Origin.ESTIMATED,
            "time to the answer minus the round trip",
        ),
    )
    data = sum(one.returned_bytes for one in flows)
    seen = {
        **counted(len(sent), data, active),
        **latencies_seen(waits),
    }
    notes = [
        "UDP shows no round trip of the network: what is longer than that of the links counts "
        "as the server's"
    ]
    if len(answered) < len(sent):
        notes.append(
            f"{len(sent) - len(answered)} of {len(sent)} requests have no answer here; the "
            "simulation has it"
        )
    return Fit("requests", settings, fits, seen, active, is_finite, data, tuple(notes))


def _pairs(flow: DatagramFlow) -> Iterator[tuple[int, int, int]]:
    """Size of a request, size of its answer, and the time between them; answers are in the order of
    requests."""
    waiting = []
    for one in flow.datagrams:
        if not one.is_returned:
            waiting.append(one)
        elif waiting:
            request = waiting.pop(0)
            yield request.payload_bytes, one.payload_bytes, one.at_ns - request.at_ns
