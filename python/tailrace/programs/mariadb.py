"""MariaDB: its settings, a template that is loaded once, and its start and readiness."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.needed import Needed
from tailrace.programs.postgres import DATABASE, Setting, table_name
from tailrace.programs.program_runner import ProgramRunner, Running
from tailrace.programs.templates import LOAD_LIMIT_S, Templates
from tailrace.scenario.workloads import ports

PROGRAM, CLIENT, INSTALLER = "mariadbd", "mariadb", "mariadb-install-db"
SERVICE = "mariadb"
"""Its name in scenarios."""
USER = "mysql"
"""Debian's account of the server."""
READY = "ready for connections"
READY_LIMIT_S = 30.0
ANSWER_BYTES = 30
"""Of an answer to a prepared statement of one text column and one row, besides the text and its
length (MySQL client/server protocol, "Binary Protocol Resultset"): column count 6, row 6, two ends
9 each. From its second answer on MariaDB omits the definition of the column, which its clients
keep."""
TEXT_BYTES_MAX = 16_000_000
"""A row is one packet, of 16 MiB at most."""
SETTINGS = (
    Setting("innodb-buffer-pool-size", "512M", "the data set fits: a read never leaves memory"),
    Setting("innodb-flush-log-at-trx-commit", "0", "the data vanishes with the trial"),
    Setting("innodb-doublewrite", "OFF", "as innodb-flush-log-at-trx-commit"),
    Setting("sync-binlog", "0", "as innodb-flush-log-at-trx-commit"),
    Setting("innodb-log-file-size", "32M", "little is written"),
    Setting("query-cache-type", "0", "every statement reads its row"),
    Setting(
        "innodb-stats-auto-recalc",
        "OFF",
        "nothing is written, and background work would disturb a trial",
    ),
    Setting("skip-name-resolve", "ON", "a lab has no names"),
    Setting("max-prepared-stmt-count", "65536", "each user prepares its statements"),
    Setting("character-set-server", "latin1", "a character is a byte"),
)
CONNECTIONS_SPARE = 10
POLL_S = 0.02
LAYOUT = 1
"""Version of a template's content."""

MARIADB = Needed(
    PROGRAM, "mariadb-server", "--version", "workloads of kind oltp with mariadb", title="MariaDB"
)
INSTALL = Needed(INSTALLER, "mariadb-server", "--help", "loading MariaDB")
SHELL = Needed(CLIENT, "mariadb-client", "--version", "loading and verifying MariaDB")


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
    port: int = ports.MYSQL

    @property
    def socket(self) -> str:
        """Its socket."""
        return f"{self.data}.socket"

    def command(self, cpus: float | None = None) -> Command:
        """The server in the foreground, as a child of the lab."""
        listens = [f"--bind-address={self.addresses}", f"--port={self.port}"]
        network = listens if self.addresses else ["--skip-networking"]
        argv = [
            PROGRAM,
            "--no-defaults",
            f"--datadir={self.data}",
            f"--socket={self.socket}",
            *network,
        ]
        argv += [
            f"--pid-file={self.data}.pid",
            "--skip-log-bin",
            f"--max-connections={self.users + CONNECTIONS_SPARE}",
        ]
        argv += [f"--{setting.name}={setting.value}" for setting in SETTINGS]
        priority = self.priority or None
        return Command(
            f"mariadb-{self.host}", argv, host=self.host, user=USER, cpus=cpus, priority=priority
        )

    def shell(self, name: str, text: str, database: str = "") -> Command:
        """SQL on its socket, so that nothing crosses the network."""
        argv = [
            CLIENT,
            "--no-defaults",
            f"--socket={self.socket}",
            "--user=root",
            "--batch",
            "--skip-column-names",
        ]
        return Command(
            name,
            [*argv, f"--execute={text}", *([database] if database else [])],
            host=self.host,
            user=USER,
        )


