"""pgbench in a live trial."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tailrace.files import write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Task
from tailrace.live.measure import closings
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.live.service import Service
from tailrace.live.transactions import TransactionLoad
from tailrace.programs import postgres
from tailrace.programs.command import Command
from tailrace.programs.pgbench import Script, statement_ms
from tailrace.programs.work import Transaction


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
