"""pgbench in a live trial."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from tailrace.files import write_text
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Task
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.live.transactions import TransactionLoad
from tailrace.programs import postgres
from tailrace.programs.command import Command
from tailrace.programs.pgbench import Script, statement_ms
from tailrace.programs.work import Transaction


class Pgbench(TransactionLoad):
    """pgbench as the users of one workload. It ends after the transactions that have begun, and
    writes its log."""

    load_name = "pgbench"
    needs = (postgres.PGBENCH,)
    services: ClassVar[tuple[str, ...]] = (PostgreSql.service_name,)
    end_signal = "ALRM"
    """Ends its time."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._script = Script(self.work.raw, self.work.seed, self.work.rows)
        self._log_prefix = Path()

    def command(self, lab: Lab) -> Command:
        """pgbench with its script."""
        own = self._script
        self._log_prefix = lab.folder / "logs" / f"transactions-{own.name}"
        file = lab.folder / "logs" / f"{own.name}.pgbench"
        write_text(file, own.script())
        program, limit_s = postgres.installation().program("pgbench"), math.ceil(self.task.limit_s)
        return own.command(program, file, self._log_prefix, self.address(lab), limit_s)

    def have_users_done(self, errors: str) -> bool:
        """Each says so."""
        return self._script.users_done(errors) == self.waiting

    def transactions(self) -> list[Transaction]:
        """From its log."""
        return self._script.transactions(self._log_prefix)

    def lag_us(self, whole: Sequence[Transaction]) -> float | None:
        """What the latencies have besides the time of the statements; of all transactions, as
        pgbench's mean is."""
        statements_ms = statement_ms(self.said())
        if statements_ms is None or not whole:
            return None
        return sum(one.latency_us for one in whole) / len(whole) - statements_ms * 1000
