"""pgbench: one script for each workload, and its log of transactions.

A user begins with a pause (the time of its first transaction, then the gap) and then does its statements, so that the
end of the last transaction is the end of its work. Threads are as many as users: each user's client works by itself.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tailrace.live.draws import Draw
from tailrace.live.fabric import FabricError
from tailrace.live.lab import Lab
from tailrace.live.program import Command, Program
from tailrace.live.programs.sizes import table_name

THREADS_MAX = 64
"""Beyond this users share threads: a machine of few cores spends its time switching between more."""
PS_PER_US = 10**6
US_PER_S = 10**6
SEEDS_APART = 64
"""Between the seeds of two draws of a workload: no draw uses more."""
STOP_LIMIT_S = 30.0
"""A transaction that has begun may end: the largest take seconds."""


@dataclass(frozen=True)
class Transaction:
    """One transaction; times in microseconds."""

    user: int
    number: int
    """From 1, for each user."""
    begun_us: int
    """Wall clock at which pgbench began with its pause."""
    intended_us: int
    """Wall clock at which it was meant to send its first statement."""
    ended_us: int

    @property
    def latency_us(self) -> int:
        """From the intended start: waiting for a late load generator counts."""
        return self.ended_us - self.intended_us


@dataclass(frozen=True)
class Load:
    """What one workload of kind `oltp` asks pgbench to do."""

    raw: Mapping[str, Any]
    """The workload as it stands in the plan."""
    seed: int
    rows: Mapping[int, int]
    """Rows of each table by the size of its answers."""

    @property
    def name(self) -> str:
        """Name of the workload."""
        return str(self.raw["name"])

    @property
    def is_finite(self) -> bool:
        """Whether its users have a number of transactions to do."""
        return bool(self.raw["transactions"])

    @property
    def responses(self) -> list[int]:
        """Size of each answer of a transaction, in order."""
        return [trip["response_bytes"] for trip in self.raw["round_trips"]]

    def _draw(self, what: str, position: int) -> Draw:
        digest = sha256(f"tailrace/{self.seed}/{self.name}".encode()).digest()
        base = int.from_bytes(digest[:7], "big") * SEEDS_APART
        return Draw(self.raw[what], base + position * (SEEDS_APART // 2))

    @property
    def start(self) -> Draw:
        """Pause before a user's first transaction."""
        return self._draw("start", 0)

    @property
    def gap(self) -> Draw:
        """Pause before every other one."""
        return self._draw("gap", 1)

    def pause_us(self, user: int, number: int) -> int:
        """What the script waits for before this transaction."""
        return (self.start if number == 1 else self.gap).value_us(user, number)

    def script(self) -> str:
        """The script, in pgbench's language."""
        lines = [r"\set n :n + 1", r"\set k :n * 65536 + :client_id"]
        lines += [r"\if :n = 1", *self.start.lines("pause"), r"\else", *self.gap.lines("pause"), r"\endif"]
        lines.append(r"\sleep :pause us")
        for size in self.responses:
            lines.append(rf"\set id random(1, {self.rows[size]})")
            lines.append(f"SELECT d FROM {table_name(size)} WHERE id = :id;")
        return "\n".join(lines) + "\n"

    def command(self, program: Path, script: Path, log_prefix: Path, address: str, limit_s: int) -> Command:
        """pgbench for this workload; one without a number to do ends after `limit_s`, or at SIGALRM."""
        users, count = int(self.raw["users"]), int(self.raw["transactions"])
        threads = min(users, THREADS_MAX)
        argv = [str(program), "--host", address, "--port", "5432", "--username", "tailrace", "--no-vacuum"]
        argv += ["--protocol", "prepared", "--client", str(users), "--jobs", str(threads), "--define", "n=0"]
        argv += ["--transactions", str(count)] if count else ["--time", str(limit_s)]
        argv += ["--random-seed", str(self.seed % 2**31), "--file", str(script)]
        argv += ["--log", "--log-prefix", str(log_prefix), "--report-per-command", "tailrace"]
        return Command(
            f"pgbench-{self.name}", argv, host=str(self.raw["client"]), priority=self.raw["priority"] or None
        )

    def transactions(self, log_prefix: Path) -> list[Transaction]:
        """Every transaction of the log, by user and number."""
        found = [self._transaction(words) for words in log_lines(log_prefix)]
        return sorted(found, key=lambda one: (one.user, one.number))

    def _transaction(self, words: Sequence[str]) -> Transaction:
        user, number, took = int(words[0]), int(words[1]), words[2]
        if not took.isdecimal():
            raise FabricError(f"pgbench-{self.name}: transaction {number} of user {user}: {took}")
        ended_us = int(words[4]) * US_PER_S + int(words[5])
        begun_us = ended_us - int(took)
        return Transaction(user, number, begun_us, begun_us + self.pause_us(user, number), ended_us)


class Pgbench:
    """pgbench as the users of one workload."""

    def __init__(self, load: Load, program: Path, limit_s: float) -> None:
        """`limit_s` is the length of the trial."""
        self._load = load
        self._program = program
        self._limit_s = limit_s
        self._started: Program | None = None
        self._log_prefix = Path()
        self._make: Callable[[], Command] | None = None

    def prepare(self, lab: Lab) -> None:
        """Writes the script."""
        self._log_prefix = lab.folder / "logs" / f"transactions-{self._load.name}"
        script = lab.folder / "logs" / f"{self._load.name}.pgbench"
        script.write_text(self._load.script(), encoding="utf-8")
        address = lab.addresses[self._load.raw["server"]]
        limit_s = max(1, round(self._limit_s))
        self._make = lambda: self._load.command(self._program, script, self._log_prefix, address, limit_s)

    def begin(self, lab: Lab) -> None:
        """Starts it."""
        assert self._make is not None, "it was prepared"
        self._started = lab.start(self._make())

    @property
    def programs(self) -> Sequence[Program]:
        """pgbench."""
        return [self._started] if self._started else []

    @property
    def is_done(self) -> bool:
        """Whether every user has ended."""
        return self._started is not None and self._started.ended is not None

    def stop(self) -> None:
        """pgbench without a number to do ends after the transactions that have begun."""
        if self._started is None or self.is_done:
            return
        if self._load.is_finite:
            self._started.stop("TERM")
            return
        self._started.signal("ALRM")  # what ends its --time
        self._started.wait(STOP_LIMIT_S)

    def transactions(self) -> list[Transaction]:
        """From its log."""
        return self._load.transactions(self._log_prefix)

    def lag_us(self, recorded: Sequence[Transaction]) -> float | None:
        """What the latencies have besides the time of the statements."""
        assert self._started is not None, "it ran"
        statements_ms = statement_ms(self._started.out_path.read_text(encoding="utf-8", errors="replace"))
        if statements_ms is None or not recorded:
            return None
        return sum(one.latency_us for one in recorded) / len(recorded) - statements_ms * 1000


def log_lines(log_prefix: Path) -> Iterator[list[str]]:
    """Words of every whole line of a workload's log; every thread has its own file."""
    for file in sorted(log_prefix.parent.glob(f"{log_prefix.name}.*")):
        for line in file.read_text(encoding="ascii").splitlines():
            words = line.split()
            if len(words) >= 6:
                yield words


def statement_ms(report: str) -> float | None:
    """Mean time of a transaction's statements alone, from pgbench's table of commands; None where there is none."""
    times = [float(found[1]) for found in re.finditer(r"^\s+([\d.]+)\s+\d+\s+SELECT\b", report, re.MULTILINE)]
    return sum(times) if times else None
