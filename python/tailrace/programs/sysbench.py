"""sysbench: a thread with one connection for each user, the script of all, and its log of transactions.

sysbench's own scripts (`oltp_*`) have tables and statements of their own and are not used: the script does the
transactions of the scenario on the scenario's tables, as pgbench does. Its statements are prepared. sysbench ends at
a time or after a number of transactions of all users together; the end of a trial is neither, so that a signal ends it
and its own report is never printed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import KeyPath
from tailrace.programs import lua, mariadb
from tailrace.programs.command import Command
from tailrace.programs.needed import Needed
from tailrace.programs.postgres import DATABASE, table_name
from tailrace.programs.work import Work
from tailrace.scenario.workloads.oltp import Oltp

PROGRAM = "sysbench"
SCRIPT = Path(__file__).with_name("sysbench.lua")
USERS_MAX = 256
"""Each user is a thread with an interpreter."""
START_GRACE_S = 60
"""sysbench's own time ends so much after the trial's, which ends it first."""

SYSBENCH = Needed(PROGRAM, "sysbench", "--version", "workloads of kind oltp with sysbench")


def sysbench_refusals(workload: Oltp) -> Iterator[tuple[KeyPath, str, str]]:
    """More users than threads, and answers that MariaDB cannot give."""
    if workload.users > USERS_MAX:
        what = f"{PROGRAM} needs a thread with an interpreter for each user"
        yield ("users",), what, f"write at most {USERS_MAX} users, or omit load_generator to use pgbench"
    if workload.database == mariadb.SERVICE:
        for index, trip in enumerate(workload.round_trips):
            if trip.response > mariadb.TEXT_BYTES_MAX:
                what = "a row of MariaDB is one packet of at most 16 MiB"
                yield ("round_trips", index, "response"), what, "write at most 16MB"


def server_options(protocol: str, address: str, port: int) -> list[str]:
    """Where the database is, and which library asks it: `mysql` or `pgsql`."""
    place = [f"--db-driver={protocol}", f"--{protocol}-host={address}", f"--{protocol}-port={port}"]
    return [*place, f"--{protocol}-user=tailrace", f"--{protocol}-db={DATABASE}"]


@dataclass(frozen=True)
class Script(Work):
    """sysbench as the users of a workload."""

    def text(self, log_prefix: Path) -> str:
        """The script, in Lua."""
        statements = ", ".join(f'{{"{table_name(size)}", {self.rows[size]}}}' for size in self.responses)
        settings: dict[str, int | str] = {"log_prefix": str(log_prefix), "transactions_max": self.count}
        draws = lua.function("start_us", self.start) + lua.function("gap_us", self.gap)
        own = f"local statements = {{{statements}}}\n"
        return lua.shared() + lua.settings(settings) + own + draws + SCRIPT.read_text(encoding="utf-8")

    def command(self, file: Path, options: Sequence[str], limit_s: int) -> Command:
        """sysbench for this workload, with the options of its server; it ends at SIGINT."""
        argv = [PROGRAM, f"--threads={self.raw['users']}", f"--time={limit_s + START_GRACE_S}", "--events=0"]
        argv += [f"--rand-seed={1 + self.seed % 2**31}"]
        return Command(
            f"sysbench-{self.name}",
            [*argv, *options, str(file), "run"],
            host=str(self.raw["client"]),
            priority=self.raw["priority"] or None,
            dscp=self.raw.get("dscp") or None,
        )
