"""Real programs of exact runs: what guests are told, and how their logs join an outcome."""

import array
import json
from pathlib import Path
from typing import Any

import pytest

from lab import SOUND, sound
from scenario_files import ROOT
from tailrace.exact import registry
from tailrace.exact.database import SPARE_MIB
from tailrace.exact.load import BEGUN_WALL_US, Addresses, GuestProgram, programs_file
from tailrace.exact.real import MEMORY_MIB, RealPrograms, joined
from tailrace.experiment.native import Ran, column
from tailrace.live import registry as live_registry
from tailrace.outcome.types import Exact, Outcome, Workload
from tailrace.programs.errors import ProgramError
from tailrace.programs.local import LocalRunner
from tailrace.programs.pgbench import Script
from tailrace.programs.postgres import Installation
from tailrace.programs.postgres_template import PostgresTemplates
from tailrace.programs.templates import Stock, Template
from tailrace.programs.work import Work
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import lower
from whole import part

MS_US = 1000


class Loaded(PostgresTemplates):
    """A template that nobody has loaded."""

    installed = Installation(Path("/usr/lib/postgresql/15/bin"), "15")

    def __init__(self, folder: Path) -> None:
        self._data = folder / "data"
        self._data.mkdir(exist_ok=True)

    def get(self, sizes: frozenset[int]) -> Template:
        return Template(self._data, dict.fromkeys(sizes, 10), {})


class Loads(Stock):
    """Templates of any database."""

    def of(self, kind: type[Any]) -> Any:
        return Loaded(self._folder)


def real_of(
    folder: Path,
    *names: str,
    transactions: int | None = 1,
    warm_up: str = "0s",
    port: int | None = None,
) -> RealPrograms:
    """The programs of a scenario in which workloads of these names ask a database by pgbench."""
    orders = SOUND["workloads"]["orders"] | {
        "load_generator": "pgbench",
        "transactions": transactions,
        "port": port,
    }
    orders = {key: value for key, value in orders.items() if value is not None}
    workloads = dict.fromkeys(names, orders) | {"backup": SOUND["workloads"]["backup"]}
    loaded = load_scenario(sound(workloads=workloads, experiment__warm_up=warm_up))
    plan = lower(loaded.arms["fifo"], "fifo", 1)
    return RealPrograms(json.loads(json.dumps(plan)), folder, Loads(folder, LocalRunner))


@pytest.fixture
def real(tmp_path: Path) -> RealPrograms:
    """The programs of a scenario whose database is asked by pgbench."""
    return real_of(tmp_path, "orders")


def joined_with_logs(real: RealPrograms, folder: Path, ended_ms: int) -> Ran:
    """The outcome of a trial of a second, in which each user has done one transaction, and its
    tables."""
    out = folder / "hosts" / "client" / "out"
    out.mkdir(parents=True)
    for user in range(4):
        # Its pause is drawn again, and is at most 7 ms; one run of the script with a nap of that
        # and an answer.
        ended_us = BEGUN_WALL_US + ended_ms * MS_US
        line = f"{user} 1 {ended_ms * MS_US} 0 {ended_us // 10**6} {ended_us % 10**6}\n"
        (out / f"transactions-orders.1.{user}").write_text(line, encoding="ascii")
    hosts = [
        {"name": name, "programs": [0] * (name != "bulk") + [0]}
        for name in ("client", "db", "bulk")
    ]
    exact = part(Exact, hosts=hosts, span_ps=10**12)
    workloads = [{"name": "orders", "transactions": 0}, {"name": "backup", "completion_ps": None}]
    rows = {name: column(kind, [1]) for name, kind in (("workload", "u32"), ("user", "u32"))}
    tables = {
        "transactions": rows | {name: column("u64", [7]) for name in ("start_ps", "latency_ps")}
    }
    return real.added_to(Ran(part(Outcome, workloads=workloads), tables), exact)


def test_every_program_of_exact_runs_is_one_of_live_runs() -> None:
    assert set(registry.loads()) <= set(live_registry.loads())


def test_the_server_ends_after_its_clients_and_runs_as_somebody_who_owns_its_data(
    real: RealPrograms,
) -> None:
    server, client = real.programs
    assert (server.host, client.host) == ("db", "client")
    assert server.is_server
    assert not client.is_server
    assert server.user not in (None, "root", "0")
    assert "/run/tailrace/postgres" in server.copies
    # A leader that polls for its workers lets no time pass.
    assert {"max_parallel_workers=0", "max_parallel_maintenance_workers=0"} <= set(server.words)
    assert client.finished_by == {"stream": "err", "text": "int 2", "lines": 4}
    assert (client.stop_signal, client.is_awaited) == ("ALRM", True)
    assert (server.delay_ns, client.delay_ns) == (0, 10**9), "users begin when the server listens"
    assert not real.is_all
    assert real.names == ["orders"]


@pytest.mark.parametrize(("port", "expected"), [(None, 5432), (6000, 6000)])
def test_users_ask_the_server_at_the_port_of_the_plan(
    port: int | None, expected: int, tmp_path: Path
) -> None:
    server, client = real_of(tmp_path, "orders", port=port).programs
    assert client.words[client.words.index("--port") + 1] == str(expected)
    assert f"port={expected}" in server.words


