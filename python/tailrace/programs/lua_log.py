"""The log of scripts in Lua: one line for each request or transaction of a user."""

from collections.abc import Iterator
from pathlib import Path

from tailrace.programs.errors import ProgramError
from tailrace.programs.transactions import log_lines
from tailrace.programs.work import Transaction, Work

WORDS = 6
"""User, number, begin of the pause, pause, sent, ended; times in microseconds of the wall clock."""
DONE = "done "
"""Begins the line of stderr of a user that has done all of its work."""


def transactions(work: Work, program: str, log_prefix: Path) -> list[Transaction]:
    """Every transaction of the log, by user and number; raises `ProgramError` if a pause differs
    from the seed's."""
    return sorted(_logged(work, program, log_prefix), key=lambda one: (one.user, one.number))


def lateness_us(log_prefix: Path) -> float | None:
    """How long after its intended time a transaction was begun, on average; None without any."""
    late_us = [sent - begun - pause for _, _, begun, pause, sent, _ in _lines(log_prefix)]
    return sum(late_us) / len(late_us) if late_us else None


def users_done(said: str) -> int:
    """Number of users that have done their work, from the program's stderr."""
    return said.count(DONE)


def _logged(work: Work, program: str, log_prefix: Path) -> Iterator[Transaction]:
    for user, number, begun_us, pause_us, _, ended_us in _lines(log_prefix):
        if pause_us != work.pause_us(user, number):
            raise ProgramError(
                f"{program}-{work.name}: transaction {number} of user {user} had a different pause "
                "than the seed determines"
            )
        yield Transaction(user, number, begun_us, begun_us + pause_us, ended_us)


def _lines(log_prefix: Path) -> Iterator[tuple[int, ...]]:
    for words in log_lines(log_prefix, WORDS):
        yield tuple(map(int, words))
