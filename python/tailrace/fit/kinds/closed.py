"""Closed-loop users: connections over which requests follow responses, as `oltp` or `requests`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from tailrace.fit.conversations import Connection, Exchange
from tailrace.fit.group import Group, Window
from tailrace.fit.kinds.latencies import (
    Transaction,
    answers_of,
    exchange_seen,
    exchanges_active,
    response_bytes,
    timing_notes,
)
from tailrace.fit.paths import Path, Vantage
from tailrace.fit.shapes import SIZES, TIMES, Fitted, fitted
from tailrace.fit.workload import (
    Active,
    Fit,
    Origin,
    Setting,
    begin_settings,
    distributed,
    is_counted,
)

APART = 10
"""Pauses within and between transactions differ by at least this factor."""
WITHIN_LEAST = 0.2
"""Share of all pauses that are within transactions, at least, where transactions have several
statements."""
ALIKE_LEAST = 0.9
"""Share of transactions with the same number of statements, at least."""
STATEMENTS_MAX = 50
"""Statements of a transaction that are described one by one."""
FEW = 10
"""Transactions of a user below which the first of them decides how many there are."""


@dataclass(frozen=True)
class _Found:
    """Transactions of all users and the pauses between them."""

    transactions: list[Transaction]
    pauses_ns: list[int]

    @property
    def statements(self) -> int | None:
        """Statements of each transaction; None where they differ, in number or in sizes at one
        index."""
        number, count = Counter(map(len, self.transactions)).most_common(1)[0]
        if count < ALIKE_LEAST * len(self.transactions) or number > STATEMENTS_MAX:
            return None
        alike = [one for one in self.transactions if len(one) == number]
        return (
            number
            if all(_is_one_size(exchanges) for exchanges in zip(*alike, strict=True))
            else None
        )


def fit_closed(group: Group, window: Window) -> Fit:
    """Users with a connection at a time, who wait for every response."""
    found = _found(group)
    number = found.statements
    users = _users(group)
    number_of_users = Setting("users", users, Origin.MEASURED, "connections at the same time")
    if number is not None:
        alike = [one for one in found.transactions if len(one) == number]
        trips = _round_trips(group, alike)
        head = [Setting("client", group.client), Setting("server", group.server), number_of_users]
        settings = [
            *head,
            Setting(
                "round_trips", [trip.value for trip in trips], Origin.MEASURED, "sizes and times"
            ),
        ]
        fits = {
            f"round_trips[{index}].server_time": trip.server for index, trip in enumerate(trips)
        }
        kind = "oltp"
    else:
        found = _Found([[one] for one in _exchanges(group)], _pauses(group))
        own = exchange_settings(group, _exchanges(group))
        settings = [
            Setting("client", group.client),
            Setting("server", group.server),
            number_of_users,
            *own.settings,
        ]
        fits, kind = own.fits, "requests"
    pauses = [*found.pauses_ns, *_idle(group)]
    if pauses:
        fits["gap"] = fitted(pauses, TIMES)
        settings.append(distributed("gap", fits["gap"], *_gap_origin(group)))
    active = exchanges_active(found.transactions, window)
    count = len(found.transactions)
    is_finite = is_counted(count, active, window)
    if is_finite:
        key, note = (
            ("transactions" if kind == "oltp" else "requests"),
            f"of each user; {count} in all",
        )
        settings.append(Setting(key, max(1, round(count / users)), Origin.MEASURED, note))
    settings += _begin(kind, users, count, active, window)
    return Fit(
        kind,
        tuple(settings),
        fits,
        exchange_seen(group, found.transactions, active),
        active,
        is_finite,
        response_bytes(found.transactions),
        (*timing_notes(group.path), *_notes(group)),
        answers=answers_of(group, found.transactions),
    )


def _begin(kind: str, users: int, count: int, active: Active, window: Window) -> list[Setting]:
    """Several users begin within one mean gap: users that begin together would stay together."""
    is_first_at_start = users == 1 or count < FEW * users
    if kind != "oltp":
        return begin_settings(active, is_first_at_start=is_first_at_start)
    if not is_first_at_start and not window.begins_late(window.start_ns + active.begin_ns):
        return []
    return [Setting("start", TIMES.write(active.begin_ns), Origin.MEASURED, "first request")]


def _turns(group: Group) -> list[list[Connection]]:
    """Sequences of connections: each connection follows that of the user who ended last."""
    turns: list[list[Connection]] = []
    for one in sorted(group.connections, key=lambda one: one.exchanges[0].request_start_ns):
        begin_ns = one.exchanges[0].request_start_ns
        free = [turn for turn in turns if turn[-1].exchanges[-1].response_end_ns <= begin_ns]
        if free:
            max(free, key=lambda turn: turn[-1].exchanges[-1].response_end_ns).append(one)
        else:
            turns.append([one])
    return turns


def _users(group: Group) -> int:
    """How many users there are on average, while there are any."""
    spans = [
        (turn[0].exchanges[0].request_start_ns, turn[-1].exchanges[-1].response_end_ns)
        for turn in _turns(group)
    ]
    whole = max(end for _, end in spans) - min(begin for begin, _ in spans)
    return max(1, round(sum(end - begin for begin, end in spans) / max(1, whole)))


def _idle(group: Group) -> list[int]:
    """Pauses of users between their connections."""
    return [
        group.path.think_ns(
            earlier.exchanges[-1].response_end_ns, later.exchanges[0].request_start_ns
        )
        for turn in _turns(group)
        for earlier, later in pairwise(turn)
    ]


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
    columns = list(zip(*alike, strict=True))
    trips = []
    for (request, response), same in groupby(
        columns, key=lambda exchanges: (_size(exchanges, 0), _size(exchanges, 1))
    ):
        listed = list(same)
        server = _server_time(group, [one for exchanges in listed for one in exchanges])
        value: dict[str, Any] = {
            "request": request,
            "response": response,
            "server_time": server.value,
        }
        if len(listed) > 1:
            value["repeat"] = len(listed)
        trips.append(_Trip(value, server))
    return trips


def _size(exchanges: Sequence[Exchange], which: int) -> str:
    return str(
        fitted([(one.request_bytes, one.response_bytes)[which] for one in exchanges], SIZES).value
    )


def _is_one_size(exchanges: Sequence[Exchange]) -> bool:
    return all(
        fitted(sizes, SIZES).is_constant
        for sizes in zip(*((x.request_bytes, x.response_bytes) for x in exchanges), strict=True)
    )


def _server_time(group: Group, exchanges: Sequence[Exchange]) -> Fitted:
    return fitted(
        [group.path.service_ns(one.request_end_ns, one.response_start_ns) for one in exchanges],
        TIMES,
        keeps_few=True,
    )


def _service_origin(group: Group) -> tuple[Origin, str]:
    if group.path.vantage is Vantage.SERVER:
        return Origin.MEASURED, "from the end of a request to its response, at the server"
    return Origin.ESTIMATED, "time to the response minus the shortest round trip to the server"


def _gap_origin(group: Group) -> tuple[Origin, str]:
    if group.path.vantage is Vantage.CLIENT:
        return Origin.MEASURED, "pause between a response and the next request, at the client"
    return Origin.ESTIMATED, "pause minus the shortest round trip to the client"


def _exchanges(group: Group) -> list[Exchange]:
    return [one for connection in group.connections for one in connection.exchanges]


def _pauses(group: Group) -> list[int]:
    """The users' part of them."""
    return [
        pause
        for connection in group.connections
        for pause in _pauses_between(connection.exchanges, group.path)
    ]


def _pauses_between(exchanges: Sequence[Exchange], path: Path) -> Iterator[int]:
    for earlier, later in pairwise(exchanges):
        if not later.is_pipelined:
            yield path.think_ns(earlier.response_end_ns, later.request_start_ns)


def _found(group: Group) -> _Found:
    """Exchanges with short pauses between them are one transaction, where pauses are clearly of two
    kinds."""
    border = _border([*_pauses(group), *_idle(group)])
    transactions: list[Transaction] = []
    pauses: list[int] = []
    for connection in group.connections:
        current: list[Exchange] = []
        mine: list[Transaction] = []
        for one in connection.exchanges:
            pause = (
                group.path.think_ns(current[-1].response_end_ns, one.request_start_ns)
                if current
                else 0
            )
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


def _notes(group: Group) -> Iterator[str]:
    exchanges = _exchanges(group)
    pipelined = sum(one.is_pipelined for one in exchanges)
    if pipelined:
        yield (
            f"{pipelined} of {len(exchanges)} requests were pipelined; the fitted users wait "
            "for each response"
        )
