"""The programs that make a workload's load, from their start to what they measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tailrace.live.lab import Lab
from tailrace.live.latency import latency_outcome
from tailrace.live.program import STOP_LIMIT_S, Program
from tailrace.live.programs import iperf3, postgres
from tailrace.live.programs.closings import Meant
from tailrace.live.programs.iperf3 import Pair, Received
from tailrace.live.programs.pgbench import Load, Transaction
from tailrace.live.series import Moved, Row

PS_PER_S = 10**12
PS_PER_US = 10**6
US_PER_S = 10**6


@dataclass(frozen=True)
class Interval:
    """The measured interval: what ended later does not count."""

    begun_wall_us: int
    """Wall clock at which it began."""
    span_s: float

    @property
    def ended_wall_us(self) -> int:
        """Wall clock at which it ended."""
        return self.begun_wall_us + round(self.span_s * US_PER_S)


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
    def stop(self, lab: Lab) -> None: ...
    def connections(self, lab: Lab) -> Meant | None: ...
    def measured(self, interval: Interval) -> Measured: ...


class Users(Protocol):
    """The program that is the users of one workload of kind `oltp`."""

    def prepare(self, lab: Lab) -> None: ...
    def begin(self, lab: Lab) -> None: ...
    def tick(self, lab: Lab) -> None: ...
    @property
    def programs(self) -> Sequence[Program]: ...
    @property
    def is_done(self) -> bool: ...
    def stop(self, lab: Lab) -> None: ...
    @property
    def ports(self) -> frozenset[int]: ...
    def transactions(self) -> list[Transaction]: ...
    def lag_us(self, whole: Sequence[Transaction]) -> float | None: ...


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
        else:
            self._users.tick(lab)

    @property
    def programs(self) -> Sequence[Program]:
        """Those of its users."""
        return self._users.programs

    @property
    def is_done(self) -> bool:
        """Whether every user has done its number."""
        return self._users.is_done

    def stop(self, lab: Lab) -> None:
        """At the end of the trial: users end after the transactions that have begun."""
        self._users.stop(lab)

    def connections(self, lab: Lab) -> Meant | None:
        """Those of its users; None when it ended before anybody could ask for them."""
        if not self._users.ports:
            return None
        client, server = str(self._load.raw["client"]), str(self._load.raw["server"])
        return Meant(
            client=client,
            client_address=lab.address(client, self._load.vlan),
            client_ports=self._users.ports,
            server=server,
            server_address=lab.address(server, self._load.vlan),
            server_ports=frozenset({postgres.PORT}),
            server_sends=True,
            count=len(self._users.ports),
        )

    def measured(self, interval: Interval) -> Measured:
        """From the log of transactions."""
        whole = self._users.transactions()
        done = [one for one in whole if one.ended_us <= interval.ended_wall_us]
        raw, begun_wall_us = self._load.raw, interval.begun_wall_us
        recorded = [one for one in done if one.number > raw["warmup_transactions"]]
        size = sum(self._load.responses)
        ends = [self._end_of(user, done) for user in range(raw["users"])]
        ends_ps = [None if end is None else (end - begun_wall_us) * PS_PER_US for end in ends]
        outcome = {
            "name": self.name,
            "kind": "oltp",
            "completion_ps": None if None in ends_ps else max(end for end in ends_ps if end is not None),
            "transactions": len(done),
            "goodput_bytes": len(done) * size,
            "latency": latency_outcome(one.latency_us * PS_PER_US for one in recorded),
            "user_completion_ps": ends_ps,
        }
        rows = [self._row(one, begun_wall_us) for one in sorted(recorded, key=lambda one: one.intended_us)]
        moved = [Moved(row.start_ps, row.start_ps + row.latency_ps, size) for row in rows]
        first = min((one.begun_us for one in done), default=None)
        begun_ps = None if first is None else (first - begun_wall_us) * PS_PER_US
        return Measured(outcome, rows, moved, begun_ps, self._users.lag_us(whole))

    def _end_of(self, user: int, done: Sequence[Transaction]) -> int | None:
        """When a user ended its last transaction; None unless it did all of them."""
        own = [one.ended_us for one in done if one.user == user]
        return max(own) if self.is_finite and len(own) == self._load.count else None

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
        self._is_cut = False
        """Whether the trial ended before it did."""

    def prepare(self, lab: Lab) -> None:
        """Starts the receiving ends and waits until they listen."""
        for pair in self._pairs:
            self._servers[pair] = lab.start(pair.server(lab.address(pair.destination, pair.vlan)))
        for pair in self._pairs:
            iperf3.wait_for_listener(lab, pair, self._servers[pair])

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """Starts the clients that are due."""
        for pair in self._pairs:
            if pair not in self._clients and elapsed_s >= pair.delay_s:
                ends = (lab.address(host, pair.vlan) for host in (pair.source, pair.destination))
                command = pair.client(*ends)
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

    def stop(self, lab: Lab) -> None:
        """Interrupts what still runs; both ends then write their reports."""
        self._is_cut = not self.is_done
        for program in self._clients.values():
            program.signal("INT")
        for program in self._clients.values():
            program.wait(STOP_LIMIT_S)
        for pair, program in self._servers.items():
            if pair in self._clients:
                program.wait(STOP_LIMIT_S)
            else:
                program.stop("INT")

    def measured(self, interval: Interval) -> Measured:
        """From the reports of the receiving ends."""
        received = {pair: iperf3.read_server(self._servers[pair].out_path) for pair in self._clients}
        ends_ps = [round((self._begun_s[pair] + each.seconds) * PS_PER_S) for pair, each in received.items()]
        is_complete = self.is_finite and not self._is_cut
        rows = [self._row(index, pair, each) for index, (pair, each) in enumerate(received.items())]
        moved = [part for pair, each in received.items() for part in self._moved(pair, each, interval.span_s)]
        outcome = {
            "name": self.name,
            "kind": self._kind,
            "completion_ps": max(ends_ps) if is_complete else None,
            "transactions": len(ends_ps) if is_complete else 0,
            "goodput_bytes": sum(part.size_bytes for part in moved),
            "latency": latency_outcome(row.latency_ps for row in rows) if is_complete else None,
            "user_completion_ps": ends_ps if is_complete else [],
            "lost_datagrams": sum(each.lost for each in received.values()),
        }
        begun_ps = round(min(self._begun_s.values()) * PS_PER_S) if self._begun_s else None
        return Measured(outcome, rows if is_complete else [], moved, begun_ps)

    def connections(self, lab: Lab) -> Meant | None:
        """Those of all its pairs, each with one more for iperf3's own words; None for datagrams."""
        if self._kind != "stream" or not self._clients:
            return None
        [(source, destination, vlan)] = {(pair.source, pair.destination, pair.vlan) for pair in self._pairs}
        return Meant(
            client=source,
            client_address=lab.address(source, vlan),
            client_ports=frozenset(),
            server=destination,
            server_address=lab.address(destination, vlan),
            server_ports=frozenset(pair.port for pair in self._clients),
            server_sends=False,
            count=sum(pair.connections + 1 for pair in self._clients),
        )

    def _row(self, index: int, pair: Pair, each: Received) -> Row:
        return Row(index, round(self._begun_s[pair] * PS_PER_S), round(each.seconds * PS_PER_S))

    def _moved(self, pair: Pair, each: Received, span_s: float) -> list[Moved]:
        begun_s = self._begun_s[pair]
        parts = [*each.intervals, each.tail(span_s - begun_s)]
        moved = [
            Moved(round((begun_s + start_s) * PS_PER_S), round((begun_s + end_s) * PS_PER_S), size)
            for start_s, end_s, size in parts
            if size
        ]
        return [part.until(round(span_s * PS_PER_S)) for part in moved]
