"""PostgreSQL in a guest."""

from tailrace.exact.database import GuestDatabase, Served
from tailrace.exact.load import GuestTask
from tailrace.files import make_folder
from tailrace.programs import postgres
from tailrace.programs.postgres import Server, Setting
from tailrace.programs.postgres_template import PostgresTemplates

DATA = "/run/tailrace/postgres"
SETTINGS = (
    Setting(
        "max_parallel_workers", "0", "a leader polls for its workers, and time would stand still"
    ),
    Setting("max_parallel_maintenance_workers", "0", "as max_parallel_workers"),
)


class PostgreSql(GuestDatabase):
    """A server of PostgreSQL. SIGINT is a "fast" shutdown, which waits for no client."""

    name = "postgresql"
    protocol = "pgsql"
    stop_signal = "INT"
    needs = (postgres.POSTGRES,)
    templates_class = PostgresTemplates

    def command(self, task: GuestTask, host: str, addresses: str, users: int) -> Served:
        """With an empty folder for its socket."""
        empty = task.folder / "programs" / f"socket-{host}"
        make_folder(empty)
        port = int(task.raw["port"])
        server = Server(host, DATA, addresses, users, port=port, settings=SETTINGS)
        return (
            server.command(task.templates.of(PostgresTemplates).installed),
            DATA,
            {server.socket_folder: empty},
        )
