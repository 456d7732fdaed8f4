"""HammerDB's command line as the users of a database, played by a stand-in that runs the real
scripts (`hammerdb/`)."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import machine
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Task
from tailrace.live.programs import hammerdb
from tailrace.live.programs.hammerdb import HammerDb, HammerDbInstallation
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.live.trial.servers import Servers
from tailrace.programs.transactions import log_lines
from tailrace.programs.work import Work
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.workloads.planned import planned_workloads
from test_lab import DISTRIBUTIONS
from trial_files import read_trial

pytestmark = pytest.mark.slow  # a stand-in plays the program
HERE = Path(__file__).parent
SCENARIO = HERE / "hammerdb.yaml"
STAND_IN = HERE / "hammerdb"
RUN_LIMIT_S = 120
DONE_LIMIT_S = 60
TRIAL_PS = 60 * 10**12
"""The longest that the scenario lets a trial take."""
ROWS = {18_000: 1000, 4000: 1000}


def run(out: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """`tailrace run --live` where HammerDB is looked for in one folder."""
    words = ["run", "--live", str(SCENARIO), "--out", str(out)]
    return machine.tailrace(
        *words, limit_s=RUN_LIMIT_S, environment={hammerdb.HOME_VARIABLE: str(home)}
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of pgbench and HammerDB beside each other, and a look at what it left on the
    machine."""
    out = tmp_path_factory.mktemp("hammerdb") / "run"
    before = machine.picture()
    done = run(out, STAND_IN)
    machine.assert_ended(done)
    assert left_after_a_moment(str(out)) == []
    assert machine.picture() == before
    return out


def left_after_a_moment(words: str) -> list[str]:
    """Processes of a run that are still there."""
    deadline_s = time.monotonic() + machine.GONE_LIMIT_S
    while (left := machine.left_of(words)) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return left


def workloads(out: Path) -> dict[str, dict[str, Any]]:
    """What the workloads of the trial did, by name."""
    outcome = read_trial(out / "trials" / "base" / "1.json")
    lag_us = outcome["live"]["generator_lag_us"]
    return {each["name"]: each | {"lag_us": lag_us[each["name"]]} for each in outcome["workloads"]}


def test_every_transaction_is_done_and_counted_as_pgbench_s_are(finished: Path) -> None:
    for each in workloads(finished).values():
        assert each["transactions"] == 3 * 60
        assert each["goodput_bytes"] == 3 * 60 * 22_000
        assert each["latency"]["count"] == 3 * 55  # without the warm-up
        assert None not in each["user_completion_ps"]
        assert each["completion_ps"] == max(each["user_completion_ps"])


def test_latencies_are_within_the_trial(finished: Path) -> None:
    for each in workloads(finished).values():
        assert 0 < each["latency"]["min_ps"] <= each["latency"]["max_ps"] < TRIAL_PS
        assert 0 < each["completion_ps"] < TRIAL_PS


def test_the_run_names_the_program_and_keeps_nothing_of_it(finished: Path) -> None:
    manifest = json.loads((finished / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["versions"][hammerdb.PROGRAM] == "6.0-stand-in"
    assert list(finished.rglob("hammer.DB")) == []
    assert not (STAND_IN / "hammer.DB").exists()


def test_without_hammerdb_nothing_starts(tmp_path: Path) -> None:
    done = run(tmp_path / "run", tmp_path)
    assert done.returncode == 2
    assert "workloads.hammered.load_generator: HammerDB is not installed" in done.stderr
    assert "hammerdb.yaml:" in done.stderr


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Hosts of the scenario with a database that is up."""
    folder = tmp_path_factory.mktemp("lab")
    plan = lower(load_scenario(SCENARIO).arms["base"], "base", 1)
    servers = Servers([("oltp", planned_workloads(plan)[1].flat)], folder / "templates")
    servers.make_templates()
    with Lab(canonical_json(plan), folder / "lab") as up:
        servers.start(up, {})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                hammerdb, "installation", lambda: HammerDbInstallation(STAND_IN / hammerdb.PROGRAM)
            )
            yield up


class Loaded(PostgreSql):
    """A server that is up, with tables of these rows."""

    rows: Mapping[int, int] = {}

    def __init__(self, rows: Mapping[int, int]) -> None:
        self.rows = rows


def users(name: str, rows: dict[int, int] | None = None, **changes: Any) -> tuple[Work, HammerDb]:
    """Two virtual users of the stand-in, with changes to the workload of the plan."""
    raw = planned_workloads(lower(load_scenario(SCENARIO).arms["base"], "base", 1))[1].flat
    each = HammerDb(
        Task(raw | {"name": name, "users": 2} | changes, 7, DONE_LIMIT_S, Loaded(rows or ROWS))
    )
    return each.work, each


def wait_until_done(lab: Lab, each: HammerDb) -> None:
    deadline_s = time.monotonic() + DONE_LIMIT_S
    while not each.is_done and time.monotonic() < deadline_s:
        time.sleep(0.02)
    each.stop(lab)
    assert each.is_done


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda raw: next(iter(raw)))
def test_hammerdb_waits_as_long_as_is_computed(lab: Lab, distribution: dict[str, Any]) -> None:
    name = next(iter(distribution))
    load, each = users(name, gap=distribution, start=distribution, transactions=30)
    each.prepare(lab)
    each.begin(lab)
    wait_until_done(lab, each)
    logged = {
        (int(w[0]), int(w[1])): int(w[6])
        for w in log_lines(
            lab.folder / "logs" / f"hammerdb-{name}/transactions", hammerdb.LOG_WORDS
        )
    }
    assert logged == {
        (user, number): load.pause_us(user, number) for user in range(2) for number in range(1, 31)
    }
    for one in each.transactions():
        assert one.intended_us - one.begun_us == load.pause_us(one.user, one.number)
        assert one.latency_us > 0


def test_users_without_a_number_to_do_end_when_the_trial_does(lab: Lab) -> None:
    load, each = users("endless", transactions=0)
    each.prepare(lab)
    assert each.transactions() == []
    each.begin(lab)
    time.sleep(0.5)
    assert not each.is_done
    each.stop(lab)
    done = each.transactions()
    assert {one.user for one in done} == {0, 1}
    for user in (0, 1):
        numbers = [one.number for one in done if one.user == user]
        assert numbers == list(range(1, len(numbers) + 1))
    assert all(one.ended_us - one.intended_us == one.latency_us for one in done)
    assert load.is_finite is False


def test_a_long_pause_does_not_hold_up_the_end(lab: Lab) -> None:
    _, each = users("patient", start={"constant": 500 * 10**12})
    each.prepare(lab)
    each.begin(lab)
    each.stop(lab)  # raises for a program that waits until the end of the pause
    [program] = each.programs
    assert program.ended is not None
    assert program.ended.is_good
    assert each.transactions() == []


def test_a_statement_that_fails_ends_the_program_badly(lab: Lab) -> None:
    """HammerDB itself goes on and ends well: the script must not."""
    _, each = users("broken", round_trips=[{"response_bytes": 5}], rows={5: 1})
    with pytest.raises(FabricError, match=r"user [01]: .*pay_5"):
        each.prepare(lab)
    [program] = each.programs
    assert program.wait(DONE_LIMIT_S).exit_code == 1
