"""pgbench and PostgreSQL in an exact run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailrace.exact.database import DatabaseGuests
from tailrace.exact.load import GuestTask, Refusals
from tailrace.exact.programs.postgresql import PostgreSql
from tailrace.files import write_text
from tailrace.programs import postgres
from tailrace.programs.command import Command
from tailrace.programs.pgbench import Script
from tailrace.programs.postgres_template import PostgresTemplates
from tailrace.programs.transactions import refusals
from tailrace.programs.work import Transaction
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.oltp import Oltp


class Pgbench(DatabaseGuests):
    """pgbench as the users of one workload."""

    load_name = "pgbench"
    databases = (PostgreSql(),)
    services = (PostgreSql.name,)
    client_needs = (postgres.PGBENCH,)
    client_signal = "ALRM"
    """Ends the time of pgbench, which then writes its log."""

    def __init__(self, task: GuestTask) -> None:
        super().__init__(task)
        self._script = Script(task.raw, task.seed, self.template.rows)

    @classmethod
    def refusals(cls, workload: Oltp, scenario: Scenario) -> Refusals:
        """Pauses that cannot be computed again."""
        return refusals(cls.load_name, workload)

    def write_files(self, folder: Path) -> None:
        """Its script."""
        write_text(folder / "script", self._script.script())

    def client_command(self, folder: Path, log_prefix: Path, address: str, limit_s: int) -> Command:
        """Of the script."""
        program = self.task.templates.of(PostgresTemplates).installed.program("pgbench")
        return self._script.command(program, folder / "script", log_prefix, address, limit_s)

    @property
    def finished_by(self) -> Mapping[str, Any]:
        """Each user prints its number."""
        return {
            "stream": "err",
            "text": f"int {self.work.count + 1}",
            "lines": self.work.raw["users"],
        }

    def transactions(self, log_prefix: Path) -> list[Transaction]:
        """From its log."""
        return self._script.transactions(log_prefix)
