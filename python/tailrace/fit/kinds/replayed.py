"""Requests as they were: every size and time of a capture, in a recording."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tailrace.fit.conversations import Connection, Exchange
from tailrace.fit.group import Group, Window
from tailrace.fit.kinds.latencies import (
    answers_of,
    exchange_seen,
    exchanges_active,
    response_bytes,
    timing_notes,
)
from tailrace.fit.paths import Path, Vantage
from tailrace.fit.workload import Fit, Origin, Setting
from tailrace.scenario.workloads.recording import Recorded


def fit_replay(group: Group, window: Window) -> Fit:
    """All exchanges of a group."""
    exchanges = [one for connection in group.connections for one in connection.exchanges]
    ordered = sorted(group.connections, key=lambda one: one.exchanges[0].request_start_ns)
    settings = (
        Setting("client", group.client),
        Setting("server", group.server),
        Setting(
            "pace",
            "think",
            Origin.ASSUMED,
            "requests wait for responses; time: they begin at their times",
        ),
    )
    transactions = [[one] for one in exchanges]
    active = exchanges_active(transactions, window)
    notes = (*timing_notes(group.path), *_notes(group, exchanges))
    recording = [list(_recorded(one, group.path, window.start_ns)) for one in ordered]
    seen = exchange_seen(group, transactions, active)
    return Fit(
        "replay",
        settings,
        {},
        seen,
        active,
        True,
        response_bytes(transactions),
        notes,
        recording=recording,
        answers=answers_of(group, transactions),
    )


def _recorded(connection: Connection, path: Path, zero_ns: int) -> Iterator[Recorded]:
    first = connection.exchanges[0]
    to_client_ns = path.client_rtt_ns // 2
    opened_ns = max(0, connection.start_ns - to_client_ns - zero_ns) if connection.has_syn else 0
    start_ns = max(opened_ns, first.request_start_ns - to_client_ns - zero_ns)
    yield _request(first, path, start_ns, start_ns - opened_ns)
    for earlier, later in pairwise(connection.exchanges):
        # For a client that pipelines its requests the order is kept, but not their overlap.
        start_ns = max(start_ns, later.request_start_ns - to_client_ns - zero_ns)
        think_ns = (
            0
            if later.is_pipelined
            else path.think_ns(earlier.response_end_ns, later.request_start_ns)
        )
        yield _request(later, path, start_ns, think_ns)


def _request(one: Exchange, path: Path, start_ns: int, think_ns: int) -> Recorded:
    server_ns = path.service_ns(one.request_end_ns, one.response_start_ns)
    return Recorded(start_ns, think_ns, one.request_bytes, server_ns, one.response_bytes)


def _notes(group: Group, exchanges: Sequence[Exchange]) -> Iterator[str]:
    pipelined = sum(one.is_pipelined for one in exchanges)
    if pipelined:
        yield (
            f"{pipelined} of {len(exchanges)} requests were pipelined; the replay sends each "
            "after a response"
        )
    unopened = sum(not one.has_syn for one in group.connections)
    if unopened:
        yield (
            f"{unopened} of {len(group.connections)} connections were open before the capture: "
            "they open at its start"
        )
    if group.path.vantage is not Vantage.CLIENT:
        yield (
            "times of requests are those at the point of capture, earlier by half the round "
            "trip to the client"
        )
