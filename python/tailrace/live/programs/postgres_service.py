"""PostgreSQL as a service."""

from collections.abc import Mapping

from tailrace.live.database import DatabaseService
from tailrace.live.lab.lab import Lab
from tailrace.programs import postgres
from tailrace.programs.command import Command
from tailrace.programs.postgres import Server
from tailrace.programs.postgres_template import PostgresTemplates, facts_of
from tailrace.programs.program_runner import Running
from tailrace.programs.templates import CP


class PostgreSql(DatabaseService):
    """A server of PostgreSQL."""

    service_name = "postgresql"
    needs = (postgres.POSTGRES, CP)
    protocol = "pgsql"
    templates_class = PostgresTemplates
    stop_signal = "INT"

    def prepared(
        self, lab: Lab, addresses: str, users: int, priority: int, cpus: float | None
    ) -> tuple[str, Command]:
        """Folders of data and socket."""
        self._server = Server(
            self.host, f"{lab.scratch}/postgres-{self.host}", addresses, users, priority, self.port
        )
        postgres.make_folders(lab, self._server)
        return self._server.data, self._server.command(postgres.installation(), cpus)

    def wait_for(self, running: Running) -> None:
        """By its log."""
        postgres.wait_until_ready(running)

    def facts(self, lab: Lab, rows: Mapping[int, int]) -> Mapping[str, str]:
        """Over its socket."""
        return facts_of(
            lab, postgres.installation(), self._server, rows, f"verify-{self.service_name}"
        )
