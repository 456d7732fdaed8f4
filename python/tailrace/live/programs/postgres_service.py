"""PostgreSQL as a service: loaded once, copied into the lab's memory for each trial, and verified there.

A template is a stopped data directory below the run's folder, named by what it holds. Trials share no pages, locks,
statistics or log.
"""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tailrace.files import make_folder, read_json, write_json
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Command, Ended, Program
from tailrace.live.programs import postgres
from tailrace.live.programs.postgres import Installation, Server, row_bytes, table_name
from tailrace.live.service import Raw, Service
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower

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


class Templates:
    """The templates of one run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def installed(self) -> Installation:
        """The PostgreSQL that makes them."""
        return postgres.installation()

    def get(self, sizes: frozenset[int]) -> Template:
        """The template with tables for these sizes of answers; made where it is not there."""
        rows = {size: rows_of(size) for size in sorted(sizes)}
        kind = canonical_json([LAYOUT, str(self.installed.folder), self.installed.version, sorted(rows.items())])
        path = self._folder / hashlib.sha256(kind.encode()).hexdigest()[:NAME_DIGITS]
        if not (path / "facts.json").exists():
            self._make(path, rows)
        facts = read_json(path / "facts.json")
        return Template(path / "data", rows, facts)

    def _make(self, path: Path, rows: Mapping[int, int]) -> None:
        shutil.rmtree(path, ignore_errors=True)  # left by a run that was killed while loading
        make_folder(path)
        with Lab(_plan_of_one_host(), path / "lab") as lab:
            server = Server("db", f"{lab.scratch}/template", "", 0)
            facts = self._load(lab, server, rows)
            copy_tree(lab, "keep", server.data, str(path / "data"))
        shutil.rmtree(path / "lab")
        write_json(path / "facts.json", facts)

    def _load(self, lab: Lab, server: Server, rows: Mapping[int, int]) -> dict[str, str]:
        postgres.make_folders(lab, server)
        argv = [str(self.installed.program("initdb")), "--pgdata", server.data, "--username", "tailrace"]
        argv += ["--auth", "trust", "--no-sync", "--locale", "C", "--encoding", "UTF8", "--wal-segsize", "1"]
        lab.run(Command("initdb", argv, user=postgres.USER), LOAD_LIMIT_S)
        hba = f"{server.data}/pg_hba.conf"
        lab.run(
            Command("hba", ["sed", "-i", "$ a host all all 10.0.0.0/8 trust", hba], user=postgres.USER), COPY_LIMIT_S
        )
        running = lab.start(server.command(self.installed))
        postgres.wait_until_ready(running)
        argv = [str(self.installed.program("createdb")), "--host", server.socket_folder]
        argv += ["--username", "tailrace", postgres.DATABASE]
        lab.run(Command("createdb", argv, host=server.host, user=postgres.USER), LOAD_LIMIT_S)
        # Words and not a file: the account of the server may not read the run's folder.
        lab.run(server.psql(self.installed, "load", *_commands(load_script(rows))), LOAD_LIMIT_S)
        facts = facts_of(lab, self.installed, server, rows, "facts")
        ended = running.stop("INT")  # a "fast" shutdown, which leaves a clean data directory
        if not ended.is_good:
            raise FabricError(running.complaint())
        return facts


class PostgreSql(Service):
    """A server with tables for the responses of all workloads that use it."""

    service_name = "postgresql"
    port = postgres.PORT
    needs = (postgres.POSTGRES, postgres.CP)

    def __init__(self, host: str, workloads: Sequence[Raw], templates: Path) -> None:
        super().__init__(host, workloads, templates)
        self._templates = Templates(templates)
        self._server: Server | None = None
        self._running: Program | None = None

    @property
    def template(self) -> Template:
        """What it starts from; made where it is not there."""
        sizes = (trip["response_bytes"] for raw in self.workloads for trip in raw["round_trips"])
        return self._templates.get(frozenset(sizes))

    @property
    def rows(self) -> Mapping[int, int]:
        """Rows of each table by the size of the answers that they make."""
        return self.template.rows

    def make_template(self) -> None:
        """In a lab of its own."""
        _ = self.template

    def start(self, lab: Lab, cpus: float | None) -> None:
        """Restores the data directory into the lab's memory."""
        vlans = sorted({int(raw.get("vlan") or 0) for raw in self.workloads})
        addresses = ",".join(lab.address(self.host, vlan) for vlan in vlans)
        users = sum(raw["users"] for raw in self.workloads)
        # Workloads that ask one server have one priority: others are refused.
        priority = self.workloads[-1]["priority"]
        server = Server(self.host, f"{lab.scratch}/postgres-{self.host}", addresses, users, priority)
        postgres.make_folders(lab, server)
        copy_tree(lab, f"restore-{self.host}", f"{self.template.data}/.", server.data)
        self._server, self._running = server, lab.start(server.command(self._templates.installed, cpus))

    def wait_until_ready(self) -> None:
        """It reports that in its log."""
        postgres.wait_until_ready(self._program)

    def verify(self, lab: Lab) -> None:
        """Reads every row, which also brings all of them into memory."""
        assert self._server is not None, "it was started"
        template = self.template
        facts = facts_of(lab, self._templates.installed, self._server, template.rows, "verify")
        if facts != dict(template.facts):
            raise FabricError(
                f"the database of {self.host} differs from the loaded one: {facts}, not {dict(template.facts)}"
            )

    @property
    def programs(self) -> Sequence[Program]:
        """The server."""
        return [self._running] if self._running else []

    def stop(self) -> Ended:
        """A "fast" shutdown, which waits for no client."""
        return self._program.stop("INT")

    @property
    def _program(self) -> Program:
        assert self._running is not None, "it was started"
        return self._running


def copy_tree(lab: Lab, name: str, source: str, target: str) -> None:
    """Copies a folder with owners and modes; shared where the file system can."""
    lab.run(Command(name, ["cp", "--archive", "--reflink=auto", source, target]), COPY_LIMIT_S)


def facts_of(lab: Lab, installed: Installation, server: Server, rows: Mapping[int, int], name: str) -> dict[str, str]:
    """Count, bytes and checksum of every table, from every byte that the database has: its pages are then in memory."""
    facts = {}
    for size in rows:
        query = f"SELECT count(*), sum(octet_length(d)), sum(hashtext(d)::bigint) FROM {table_name(size)}"
        answer = lab.run(server.psql(installed, f"{name}-{server.host}-{size}", "--command", query), LOAD_LIMIT_S)
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


def _plan_of_one_host() -> str:
    """A lab needs a plan: two hosts and a switch, on which nothing is sent."""
    data = {
        "tailrace": 1,
        "name": "template",
        "network": {"topology": {"kind": "star", "hosts": ["db", "other"]}, "link": {"rate": "100Mbit/s"}},
        "workloads": {"none": {"kind": "stream", "source": "db", "destination": "other", "size": "1kB"}},
        "experiment": {"duration": "1s"},
    }
    scenario = load_scenario(data).scenario
    return canonical_json(lower(scenario, "base", 1))
