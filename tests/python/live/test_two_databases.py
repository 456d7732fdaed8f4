"""Two databases on one host, with tables of the same sizes."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tailrace.live.database import DatabaseService
from tailrace.live.programs.mariadb_service import MariaDb
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.programs import postgres
from tailrace.programs.command import Command
from tailrace.programs.templates import Template

WORKLOAD = {"users": 2, "priority": 0, "vlan": None, "port": 5432}


class Lab:
    """Notes the names of the programs that it is to run; a name runs once, as in a lab."""

    scratch = "/run/tailrace"
    is_nested = True

    def __init__(self) -> None:
        self.names: list[str] = []

    def address(self, host: str, vlan: int) -> str:
        return "10.77.0.1"

    def run(self, command: Command, limit_s: float) -> str:
        assert command.name not in self.names, f"{command.name} runs twice"
        self.names.append(command.name)
        return "1 2 3"

    def start(self, command: Command) -> SimpleNamespace:
        self.run(command, 0)
        return SimpleNamespace()


def serve(service: DatabaseService, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    template = Template(Path("/templates"), {1000: 10}, {"1000": "1 2 3"})
    monkeypatch.setattr(type(service), "template", template)
    service.start(lab, None)  # type: ignore[arg-type]
    service.verify(lab)  # type: ignore[arg-type]


def test_programs_of_two_databases_on_one_host_have_names_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = postgres.Installation(Path("/usr/lib/postgresql/15/bin"), "15")
    monkeypatch.setattr(postgres, "installation", lambda: installed)
    lab = Lab()
    for kind in (PostgreSql, MariaDb):
        serve(kind("db", [WORKLOAD], tmp_path), lab, monkeypatch)
    assert len([name for name in lab.names if name.startswith("verify-")]) == 2
