"""What makes requests or transactions: closed-loop users (`users`), or arrivals (`arrivals`) with
spikes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

from tailrace.errors import RunRefusedError
from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.workloads import division
from tailrace.scenario.workloads.base import PS_PER_S, Found, LeastTime, Surroundings
from tailrace.scenario.workloads.request_parts import Spike

PORTS_MAX = 61_000 - 32_768
"""Connections that a client can have: ephemeral ports of Linux (ip_local_port_range, 32768 to
60999)."""
ARRIVAL_GAP_PS_MIN = 10_000
"""100 million requests per second: with a shorter gap a trial does not end in any useful time
(assumed)."""


class Loop(Protocol):
    """A workload with users or arrivals."""

    @property
    def users(self) -> int | None: ...
    @property
    def gap(self) -> Distribution | None: ...
    @property
    def arrivals(self) -> Distribution | None: ...
    @property
    def spikes(self) -> Sequence[Spike]: ...
    @property
    def start(self) -> int: ...
    @property
    def client_hosts(self) -> list[str]: ...


def problems(work: Loop, around: Surroundings, noun: str, opened: int) -> Found:
    """Problems of its values; each user has `opened` connections or sockets."""
    if (work.users is None) == (work.arrivals is None):
        hint = "write users: 50 for a closed loop, or arrivals: exponential(100us)"
        yield (), f"{noun} need either users or arrivals", hint
        return
    if work.arrivals is not None and work.arrivals.mean < 1:
        yield (
            ("arrivals",),
            "`arrivals` must be greater than zero",
            "write a gap such as exponential(100us)",
        )
    elif work.arrivals is not None and work.arrivals.mean < ARRIVAL_GAP_PS_MIN:
        what = "a mean gap below 10ns is more than 100 million requests per second"
        yield ("arrivals",), what, "write a gap such as exponential(100us)"
    if work.users is None and work.gap is not None:
        yield ("gap",), "`gap` has no effect without `users`", "omit it, or write users"
    if work.arrivals is None and work.spikes:
        yield ("spikes",), "`spikes` has no effect without `arrivals`", "omit it, or write arrivals"
    if work.users is not None and work.users < len(work.client_hosts):
        what = f"{work.users} users are fewer than the {len(work.client_hosts)} clients"
        yield ("users",), what, "write at least one user for each client"
    of_client = (work.users or 0) * opened / max(1, len(work.client_hosts))
    if of_client > PORTS_MAX:
        what = f"{of_client:.0f} connections of one client are more than its {PORTS_MAX} ports"
        yield ("users",), what, "write fewer users, or more clients"
    if work.start >= around.duration_ps:
        what = "the workload starts after the end of the trial"
        yield ("start",), what, "lower start or raise experiment.duration"
    yield from _spike_problems(work, around)


def _spike_problems(work: Loop, around: Surroundings) -> Found:
    for index, spike in enumerate(work.spikes):
        if spike.duration == 0:
            yield (
                ("spikes", index, "for"),
                "`for` must be greater than zero",
                "write a time such as 1s",
            )
        if spike.at >= around.duration_ps:
            yield (
                ("spikes", index, "at"),
                "the spike begins after the end of the trial",
                "write an earlier time, or raise experiment.duration",
            )
        if 0 < spike.at + spike.duration <= work.start:
            yield (
                ("spikes", index),
                "the spike ends before the workload starts",
                "write a later time, or omit it",
            )
    for index, (before, after) in enumerate(pairwise(work.spikes), 1):
        if after.at < before.at + before.duration:
            what = "the spike begins before the one above it has ended"
            yield ("spikes", index, "at"), what, "list spikes in order of time, without overlap"


def least_time(work: Loop, count: int | None, cycle_ps: float, key: str) -> LeastTime | None:
    """Lower bound on the time of `count` requests, of each user or of all arrivals."""
    if not count:
        return None
    if work.arrivals is not None:
        fastest = max([1.0, *(spike.factor for spike in work.spikes)])
        needed_s = (work.start + count * work.arrivals.mean / fastest) / PS_PER_S
        return LeastTime(needed_s, "at the pace of its arrivals", key)
    return LeastTime(
        (work.start + (count - 1) * cycle_ps) / PS_PER_S, "at its users' own pace", key
    )


def shares(work: Loop, opened: int) -> list[tuple[str, int]]:
    """Connections or sockets of the users of each client."""
    clients = work.client_hosts
    of_each = (
        ((work.users or 0) + len(clients) - 1 - at) // len(clients) for at in range(len(clients))
    )
    return [(host, share * opened) for host, share in zip(clients, of_each, strict=True)]


def divided(
    work: Loop, count: int | None, key: str, name: str, scale: division.Divisor
) -> Mapping[str, Any]:
    """What changes for a network whose rates are divided: fewer users with the same pauses, or
    fewer arrivals."""
    if work.users is None:
        slower = None if work.arrivals is None else work.arrivals.scaled(scale.divisor)
        return {"arrivals": slower, key: division.divided_count(count, scale.divisor)}
    users = round(work.users / scale.of_sizes)
    if users < len(work.client_hosts):
        raise RunRefusedError(
            f"--live-scale {scale.divisor}: workload '{name}' has "
            f"{work.users} users, too few to divide"
            " (hint: a smaller number)"
        )
    return {"users": users}
