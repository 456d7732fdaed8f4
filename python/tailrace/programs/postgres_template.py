"""Templates of PostgreSQL."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from tailrace.programs import postgres
from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.postgres import Installation, Server, row_bytes, table_name
from tailrace.programs.program_runner import ProgramRunner
from tailrace.programs.templates import COPY_LIMIT_S, LOAD_LIMIT_S, Templates

LAYOUT = 2
"""Version of a template's content."""


class PostgresTemplates(Templates):
    """Made by the installed PostgreSQL."""

    @cached_property
    def installed(self) -> Installation:
        """Of the newest version."""
        return postgres.installation()

    def identity(self) -> list[Any]:
        """Its version."""
        return [LAYOUT, str(self.installed.folder), self.installed.version]

    def load(self, runner: ProgramRunner, rows: Mapping[int, int]) -> tuple[str, Mapping[str, str]]:
        """With a server that has a socket only."""
        installed = self.installed
        server = Server("db", f"{runner.scratch}/template", "", 0)
        postgres.make_folders(runner, server)
        argv = [str(installed.program("initdb")), "--pgdata", server.data, "--username", "tailrace"]
        argv += [
            "--auth",
            "trust",
            "--no-sync",
            "--locale",
            "C",
            "--encoding",
            "UTF8",
            "--wal-segsize",
            "1",
        ]
        runner.run(Command("initdb", argv, user=postgres.USER), LOAD_LIMIT_S)
        hba = f"{server.data}/pg_hba.conf"
        runner.run(
            Command(
                "hba", ["sed", "-i", "$ a host all all 10.0.0.0/8 trust", hba], user=postgres.USER
            ),
            COPY_LIMIT_S,
        )
        running = runner.start(server.command(installed))
        postgres.wait_until_ready(running)
        argv = [
            str(installed.program("createdb")),
            "--host",
            server.socket_folder,
            "--port",
            str(server.port),
        ]
        argv += ["--username", "tailrace", postgres.DATABASE]
        runner.run(Command("createdb", argv, host=server.host, user=postgres.USER), LOAD_LIMIT_S)
        # Words and not a file: the account of the server may not read the run's folder.
        runner.run(server.psql(installed, "load", *_commands(load_script(rows))), LOAD_LIMIT_S)
        facts = facts_of(runner, installed, server, rows, "facts")
        ended = running.stop("INT")  # a "fast" shutdown, which leaves a clean data directory
        if not ended.is_good:
            raise ProgramError(running.complaint())
        return server.data, facts


def facts_of(
    runner: ProgramRunner,
    installed: Installation,
    server: Server,
    rows: Mapping[int, int],
    name: str,
) -> dict[str, str]:
    """Count, bytes and checksum of every table, from every byte that the database has: its pages
    are then in memory."""
    facts = {}
    for size in rows:
        query = (
            "SELECT count(*), sum(octet_length(d)), sum(hashtext(d)::bigint) FROM "
            f"{table_name(size)}"
        )
        answer = runner.run(
            server.psql(installed, f"{name}-{server.host}-{size}", "--command", query), LOAD_LIMIT_S
        )
        facts[str(size)] = answer.strip()
    return facts


def load_script(rows: Mapping[int, int]) -> str:
    """SQL that makes the tables, one statement on a line. Rows differ, and are stored uncompressed
    (EXTERNAL)."""
    lines = []
    for size, count in rows.items():
        table, length = table_name(size), row_bytes(size)
        text = f"left(repeat(md5(id::text), {length // 32 + 1}), {length})"
        lines += [
            f"CREATE TABLE {table} (id int PRIMARY KEY, d text NOT NULL)",
            f"ALTER TABLE {table} ALTER COLUMN d SET STORAGE EXTERNAL",
            f"INSERT INTO {table} SELECT id, {text} FROM generate_series(1, {count}) AS id",
            f"VACUUM (FREEZE, ANALYZE) {table}",
        ]
    return "\n".join([*lines, "CHECKPOINT"]) + "\n"


def _commands(script: str) -> list[str]:
    return [word for line in script.splitlines() for word in ("--command", line)]
