"""Live programs are one module each: they are complete, they are named in one list, and nothing
else names them."""

import re
from pathlib import Path
from typing import ClassVar

import pytest

from tailrace.errors import ScenarioError
from tailrace.live import registry
from tailrace.live.lab.fabric import FabricError
from tailrace.live.load import Load
from tailrace.live.programs.iperf3 import Iperf3
from tailrace.live.programs.pgbench import Pgbench
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.live.refuse import _workload
from tailrace.live.service import Service
from tailrace.programs.needed import Needed
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.programs import LOADS, SERVICES
from tailrace.scenario.workloads.kinds import KINDS

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "tailrace"
LIST = Path("scenario/programs.py")
"""The one list of names."""
PROGRAMS = {Path("live/programs"), Path("exact/programs"), Path("programs")}
WORKLOADS = Path("scenario/workloads")
SOURCES = {WORKLOADS / name for name in ("request_presets.py", "storage_protocols.py", "ports.py")}
"""Their figures name the programs that they were taken from, or the protocols that have the names
of these."""
OF_FIO = {
    *(
        Path("importers/fio"),
        Path("importers/storage"),
        Path("cli/import_app.py"),
        Path("cli/storage_arguments.py"),
        Path("cli/storage_tests.py"),
    ),
    Path("tools/drive/load_run.py"),
}
"""fio is also the format of job files, and what measures drives of this machine: no workload of a
lab."""
OF_POSTGRESQL = {Path("importers/postgres"), Path("cli/import_app.py"), Path("cli/records.py")}
"""Its log and its statistics are records that are imported."""
PORT = re.compile(r"\b(POSTGRESQL)\b")
"""The port of a protocol, which has the name of a program."""
SOURCE_FILE = re.compile(r"\b\w+\.java\b")
"""Files of another project's source, which comments cite: no program of that name is meant."""


def names() -> set[str]:
    """What programs are called: names of loads and services, of executables and of packages."""
    found = {name for _, name in registry.loads()} | set(registry.services())
    for needed in registry.all_needs():
        found |= {needed.program, needed.package or needed.program}
    # The copying of files is no program of a workload, tailrace's own traffic program and its blast
    # are part of it, and HPCC is also the name of a congestion control.
    return found - {"cp", "coreutils", "tailrace-traffic", "blast", "hpcc"}


