"""Base class of loads of transactions: users of a database, each with one transaction at a time."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tailrace.live.draws import Draw, UnknownDrawError
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.load import PS_PER_US, Load, Measured, MeasuredInterval, Refusals, Task
from tailrace.live.measure.closings import Meant
from tailrace.live.measure.latency import cut_off_outcome, latency_outcome
from tailrace.live.measure.series import Moved, Row
from tailrace.live.service import Service
from tailrace.live.work import Transaction, Work
from tailrace.scenario.workloads.oltp import Oltp


class TransactionLoad(Load):
    """Users of a running server. A program implements the start and end of its users, and reads their logs."""

    sort = "transactions"
    server_key = "server"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.work = Work(task.raw, task.seed, self.rows(task.service))
        self._has_begun = False

    @classmethod
    @abstractmethod
    def rows(cls, service: Service | None) -> Mapping[int, int]:
        """Rows of each table of the server by the size of its answers."""

    @abstractmethod
    def begin(self, lab: Lab) -> None:
        """The trial begins: users begin with their first pause."""

    @abstractmethod
    def look(self, lab: Lab) -> None:
        """Is called every few milliseconds after `begin`."""

    @property
    @abstractmethod
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections; none when it ended before they could be read."""

    @abstractmethod
    def transactions(self) -> list[Transaction]:
        """Every transaction of its log, by user and number."""

    @abstractmethod
    def lag_us(self, whole: Sequence[Transaction]) -> float | None:
        """How late transactions began on average, in microseconds; None where it is not known."""

    @classmethod
    def refusals(cls, workload: Oltp) -> Refusals:
        """Problems: pauses that cannot be computed again."""
        if workload.gap_from == "start":
            yield ("gap_from",), f"{cls.load_name} starts the gap at the end of a transaction", "write gap_from: end"
        for key, distribution in (("gap", workload.gap), ("start", workload.first_transaction())):
            try:
                Draw(distribution.raw, 0)
            except UnknownDrawError as error:
                yield (key,), f"{cls.load_name} cannot draw it: {error}", "use a smaller shape"

    @property
    def server(self) -> Service:
        """The server that its users ask."""
        assert self.task.service is not None, "registered loads of transactions ask a service"
        return self.task.service

    @property
    def ends(self) -> tuple[str, str]:
        """Most bytes come from the server."""
        return str(self.task.raw["server"]), str(self.task.raw["client"])

    @property
    def opens(self) -> tuple[str, str]:
        """Users connect to the server."""
        return str(self.task.raw["client"]), str(self.task.raw["server"])

    @property
    def waiting(self) -> int:
        """Its users."""
        return int(self.task.raw["users"])

    def exposed(self, send_buffer_bytes: int) -> float:
        """While more of an answer is to be sent than a socket holds, a program that waits delays nothing: of an answer
        of many send buffers that is so but for the last of them."""
        return min(1.0, send_buffer_bytes / max(1, *self.work.responses))

    @property
    def is_finite(self) -> bool:
        """Whether its users have a number of transactions to do."""
        return self.work.is_finite

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """All users begin with the trial."""
        if not self._has_begun:
            self._has_begun = True
            self.begin(lab)
        else:
            self.look(lab)

    def connections(self, lab: Lab) -> Meant | None:
        """Those of its users; None when it ended before they could be read."""
        if not self.client_ports:
            return None
        client, server = self.opens
        return Meant(
            client=client,
            client_address=lab.address(client, self.work.vlan),
            client_ports=self.client_ports,
            server=server,
            server_address=lab.address(server, self.work.vlan),
            server_ports=frozenset({self.server.port}),
            server_sends=True,
            count=len(self.client_ports),
        )

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the log of transactions."""
        whole = self.transactions()
        return measured(self.work, whole, self.lag_us(whole), interval)


def measured(work: Work, whole: Sequence[Transaction], lag_us: float | None, interval: MeasuredInterval) -> Measured:
    """The measurements of an interval, from all transactions of the users of a workload."""
    done = [one for one in whole if one.ended_us <= interval.ended_wall_us]
    raw, begun_wall_us = work.raw, interval.begun_wall_us
    recorded = [one for one in done if one.number > raw["warmup_transactions"]]
    # What a workload with a number to do has done is counted whole: its completion is from its start.
    counted_from_ps = 0 if work.is_finite else interval.counted_from_ps
    warm_us = begun_wall_us + counted_from_ps // PS_PER_US
    counted = [one for one in done if one.ended_us >= warm_us]
    reported = [one for one in recorded if one.ended_us >= warm_us]
    size = sum(work.responses)
    ends = [_end_of(work, user, done) for user in range(raw["users"])]
    ends_ps = [None if end is None else (end - begun_wall_us) * PS_PER_US for end in ends]
    cut_off = _cut_off(work, whole, interval)
    outcome = {
        "name": work.name,
        "kind": "oltp",
        "completion_ps": None if None in ends_ps else max(end for end in ends_ps if end is not None),
        "counted_from_ps": counted_from_ps,
        "transactions": len(counted),
        "goodput_bytes": len(counted) * size,
        "latency": latency_outcome(one.latency_us * PS_PER_US for one in reported),
        "cut_off": cut_off_outcome([row.latency_ps for row in cut_off]),
        "user_completion_ps": ends_ps,
    }
    rows = [_row(one, begun_wall_us) for one in sorted(reported, key=lambda one: one.intended_us)]
    all_rows = [_row(one, begun_wall_us) for one in sorted(recorded, key=lambda one: one.intended_us)]
    moved = [Moved(row.start_ps, row.start_ps + row.latency_ps, size) for row in all_rows]
    first = min((one.begun_us for one in done), default=None)
    begun_ps = None if first is None else (first - begun_wall_us) * PS_PER_US
    return Measured(outcome, rows, moved, begun_ps, lag_us, cut_off)


def _cut_off(work: Work, whole: Sequence[Transaction], interval: MeasuredInterval) -> list[Row]:
    """What was running at the end, and how long it had: users end after those transactions, and log them."""
    ended_us = interval.ended_wall_us
    running = [one for one in whole if one.intended_us <= ended_us < one.ended_us]
    counted = [one for one in running if one.number > work.raw["warmup_transactions"]]
    return [_row(replace(one, ended_us=ended_us), interval.begun_wall_us) for one in counted]


def _end_of(work: Work, user: int, done: Sequence[Transaction]) -> int | None:
    """When a user ended its last transaction; None unless it did all of them."""
    own = [one.ended_us for one in done if one.user == user]
    return max(own) if work.is_finite and len(own) == work.count else None


def _row(one: Transaction, begun_wall_us: int) -> Row:
    start_us = max(0, one.intended_us - begun_wall_us)
    return Row(one.user, start_us * PS_PER_US, max(0, one.latency_us) * PS_PER_US)


def log_lines(log_prefix: Path, count: int) -> Iterator[list[str]]:
    """The `count` words of every whole line of a workload's log; every thread has its own file.

    A last line without its end was being written. Raises `FabricError` for a line with another number of words.
    """
    for file in sorted(log_prefix.parent.glob(f"{log_prefix.name}.*")):
        for line in file.read_text(encoding="ascii").splitlines(keepends=True):
            if not line.endswith("\n"):
                continue
            words = line.split()
            if len(words) != count:
                raise FabricError(f"{file.name}: a line of the log has {len(words)} words, not {count}: {line.strip()}")
            yield words
