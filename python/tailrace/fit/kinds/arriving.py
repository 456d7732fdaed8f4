"""Requests that come with a connection each: `requests` with arrivals."""

from tailrace.fit.group import Group, Window, gaps_of
from tailrace.fit.kinds.closed import exchange_settings
from tailrace.fit.kinds.latencies import exchange_seen, timing_notes
from tailrace.fit.shapes import TIMES, fitted
from tailrace.fit.workload import Fit, Origin, Setting, distributed


def fit_arriving(group: Group, window: Window) -> Fit:
    """Arrivals of requests over new connections."""
    exchanges = [one for connection in group.connections for one in connection.exchanges]
    sizes = exchange_settings(group, exchanges)
    fits = dict(sizes.fits)
    head = [Setting("client", group.client), Setting("server", group.server)]
    head.append(Setting("connection", "new", Origin.MEASURED, "one request in most connections"))
    gaps = gaps_of(one.start_ns for one in group.connections)
    fits["arrivals"] = fitted(gaps or [window.span_ns], TIMES)
    head.append(distributed("arrivals", fits["arrivals"], Origin.MEASURED, "from one connection to the next"))
    note = "whether clients wait for responses before they connect again is not visible; arrivals do not wait"
    seen = exchange_seen(group, exchanges)
    return Fit("requests", (*head, *sizes.settings), fits, seen, (note, *timing_notes(group.path)))
