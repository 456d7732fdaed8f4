"""Requests that come with a connection each: `requests` with arrivals."""

from tailrace.fit.group import Group, Window, gaps_of
from tailrace.fit.kinds.closed import exchange_settings
from tailrace.fit.kinds.latencies import (
    answers_of,
    exchange_seen,
    exchanges_active,
    response_bytes,
    timing_notes,
)
from tailrace.fit.shapes import TIMES, fitted
from tailrace.fit.workload import Fit, Origin, Setting, begin_settings, distributed, is_counted


def fit_arriving(group: Group, window: Window) -> Fit:
    """Arrivals of requests over new connections."""
    exchanges = [one for connection in group.connections for one in connection.exchanges]
    transactions = [[one] for one in exchanges]
    active = exchanges_active(transactions, window)
    sizes = exchange_settings(group, exchanges)
    fits = dict(sizes.fits)
    settings = [Setting("client", group.client), Setting("server", group.server)]
    settings.append(
        Setting("connection", "new", Origin.MEASURED, "one request in most connections")
    )
    fits["arrivals"] = fitted(
        gaps_of(one.request_start_ns for one in exchanges) or [window.span_ns], TIMES
    )
    settings.append(
        distributed("arrivals", fits["arrivals"], Origin.MEASURED, "from one request to the next")
    )
    is_finite = is_counted(len(exchanges), active, window)
    if is_finite:
        settings.append(Setting("requests", len(exchanges), Origin.MEASURED, "all of them"))
    settings += begin_settings(active)
    note = (
        "whether clients wait for responses before they connect again is "
        "not visible; arrivals do not wait"
    )
    return Fit(
        "requests",
        (*settings, *sizes.settings),
        fits,
        exchange_seen(group, transactions, active),
        active,
        is_finite,
        response_bytes(transactions),
        (note, *timing_notes(group.path)),
        answers=answers_of(group, transactions),
    )
