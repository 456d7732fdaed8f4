"""sysbench and MariaDB: what they are asked, and what they refuse."""

from pathlib import Path
from typing import Any

import pytest

from lab import sound
from tailrace.errors import ScenarioError
from tailrace.exact.refuse import refuse as refuse_exact
from tailrace.live import registry
from tailrace.live.load import Task
from tailrace.live.programs.mariadb_service import MariaDb
from tailrace.live.programs.sysbench import Sysbench
from tailrace.live.refuse import refuse
from tailrace.programs import lua_log, mariadb, sysbench
from tailrace.programs.errors import ProgramError
from tailrace.programs.needed import path_of
from tailrace.scenario.loading import load_scenario

RAW: dict[str, Any] = {
    "name": "orders",
    "client": "web",
    "server": "db",
    "users": 3,
    "transactions": 4,
    "warmup_transactions": 0,
    "round_trips": [{"response_bytes": 18_000}, {"response_bytes": 500}],
    "start": {"constant": 0},
    "gap": {"exponential": {"mean": 5 * 10**9}},
    "priority": 3,
}
SCRIPT = sysbench.Script(RAW, 7, {18_000: 1000, 500: 900})


def refusals(exact: bool = False, **keys: Any) -> list[str]:
    """Of the sound scenario's database with these keys."""
    changes = {f"workloads__orders__{key}": value for key, value in keys.items()}
    loaded = load_scenario(sound(**changes))
    try:
        (refuse_exact if exact else refuse)(loaded, loaded.arms)
    except ScenarioError as error:
        return [
            str(problem).removeprefix("scenario: workloads.orders") for problem in error.problems
        ]
    return []


def test_sysbench_has_a_thread_for_each_user_and_does_the_statements_in_order() -> None:
    command = SCRIPT.command(Path("/s.lua"), ["--db-driver=mysql"], 9)
    assert command.argv[:4] == ["sysbench", "--threads=3", "--time=69", "--events=0"]
    assert command.argv[-2:] == ["/s.lua", "run"]
    assert (command.host, command.priority) == ("web", 3)
    text = SCRIPT.text(Path("/l/log"))
    assert 'local statements = {{"pay_18000", 1000}, {"pay_500", 900}}\n' in text
    assert "local transactions_max = 4\n" in text
    assert "uniform(user, number" in text


def test_a_log_is_read_and_the_pauses_must_be_those_of_the_seed(tmp_path: Path) -> None:
    pause_us = SCRIPT.pause_us(1, 2)
    lines = (
        f"1 1 1000 0 1003 1900\n1 2 1900 {pause_us} {1900 + pause_us + 5} {1900 + pause_us + 700}\n"
    )
    (tmp_path / "log.1").write_text(
        lines + "1 3 17", encoding="ascii"
    )  # the last one was being written
    found = lua_log.transactions(SCRIPT, "sysbench", tmp_path / "log")
    assert [(one.number, one.latency_us) for one in found] == [(1, 900), (2, 700)]
    assert lua_log.lateness_us(tmp_path / "log") == 4
    (tmp_path / "log.1").write_text("1 1 1000 5 1003 1900\n", encoding="ascii")
    with pytest.raises(
        ProgramError, match="sysbench-orders: transaction 1 of user 1 had a different pause"
    ):
        lua_log.transactions(SCRIPT, "sysbench", tmp_path / "log")


@pytest.mark.parametrize(
    ("answer", "text"),
    [(500, 467), (281, 250), (284, 251), (18_000, 17_967), (70_034, 70_000), (20, 1)],
)
def test_a_row_makes_an_answer_of_the_size_that_was_asked_for(answer: int, text: int) -> None:
    """Measured with MariaDB 10.11 and sysbench 1.0.20: `Bytes_sent` of a statement is 31, 33 and 34
    bytes more."""
    assert mariadb.row_bytes(answer) == text


def test_mariadb_listens_on_its_host_and_never_runs_as_root() -> None:
    command = mariadb.Server("db", "/run/x/data", "10.77.0.2", 20).command(cpus=1.5)
    assert command.user == mariadb.USER != "root"
    assert {"--bind-address=10.77.0.2", "--port=3306", "--max-connections=30"} <= set(command.argv)
    assert "--skip-networking" in mariadb.Server("db", "/x", "", 0).command().argv
    assert all(setting.why for setting in mariadb.SETTINGS)


@pytest.mark.parametrize(
    ("keys", "refusal"),
    [
        ({"database": "mariadb"}, ".database: pgbench cannot use mariadb"),
        (
            {"load_generator": "sysbench", "users": 300},
            ".users: sysbench needs a thread with an interpreter",
        ),
        (
            {
                "load_generator": "sysbench",
                "database": "mariadb",
                "round_trips": [{"response": "17MB"}],
            },
            ".round_trips.0.response: a row of MariaDB is one packet of at most 16 MiB",
        ),
        (
            {"load_generator": "sysbench", "gap_from": "start"},
            ".gap_from: sysbench starts the gap at the end",
        ),
    ],
)
def test_what_it_cannot_do_is_refused_with_its_key(keys: dict[str, Any], refusal: str) -> None:
    assert any(one.startswith(refusal) for one in refusals(**keys)), refusals(**keys)


def test_both_databases_can_be_asked_by_the_program_that_knows_both() -> None:
    assert refusals(load_generator="sysbench", database="mariadb") == []
    assert any(
        one.startswith(".database: MariaDB does not start in a guest")
        for one in refusals(exact=True, load_generator="sysbench", database="mariadb")
    )
    for is_exact in (False, True):
        installed = all(
            path_of(needed)
            for name in ("postgresql", "mariadb")
            for needed in registry.services()[name].needs
        )
        if installed or not is_exact:
            assert refusals(exact=is_exact, load_generator="sysbench") == []
    if path_of(registry.services()["postgresql"].needs[0]):
        found = refusals(exact=True, database="mariadb")
        assert any(
            one.startswith(".database: pgbench in an exact run cannot use mariadb") for one in found
        )


class Loaded(MariaDb):
    """A server that is up, with tables of these rows."""

    rows = {18_000: 1000, 500: 900}

    def __init__(self) -> None:
        """Without a folder."""


def test_a_signal_is_how_sysbench_ends_once_it_was_told_to() -> None:
    load = Sysbench(Task(RAW, 7, 9.0, Loaded()))
    assert load.failed == []
    load._is_over = True
    assert load.failed == []
