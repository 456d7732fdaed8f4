"""MariaDB as a service."""

from collections.abc import Mapping
from typing import ClassVar

from tailrace.live.database import DatabaseService
from tailrace.live.lab.lab import Lab
from tailrace.programs import mariadb
from tailrace.programs.command import Command
from tailrace.programs.mariadb import MariaDbTemplates, Server
from tailrace.programs.needed import Needed
from tailrace.programs.program_runner import Running
from tailrace.programs.templates import CP


class MariaDb(DatabaseService):
    """A server of MariaDB."""

    service_name = mariadb.SERVICE
    needs: ClassVar[tuple[Needed, ...]] = (mariadb.MARIADB, mariadb.INSTALL, mariadb.SHELL, CP)
    protocol = "mysql"
    templates_class = MariaDbTemplates
    stop_signal = "KILL"

    def prepared(
        self, lab: Lab, addresses: str, users: int, priority: int, cpus: float | None
    ) -> tuple[str, Command]:
        """Its data directory; its socket is beside it."""
        data = f"{lab.scratch}/mariadb-{self.host}/data"
        self._server = Server(self.host, data, addresses, users, priority, self.port)
        mariadb.make_folder_of(lab, self._server)
        return self._server.data, self._server.command(cpus)

    def wait_for(self, running: Running) -> None:
        """By its log."""
        mariadb.wait_until_ready(running)

    def facts(self, lab: Lab, rows: Mapping[int, int]) -> Mapping[str, str]:
        """Over its socket."""
        return mariadb.facts_of(lab, self._server, rows, f"verify-{self.service_name}")
