"""The workload that a group of connections is, with its figures and how well they fit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tailrace.fit.distribution import SIZE, TIME, Fitted, fit
from tailrace.fit.groups import Connection, Datagrams, Exchange, Group
from tailrace.statistics import mean, median

NS_PER_S = 10**9
BITS = 8
STREAM_BYTES = 1_000_000
"""A connection that carries so much one way, and almost nothing the other, is bulk."""
ONE_WAY_SHARE = 0.05
FLOWS_MIN = 5
"""So many bulk connections that begin one after another are flows; fewer are streams."""
KEPT_EXCHANGES = 2
"""Exchanges of a connection from which on it is kept between requests."""
STEADY_SHARE = 0.9
"""A stream that has less than this share of the line is limited by itself: its rate is stated."""
LEAST_EXCHANGES = 10


@dataclass(frozen=True)
class Seen:
    """What the capture shows of one workload: what a simulated run of it should show too."""

    rate_per_s: float | None
    goodput_bps: float
    response_p50_ms: float | None = None
    response_p99_ms: float | None = None


@dataclass
class Found:
    """One workload."""

    name: str
    keys: dict[str, Any]
    """As the scenario writes them."""
    ends: tuple[int, int]
    """Client and server, or source and destination: places in the list of addresses."""
    words: dict[str, str]
    """Where each key is from, and how well it fits."""
    seen: Seen
    distances: dict[str, float] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    """What the capture cannot tell."""


def of_group(name: str, group: Group, length_ns: int, line_bps: int) -> Iterator[Found]:
    """The workloads of a group: requests, and bulk."""
    bulk = [one for one in group.connections if _is_bulk(one)]
    rest = [one for one in group.connections if not _is_bulk(one) and one.exchanges]
    kept = [one for one in rest if len(one.exchanges) >= KEPT_EXCHANGES]
    short = [one for one in rest if len(one.exchanges) < KEPT_EXCHANGES]
    if kept and len(kept) >= len(short):
        yield _closed(name, group, kept, length_ns)
    elif short:
        yield _open(name, group, short, length_ns)
    if bulk:
        yield from _bulk(name, group, bulk, length_ns, line_bps)


def _is_bulk(connection: Connection) -> bool:
    less, more = sorted((connection.client_bytes, connection.server_bytes))
    is_one_way = more >= STREAM_BYTES and less <= ONE_WAY_SHARE * more
    return is_one_way and len(connection.exchanges) <= KEPT_EXCHANGES


def gaps(connection: Connection) -> list[float]:
    """Pauses of a user: from the end of a response at the client to its next request there."""
    pairs = pairwise(connection.exchanges)
    return [max(0.0, next_.request_start - last.response_end - connection.client_rtt) for last, next_ in pairs]


def server_times(connection: Connection) -> list[float]:
    """From the end of a request at the server to the first byte of its response there."""
    return [max(0.0, one.response_start - one.request_end - connection.server_rtt) for one in connection.exchanges]


def response_times(connections: Sequence[Connection]) -> list[float]:
    """From the first byte of a request to the last of its response, as the client sees it, in milliseconds."""
    return [
        (one.response_end - one.request_start + connection.client_rtt) / 1e6
        for connection in connections
        for one in connection.exchanges
    ]


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _seen_of(connections: Sequence[Connection], length_ns: int) -> Seen:
    exchanges = [one for connection in connections for one in connection.exchanges]
    waits = response_times(connections)
    return Seen(
        len(exchanges) * NS_PER_S / length_ns,
        BITS * sum(one.response_bytes + one.request_bytes for one in exchanges) * NS_PER_S / length_ns,
        median(waits),
        _percentile(waits, 0.99),
    )


def _sizes(exchanges: Sequence[Exchange]) -> tuple[Fitted, Fitted]:
    requests = fit([one.request_bytes for one in exchanges], SIZE)
    return requests, fit([one.response_bytes for one in exchanges], SIZE)


def _closed(name: str, group: Group, kept: Sequence[Connection], length_ns: int) -> Found:
    """Users that keep their connection and wait for each response."""
    exchanges = [one for connection in kept for one in connection.exchanges]
    request, response = _sizes(exchanges)
    pauses = [gap for connection in kept for gap in gaps(connection)]
    gap, server = fit(pauses or [0.0], TIME), fit([time for one in kept for time in server_times(one)], TIME)
    keys: dict[str, Any] = {"kind": "requests", "users": len(kept)}
    keys |= {"request": request.value, "response": response.value, "gap": gap.value, "server_time": server.value}
    words = {
        "users": f"connections with {KEPT_EXCHANGES} requests or more",
        "request": request.words,
        "response": response.words,
        "gap": f"from a response at the client to its next request: {gap.words}",
        "server_time": f"from a request at the server to its response, without the smallest round trip: {server.words}",
    }
    unknown = _of_requests(kept)
    distances = {"request": request.distance, "response": response.distance, "gap": gap.distance}
    distances["server_time"] = server.distance
    return Found(name, keys, (group.client, group.server), words, _seen_of(kept, length_ns), distances, unknown)


def _open(name: str, group: Group, short: Sequence[Connection], length_ns: int) -> Found:
    """A new connection for every request: whether users wait for each other's responses cannot be seen."""
    exchanges = [one for connection in short for one in connection.exchanges]
    request, response = _sizes(exchanges)
    starts = sorted(connection.start for connection in short)
    between = [float(b - a) for a, b in pairwise(starts)]
    arrivals = fit(between or [float(length_ns)], TIME)
    server = fit([time for one in short for time in server_times(one)], TIME)
    keys: dict[str, Any] = {"kind": "requests", "connection": "new", "arrivals": arrivals.value}
    keys |= {"request": request.value, "response": response.value, "server_time": server.value}
    words = {
        "connection": "one request for each connection",
        "arrivals": f"from one connection to the next: {arrivals.words}",
        "request": request.words,
        "response": response.words,
        "server_time": f"from a request at the server to its response, without the smallest round trip: {server.words}",
    }
    unknown = [*_of_requests(short), "whether its users wait for a response before they open the next connection"]
    distances = {"request": request.distance, "response": response.distance, "arrivals": arrivals.distance}
    return Found(name, keys, (group.client, group.server), words, _seen_of(short, length_ns), distances, unknown)


