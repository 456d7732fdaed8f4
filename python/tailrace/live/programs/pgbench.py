"""pgbench: one script for each workload, and its log of transactions.

A user begins with a pause (the time of its first transaction, then the gap) and then does its statements, so that the
end of the last transaction is the end of its work. Threads are as many as users: each user's client works by itself.

pgbench keeps the last of its log in memory until it ends by itself, so a signal that kills it loses transactions. It
therefore runs by time always, and is ended by SIGALRM, which lets it end well. A user that has completed its
transactions reports this and then sleeps. pgbench looks at the time only between two runs of the script: a run sleeps
for a nap at most, and a long pause is several runs.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tailrace.files import write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Command, Program
from tailrace.live.load import Task
from tailrace.live.measure import closings
from tailrace.live.programs import postgres
from tailrace.live.programs.postgres import table_name
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.live.service import Service
from tailrace.live.transactions import TransactionLoad, log_lines
from tailrace.live.work import Transaction, Work

THREADS_MAX = 64
"""Threads; more users share them, because a machine of few cores would spend its time switching between more
threads.
"""
US_PER_S = 10**6
NAP_US = 1_000_000
"""Longest sleep of one run of the script: pgbench ends so much later than it is told to."""
FOREVER_US = 10**15
"""Sleep of a user that has completed its transactions, in naps: 30 years."""
START_GRACE_S = 60
"""pgbench's own time ends so much after the trial's, which ends it first."""
LOG_WORDS = 6
"""Of a line of its log: client, number, time taken, script, and the clock's seconds and microseconds."""


