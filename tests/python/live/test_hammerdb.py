"""Where HammerDB is found, what it is told, and how its users' logs are read; that the scripts work
is a live test."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab import load as load_sound
from tailrace.errors import ScenarioError
from tailrace.live.lab.fabric import FabricError
from tailrace.live.load import Task
from tailrace.live.machine import doctor
from tailrace.live.programs import hammerdb, tcl
from tailrace.live.programs.hammerdb import (
    HammerDb,
    HammerDbInstallation,
    commands_script,
    driver_script,
)
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.live.refuse import refuse
from tailrace.programs.draws import Draw
from tailrace.programs.needed import version_of
from tailrace.programs.work import Work
from tailrace.scenario.lowering.plan import lower

OLTP: dict[str, Any] = {
    "name": "orders",
    "port": 5433,
    "client": "web",
    "server": "db",
    "users": 3,
    "transactions": 4,
    "round_trips": [
        {"response_bytes": 64_000},
        {"response_bytes": 18_000},
        {"response_bytes": 64_000},
    ],
    "start": {"constant": 0},
    "gap": {"exponential": {"mean": 5 * 10**9}},
    "priority": 3,
}
ROWS = {18_000: 1000, 64_000: 900}
LOAD = Work(OLTP, 7, ROWS)


class Loaded(PostgreSql):
    """A server with tables of these rows."""

    rows: Mapping[int, int] = ROWS

    def __init__(self) -> None:
        pass


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without HammerDB; its home is this folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv(hammerdb.HOME_VARIABLE, raising=False)
    monkeypatch.setattr(hammerdb, "OPT", tmp_path / "opt")
    return tmp_path


def put(folder: Path, release: str = "5.0") -> Path:
    """A program that says a version as HammerDB's does, from its own folder alone."""
    folder.mkdir(parents=True)
    program = folder / hammerdb.PROGRAM
    program.write_text(
        f"#!/bin/sh\ntest -f ./{hammerdb.PROGRAM} && echo 'HammerDB CLI v{release}'\n",
        encoding="ascii",
    )
    program.chmod(0o755)
    return program