def _of_requests(connections: Sequence[Connection]) -> list[str]:
    unknown = ["what of the server's time was spent in queues of the network, or waiting for a core"]
    if not all(one.has_syn for one in connections):
        unknown.append("round trips of connections whose beginning is not in the capture")
    if sum(len(one.exchanges) for one in connections) < LEAST_EXCHANGES:
        unknown.append(f"distributions: fewer than {LEAST_EXCHANGES} exchanges")
    return unknown


def _bulk(name: str, group: Group, bulk: Sequence[Connection], length_ns: int, line_bps: int) -> Iterator[Found]:
    """Bulk from the server or to it."""
    for is_upload in (False, True):
        own = [one for one in bulk if (one.client_bytes > one.server_bytes) == is_upload]
        if not own:
            continue
        ends = (group.client, group.server) if is_upload else (group.server, group.client)
        sizes = [float(one.client_bytes if is_upload else one.server_bytes) for one in own]
        seen = Seen(None, BITS * sum(sizes) * NS_PER_S / length_ns)
        starts = sorted(one.start for one in own)
        is_flows = len(own) >= FLOWS_MIN and starts[-1] - starts[0] > length_ns // 4
        label = f"{name}-bulk" if len(own) < len(group.connections) else name
        yield (_flows if is_flows else _stream)(label, ends, own, sizes, seen, (length_ns, line_bps))


def _flows(
    name: str,
    ends: tuple[int, int],
    own: Sequence[Connection],
    sizes: Sequence[float],
    seen: Seen,
    around: tuple[int, int],
) -> Found:
    del around
    starts = sorted(one.start for one in own)
    between = fit([float(b - a) for a, b in pairwise(starts)], TIME)
    size = fit(sizes, SIZE)
    words = {"sizes": size.words, "interarrival": f"from one connection to the next: {between.words}"}
    keys = {"kind": "flows", "sizes": size.value, "interarrival": between.value}
    distances = {"sizes": size.distance, "interarrival": between.distance}
    cut = sum(not one.is_closed for one in own)
    unknown = [f"the sizes of {cut} flows that had not ended when the capture did"] if cut else []
    return Found(name, keys, ends, words, seen, distances, unknown)


def _stream(
    name: str,
    ends: tuple[int, int],
    own: Sequence[Connection],
    sizes: Sequence[float],
    seen: Seen,
    around: tuple[int, int],
) -> Found:
    length_ns, line_bps = around
    active_ns = max(one.end for one in own) - min(one.start for one in own)
    rate_bps = round(BITS * sum(sizes) * NS_PER_S / max(1, active_ns))
    keys: dict[str, Any] = {"kind": "stream", "connections": len(own)}
    words = {"connections": f"connections of at least {STREAM_BYTES // 1_000_000} MB one way"}
    unknown = []
    if rate_bps < STEADY_SHARE * line_bps:
        keys["rate"] = f"{rate_bps}bit/s"
        words["rate"] = "payload over the time of its connections"
        unknown.append("whether the program limits its rate, or the path did")
    if all(one.is_closed for one in own) and active_ns < STEADY_SHARE * length_ns:
        keys["size"] = f"{round(mean(list(sizes)))}B"
        words["size"] = "mean of its connections, which ended before the capture"
        keys["start"] = f"{min(one.start for one in own)}ns"
        words["start"] = "after the beginning of the capture"
    return Found(name, keys, ends, words, seen, {}, unknown)


def of_datagrams(name: str, flow: Datagrams, length_ns: int) -> Found:
    """Datagrams one way; of answers only the number is known."""
    size, between = flow.sent_bytes / flow.sent, (flow.end - flow.start) / max(1, flow.sent - 1)
    keys = {"kind": "datagrams", "sizes": f"{max(1, round(size))}B", "interarrival": f"{max(1, round(between))}ns"}
    words = {"sizes": f"mean of {flow.sent} frames", "interarrival": "mean over the time of the flow"}
    unknown = ["how sizes and gaps of datagrams vary: their means are used"]
    if flow.returned:
        unknown.append(f"what the {flow.returned} datagrams the other way answer")
    seen = Seen(None, BITS * flow.sent_bytes * NS_PER_S / length_ns)
    return Found(name, keys, (flow.source, flow.destination), words, seen, {}, unknown)
