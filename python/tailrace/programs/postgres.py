"""PostgreSQL: its installation, the settings of every server, its start and its readiness."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.needed import Needed
from tailrace.programs.program_runner import ProgramRunner, Running
from tailrace.scenario.workloads import ports

HOME = Path("/usr/lib/postgresql")
"""Where Debian's packages put each major version."""
USER = "postgres"
"""Debian's account of the server, which never runs as root."""
DATABASE = "tailrace"
READY = "database system is ready to accept connections"
READY_LIMIT_S = 30.0
POLL_S = 0.02


# Messages of an answer to a prepared statement of one text column `d` and one row, in the extended
# protocol (PostgreSQL documentation, "Message Formats"): BindComplete 5, RowDescription 7 + 2 + 18,
# DataRow 7 + 4, CommandComplete `SELECT 1` 14, ReadyForQuery 6.
ANSWER_BYTES = 63
ROW_BYTES_MIN = 1


@dataclass(frozen=True)
class Setting:
    """One setting and why it has this value."""

    name: str
    value: str
    why: str


SETTINGS = (
    Setting("shared_buffers", "256MB", "the data set fits: a read never leaves memory"),
    Setting("jit", "off", "whether a statement is compiled would vary between runs"),
    Setting("max_parallel_workers_per_gather", "0", "one statement is one process"),
    Setting("autovacuum", "off", "nothing is written, and background work would disturb a trial"),
    Setting("fsync", "off", "the data vanishes with the trial"),
    Setting("synchronous_commit", "off", "as fsync"),
    Setting("full_page_writes", "off", "as fsync"),
    Setting("checkpoint_timeout", "1d", "no checkpoint within a trial"),
    Setting("bgwriter_lru_maxpages", "0", "no writing in the background"),
    Setting("wal_level", "minimal", "no standby reads the log"),
    Setting("max_wal_senders", "0", "as wal_level"),
    Setting("ssl", "off", "the bytes on the wire are those of the rows"),
    Setting("tcp_keepalives_idle", "0", "the system's default, which is longer than a trial"),
    Setting("logging_collector", "off", "the log goes to the lab"),
    Setting("log_min_messages", "warning", "as logging_collector"),
)
CONNECTIONS_SPARE = 10
"""Connections besides those of the users: superuser, verification."""


@dataclass(frozen=True)
class Installation:
    """One installed version."""

    folder: Path
    version: str
    """As `postgres --version` would say it: the major version is the folder's name."""

    def program(self, name: str) -> Path:
        """One of its programs."""
        return self.folder / name


def installation() -> Installation:
    """The newest installed version; raises `ProgramError` where there is none."""
    found = [path for path in HOME.glob("*/bin/postgres") if path.parts[-3].isdecimal()]
    if not found:
        raise ProgramError(
            "PostgreSQL is not installed (hint: `make live-deps`, or apt-get install postgresql)"
        )
    newest = max(found, key=lambda path: int(path.parts[-3]))
    return Installation(newest.parent, newest.parts[-3])


@dataclass(frozen=True)
class Server:
    """A server on a host, with a data directory of its own in the lab's memory."""

    host: str
    data: str
    """Data directory; its socket is beside it."""
    addresses: str
    """Where it listens, separated by commas; empty for its socket alone."""
    users: int
    priority: int = 0
    """Priority of its frames."""
    port: int = ports.POSTGRESQL
    settings: Sequence[Setting] = ()
    """Besides those of every server."""

    @property
    def socket_folder(self) -> str:
        """Folder of its socket."""
        return f"{self.data}.socket"

    def command(self, installed: Installation, cpus: float | None = None) -> Command:
        """The server in the foreground, as a child of the lab."""
        own = {
            "listen_addresses": self.addresses,
            "port": str(self.port),
            "unix_socket_directories": self.socket_folder,
            "max_connections": str(self.users + CONNECTIONS_SPARE),
        }
        settings = {setting.name: setting.value for setting in (*SETTINGS, *self.settings)} | own
        argv = [str(installed.program("postgres")), "-D", self.data]
        for name, value in settings.items():
            argv += ["-c", f"{name}={value}"]
        priority = self.priority or None
        return Command(
            f"postgres-{self.host}", argv, host=self.host, user=USER, cpus=cpus, priority=priority
        )

    def psql(self, installed: Installation, name: str, *arguments: str) -> Command:
        """psql on its socket, so that nothing crosses the network."""
        argv = [
            str(installed.program("psql")),
            "--no-psqlrc",
            "--quiet",
            "--tuples-only",
            "--no-align",
        ]
        argv += ["--set", "ON_ERROR_STOP=1", "--host", self.socket_folder, "--port", str(self.port)]
        argv += ["--username", "tailrace"]
        return Command(name, [*argv, "--dbname", DATABASE, *arguments], host=self.host, user=USER)


def make_folders(runner: ProgramRunner, server: Server) -> None:
    """The folders of data and socket, for the server's account alone; in a lab of an ordinary user,
    for this one."""
    argv = ["install", "--directory", "--mode=0700"]
    argv += [] if runner.is_nested else [f"--owner={USER}", f"--group={USER}"]
    runner.run(
        Command(f"folders-{server.host}", [*argv, server.data, server.socket_folder]), READY_LIMIT_S
    )


def wait_until_ready(server: Running) -> None:
    """Returns once the server reports that it accepts connections."""
    deadline = time.monotonic() + READY_LIMIT_S
    while time.monotonic() < deadline:
        if server.ended is not None:
            raise ProgramError(server.complaint())
        if READY in server.err_path.read_text(encoding="utf-8", errors="replace"):
            return
        time.sleep(POLL_S)
    raise ProgramError(
        f"{server.command.name}: not ready within {READY_LIMIT_S:g} s; {server.complaint()}"
    )


def version_text(output: str) -> str:
    """`15.18` from `postgres (PostgreSQL) 15.18 (Debian ...)`."""
    found = re.search(r"\b(\d+(?:\.\d+)+)", output)
    return found[1] if found else output.strip()


def row_bytes(response_bytes: int) -> int:
    """Length of the text of a row for an answer of this size; smaller answers than the protocol's
    do not exist."""
    return max(ROW_BYTES_MIN, response_bytes - ANSWER_BYTES)


def table_name(response_bytes: int) -> str:
    """Table whose rows make answers of this size."""
    return f"pay_{response_bytes}"


def _find(program: str) -> Path | None:
    """One of its programs, which are not on the search path."""
    try:
        found = installation().program(program)
    except ProgramError:
        return None
    return found if found.exists() else None


POSTGRES = Needed("postgres", "postgresql", "--version", "workloads of kind oltp", find=_find)
PGBENCH = Needed("pgbench", "postgresql", "--version", "workloads of kind oltp", find=_find)
