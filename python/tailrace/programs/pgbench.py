"""pgbench: one script for each workload, and its log of transactions.

A user begins with a pause (the time of its first transaction, then the gap) and then does its
statements, so that the end of the last transaction is the end of its work. Threads are as many as
users: each user's client works by itself.

pgbench keeps the last of its log in memory until it ends by itself, so a signal that kills it loses
transactions. It therefore runs by time always, and is ended by SIGALRM, which lets it end well. A
user that has completed its transactions reports this and then sleeps. pgbench looks at the time
only between two runs of the script: a run sleeps for a nap at most, and a long pause is several
runs.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.postgres import table_name
from tailrace.programs.transactions import log_lines
from tailrace.programs.work import Transaction, Work

THREADS_MAX = 64
"""Threads; more users share them, because a machine of few cores would spend its time switching
between more threads.
"""
US_PER_S = 10**6
NAP_US = 1_000_000
"""Longest sleep of one run of the script: pgbench ends that much after its stop."""
FOREVER_US = 10**15
"""Sleep of a user that has completed its transactions, in naps: 30 years."""
START_GRACE_S = 60
"""pgbench's own time ends so much after the trial's, which ends it first."""
LOG_WORDS = 6
"""Of a line of its log: client, number, time taken, script, and the clock's seconds and
microseconds."""


@dataclass(frozen=True)
class Script(Work):
    """The same in pgbench's language, and its log."""

    def script(self) -> str:
        """The script, in pgbench's language. `left` is what is left of the pause before transaction
        `n`."""
        lines = [r"\if :left = 0", r"\set n :n + 1", r"\set k :n * 65536 + :client_id"]
        lines += [
            r"\if :n = 1",
            *self.start.lines("pause"),
            r"\else",
            *self.gap.lines("pause"),
            r"\endif",
        ]
        lines.append(r"\set left :pause")
        if self.count:
            lines += [
                rf"\if :n > {self.count}",
                r"\set said debug(:n)",
                rf"\set left {FOREVER_US}",
                r"\endif",
            ]
        lines += [
            r"\endif",
            rf"\set nap least(:left, {NAP_US})",
            r"\set left :left - :nap",
            r"\sleep :nap us",
        ]
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

    def command(
        self, program: Path, script: Path, log_prefix: Path, address: str, limit_s: int
    ) -> Command:
        """pgbench for this workload; it ends at SIGALRM, or by itself some time after `limit_s`."""
        users = int(self.raw["users"])
        threads = min(users, THREADS_MAX)
        argv = [
            str(program),
            "--host",
            address,
            "--port",
            str(self.port),
            "--username",
            "tailrace",
            "--no-vacuum",
        ]
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
            yield Transaction(
                user, number, begun_us, begun_us + pause_us, runs[next_run - 1].ended_us
            )

    def _run(self, words: Sequence[str]) -> "_Run":
        user, number, took = int(words[0]), int(words[1]), words[2]
        if not took.isdecimal():
            raise ProgramError(f"pgbench-{self.name}: run {number} of user {user}: {took}")
        ended_us = int(words[4]) * US_PER_S + int(words[5])
        return _Run(number, ended_us - int(took), ended_us)


@dataclass(frozen=True)
class _Run:
    """One run of the script, as it stands in the log."""

    number: int
    """From 1, for each user."""
    begun_us: int
    ended_us: int


def statement_ms(report: str) -> float | None:
    """Mean time of a transaction's statements alone, from pgbench's table of commands; None where
    there is none."""
    times = [
        float(found[1])
        for found in re.finditer(r"^\s+([\d.]+)\s+\d+\s+SELECT\b", report, re.MULTILINE)
    ]
    return sum(times) if times else None