@dataclass(frozen=True)
class Script(Work):
    """The same in pgbench's language, and its log."""

    def script(self) -> str:
        """The script, in pgbench's language. `left` is what is left of the pause before transaction `n`."""
        lines = [r"\if :left = 0", r"\set n :n + 1", r"\set k :n * 65536 + :client_id"]
        lines += [r"\if :n = 1", *self.start.lines("pause"), r"\else", *self.gap.lines("pause"), r"\endif"]
        lines.append(r"\set left :pause")
        if self.count:
            lines += [rf"\if :n > {self.count}", r"\set said debug(:n)", rf"\set left {FOREVER_US}", r"\endif"]
        lines += [r"\endif", rf"\set nap least(:left, {NAP_US})", r"\set left :left - :nap", r"\sleep :nap us"]
        lines.append(r"\if :left = 0")
        for size in self.responses:
            lines.append(rf"\set id random(1, {self.rows[size]})")
            lines.append(f"SELECT d FROM {table_name(size)} WHERE id = :id;")
        lines.append(r"\endif")
        return "\n".join(lines) + "\n"

    def users_done(self, said: str) -> int:
        """Number of users that have completed their transactions, from pgbench's stderr."""
        # A line is written in two pieces, and pieces of two threads may come one behind the other.
        return len(re.findall(rf"int {self.count + 1}$", said, re.MULTILINE)) if self.count else 0

    def command(self, program: Path, script: Path, log_prefix: Path, address: str, limit_s: int) -> Command:
        """pgbench for this workload; it ends at SIGALRM, or by itself some time after `limit_s`."""
        users = int(self.raw["users"])
        threads = min(users, THREADS_MAX)
        argv = [str(program), "--host", address, "--port", "5432", "--username", "tailrace", "--no-vacuum"]
        argv += ["--protocol", "prepared", "--client", str(users), "--jobs", str(threads)]
        argv += ["--define", "n=0", "--define", "left=0", "--time", str(limit_s + START_GRACE_S)]
        argv += ["--random-seed", str(self.seed % 2**31), "--file", str(script)]
        argv += ["--log", "--log-prefix", str(log_prefix), "--report-per-command", "tailrace"]
        return Command(
            f"pgbench-{self.name}",
            argv,
            host=str(self.raw["client"]),
            priority=self.raw["priority"] or None,
            dscp=self.raw.get("dscp") or None,
        )

    def transactions(self, log_prefix: Path) -> list[Transaction]:
        """Every transaction of the log, by user and number."""
        runs: dict[int, list[_Run]] = {}
        for words in log_lines(log_prefix, LOG_WORDS):
            runs.setdefault(int(words[0]), []).append(self._run(words))
        ordered = {user: sorted(runs[user], key=lambda run: run.number) for user in sorted(runs)}
        return [one for user, own in ordered.items() for one in self._of_user(user, own)]

    def _of_user(self, user: int, runs: Sequence["_Run"]) -> Iterator[Transaction]:
        """Joins the naps of a pause and the run that they lead to."""
        number, next_run = 0, 0
        while not self.count or number < self.count:
            number += 1
            pause_us = self.pause_us(user, number)
            naps = max(1, -(-pause_us // NAP_US))
            if next_run + naps > len(runs):
                return
            begun_us = runs[next_run].begun_us
            next_run += naps
            yield Transaction(user, number, begun_us, begun_us + pause_us, runs[next_run - 1].ended_us)

    def _run(self, words: Sequence[str]) -> "_Run":
        user, number, took = int(words[0]), int(words[1]), words[2]
        if not took.isdecimal():
            raise FabricError(f"pgbench-{self.name}: run {number} of user {user}: {took}")
        ended_us = int(words[4]) * US_PER_S + int(words[5])
        return _Run(number, ended_us - int(took), ended_us)


@dataclass(frozen=True)
class _Run:
    """One run of the script, as it stands in the log."""

    number: int
    """From 1, for each user."""
    begun_us: int
    ended_us: int


class Pgbench(TransactionLoad):
    """pgbench as the users of one workload."""

    load_name = "pgbench"
    needs = (postgres.PGBENCH,)
    services: ClassVar[tuple[str, ...]] = (PostgreSql.service_name,)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._script = Script(self.work.raw, self.work.seed, self.work.rows)
        self._started: Program | None = None
        self._log_prefix = Path()
        self._make: Callable[[], Command] | None = None
        self._is_over = False
        self._ports: frozenset[int] = frozenset()

    @classmethod
    def rows(cls, service: Service | None) -> Mapping[int, int]:
        """Of its database."""
        assert isinstance(service, PostgreSql), "pgbench uses PostgreSQL only"
        return service.rows

    def prepare(self, lab: Lab) -> None:
        """Writes the script."""
        own = self._script
        self._log_prefix = lab.folder / "logs" / f"transactions-{own.name}"
        file = lab.folder / "logs" / f"{own.name}.pgbench"
        write_text(file, own.script())
        address = lab.address(own.raw["server"], own.vlan)
        program, limit_s = postgres.installation().program("pgbench"), math.ceil(self.task.limit_s)
        self._make = lambda: own.command(program, file, self._log_prefix, address, limit_s)

    def begin(self, lab: Lab) -> None:
        """Starts it."""
        assert self._make is not None, "it was prepared"
        self._started = lab.start(self._make())

    def look(self, lab: Lab) -> None:
        """Ends pgbench when all users have completed their transactions."""
        if not self._is_over and self.is_done:
            self._end(lab)

    @property
    def programs(self) -> Sequence[Program]:
        """pgbench."""
        return [self._started] if self._started else []

    @property
    def is_done(self) -> bool:
        """Whether every user has completed its transactions."""
        if self._started is None:
            return False
        if self._is_over or self._started.ended is not None:
            return True
        return self._script.is_finite and self._script.users_done(self._started.errors()) == self._script.raw["users"]

    def stop(self, lab: Lab) -> None:
        """pgbench ends after the transactions that have begun, and writes its log."""
        if self._started is None:
            return
        if not self._is_over:
            self._end(lab)
        ended = self._started.wait(STOP_LIMIT_S)
        if not ended.is_good:
            raise FabricError(self._started.complaint())

    def _end(self, lab: Lab) -> None:
        """What ends pgbench's --time. Its connections are open until then."""
        assert self._started is not None, "it was started"
        if self._started.ended is None:
            self._ports = closings.client_ports(lab, self._started, PostgreSql.port)
        self._started.signal("ALRM")
        self._is_over = True

    @property
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections; none when it ended before they could be read."""
        return self._ports

    def transactions(self) -> list[Transaction]:
        """From its log."""
        return self._script.transactions(self._log_prefix)

    def lag_us(self, whole: Sequence[Transaction]) -> float | None:
        """What the latencies have besides the time of the statements; of all transactions, as pgbench's mean is."""
        assert self._started is not None, "it ran"
        statements_ms = statement_ms(self._started.out_path.read_text(encoding="utf-8", errors="replace"))
        if statements_ms is None or not whole:
            return None
        return sum(one.latency_us for one in whole) / len(whole) - statements_ms * 1000


def statement_ms(report: str) -> float | None:
    """Mean time of a transaction's statements alone, from pgbench's table of commands; None where there is none."""
    times = [float(found[1]) for found in re.finditer(r"^\s+([\d.]+)\s+\d+\s+SELECT\b", report, re.MULTILINE)]
    return sum(times) if times else None
