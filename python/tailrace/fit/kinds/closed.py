"""Closed-loop users: connections over which requests follow responses, as `oltp` or `requests`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from tailrace.fit.conversations import Exchange
from tailrace.fit.group import Group, Window, percentile, rate_per_s
from tailrace.fit.kinds.latencies import exchange_seen, timing_notes
from tailrace.fit.paths import Path, Vantage
from tailrace.fit.shapes import SIZES, TIMES, Fitted, fitted
from tailrace.fit.workload import Fit, Origin, Setting, distributed

APART = 10
"""Pauses within and between transactions differ by at least this factor."""
WITHIN_LEAST = 0.2
"""Share of all pauses that are within transactions, at least, where transactions have several statements."""
ALIKE_LEAST = 0.9
"""Share of transactions with the same number of statements, at least."""
STATEMENTS_MAX = 50
"""Statements of a transaction that are described one by one."""

Transaction = Sequence[Exchange]


@dataclass(frozen=True)
class _Found:
    """Transactions of all users and the pauses between them."""

    transactions: list[Transaction]
    pauses_ns: list[int]

    @property
    def statements(self) -> int | None:
        """Of each transaction; None where they differ, in number or in sizes at one place."""
        number, count = Counter(map(len, self.transactions)).most_common(1)[0]
        if count < ALIKE_LEAST * len(self.transactions) or number > STATEMENTS_MAX:
            return None
        alike = [one for one in self.transactions if len(one) == number]
        return number if all(_is_one_size(place) for place in zip(*alike, strict=True)) else None


def fit_closed(group: Group, window: Window) -> Fit:
    """Users with a connection each, who wait for every response."""
    found = _found(group)
    number = found.statements
    gap = fitted(found.pauses_ns, TIMES) if found.pauses_ns else None
    users = Setting("users", group.at_once, Origin.MEASURED, "connections at the same time")
    start = _start(group, window)
    if number is not None:
        alike = [one for one in found.transactions if len(one) == number]
        trips = _round_trips(group, alike)
        head = [Setting("client", group.client), Setting("server", group.server), users]
        settings = [*head, Setting("round_trips", [trip.value for trip in trips], Origin.MEASURED, "sizes and times")]
        fits = {f"round_trips[{index}].server_time": trip.server for index, trip in enumerate(trips)}
        seen = _seen(group, found.transactions)
        kind = "oltp"
    else:
        found = _Found([[one] for one in _exchanges(group)], _pauses(group))
        gap = fitted(found.pauses_ns, TIMES) if found.pauses_ns else None
        own = exchange_settings(group, _exchanges(group))
        settings = [Setting("client", group.client), Setting("server", group.server), users, *own.settings]
        fits, seen, kind = own.fits, exchange_seen(group, _exchanges(group)), "requests"
    if gap is not None:
        settings.append(distributed("gap", gap, *_gap_origin(group)))
        fits["gap"] = gap
    return Fit(kind, (*settings, *start), fits, seen, (*timing_notes(group.path), *_notes(group)))


@dataclass(frozen=True)
class Sizes:
    """Keys that describe exchanges, wherever they come from."""

    settings: tuple[Setting, ...]
    fits: dict[str, Fitted]


def exchange_settings(group: Group, exchanges: Sequence[Exchange]) -> Sizes:
    """Sizes and the server's time as distributions."""
    fits = {
        "request": fitted([one.request_bytes for one in exchanges], SIZES),
        "response": fitted([one.response_bytes for one in exchanges], SIZES),
        "server_time": _server_time(group, exchanges),
    }
    settings = (
        distributed("request", fits["request"], Origin.MEASURED, "payload"),
        distributed("response", fits["response"], Origin.MEASURED, "payload"),
        distributed("server_time", fits["server_time"], *_service_origin(group)),
    )
    return Sizes(settings, fits)


@dataclass(frozen=True)
class _Trip:
    value: dict[str, Any]
    server: Fitted


def _round_trips(group: Group, alike: Sequence[Transaction]) -> list[_Trip]:
    places = list(zip(*alike, strict=True))
    trips = []
    for (request, response), same in groupby(places, key=lambda place: (_size(place, 0), _size(place, 1))):
        listed = list(same)
        server = _server_time(group, [one for place in listed for one in place])
        value: dict[str, Any] = {"request": request, "response": response, "server_time": server.value}
        if len(listed) > 1:
            value["repeat"] = len(listed)
        trips.append(_Trip(value, server))
    return trips


