"""Real programs of exact runs: what guests are told, and how their logs join an outcome."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab import sound
from tailrace.exact import registry
from tailrace.exact.load import BEGUN_WALL_US, Addresses, GuestProgram, programs_file
from tailrace.exact.real import RealPrograms, joined
from tailrace.experiment.native import column
from tailrace.live import registry as live_registry
from tailrace.programs.errors import ProgramError
from tailrace.programs.postgres import Installation
from tailrace.programs.postgres_template import Template, Templates
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import lower

MS_US = 1000


class Loaded(Templates):
    """A template that nobody has loaded."""

    installed = Installation(Path("/usr/lib/postgresql/15/bin"), "15")

    def __init__(self, folder: Path) -> None:
        self._data = folder / "data"
        self._data.mkdir()

    def get(self, sizes: frozenset[int]) -> Template:
        return Template(self._data, dict.fromkeys(sizes, 10), {})


@pytest.fixture
def real(tmp_path: Path) -> RealPrograms:
    """The programs of a scenario whose database is asked by pgbench."""
    changes = {"workloads__orders__load_generator": "pgbench", "workloads__orders__transactions": 1}
    loaded = load_scenario(sound(**changes))
    plan = lower(loaded.arms["fifo"], "fifo", 1)
    return RealPrograms(json.loads(json.dumps(plan)), tmp_path, Loaded(tmp_path))


def test_every_program_of_exact_runs_is_one_of_live_runs() -> None:
    assert set(registry.loads()) <= set(live_registry.loads())


def test_the_server_ends_after_its_clients_and_runs_as_somebody_who_owns_its_data(real: RealPrograms) -> None:
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
    assert not real.is_all
    assert real.names == ["orders"]


def test_an_outcome_has_the_logs_of_programs_and_the_records_of_the_rest(real: RealPrograms, tmp_path: Path) -> None:
    out = tmp_path / "hosts" / "client" / "out"
    out.mkdir(parents=True)
    begun_us = BEGUN_WALL_US
    for user in range(4):
        # Its pause is drawn again, and is at most 7 ms; one run of the script with a nap of that and an answer.
        ended_us = begun_us + 10 * MS_US
        line = f"{user} 1 {10 * MS_US} 0 {ended_us // 10**6} {ended_us % 10**6}\n"
        (out / f"transactions-orders.1.{user}").write_text(line, encoding="ascii")
    hosts = [{"name": name, "programs": [0] * (name != "bulk") + [0]} for name in ("client", "db", "bulk")]
    data: dict[str, Any] = {
        "exact": {"hosts": hosts, "span_ps": 10**12},
        "workloads": [{"name": "orders", "transactions": 0}, {"name": "backup", "completion_ps": None}],
    }
    rows = {name: column(kind, [1]) for name, kind in (("workload", "u32"), ("user", "u32"))}
    tables = {"transactions": rows | {name: column("u64", [7]) for name in ("start_ps", "latency_ps")}}
    real.add_to(data, tables)
    orders, backup = data["workloads"]
    assert (orders["transactions"], orders["completion_ps"]) == (4, 10 * 10**9)
    assert backup == {"name": "backup", "completion_ps": None}
    assert not data["finished"]
    assert tables["transactions"]["workload"] == column("u32", [0, 0, 0, 0, 1])


def test_a_program_that_does_not_end_well_fails_its_trial(real: RealPrograms, tmp_path: Path) -> None:
    out = tmp_path / "hosts" / "client" / "out"
    out.mkdir(parents=True)
    (out / "1.err").write_text("pgbench: error: connection lost\n", encoding="utf-8")
    hosts = [{"name": "client", "programs": [0, 2]}, {"name": "db", "programs": [0, 0]}]
    with pytest.raises(ProgramError, match="host client: pgbench-orders ended with status 2: pgbench: error: connecti"):
        real.add_to({"exact": {"hosts": hosts, "span_ps": 1}}, {})


def test_rows_of_two_tables_stand_in_the_order_of_workloads() -> None:
    one = {"workload": column("u32", [0, 2]), "bytes": column("u64", [5, 6])}
    other = {"workload": column("u32", [1])}
    expected = {"workload": column("u32", [0, 1, 2]), "bytes": column("u64", [5, 0, 6])}
    assert joined(one, other) == expected


def test_addresses_follow_the_rule_of_labs() -> None:
    addresses = Addresses(["a", "b"], [30, 20])
    assert [addresses.of("b", vlan) for vlan in (0, 20, 30)] == ["10.77.0.2", "10.78.0.2", "10.79.0.2"]


def test_the_file_of_programs_has_them_by_host() -> None:
    [program] = json.loads(programs_file([GuestProgram("a", "x", ["true"], copies={"/run/b": "/c"})]))["a"]
    assert program["words"] == ["true"]
    assert program["copies"] == [{"from": "/c", "to": "/run/b"}]
