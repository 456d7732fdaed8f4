"""Transactions of a program's log, taken apart by what the fabric knows of their connection
(docs/models/causes.md).

Backwards from the completion: the last frame that had come to the client by then, what had come to
the server before that frame began, and so on. The times of these frames in the fabric are parts by
name; what is between them is outside of it, in hosts and programs. Together they are the logged
latency.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from tailrace.results.causes.causes import Loss, Transaction
from tailrace.timeline.crossings import CLIENT, SERVER, Connection, Crossing, Wait

OUTSIDE, AFTER_DROP = "outside", "outside_after_drop"
"""Parts that the fabric does not observe: hosts and programs, and of these the time from a drop
until a frame was sent."""
TRANSACTIONS_MIN = 3
"""Fewer of a user do not show which connection is theirs."""
TRANSACTIONS_LOOKED_AT = 200
CLEARLY = 0.5
"""A user's connection is nearer to their transactions than this share of the distance of any
other."""


def taken_apart(
    one: Transaction, connection: Connection, apart_ps: int = 0
) -> tuple[Transaction, list[Wait]]:
    """The transaction with its parts, and where its frames waited.

    The clocks of the program and of the fabric may be `apart_ps` from each other: a last frame that
    the fabric delivers so little after the end is the one that ended the transaction.
    """
    parts: Counter[str] = Counter()
    queues: Counter[str] = Counter()
    waits: list[Wait] = []
    at_ps, side = one.end_ps, CLIENT
    while True:
        is_end = at_ps == one.end_ps
        came = connection.last_before(side, at_ps + (apart_ps if is_end else 0))
        early_ps = 0 if came is None else max(0, came.delivered_ps - at_ps)
        if came is not None and came.begun_ps - early_ps < one.start_ps:
            came = None
        from_ps = one.start_ps if came is None else came.delivered_ps - early_ps
        after_ps = (
            0 if is_end else _after_drop(connection, (side, came), (from_ps, at_ps), one.start_ps)
        )
        parts.update({OUTSIDE: at_ps - from_ps - after_ps, AFTER_DROP: after_ps})
        if came is None:
            break
        for wait in came.waits:
            parts.update(
                {
                    "switch_queue": wait.to_ps - wait.from_ps - wait.paused_ps,
                    "paused": wait.paused_ps,
                }
            )
            queues[wait.queue] += wait.to_ps - wait.from_ps - wait.paused_ps
        parts.update({"serialisation": came.serialisation_ps, "propagation": came.propagation_ps})
        waits += came.waits
        at_ps, side = came.begun_ps - early_ps, 1 - side
    assert sum(parts.values()) == one.latency_ps, "each picosecond is in one part"
    lost = [
        loss
        for to in (CLIENT, SERVER)
        for loss in connection.lost_between(to, one.start_ps, one.end_ps)
    ]
    whole = replace(
        one,
        parts={part: time for part, time in parts.items() if time},
        queues={queue: time for queue, time in queues.items() if time},
        losses=sorted(lost, key=lambda loss: loss.at_ps),
    )
    return whole, waits


def _after_drop(
    connection: Connection,
    before: tuple[int, Crossing | None],
    gap_ps: tuple[int, int],
    start_ps: int,
) -> int:
    """Part of a time between two frames at a host that followed the drop of a frame it had sent.

    The drop lies in this time; or before it, and the host then had acknowledgements only: it waits
    for a timer.
    """
    side, came = before
    lost: list[Loss] = connection.lost_between(1 - side, start_ps, gap_ps[1])
    inside = [loss for loss in lost if loss.at_ps >= gap_ps[0]]
    if inside:
        return gap_ps[1] - inside[0].at_ps
    return gap_ps[1] - gap_ps[0] if lost and came is not None and not came.has_data else 0


def connections_by_user(
    transactions: Sequence[Transaction], connections: Sequence[Connection], ports: Sequence[int]
) -> dict[int, Connection]:
    """The connection of each user; users without an evident one are omitted.

    `ports` are the client's, by user, where the program reports them. Otherwise a connection
    belongs to the user whose transactions' starts are followed most closely by its first frames
    with data, and whose ends are preceded most closely by its last ones.
    """
    if ports:
        by_port = {one.client[1]: one for one in connections}
        return {user: by_port[port] for user, port in enumerate(ports) if port in by_port}
    of_user: dict[int, list[Transaction]] = {}
    for one in transactions:
        of_user.setdefault(one.user, []).append(one)
    if len(of_user) == 1 and len(connections) == 1:
        return dict.fromkeys(of_user, connections[0])
    starts = [_begins_of_data(one) for one in connections]
    found: dict[int, int] = {}
    for user, of in of_user.items():
        if (index := _nearest(of[:TRANSACTIONS_LOOKED_AT], connections, starts)) is not None:
            found[user] = index
    taken = Counter(found.values())
    return {user: connections[index] for user, index in found.items() if taken[index] == 1}


def _begins_of_data(one: Connection) -> Sequence[int]:
    of = one.to[SERVER]
    with_data = [crossing.begun_ps for crossing in of if crossing.has_data]
    return sorted(with_data or [crossing.begun_ps for crossing in of])


def _nearest(
    of: Sequence[Transaction], connections: Sequence[Connection], starts: Sequence[Sequence[int]]
) -> int | None:
    if len(of) < TRANSACTIONS_MIN:
        return None
    distances = sorted(
        (median(_distance(each, one, own) for each in of), index)
        for index, (one, own) in enumerate(zip(connections, starts, strict=True))
    )
    if len(distances) > 1 and distances[0][0] >= CLEARLY * distances[1][0]:
        return None
    return (
        distances[0][1]
        if distances and distances[0][0] < median(each.latency_ps for each in of)
        else None
    )


def _distance(of: Transaction, one: Connection, starts: Sequence[int]) -> int:
    """From the start to the first request, and from the last frame to the end; twice the latency
    where none is."""
    index = bisect_left(starts, of.start_ps)
    came = one.last_before(CLIENT, of.end_ps)
    if (
        index == len(starts)
        or starts[index] > of.end_ps
        or came is None
        or came.delivered_ps < of.start_ps
    ):
        return 2 * of.latency_ps
    return starts[index] - of.start_ps + of.end_ps - came.delivered_ps


def with_behind(one: Transaction, behind: Mapping[str, int]) -> Transaction:
    """With whose frames were sent while those of the transaction waited."""
    return replace(one, behind=dict(behind))