def named_in(pattern: re.Pattern[str]) -> list[str]:
    """Modules of the package, programs and list apart, that name a program."""
    files = (path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py")))
    return [
        f"{file}:{number}: {line.strip()}"
        for file in files
        if PROGRAMS.isdisjoint(file.parents) and file not in {LIST, *SOURCES}
        for number, line in enumerate(
            (PACKAGE / file).read_text(encoding="utf-8").splitlines(), start=1
        )
        if pattern.search(PORT.sub("", SOURCE_FILE.sub("", line)))
    ]


def test_nothing_else_names_a_program() -> None:
    assert {"pgbench", "iperf3", "hammerdb", "postgresql", "fio"} <= names()
    others = names() - {"fio"}
    found = named_in(re.compile(rf"\b({'|'.join(sorted(others))})\b", re.IGNORECASE))
    places = {line: Path(line.partition(":")[0]) for line in found}
    assert [
        line for line, file in places.items() if OF_POSTGRESQL.isdisjoint({file, *file.parents})
    ] == []


def test_only_its_format_and_the_measurement_of_drives_name_fio() -> None:
    found = {
        Path(line.partition(":")[0]) for line in named_in(re.compile(r"\bfio\b", re.IGNORECASE))
    }
    assert {file for file in found if OF_FIO.isdisjoint({file, *file.parents})} == set()
    assert {
        place for place in OF_FIO if not any(place in {file, *file.parents} for file in found)
    } == set()


def test_the_list_of_names_is_what_is_registered() -> None:
    assert {(sort, name) for sort, found in LOADS.items() for name in found} == set(
        registry.loads()
    )
    needed = {load for kind in KINDS.values() if (load := kind.facts().live_load) is not None}
    assert needed <= set(LOADS), "every sort of load that a kind needs has a program"
    assert {service for load in registry.loads().values() for service in load.services} <= set(
        registry.services()
    )


class Unfinished(Iperf3):
    """A load with a name that leaves questions without an answer."""

    load_name = "unfinished"


class Bare(Service):
    """A service with a name and nothing else."""

    service_name = "bare"


@pytest.mark.parametrize(
    ("each", "lacks"),
    [(Unfinished, "is_stream, kind, pairs, refusals, sort"), (Bare, ".*, start, stop, .*, needs")],
)
def test_an_unfinished_program_is_an_error(each: type[Load] | type[Service], lacks: str) -> None:
    with pytest.raises(TypeError, match=rf"{each.__name__} lacks {lacks}$"):
        registry.is_program(each)


def test_a_common_part_of_several_programs_is_none() -> None:
    assert registry.is_program(PostgreSql)
    assert not registry.is_program(Service)
    assert not registry.is_program(Load)


def test_a_sort_or_a_name_that_nothing_registers_is_an_error() -> None:
    with pytest.raises(FabricError, match="no live program generates the load of kind flows"):
        registry.load_class("flows", {})
    with pytest.raises(FabricError, match="no program 'swingbench' is registered for transactions"):
        registry.load_class("oltp", {"load_generator": "swingbench"})


def scenario_with(folder: Path, line: str) -> Path:
    """A scenario whose one workload has this line, the eleventh of the file."""
    file = folder / "s.yaml"
    file.write_text(
        "tailrace: 1\nname: s\nnetwork: {topology: {kind: star, hosts: "
        "[a, b]}}\nworkloads:\n  web:\n"
        "    kind: oltp\n    client: a\n    server: b\n    users: 1\n    round_trips: "
        "[{response: 1kB}]\n"
        f"    {line}\nexperiment: {{duration: 1s}}\n",
        encoding="utf-8",
    )
    return file


def test_a_wrong_name_is_told_with_its_line_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(scenario_with(tmp_path, "load_generator: pgbensh"))
    [problem] = caught.value.problems
    assert "s.yaml:11: workloads.web.load_generator: 'pgbensh' is not one of the choices" in str(
        problem
    )
    assert "did you mean 'pgbench'?" in str(problem)


def test_the_list_of_services_is_what_loads_of_each_sort_can_ask() -> None:
    asked = {(load.sort, name) for load in registry.loads().values() for name in load.services}
    assert {(sort, name) for sort, names in SERVICES.items() for name in names} == asked


class Second(Service):
    """A second database: only its name counts here."""

    service_name = "second"
    needs = (
        Needed("second-server", "second", version_option="--version", is_for="a second database"),
    )


class Either(Pgbench):
    """A load that can ask two databases."""

    load_name = "either"
    services: ClassVar[tuple[str, ...]] = (PostgreSql.service_name, Second.service_name)


@pytest.fixture
def with_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second database, and a load that can ask it."""
    monkeypatch.setitem(SERVICES, "transactions", (PostgreSql.service_name, Second.service_name))
    loads = {**registry.loads(), ("transactions", "either"): Either}
    services = {**registry.services(), Second.service_name: Second}
    monkeypatch.setattr(registry, "loads", lambda: loads)
    monkeypatch.setattr(registry, "services", lambda: services)


@pytest.mark.usefixtures("with_second")
def test_a_load_asks_the_database_that_its_workload_names() -> None:
    raw = {"load_generator": "either", "server": "db"}
    assert registry.choice("oltp", raw).service is PostgreSql, "the first is the usual one"
    chosen = registry.choice("oltp", {**raw, "database": "second"})
    assert chosen.service is Second
    assert Second.needs[0] in chosen.needs
    assert [
        service for _, service, _, _ in registry.sharing([("oltp", {**raw, "database": "second"})])
    ] == [Second]


@pytest.mark.usefixtures("with_second")
def test_a_database_that_the_load_cannot_ask_is_refused_with_its_key(tmp_path: Path) -> None:
    foreign = load_scenario(scenario_with(tmp_path, "database: second")).scenario.running["web"]
    assert foreign.live_choices() == {"database": "second"}, "the plan carries it"
    with pytest.raises(
        FabricError,
        match=r"pgbench cannot use second \(hint: write database as one of: postgresql\)",
    ):
        registry.choice("oltp", foreign)
    [problem] = _workload(("workloads", "web"), foreign)
    at, what, hint = problem
    assert (at, what) == (("workloads", "web", "database"), "pgbench cannot use second")
    assert hint == "write one of: postgresql; or choose another load_generator"


def test_a_wrong_database_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(
        ScenarioError,
        match=r"s\.yaml:11: workloads\.web\.database: 'oracle' is not one of the choices",
    ):
        load_scenario(scenario_with(tmp_path, "database: oracle"))
