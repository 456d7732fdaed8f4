"""Which kind of workload connections are."""

from collections.abc import Iterator
from dataclasses import replace

from tailrace.fit.conversations import Connection
from tailrace.fit.group import Group, Window
from tailrace.fit.kinds.arriving import fit_arriving
from tailrace.fit.kinds.bulk import fit_flows, fit_stream, is_many_short
from tailrace.fit.kinds.closed import fit_closed
from tailrace.fit.kinds.replayed import fit_replay
from tailrace.fit.workload import Fit

ONE_WAY_SHARE = 0.01
"""A connection is a transfer if the direction with less data has at most this share of it, with one
exchange."""
TRANSFER_BYTES_LEAST = 1_000_000
"""Data of a transfer that answers a request; below, it is a response."""


def fit_connections(group: Group, window: Window, *, is_replay: bool = False) -> Iterator[Fit]:
    """The workloads of the connections of a group: transfers and conversations apart.

    In a replay, conversations keep every request.
    """
    transfers = [one for one in group.connections if is_transfer(one)]
    talks = [one for one in group.connections if not is_transfer(one) and one.exchanges]
    if transfers:
        of = replace(group, connections=transfers)
        yield fit_flows(of, window) if is_many_short(transfers, window) else fit_stream(of, window)
    if talks:
        of = replace(group, connections=talks)
        if is_replay:
            yield fit_replay(of, window)
            return
        lasting = sum(len(one.exchanges) > 1 for one in talks)
        yield fit_closed(of, window) if 2 * lasting >= len(talks) else fit_arriving(of, window)


def is_transfer(connection: Connection) -> bool:
    """Data in one direction, except for a possible request before it."""
    less = min(connection.client_bytes, connection.server_bytes)
    more = max(connection.client_bytes, connection.server_bytes)
    if not less:
        return True
    return (
        len(connection.exchanges) <= 1
        and less <= ONE_WAY_SHARE * more
        and more >= TRANSFER_BYTES_LEAST
    )