def row_bytes(response_bytes: int) -> int:
    """Length of the text of a row for an answer of this size; smaller answers than the protocol's
    do not exist."""
    for prefix, most in ((1, 250), (3, 2**16 - 1), (4, 2**24 - 1)):
        length = response_bytes - ANSWER_BYTES - prefix
        if length <= most:
            return max(1, length)
    return response_bytes - ANSWER_BYTES - 4


def load_script(rows: Mapping[int, int]) -> str:
    """SQL that makes the account, the database and its tables. Rows differ."""
    lines = [
        "CREATE USER tailrace@'%'",
        f"CREATE DATABASE {DATABASE}",
        f"GRANT SELECT ON {DATABASE}.* TO tailrace@'%'",
        f"USE {DATABASE}",
    ]
    for size, count in rows.items():
        table, length = table_name(size), row_bytes(size)
        lines += [
            f"CREATE TABLE {table} (id int PRIMARY KEY, d LONGTEXT NOT NULL) ENGINE=InnoDB "
            "CHARACTER SET latin1",
            f"INSERT INTO {table} SELECT seq, LEFT(REPEAT(MD5(seq), {length // 32 + 1}), {length})"
            f" FROM seq_1_to_{count}",
        ]
    return "; ".join(lines)


def facts_of(
    runner: ProgramRunner, server: Server, rows: Mapping[int, int], name: str
) -> dict[str, str]:
    """Count, bytes and checksum of every table, from every byte that the database has: its pages
    are then in memory."""
    facts = {}
    for size in rows:
        query = f"SELECT count(*), sum(length(d)), sum(crc32(d)) FROM {table_name(size)}"
        command = server.shell(f"{name}-{server.host}-{size}", query, DATABASE)
        facts[str(size)] = " ".join(runner.run(command, LOAD_LIMIT_S).split())
    return facts


def make_folder_of(runner: ProgramRunner, server: Server) -> None:
    """The data directory, for the server's account alone; in a lab of an ordinary user, for this
    one."""
    argv = ["install", "--directory", "--mode=0700"]
    argv += [] if runner.is_nested else [f"--owner={USER}", f"--group={USER}"]
    runner.run(Command(f"folder-{server.host}", [*argv, server.data]), READY_LIMIT_S)
    # Its socket and its file of the process are beside it.
    runner.run(
        Command(f"open-{server.host}", ["chmod", "1777", str(Path(server.data).parent)]),
        READY_LIMIT_S,
    )


def wait_until_ready(server: Running) -> None:
    """Returns once the server reports that it accepts connections."""
    deadline_s = time.monotonic() + READY_LIMIT_S
    while time.monotonic() < deadline_s:
        if server.ended is not None:
            raise ProgramError(server.complaint())
        if READY in server.err_path.read_text(encoding="utf-8", errors="replace"):
            return
        time.sleep(POLL_S)
    raise ProgramError(
        f"{server.command.name}: not ready within {READY_LIMIT_S:g} s; {server.complaint()}"
    )


class MariaDbTemplates(Templates):
    """Made by the installed MariaDB."""

    def identity(self) -> list[Any]:
        """Its layout: a run has one version of the server."""
        return [LAYOUT]

    def load(self, runner: ProgramRunner, rows: Mapping[int, int]) -> tuple[str, Mapping[str, str]]:
        """With a server that has a socket only."""
        server = Server("db", f"{runner.scratch}/template/data", "", 0)
        make_folder_of(runner, server)
        argv = [INSTALLER, "--no-defaults", f"--datadir={server.data}", "--skip-test-db"]
        argv += ["--auth-root-authentication-method=normal", "--innodb-log-file-size=32M"]
        runner.run(Command("install", argv, user=USER), LOAD_LIMIT_S)
        running = runner.start(server.command())
        wait_until_ready(running)
        runner.run(server.shell("load", load_script(rows)), LOAD_LIMIT_S)
        facts = facts_of(runner, server, rows, "facts")
        ended = running.stop("TERM")
        if not ended.is_good:
            raise ProgramError(running.complaint())
        return server.data, facts
