"""Templates of PostgreSQL: loaded once, copied for each trial.

A template is a stopped data directory below the run's folder, named by what it holds. Trials share no pages, locks,
statistics or log.
"""

import hashlib
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tailrace.files import make_folder, read_json, write_json
from tailrace.programs import postgres
from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.place import Place
from tailrace.programs.postgres import Installation, Server, row_bytes, table_name
from tailrace.scenario.lowering.plan import canonical_json

TABLE_BYTES = 64_000_000
"""A table has rows for about this much, so that every data set fits `shared_buffers`."""
ROWS_MIN = 2
ROWS_MAX = 1000
LOAD_LIMIT_S = 120.0
COPY_LIMIT_S = 60.0
NAME_DIGITS = 12
LAYOUT = 2
"""Version of what a template holds."""


@dataclass(frozen=True)
class Template:
    """A loaded data directory and the facts that identify a correct copy."""

    data: Path
    rows: Mapping[int, int]
    """Rows of each table by the size of the answers that they make."""
    facts: Mapping[str, str]
    """By table: count, bytes and checksum of the rows, as the database itself computes them."""


def rows_of(response_bytes: int) -> int:
    """How many rows a table has."""
    return min(ROWS_MAX, max(ROWS_MIN, TABLE_BYTES // max(1, response_bytes)))


def sizes_of(workloads: Iterable[Mapping[str, Any]]) -> frozenset[int]:
    """Sizes of the answers that workloads of a plan ask for."""
    return frozenset(trip["response_bytes"] for raw in workloads for trip in raw["round_trips"])


class Templates:
    """The templates of one run."""

    def __init__(self, folder: Path, open_place: Callable[[Path], AbstractContextManager[Place]]) -> None:
        """`open_place` opens a place for the programs that make them, which may write into a folder."""
        self._folder = folder.absolute()
        self._open_place = open_place
        self._lock = threading.Lock()

    @cached_property
    def installed(self) -> Installation:
        """The PostgreSQL that makes them."""
        return postgres.installation()

    def get(self, sizes: frozenset[int]) -> Template:
        """The template with tables for these sizes of answers; made where it is not there."""
        rows = {size: rows_of(size) for size in sorted(sizes)}
        kind = canonical_json([LAYOUT, str(self.installed.folder), self.installed.version, sorted(rows.items())])
        path = self._folder / hashlib.sha256(kind.encode()).hexdigest()[:NAME_DIGITS]
        with self._lock:  # of two trials at the same time
            if not (path / "facts.json").exists():
                self._make(path, rows)
        facts = read_json(path / "facts.json")
        return Template(path / "data", rows, facts)

    def _make(self, path: Path, rows: Mapping[int, int]) -> None:
        shutil.rmtree(path, ignore_errors=True)  # left by a run that was killed while loading
        make_folder(path)
        with self._open_place(path / "lab") as place:
            server = Server("db", f"{place.scratch}/template", "", 0)
            facts = self._load(place, server, rows)
            copy_tree(place, "keep", server.data, str(path / "data"))
        shutil.rmtree(path / "lab")
        write_json(path / "facts.json", facts)

    def _load(self, place: Place, server: Server, rows: Mapping[int, int]) -> dict[str, str]:
        postgres.make_folders(place, server)
        argv = [str(self.installed.program("initdb")), "--pgdata", server.data, "--username", "tailrace"]
        argv += ["--auth", "trust", "--no-sync", "--locale", "C", "--encoding", "UTF8", "--wal-segsize", "1"]
        place.run(Command("initdb", argv, user=postgres.USER), LOAD_LIMIT_S)
        hba = f"{server.data}/pg_hba.conf"
        place.run(
            Command("hba", ["sed", "-i", "$ a host all all 10.0.0.0/8 trust", hba], user=postgres.USER), COPY_LIMIT_S
        )
        running = place.start(server.command(self.installed))
        postgres.wait_until_ready(running)
        argv = [str(self.installed.program("createdb")), "--host", server.socket_folder]
        argv += ["--username", "tailrace", postgres.DATABASE]
        place.run(Command("createdb", argv, host=server.host, user=postgres.USER), LOAD_LIMIT_S)
        # Words and not a file: the account of the server may not read the run's folder.
        place.run(server.psql(self.installed, "load", *_commands(load_script(rows))), LOAD_LIMIT_S)
        facts = facts_of(place, self.installed, server, rows, "facts")
        ended = running.stop("INT")  # a "fast" shutdown, which leaves a clean data directory
        if not ended.is_good:
            raise ProgramError(running.complaint())
        return facts


def copy_tree(place: Place, name: str, source: str, target: str) -> None:
    """Copies a folder with owners and modes; shared where the file system can."""
    place.run(Command(name, ["cp", "--archive", "--reflink=auto", source, target]), COPY_LIMIT_S)


def facts_of(
    place: Place, installed: Installation, server: Server, rows: Mapping[int, int], name: str
) -> dict[str, str]:
    """Count, bytes and checksum of every table, from every byte that the database has: its pages are then in memory."""
    facts = {}
    for size in rows:
        query = f"SELECT count(*), sum(octet_length(d)), sum(hashtext(d)::bigint) FROM {table_name(size)}"
        answer = place.run(server.psql(installed, f"{name}-{server.host}-{size}", "--command", query), LOAD_LIMIT_S)
        facts[str(size)] = answer.strip()
    return facts


def load_script(rows: Mapping[int, int]) -> str:
    """SQL that makes the tables, one statement on a line. Rows differ, and are stored uncompressed (EXTERNAL)."""
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