def test_it_is_found_where_the_variable_says_then_on_the_path_then_in_the_usual_folders(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hammerdb.installation() is None
    expected = [put(nowhere / "HammerDB-4.9"), put(nowhere / "opt" / "HammerDB-4.12")]
    assert hammerdb.installation() == HammerDbInstallation(
        expected[1]
    )  # a newer release, though 4.12 sorts before 4.9
    on_path = put(nowhere / "bin")
    assert hammerdb.installation() == HammerDbInstallation(on_path)
    monkeypatch.setenv(hammerdb.HOME_VARIABLE, str(nowhere / "HammerDB-4.9"))
    assert hammerdb.installation() == HammerDbInstallation(expected[0])
    monkeypatch.setenv(hammerdb.HOME_VARIABLE, str(nowhere / "elsewhere"))
    assert hammerdb.installation() is None


def test_the_doctor_tells_its_version_and_never_misses_it(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = next(fact for fact in doctor.examine() if fact.what == hammerdb.PROGRAM)
    assert (fact.value, fact.is_good, fact.advice) == (
        "not installed",
        None,
        "optional; from hammerdb.com",
    )
    assert doctor.is_healthy([fact])
    monkeypatch.setenv("PATH", os.defpath)  # for the program's shell
    monkeypatch.setenv(hammerdb.HOME_VARIABLE, str(put(nowhere / "here", "6.0").parent))
    fact = next(fact for fact in doctor.examine() if fact.what == hammerdb.PROGRAM)
    assert (fact.value, fact.is_good) == ("6.0", True)


def test_a_program_behind_a_link_runs_in_its_own_folder(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nowhere / "bin").mkdir()
    (nowhere / "bin" / hammerdb.PROGRAM).symlink_to(put(nowhere / "apart", "4.12"))
    found = hammerdb.installation()
    assert found is not None
    monkeypatch.setenv(
        "PATH", f"{nowhere / 'bin'}{os.pathsep}{os.defpath}"
    )  # the program's shell is found as well
    assert found.home == nowhere / "apart"
    assert version_of(hammerdb.NEEDED) == "4.12"


def test_a_plan_says_who_the_users_are_only_where_it_is_not_pgbench() -> None:
    plain = lower(load_sound().arms["dpp"], "dpp", 1)["workloads"][0]["header"]
    assert "live" not in plain
    changed = load_sound(workloads__orders__load_generator="hammerdb")
    assert lower(changed.arms["dpp"], "dpp", 1)["workloads"][0]["header"]["live"] == {
        "load_generator": "hammerdb"
    }


@pytest.mark.parametrize("has_hammerdb", [True, False])
def test_a_workload_that_needs_it_is_refused_without_it(
    nowhere: Path, *, has_hammerdb: bool
) -> None:
    if has_hammerdb:
        put(nowhere / "bin")
    loaded = load_sound(
        workloads__orders__load_generator="hammerdb", workloads__orders__gap_from="start"
    )
    with pytest.raises(ScenarioError) as caught:
        refuse(loaded, loaded.arms)
    texts = [str(problem) for problem in caught.value.problems]
    assert any("orders.gap_from: hammerdb starts the gap at the end" in text for text in texts)
    missing = [text for text in texts if "orders.load_generator: HammerDB is not installed" in text]
    assert len(missing) == (not has_hammerdb)


def test_more_users_than_it_has_threads_for_are_refused() -> None:
    loaded = load_sound(
        workloads__orders__load_generator="hammerdb",
        workloads__orders__users=hammerdb.USERS_MAX + 1,
    )
    with pytest.raises(
        ScenarioError,
        match=r"orders\.users: hammerdb needs a thread with an interpreter for each user",
    ):
        refuse(loaded, loaded.arms)


def test_the_commands_make_one_virtual_user_for_each_user_and_end_badly_with_them() -> None:
    lines = commands_script(LOAD, Path("/a b/driver.tcl"), 10).splitlines()
    assert "vuset vu 3" in lines
    assert "vuset delay 0" in lines
    assert (
        lines.index("customscript {/a b/driver.tcl}")
        < lines.index("vucreate")
        < lines.index("vurun")
    )
    assert lines[-1] == "exit [expr {[tsv::get tailrace ended] != 3}]"


def test_the_driver_asks_for_the_sizes_of_the_scenario_in_their_order() -> None:
    lines = driver_script(LOAD, Path("/run"), "10.77.0.2").splitlines()
    assert lines[0].startswith("#")  # HammerDB puts `eval` before it
    assert "    variable statements {pay_64000 900 pay_18000 1000 pay_64000 900}" in lines
    prepares = next(line for line in lines if "variable prepares" in line)
    assert prepares.count("PREPARE") == 2
    assert "    variable users 3" in lines
    assert "    variable transactions 4" in lines
    assert any("host=10.77.0.2 port=5433" in line for line in lines)


def test_a_word_is_one_word_whatever_is_in_it() -> None:
    assert tcl.word("/run/x-1.log") == "/run/x-1.log"
    assert tcl.word("a $b [c]") == "{a $b [c]}"
    assert tcl.word("a{b\n") == r"a\U0000007bb\U0000000a"
    assert tcl.words("a b", 2) == "{{a b} 2}"


def test_a_draw_is_a_procedure_of_whole_microseconds() -> None:
    constant = tcl.procedure("gap", Draw({"constant": 2_500_000}, 1))
    assert constant == ["proc gap {user number} {", "    return [expr {max(0, entier(2.5))}]", "}"]
    erlang = tcl.procedure("gap", Draw({"erlang": {"mean": 10**9, "shape": 2}}, 5))
    assert erlang[1:3] == [
        "    set u0 [uniform $user $number 5]",
        "    set u1 [uniform $user $number 6]",
    ]
    assert "-1000.0 / 2 * (log($u0) + log($u1))" in erlang[3]


def test_a_log_of_other_pauses_than_the_seed_gives_is_refused(tmp_path: Path) -> None:
    users = HammerDb(Task(OLTP, 7, 1, Loaded()))
    users._control = tmp_path
    pause_us = LOAD.pause_us(0, 2)
    log = tmp_path / "transactions.0"
    first, second = "0 1 1500 0 100 2000 0 30\n", f"0 2 {pause_us + 900} 0 101 0 {pause_us} 50\n"
    log.write_text(first + second, encoding="ascii")
    done = users.transactions()
    assert [one.latency_us for one in done] == [1500, 900]
    assert users.lag_us(done[1:]) == 50
    assert users.lag_us([]) is None
    log.write_text(
        first + second.removesuffix(" 50\n"), encoding="ascii"
    )  # the last line was being written
    assert [one.number for one in users.transactions()] == [1]
    log.write_text(first + f"0 2 {pause_us + 900} 0 101 0 {pause_us + 1} 50\n", encoding="ascii")
    with pytest.raises(FabricError, match="transaction 2 of user 0 had a different pause"):
        users.transactions()
