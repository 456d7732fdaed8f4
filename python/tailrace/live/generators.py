"""The programs that make a workload's load, from their start to what they measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tailrace.live.lab import Lab
from tailrace.live.latency import latency_outcome
from tailrace.live.program import Program
from tailrace.live.programs import iperf3
from tailrace.live.programs.iperf3 import Pair, Received
from tailrace.live.programs.pgbench import Load, Transaction
from tailrace.live.series import Moved, Row

PS_PER_S = 10**12
PS_PER_US = 10**6
STOP_LIMIT_S = 30.0
"""An interrupted iperf3 writes its report at once; its other end may wait for the network."""


@dataclass
class Measured:
    """What one workload did."""

    outcome: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    begun_ps: int | None = None
    """When its first user or connection began to work, from the beginning of the trial."""
    lag_us: float | None = None
    """How late the load generator began a transaction, on average."""


class Generator(Protocol):
    """The load of one workload."""

    name: str
    is_finite: bool

    def prepare(self, lab: Lab) -> None: ...
    def tick(self, lab: Lab, elapsed_s: float) -> None: ...
    @property
    def programs(self) -> Sequence[Program]: ...
    @property
    def is_done(self) -> bool: ...
    def stop(self) -> None: ...
    def measured(self, begun_wall_us: int) -> Measured: ...


class Users(Protocol):
    """The program that is the users of one workload of kind `oltp`."""

    def prepare(self, lab: Lab) -> None: ...
    def begin(self, lab: Lab) -> None: ...
    @property
    def programs(self) -> Sequence[Program]: ...
    @property
    def is_done(self) -> bool: ...
    def stop(self) -> None: ...
    def transactions(self) -> list[Transaction]: ...
    def lag_us(self, recorded: Sequence[Transaction]) -> float | None: ...


class Oltp:
    """Users who ask a server that is up."""

    def __init__(self, load: Load, users: Users) -> None:
        self.name = load.name
        self.is_finite = load.is_finite
        self._load = load
        self._users = users
        self._has_begun = False

    def prepare(self, lab: Lab) -> None:
        """Does what can be done before the trial begins."""
        self._users.prepare(lab)

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """All users begin with the trial."""
        if not self._has_begun:
            self._has_begun = True
            self._users.begin(lab)

    @property
    def programs(self) -> Sequence[Program]:
        """Those of the users."""
        return self._users.programs

    @property
    def is_done(self) -> bool:
        """Whether every user has ended."""
        return self._users.is_done

    def stop(self) -> None:
        """At the end of the trial: users without a number to do end after the transactions that have begun."""
        self._users.stop()

    def measured(self, begun_wall_us: int) -> Measured:
        """From the log of transactions."""
        done = self._users.transactions()
        raw = self._load.raw
        recorded = [one for one in done if one.number > raw["warmup_transactions"]]
        size = sum(self._load.responses)
        users = [self._end_of(user, done) for user in range(raw["users"])]
        whole = [(end - begun_wall_us) * PS_PER_US for end in users if end is not None]
        is_complete = self.is_finite and len(whole) == raw["users"]
        outcome = {
            "name": self.name,
            "kind": "oltp",
            "completion_ps": max(whole) if is_complete else None,
            "transactions": len(done),
            "goodput_bytes": len(done) * size,
            "latency": latency_outcome(one.latency_us * PS_PER_US for one in recorded),
            "user_completion_ps": [None if end is None else (end - begun_wall_us) * PS_PER_US for end in users],
        }
        rows = [self._row(one, begun_wall_us) for one in sorted(recorded, key=lambda one: one.intended_us)]
        moved = [Moved(row.start_ps, row.start_ps + row.latency_ps, size) for row in rows]
        first = min((one.begun_us for one in done), default=None)
        begun_ps = None if first is None else (first - begun_wall_us) * PS_PER_US
        return Measured(outcome, rows, moved, begun_ps, self._users.lag_us(recorded))

    def _end_of(self, user: int, done: Sequence[Transaction]) -> int | None:
        """When a user ended its last transaction; None unless it did all of them."""
        own = [one.ended_us for one in done if one.user == user]
        return max(own) if self.is_finite and len(own) == self._load.raw["transactions"] else None

    @staticmethod
    def _row(one: Transaction, begun_wall_us: int) -> Row:
        start_us = max(0, one.intended_us - begun_wall_us)
        return Row(one.user, start_us * PS_PER_US, max(0, one.latency_us) * PS_PER_US)


class Bulk:
    """iperf3 pairs, for streams and for datagrams."""

    def __init__(self, kind: str, name: str, pairs: Sequence[Pair]) -> None:
        self.name = name
        self.is_finite = kind == "stream" and all(pair.is_finite for pair in pairs)
        self._kind = kind
        self._pairs = pairs
        self._servers: dict[Pair, Program] = {}
        self._clients: dict[Pair, Program] = {}
        self._begun_s: dict[Pair, float] = {}

    def prepare(self, lab: Lab) -> None:
        """Starts the receiving ends and waits until they listen."""
        for pair in self._pairs:
            self._servers[pair] = lab.start(pair.server(lab.addresses[pair.destination]))
        for pair in self._pairs:
            iperf3.wait_for_listener(lab, pair, self._servers[pair])

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """Starts the clients that are due."""
        for pair in self._pairs:
            if pair not in self._clients and elapsed_s >= pair.delay_s:
                command = pair.client(lab.addresses[pair.source], lab.addresses[pair.destination])
                self._begun_s[pair] = elapsed_s
                self._clients[pair] = lab.start(command)

    @property
    def programs(self) -> Sequence[Program]:
        """Clients and servers."""
        return [*self._servers.values(), *self._clients.values()]

    @property
    def is_done(self) -> bool:
        """Whether every client has come and gone."""
        return len(self._clients) == len(self._pairs) and all(each.ended for each in self._clients.values())

    def stop(self) -> None:
        """Interrupts what still runs; both ends then write their reports."""
        for program in self._clients.values():
            program.signal("INT")
        for program in self._clients.values():
            program.wait(STOP_LIMIT_S)
        for pair, program in self._servers.items():
            if pair in self._clients:
                program.wait(STOP_LIMIT_S)
            else:
                program.stop("INT")

    def measured(self, begun_wall_us: int) -> Measured:
        """From the reports of the receiving ends."""
        received = {pair: iperf3.read_server(self._servers[pair].out_path) for pair in self._clients}
        ends_ps = [round((self._begun_s[pair] + each.seconds) * PS_PER_S) for pair, each in received.items()]
        is_complete = self.is_finite and self.is_done and len(ends_ps) == len(self._pairs)
        rows = [self._row(index, pair, each) for index, (pair, each) in enumerate(received.items())]
        outcome = {
            "name": self.name,
            "kind": self._kind,
            "completion_ps": max(ends_ps) if is_complete else None,
            "transactions": len(ends_ps) if is_complete else 0,
            "goodput_bytes": sum(each.size_bytes for each in received.values()),
            "latency": latency_outcome(row.latency_ps for row in rows) if is_complete else None,
            "user_completion_ps": ends_ps if is_complete else [],
            "lost_datagrams": sum(each.lost for each in received.values()),
        }
        moved = [part for pair, each in received.items() for part in self._moved(pair, each)]
        begun_ps = round(min(self._begun_s.values()) * PS_PER_S) if self._begun_s else None
        return Measured(outcome, rows if is_complete else [], moved, begun_ps)

    def _row(self, index: int, pair: Pair, each: Received) -> Row:
        return Row(index, round(self._begun_s[pair] * PS_PER_S), round(each.seconds * PS_PER_S))

    def _moved(self, pair: Pair, each: Received) -> list[Moved]:
        begun_s = self._begun_s[pair]
        return [
            Moved(round((begun_s + start_s) * PS_PER_S), round((begun_s + end_s) * PS_PER_S), size)
            for start_s, end_s, size in each.intervals
        ]
