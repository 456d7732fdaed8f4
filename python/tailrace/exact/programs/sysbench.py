"""sysbench with PostgreSQL in an exact run.

MariaDB does not start there: it finds out how fine the kernel's clocks are by reading each of them
until it has advanced three times (`my_timer_init_resolution` in mysys/my_rdtsc.c), and the clock of
a guest stands still meanwhile.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailrace.exact.database import DatabaseGuests
from tailrace.exact.load import OUTPUT, GuestTask, Refusals
from tailrace.exact.programs.postgresql import PostgreSql
from tailrace.files import write_text
from tailrace.programs import lua_log, mariadb, sysbench
from tailrace.programs.command import Command
from tailrace.programs.sysbench import Script
from tailrace.programs.transactions import refusals
from tailrace.programs.work import Transaction
from tailrace.scenario.programs import SERVICE_KEY
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.oltp import Oltp


class Sysbench(DatabaseGuests):
    """sysbench as the users of one workload."""

    load_name = "sysbench"
    databases = (PostgreSql(),)
    services = (PostgreSql.name,)
    client_needs = (sysbench.SYSBENCH,)
    client_signal = "INT"
    ends_by_signal = True

    def __init__(self, task: GuestTask) -> None:
        super().__init__(task)
        self._script = Script(task.raw, task.seed, self.template.rows)

    @classmethod
    def refusals(cls, workload: Oltp, scenario: Scenario) -> Refusals:
        """Pauses that cannot be computed again, and more users than threads."""
        yield from refusals(cls.load_name, workload)
        yield from sysbench.sysbench_refusals(workload)
        if workload.database == mariadb.SERVICE:
            what = (
                "MariaDB does not start in a guest: it reads a clock in a loop until it "
                "advances, and it stands still"
            )
            yield (SERVICE_KEY,), what, f"write {SERVICE_KEY}: {PostgreSql.name}, or omit both keys"

    def write_files(self, folder: Path) -> None:
        """Its script."""
        write_text(folder / "script.lua", self._script.text(Path(OUTPUT) / self._log_name))

    def client_command(self, folder: Path, log_prefix: Path, address: str, limit_s: int) -> Command:
        """Of the script."""
        options = sysbench.server_options(self.asked.protocol, address, self.work.port)
        return self._script.command(folder / "script.lua", options, limit_s)

    @property
    def finished_by(self) -> Mapping[str, Any]:
        """Every user reports that it is done."""
        return {"stream": "err", "text": lua_log.DONE, "lines": self.work.raw["users"]}

    def transactions(self, log_prefix: Path) -> list[Transaction]:
        """From the logs of its users."""
        return lua_log.transactions(self._script, sysbench.PROGRAM, log_prefix)