def _size(place: Sequence[Exchange], which: int) -> str:
    return str(fitted([(one.request_bytes, one.response_bytes)[which] for one in place], SIZES).value)


def _is_one_size(place: Sequence[Exchange]) -> bool:
    return all(
        fitted(sizes, SIZES).is_constant
        for sizes in zip(*((x.request_bytes, x.response_bytes) for x in place), strict=True)
    )


def _server_time(group: Group, exchanges: Sequence[Exchange]) -> Fitted:
    return fitted([group.path.service_ns(one.request_end_ns, one.response_start_ns) for one in exchanges], TIMES)


def _service_origin(group: Group) -> tuple[Origin, str]:
    if group.path.vantage is Vantage.SERVER:
        return Origin.MEASURED, "from the end of a request to its response, at the server"
    return Origin.ESTIMATED, "time to the response minus the shortest round trip to the server"


def _gap_origin(group: Group) -> tuple[Origin, str]:
    if group.path.vantage is Vantage.CLIENT:
        return Origin.MEASURED, "pause between a response and the next request, at the client"
    return Origin.ESTIMATED, "pause minus the shortest round trip to the client"


def _start(group: Group, window: Window) -> list[Setting]:
    if not window.begins_late(group.start_ns):
        return []
    return [Setting("start", TIMES.write(group.start_ns - window.start_ns), Origin.MEASURED, "first frame")]


def _exchanges(group: Group) -> list[Exchange]:
    return [one for connection in group.connections for one in connection.exchanges]


def _pauses(group: Group) -> list[int]:
    """The users' part of them."""
    return [pause for connection in group.connections for pause in _pauses_between(connection.exchanges, group.path)]


def _pauses_between(exchanges: Sequence[Exchange], path: Path) -> Iterator[int]:
    for earlier, later in pairwise(exchanges):
        if not later.is_pipelined:
            yield path.think_ns(earlier.response_end_ns, later.request_start_ns)


def _found(group: Group) -> _Found:
    """Exchanges with short pauses between them are one transaction, where pauses are clearly of two kinds."""
    border = _border(_pauses(group))
    transactions: list[Transaction] = []
    pauses: list[int] = []
    for connection in group.connections:
        current: list[Exchange] = []
        mine: list[Transaction] = []
        for one in connection.exchanges:
            pause = group.path.think_ns(current[-1].response_end_ns, one.request_start_ns) if current else 0
            if current and (one.is_pipelined or pause > border):
                mine.append(current)
                pauses.append(pause)
                current = []
            current.append(one)
        if current:
            mine.append(current)
        # The capture may have begun within the first transaction and ended within the last.
        transactions += mine[1:-1] if border >= 0 and len(mine) > 2 else mine
    return _Found(transactions, pauses)


def _border(pauses_ns: Sequence[int]) -> int:
    """The longest pause within a transaction; -1 where each exchange is one."""
    ordered = sorted(max(1, pause) for pause in pauses_ns)
    cuts = [
        (later / earlier, earlier)
        for at, (earlier, later) in enumerate(pairwise(ordered), 1)
        if later >= APART * earlier and at >= WITHIN_LEAST * len(ordered)
    ]
    return max(cuts)[1] if cuts else -1


def _seen(group: Group, transactions: Sequence[Transaction]) -> dict[str, float]:
    latencies = [group.path.latency_ns(one[0].request_start_ns, one[-1].response_end_ns) for one in transactions]
    return {
        "rate_per_s": rate_per_s(len(transactions), group.span_ns),
        "goodput_bits_per_s": 8 * rate_per_s(sum(x.response_bytes for one in transactions for x in one), group.span_ns),
        "latency_p50_ns": percentile(latencies, 0.5),
        "latency_p99_ns": percentile(latencies, 0.99),
    }


def _notes(group: Group) -> Iterator[str]:
    exchanges = _exchanges(group)
    pipelined = sum(one.is_pipelined for one in exchanges)
    if pipelined:
        yield f"{pipelined} of {len(exchanges)} requests were pipelined; the fitted users wait for each response"
