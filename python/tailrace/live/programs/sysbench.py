"""sysbench in a live trial."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from msgspec import structs

from tailrace.files import write_text
from tailrace.live.database import DatabaseService
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.load import Refusals, Task
from tailrace.live.programs.galera_service import Galera
from tailrace.live.programs.mariadb_service import MariaDb
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.live.transactions import TransactionLoad
from tailrace.programs import lua_log, sysbench
from tailrace.programs.command import Command, Ended
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.work import Transaction
from tailrace.scenario.workloads.oltp import Oltp

INTERRUPT = 2
"""SIGINT, which sysbench does not handle."""


class Sysbench(TransactionLoad):
    """sysbench as the users of one workload."""

    load_name = "sysbench"
    needs = (sysbench.SYSBENCH,)
    services: ClassVar[tuple[str, ...]] = (
        PostgreSql.service_name,
        MariaDb.service_name,
        Galera.service_name,
    )

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._script = sysbench.Script(self.work.raw, self.work.seed, self.work.rows)
        self._log_prefix = Path()

    @classmethod
    def refusals(cls, workload: Oltp) -> Refusals:
        """Pauses that cannot be computed again, and more users than threads."""
        yield from super().refusals(workload)
        yield from sysbench.sysbench_refusals(workload)

    def command(self, lab: Lab) -> Command:
        """sysbench with its script."""
        self._log_prefix = (lab.folder / "logs" / f"transactions-{self.work.name}").absolute()
        file = (lab.folder / "logs" / f"{self.work.name}.lua").absolute()
        write_text(file, self._script.text(self._log_prefix))
        assert isinstance(self.server, DatabaseService), "loads of transactions ask a database"
        options = sysbench.server_options(self.server.protocol, self.address(lab), self.work.port)
        return self._script.command(file, options, math.ceil(self.task.limit_s))

    @property
    def failed(self) -> Sequence[Program]:
        """A signal is its regular end after a stop."""
        return [] if self._is_over else super().failed

    def have_users_done(self, errors: str) -> bool:
        """Each says so."""
        return lua_log.users_done(errors) == self.waiting

    def require_good(self, ended: Ended) -> None:
        """It ends at once; its logs are written line by line."""
        if ended.signal != INTERRUPT:
            raise FabricError(self.started.complaint())

    def transactions(self) -> list[Transaction]:
        """From the logs of its users."""
        return lua_log.transactions(self._script, sysbench.PROGRAM, self._log_prefix)

    def measured(self, interval: MeasuredInterval) -> Measured:
        """With the attempts that a database rolled back, which are tried again; none where it takes
        no writes."""
        found = super().measured(interval)
        if not self._script.can_write:
            return found
        failed = sysbench.failures(self._log_prefix, interval.ended_wall_us)
        return replace(found, outcome=structs.replace(found.outcome, failed_attempts=failed))

    def lag_us(self, whole: Sequence[Transaction]) -> float | None:
        """How late transactions began."""
        return lua_log.lateness_us(self._log_prefix)
