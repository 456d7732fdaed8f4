"""sysbench: a thread with one connection for each user, the script of all, and its log of
transactions.

sysbench's own scripts (`oltp_*`) have tables and statements of their own and are not used: the
script does the transactions of the scenario on the scenario's tables, as pgbench does. Its
statements are prepared. sysbench ends at a time or after a number of transactions of all users
together; the end of a trial is neither, so that a signal ends it and its own report is never
printed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import KeyPath
from tailrace.programs import galera, lua, mariadb
from tailrace.programs.command import Command
from tailrace.programs.needed import Needed
from tailrace.programs.postgres import DATABASE, table_name
from tailrace.programs.templates import is_write, row_size
from tailrace.programs.transactions import log_lines
from tailrace.programs.work import Work
from tailrace.scenario.programs import SERVICE_KEY
from tailrace.scenario.workloads.oltp import Oltp

PROGRAM = "sysbench"
SCRIPT = Path(__file__).with_name("sysbench.lua")
USERS_MAX = 256
"""Each user is a thread with an interpreter."""
START_GRACE_S = 60
"""sysbench's own time limit exceeds the trial's by this; the trial ends it first."""

CONFLICTS = (1213, 1020, 1205, 1180)
"""Errors of transactions that the database rolls back because of another one: deadlock or failed
certification, changed row, lock wait timeout, failed commit (MariaDB's error codes)."""
FAILURE_WORDS = 4
"""User, number, error, time in microseconds of the wall clock."""
ATTEMPTS_MAX = 1000
"""A transaction that fails so often ends the trial."""

SYSBENCH = Needed(PROGRAM, "sysbench", "--version", "workloads of kind oltp with sysbench")


def sysbench_refusals(workload: Oltp) -> Iterator[tuple[KeyPath, str, str]]:
    """More users than threads, and answers that MariaDB cannot give."""
    if workload.users > USERS_MAX:
        what = f"{PROGRAM} needs a thread with an interpreter for each user"
        yield (
            ("users",),
            what,
            f"write at most {USERS_MAX} users, or omit load_generator to use pgbench",
        )
    if workload.database in (mariadb.SERVICE, galera.SERVICE):
        keys = ("response", "request") if workload.database == galera.SERVICE else ("response",)
        for index, trip in enumerate(workload.round_trips):
            for key in keys:
                if getattr(trip, key) > mariadb.TEXT_BYTES_MAX:
                    what = "a row of MariaDB is one packet of at most 16 MiB"
                    yield ("round_trips", index, key), what, "write at most 16MB"


def server_options(protocol: str, address: str, port: int) -> list[str]:
    """The address of the database, and the client library: `mysql` or `pgsql`."""
    connection = [
        f"--db-driver={protocol}",
        f"--{protocol}-host={address}",
        f"--{protocol}-port={port}",
    ]
    return [*connection, f"--{protocol}-user=tailrace", f"--{protocol}-db={DATABASE}"]


def failures_prefix(log_prefix: Path) -> Path:
    """Beginning of the names of the logs of failed attempts; every thread has its own file."""
    return log_prefix.with_name(f"failed-{log_prefix.name}")


def failures(log_prefix: Path, ended_us: int) -> dict[str, int]:
    """Failed attempts of transactions until a moment of the wall clock, by the number of their
    error."""
    found: dict[str, int] = {}
    for _, _, code, at_us in log_lines(failures_prefix(log_prefix), FAILURE_WORDS):
        if int(at_us) <= ended_us:
            found[code] = found.get(code, 0) + 1
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Script(Work):
    """sysbench as the users of a workload."""

    @property
    def can_write(self) -> bool:
        """Whether its database takes writes: a cluster of databases does."""
        return self.raw.get(SERVICE_KEY) == galera.SERVICE

    def text(self, log_prefix: Path) -> str:
        """The script, in Lua."""
        statements = ", ".join(map(self._statement, self.raw["round_trips"]))
        settings: dict[str, int | str] = {
            "log_prefix": str(log_prefix),
            "transactions_max": self.count,
        }
        settings |= {
            "failures_prefix": str(failures_prefix(log_prefix)),
            "attempts_max": ATTEMPTS_MAX,
        }
        draws = lua.function("start_us", self.start) + lua.function("gap_us", self.gap)
        own = (
            f"local statements = {{{statements}}}\nlocal can_fail = "
            f"{'true' if self.can_write else 'false'}\n"
        )
        return (
            lua.shared() + lua.settings(settings) + own + draws + SCRIPT.read_text(encoding="utf-8")
        )

    def _statement(self, trip: Mapping[str, Any]) -> str:
        """Table and rows, and the length of the text that a write has."""
        size = row_size(trip) if self.can_write else trip["response_bytes"]
        words = [f'"{table_name(size)}"', str(self.rows[size])]
        words += [str(mariadb.row_bytes(size))] if self.can_write and is_write(trip) else []
        return f"{{{', '.join(words)}}}"

    def command(self, file: Path, options: Sequence[str], limit_s: int) -> Command:
        """sysbench for this workload, with the options of its server; it ends at SIGINT."""
        argv = [
            PROGRAM,
            f"--threads={self.raw['users']}",
            f"--time={limit_s + START_GRACE_S}",
            "--events=0",
        ]
        argv += [f"--rand-seed={1 + self.seed % 2**31}"]
        argv += [f"--mysql-ignore-errors={','.join(map(str, CONFLICTS))}"] if self.can_write else []
        return Command(
            f"sysbench-{self.name}",
            [*argv, *options, str(file), "run"],
            host=str(self.raw["client"]),
            priority=self.raw["priority"] or None,
            dscp=self.raw.get("dscp") or None,
        )
