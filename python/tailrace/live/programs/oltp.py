"""The users of a database: a program that asks it, and its transactions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.measure.closings import Meant
from tailrace.live.measure.latency import cut_off_outcome, latency_outcome
from tailrace.live.measure.series import Moved, Row
from tailrace.live.programs import postgres
from tailrace.live.programs.generators import PS_PER_US, Interval, Measured
from tailrace.live.programs.pgbench import Load, Transaction


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
        # What a workload with a number to do has done is counted whole: its completion is from its start.
        counted_from_ps = 0 if self.is_finite else interval.counted_from_ps
        warm_us = begun_wall_us + counted_from_ps // PS_PER_US
        counted = [one for one in done if one.ended_us >= warm_us]
        measured = [one for one in recorded if one.ended_us >= warm_us]
        size = sum(self._load.responses)
        ends = [self._end_of(user, done) for user in range(raw["users"])]
        ends_ps = [None if end is None else (end - begun_wall_us) * PS_PER_US for end in ends]
        cut_off = self._cut_off(whole, interval)
        outcome = {
            "name": self.name,
            "kind": "oltp",
            "completion_ps": None if None in ends_ps else max(end for end in ends_ps if end is not None),
            "counted_from_ps": counted_from_ps,
            "transactions": len(counted),
            "goodput_bytes": len(counted) * size,
            "latency": latency_outcome(one.latency_us * PS_PER_US for one in measured),
            "cut_off": cut_off_outcome([row.latency_ps for row in cut_off]),
            "user_completion_ps": ends_ps,
        }
        rows = [self._row(one, begun_wall_us) for one in sorted(measured, key=lambda one: one.intended_us)]
        all_rows = [self._row(one, begun_wall_us) for one in sorted(recorded, key=lambda one: one.intended_us)]
        moved = [Moved(row.start_ps, row.start_ps + row.latency_ps, size) for row in all_rows]
        first = min((one.begun_us for one in done), default=None)
        begun_ps = None if first is None else (first - begun_wall_us) * PS_PER_US
        return Measured(outcome, rows, moved, begun_ps, self._users.lag_us(whole), cut_off)

    def _cut_off(self, whole: Sequence[Transaction], interval: Interval) -> list[Row]:
        """What was running at the end, and how long it had: users end after those transactions, and log them."""
        ended_us = interval.ended_wall_us
        running = [one for one in whole if one.intended_us <= ended_us < one.ended_us]
        counted = [one for one in running if one.number > self._load.raw["warmup_transactions"]]
        return [self._row(replace(one, ended_us=ended_us), interval.begun_wall_us) for one in counted]

    def _end_of(self, user: int, done: Sequence[Transaction]) -> int | None:
        """When a user ended its last transaction; None unless it did all of them."""
        own = [one.ended_us for one in done if one.user == user]
        return max(own) if self.is_finite and len(own) == self._load.count else None

    @staticmethod
    def _row(one: Transaction, begun_wall_us: int) -> Row:
        start_us = max(0, one.intended_us - begun_wall_us)
        return Row(one.user, start_us * PS_PER_US, max(0, one.latency_us) * PS_PER_US)
