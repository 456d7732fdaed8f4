"""sysbench in a live trial."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tailrace.files import write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Refusals, Task
from tailrace.live.measure import closings
from tailrace.live.programs.mariadb_service import MariaDb
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.live.service import Service
from tailrace.live.transactions import TransactionLoad
from tailrace.programs import lua_log, mariadb, sysbench
from tailrace.programs.command import Command
from tailrace.programs.postgres import DATABASE
from tailrace.programs.work import Transaction
from tailrace.scenario.workloads.oltp import Oltp

INTERRUPT = 2
"""SIGINT, which sysbench does not handle."""


class Sysbench(TransactionLoad):
    """sysbench as the users of one workload."""

    load_name = "sysbench"
    needs = (sysbench.SYSBENCH,)
    services: ClassVar[tuple[str, ...]] = (PostgreSql.service_name, MariaDb.service_name)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._script = sysbench.Script(self.work.raw, self.work.seed, self.work.rows)
        self._started: Program | None = None
        self._log_prefix = Path()
        self._make: Callable[[], Command] | None = None
        self._is_over = False
        self._ports: frozenset[int] = frozenset()

    @classmethod
    def rows(cls, service: Service | None) -> Mapping[int, int]:
        """Of its database."""
        assert isinstance(service, PostgreSql | MariaDb), "it uses these only"
        return service.rows

    @classmethod
    def refusals(cls, workload: Oltp) -> Refusals:
        """Pauses that cannot be computed again, and more users than threads."""
        yield from super().refusals(workload)
        if workload.users > sysbench.USERS_MAX:
            what = f"{cls.load_name} needs a thread with an interpreter for each user"
            yield ("users",), what, f"write at most {sysbench.USERS_MAX} users, or omit load_generator to use pgbench"
        if workload.database == MariaDb.service_name:
            for index, trip in enumerate(workload.round_trips):
                if trip.response > mariadb.TEXT_BYTES_MAX:
                    what = "a row of MariaDB is one packet of at most 16 MiB"
                    yield ("round_trips", index, "response"), what, "write at most 16MB"

    def prepare(self, lab: Lab) -> None:
        """Writes the script."""
        self._log_prefix = (lab.folder / "logs" / f"transactions-{self.work.name}").absolute()
        file = (lab.folder / "logs" / f"{self.work.name}.lua").absolute()
        write_text(file, self._script.text(self._log_prefix))
        address = lab.address(str(self.work.raw["server"]), self.work.vlan)
        driver = "mysql" if isinstance(self.server, MariaDb) else "pgsql"
        options = [f"--db-driver={driver}", f"--{driver}-host={address}", f"--{driver}-port={self.server.port}"]
        options += [f"--{driver}-user=tailrace", f"--{driver}-db={DATABASE}"]
        limit_s = math.ceil(self.task.limit_s)
        self._make = lambda: self._script.command(file, options, limit_s)

    def begin(self, lab: Lab) -> None:
        """Starts it."""
        assert self._make is not None, "it was prepared"
        self._started = lab.start(self._make())

    def look(self, lab: Lab) -> None:
        """Ends sysbench when all users have done their transactions."""
        if not self._is_over and self.is_done:
            self._end(lab)

    @property
    def programs(self) -> Sequence[Program]:
        """sysbench."""
        return [self._started] if self._started else []

    @property
    def failed(self) -> Sequence[Program]:
        """A signal is how it ends once it was told to."""
        return [] if self._is_over else super().failed

    @property
    def is_done(self) -> bool:
        """Whether every user has done its transactions."""
        if self._started is None:
            return False
        if self._is_over or self._started.ended is not None:
            return True
        return self._script.is_finite and lua_log.users_done(self._started.errors()) == self._script.raw["users"]

    def stop(self, lab: Lab) -> None:
        """sysbench ends at once; its logs are written line by line."""
        if self._started is None:
            return
        if not self._is_over:
            self._end(lab)
        if self._started.wait(STOP_LIMIT_S).signal != INTERRUPT:
            raise FabricError(self._started.complaint())

    def _end(self, lab: Lab) -> None:
        assert self._started is not None, "it was started"
        if self._started.ended is None:
            self._ports = closings.client_ports(lab, self._started, self.server.port)
        self._started.signal("INT")
        self._is_over = True

    @property
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections; none when it ended before they could be read."""
        return self._ports

    def transactions(self) -> list[Transaction]:
        """From the logs of its users."""
        return lua_log.transactions(self._script, sysbench.PROGRAM, self._log_prefix)

    def lag_us(self, whole: Sequence[Transaction]) -> float | None:
        """How late transactions began."""
        return lua_log.lateness_us(self._log_prefix)
