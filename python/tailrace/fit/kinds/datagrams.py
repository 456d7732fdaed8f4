"""Datagrams: `datagrams` where they go one way, `requests` over UDP where most are answered."""

from collections.abc import Iterator, Sequence
from itertools import chain

from tailrace.fit.conversations import DatagramFlow
from tailrace.fit.group import BITS, Window, gaps_of, percentile, rate_per_s
from tailrace.fit.quantities import time_text
from tailrace.fit.shapes import SIZES, TIMES, fitted
from tailrace.fit.workload import Fit, Origin, Setting, distributed

ANSWERED_LEAST = 0.5
"""Share of datagrams with an answer from which they are requests."""


def fit_datagrams(source: str, destination: str, flows: Sequence[DatagramFlow], window: Window) -> Iterator[Fit]:
    """All datagrams between two hosts, to one port and back."""
    sent, returned = sum(one.sent for one in flows), sum(one.returned for one in flows)
    if ANSWERED_LEAST * sent <= returned <= sent:
        yield _requests(source, destination, flows, window)
        return
    yield _one_way(source, destination, flows, window, is_returned=False)
    if returned > 1:
        yield _one_way(destination, source, flows, window, is_returned=True)


def _one_way(source: str, destination: str, flows: Sequence[DatagramFlow], window: Window, *, is_returned: bool) -> Fit:
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
    start, end = min(times), max(one.end_ns for one in flows)
    if window.ends_early(end):
        settings.append(Setting("count", count, Origin.MEASURED, "they end before the capture does"))
    if window.begins_late(start):
        settings.append(Setting("start", time_text(start - window.start_ns), Origin.MEASURED, "first frame"))
    data = sum(one.returned_bytes if is_returned else one.sent_bytes for one in flows)
    seen = {
        "rate_per_s": rate_per_s(count, window.span_ns),
        "goodput_bits_per_s": BITS * rate_per_s(data, window.span_ns),
    }
    return Fit("datagrams", tuple(settings), {"sizes": sizes, "interarrival": interarrival}, seen)


def _requests(client: str, server: str, flows: Sequence[DatagramFlow], window: Window) -> Fit:
    answered = list(chain.from_iterable(map(_pairs, flows)))
    waits = [wait for _, _, wait in answered]
    sent = [one.at_ns for flow in flows for one in flow.datagrams if not one.is_returned]
    fits = {
        "arrivals": fitted(gaps_of(sent) or [window.span_ns], TIMES),
        "request": fitted([request for request, _, _ in answered], SIZES),
        "response": fitted([response for _, response, _ in answered], SIZES),
        "server_time": fitted([wait - min(waits) for wait in waits], TIMES),
    }
    settings = (
        Setting("client", client),
        Setting("server", server),
        Setting("protocol", "udp"),
        distributed("arrivals", fits["arrivals"], Origin.MEASURED, "from one request to the next"),
        distributed("request", fits["request"], Origin.MEASURED, "payload"),
        distributed("response", fits["response"], Origin.MEASURED, "payload"),
        distributed("server_time", fits["server_time"], Origin.ESTIMATED, "time to the answer minus the shortest one"),
    )
    seen = {
        "rate_per_s": rate_per_s(len(answered), window.span_ns),
        "goodput_bits_per_s": BITS * rate_per_s(sum(one.returned_bytes for one in flows), window.span_ns),
        "latency_p50_ns": percentile(waits, 0.5),
        "latency_p99_ns": percentile(waits, 0.99),
    }
    note = "UDP shows no round trip of the network: the shortest time to an answer counts as the network's"
    return Fit("requests", settings, fits, seen, (note,))


def _pairs(flow: DatagramFlow) -> Iterator[tuple[int, int, int]]:
    """Size of a request, size of its answer, and the time between them; answers are in the order of requests."""
    waiting = []
    for one in flow.datagrams:
        if not one.is_returned:
            waiting.append(one)
        elif waiting:
            request = waiting.pop(0)
            yield request.payload_bytes, one.payload_bytes, one.at_ns - request.at_ns