def test_an_outcome_has_the_logs_of_programs_and_the_records_of_the_rest(
    real: RealPrograms, tmp_path: Path
) -> None:
    ran = joined_with_logs(real, tmp_path, 10)
    outcome, tables = ran.outcome, ran.tables
    orders, backup = outcome.workloads
    assert (orders.transactions, orders.completion_ps) == (4, 10 * 10**9)
    assert backup == part(Workload, name="backup", completion_ps=None)
    assert not outcome.finished
    assert outcome.end_ps == 10**12, "the workload that has no end lasts as long as the trial"
    assert tables["transactions"]["workload"] == column("u32", [0, 0, 0, 0, 1])
    assert tables["cut_off"]["workload"] == column("u32", [])
    moved = tables["workload_series"]["goodput_bytes"][1]
    assert sum(array.array("Q", moved)) == pytest.approx(4 * 18_000, abs=8)


def test_what_runs_at_the_end_is_cut_off_and_what_ends_in_the_warm_up_is_left_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "late").mkdir()
    late = real_of(tmp_path / "late", "orders", transactions=None)
    ran = joined_with_logs(late, tmp_path / "late", 1010)
    assert [(one.transactions, one.cut_off.count) for one in ran.outcome.workloads[:1]] == [(0, 4)]
    assert ran.tables["cut_off"]["workload"] == column("u32", [0, 0, 0, 0])
    (tmp_path / "early").mkdir()
    early = real_of(tmp_path / "early", "orders", transactions=None, warm_up="500ms")
    ran = joined_with_logs(early, tmp_path / "early", 10)
    assert ran.outcome.workloads[0].transactions == 0


def test_a_server_has_connections_for_the_users_of_all_workloads(tmp_path: Path) -> None:
    [server] = [each for each in real_of(tmp_path, "orders", "items").programs if each.is_server]
    assert "max_connections=18" in server.words  # four users each, and ten to spare


def test_a_pause_of_a_whole_second_is_one_run_of_the_script(tmp_path: Path) -> None:
    pause = {"constant": 10**12}
    raw = {
        "name": "a",
        "users": 1,
        "transactions": 2,
        "start": pause,
        "gap": pause,
        "round_trips": [],
    }
    wall_s = BEGUN_WALL_US // 10**6
    lines = [f"0 {number} {1_000_100} 0 {wall_s + number} 100\n" for number in (1, 2)]
    (tmp_path / "log.1").write_text("".join(lines), encoding="ascii")
    done = Script(raw, 1, {}).transactions(tmp_path / "log")
    assert [(one.number, one.latency_us) for one in done] == [(1, 100), (2, 100)]


def test_guests_have_memory_for_the_programs_of_all_workloads(tmp_path: Path) -> None:
    assert real_of(tmp_path, "orders", "items").memory_mib == MEMORY_MIB + 2 * SPARE_MIB


def test_a_program_that_does_not_end_well_fails_its_trial(
    real: RealPrograms, tmp_path: Path
) -> None:
    out = tmp_path / "hosts" / "client" / "out"
    out.mkdir(parents=True)
    (out / "1.err").write_text("pgbench: error: connection lost\n", encoding="utf-8")
    hosts = [{"name": "client", "programs": [0, 2]}, {"name": "db", "programs": [0, 0]}]
    with pytest.raises(
        ProgramError,
        match="host client: pgbench-orders ended with status 2: pgbench: error: connecti",
    ):
        real.added_to(Ran(part(Outcome)), part(Exact, hosts=hosts, span_ps=1))


def test_rows_of_two_tables_stand_in_the_order_of_workloads() -> None:
    one = {"workload": column("u32", [0, 2]), "bytes": column("u64", [5, 6])}
    other = {"workload": column("u32", [1])}
    expected = {"workload": column("u32", [0, 1, 2]), "bytes": column("u64", [5, 0, 6])}
    assert joined(one, other) == expected


def test_addresses_follow_the_rule_of_labs() -> None:
    addresses = Addresses(["a", "b"], [30, 20])
    assert [addresses.of("b", vlan) for vlan in (0, 20, 30)] == [
        "10.77.0.2",
        "10.78.0.2",
        "10.79.0.2",
    ]
    many = Addresses([f"h{number}" for number in range(1, 258)], [])
    assert [many.of(host, 0) for host in ("h255", "h256", "h257")] == [
        "10.77.0.255",
        "10.77.1.0",
        "10.77.1.1",
    ]


def test_a_guest_has_the_memory_of_every_guest_and_that_of_its_loads(real: RealPrograms) -> None:
    source = (ROOT / "crates" / "exact" / "src" / "commands.rs").read_text(encoding="utf-8")
    assert f"const MEMORY_MIB: u32 = {MEMORY_MIB};" in source
    assert f"of each guest (default {MEMORY_MIB})" in source
    assert real.memory_mib == MEMORY_MIB + SPARE_MIB


def test_the_file_of_programs_has_them_by_host() -> None:
    told = GuestProgram("a", "x", ["true"], delay_ns=7, copies={"/run/b": "/c"})
    [program] = json.loads(programs_file([told]))["a"]
    assert program["delay_ns"] == 7
    assert program["words"] == ["true"]
    assert program["copies"] == [{"from": "/c", "to": "/run/b"}]


def test_every_workload_has_draws_of_its_own_for_its_start_and_its_gaps() -> None:
    raw = {"start": {"exponential": {"mean": 10**10}}, "gap": {"exponential": {"mean": 10**10}}}
    works = [Work(raw | {"name": name}, seed, {}) for name, seed in (("a", 1), ("b", 1), ("a", 2))]
    draws = [draw.value_us(0, 1) for work in works for draw in (work.start, work.gap)]
    assert len(set(draws)) == 6
    [one, *_] = works
    assert (one.pause_us(0, 1), one.pause_us(0, 2)) == (
        one.start.value_us(0, 1),
        one.gap.value_us(0, 2),
    )
