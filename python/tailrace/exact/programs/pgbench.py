"""pgbench and PostgreSQL in an exact run."""

import math
import os
import pwd
from collections.abc import Iterator
from pathlib import Path

from tailrace.exact.load import OUTPUT, START_NS, GuestLoad, GuestProgram, GuestTask, Refusals
from tailrace.files import make_folder, write_text
from tailrace.programs import postgres
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.pgbench import Script
from tailrace.programs.postgres import Server, Setting
from tailrace.programs.postgres_template import sizes_of
from tailrace.programs.transactions import measured, refusals
from tailrace.scenario.workloads.oltp import Oltp

PORT = 6432
"""Of the servers: the traffic program listens on the usual port."""
SETTINGS = (
    Setting("max_parallel_workers", "0", "a leader polls for its workers, and time would stand still"),
    Setting("max_parallel_maintenance_workers", "0", "as max_parallel_workers"),
)
NOBODY = "65534"
"""Runs the server where the machine has no account for it: it refuses to run as root."""
MIB = 2**20
SPARE_MIB = 384
"""Of memory for the server besides its data: its shared memory, and processes of users."""


class Pgbench(GuestLoad):
    """Users of one workload, and their server."""

    load_name = "pgbench"
    sort = "transactions"
    needs = (postgres.PGBENCH, postgres.POSTGRES)
    services = ("postgresql",)

    def __init__(self, task: GuestTask) -> None:
        super().__init__(task)
        self._template = task.templates.get(sizes_of(task.shared))
        self._script = Script(task.raw, task.seed, self._template.rows)

    @classmethod
    def refusals(cls, workload: Oltp) -> Refusals:
        """Pauses that cannot be computed again."""
        return refusals(cls.load_name, workload)

    @property
    def memory_mib(self) -> int:
        """The data directory, and the same once more for the pages that are in use."""
        files = (Path(folder) / name for folder, _, names in os.walk(self._template.data) for name in names)
        return SPARE_MIB + 2 * sum(file.stat().st_size for file in files) // MIB

    def programs(self) -> Iterator[GuestProgram]:
        """The server, and pgbench."""
        yield self._server()
        yield self._client()

    def _server(self) -> GuestProgram:
        host = str(self._script.raw["server"])
        vlans = sorted({int(raw.get("vlan") or 0) for raw in self.task.shared})
        addresses = ",".join(self.task.addresses.of(host, vlan) for vlan in vlans)
        users = sum(int(raw["users"]) for raw in self.task.shared)
        data = "/run/tailrace/postgres"
        folder = self.task.folder / "programs" / f"socket-{host}"
        make_folder(folder)
        server = Server(host, data, addresses, users, port=PORT, settings=SETTINGS)
        command = server.command(self.task.templates.installed)
        return GuestProgram(
            host,
            command.name,
            command.argv,
            user=_account(),
            copies={data: str(self._template.data.absolute()), server.socket_folder: str(folder.absolute())},
            stop_signal="INT",  # a "fast" shutdown, which waits for no client
            is_server=True,
        )

    def _client(self) -> GuestProgram:
        own = self._script
        folder = self.task.folder / "programs" / own.name
        make_folder(folder)
        write_text(folder / "script", own.script())
        here = f"/run/tailrace/programs/{own.name}"
        address = self.task.addresses.of(own.raw["server"], own.vlan)
        program, limit_s = self.task.templates.installed.program("pgbench"), math.ceil(self.task.limit_s)
        log_prefix = Path(OUTPUT) / self._log_name
        command = own.command(program, Path(here) / "script", log_prefix, address, limit_s, PORT)
        finished = {"stream": "err", "text": f"int {own.count + 1}", "lines": own.raw["users"]}
        return GuestProgram(
            str(own.raw["client"]),
            command.name,
            command.argv,
            is_awaited=self.task.is_awaited,
            delay_ns=START_NS,
            copies={here: str(folder.absolute())},
            stop_signal="ALRM",  # ends the time of pgbench, which then writes its log
            finished_by=finished if own.is_finite else None,
        )

    @property
    def _log_name(self) -> str:
        return f"transactions-{self._script.name}"

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the log of transactions."""
        whole = self._script.transactions(self.task.output_of(str(self._script.raw["client"])) / self._log_name)
        return measured(self._script, whole, None, interval)


def _account() -> str:
    try:
        return pwd.getpwnam(postgres.USER).pw_name
    except KeyError:
        return NOBODY
