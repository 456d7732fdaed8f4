"""Sweeps with more points than can be kept whole: made when they run, figures kept, summarised in
one pass."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from command_line import tailrace
from dask_processes import START_S, cluster, start_command
from lab import load, problems, sound
from sealing import seal
from tailrace.cli.listing import find_runs
from tailrace.errors import RunRefusedError, ScenarioError, TailraceError
from tailrace.experiment.executor import PlanOf
from tailrace.experiment.judge import Verdict
from tailrace.experiment.large.grid import Grid
from tailrace.experiment.large.run import LargeRun
from tailrace.experiment.native import Ran
from tailrace.experiment.options import Options
from tailrace.experiment.pool import Watcher
from tailrace.experiment.remote.waiting import Waiting
from tailrace.experiment.reporter import Silent
from tailrace.experiment.schedule import Keys, LazyKeys, TrialKey
from tailrace.folder import Folder
from tailrace.outcome.types import Outcome
from tailrace.results.directory.run_directory import Run
from tailrace.results.large.figures import bounds_of
from tailrace.results.large.lines import Line, Lines
from tailrace.results.large.summary import summarise_large
from tailrace.results.large.text import large_page
from tailrace.scenario.workloads.planned import planned_workloads
from whole import part, trial

USERS, BUFFER = "workloads.orders.users", "switches.leaf.buffer"
AXES = {USERS: "linear(1..20, 20)", BUFFER: "linear(1MB..15MB, 15)"}
POINTS = 300


class Instant:
    """An executor that simulates nothing: the outcome of a trial says what its plan asked for."""

    name, slots = "local", 1

    def __init__(self, stop_after: int = 10**9) -> None:
        self.ran: list[TrialKey] = []
        self.stop_after = stop_after

    def run_all(self, keys: Keys, plan_of: PlanOf, watcher: Watcher) -> bool:
        for key in keys:
            if len(self.ran) == self.stop_after:
                return True
            plan = json.loads(plan_of(key))
            self.ran.append(key)
            watcher.finished(key, Ran(outcome_of(plan)), 0.001)
            watcher.tick([])
        return False


def outcome_of(plan: dict[str, Any]) -> Outcome:
    users = next(one.flat["users"] for one in planned_workloads(plan) if one.name == "orders")
    orders = {"name": "orders", "kind": "oltp", "completion_ps": int(users) * 10**12}
    return part(
        Outcome, seed=plan["seed"], digest="d", finished=True, end_ps=10**13, workloads=[orders]
    )


@pytest.fixture(autouse=True)
def plain_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few points make a large sweep; only the completion time is a figure of the outcomes above,
    and they are valid."""
    monkeypatch.setattr("tailrace.scenario.sweep.LISTED_MAX", 100)
    monkeypatch.setattr("tailrace.results.large.figures.METRICS", ("completion_s",))
    monkeypatch.setattr("tailrace.experiment.large.run.judged", lambda *_any: Verdict("ok"))


def swept(
    out: Path, executor: Instant | None = None, **changes: object
) -> tuple[LargeRun, Instant]:
    executor = executor or Instant()
    loaded = load(**{"sweep": {"axes": AXES}, "experiment__trials": 1, **changes})
    return LargeRun(loaded, Options(arms=["dpp"], out=out), Silent(), executor), executor


@pytest.mark.usefixtures("fake")
def test_every_point_runs_once_and_its_figures_are_kept(tmp_path: Path) -> None:
    run, executor = swept(tmp_path / "run")
    assert run.run().bad == 0
    assert len(executor.ran) == len(set(executor.ran)) == POINTS
    summary = summarise_large(tmp_path / "run")
    [curve] = summary.curves
    assert curve.points == POINTS
    assert curve.mean == pytest.approx(10.5)
    assert (curve.low.value, curve.high.value) == (1.0, 20.0)
    assert "users=20" in curve.high.point
    assert [(one.value, one.mean, one.points) for one in curve.by_value[USERS][:2]] == [
        ("1", 1.0, 15),
        ("2", 2.0, 15),
    ]
    with (tmp_path / "run" / "sweep.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == POINTS
    assert all(float(row["mean"]) == float(row[USERS]) for row in rows)


def with_bounds(lines: Lines, arm: str, values: dict[int, tuple[float, bool]]) -> None:
    """The 99th percentile of an arm at some points, and whether it is a lower bound."""
    for point, (value, is_bound) in values.items():
        bounds = {"orders": ["latency_p99_ms"]} if is_bound else {}
        lines.add(
            Line(point, arm, 1, "ok", figures={"orders": {"latency_p99_ms": value}}, bounds=bounds)
        )


@pytest.mark.usefixtures("fake")
def test_a_lower_bound_is_marked_in_every_file_and_decides_no_comparison(tmp_path: Path) -> None:
    run, _ = swept(tmp_path / "run", Instant(stop_after=0))
    run.run()
    manifest = json.loads((tmp_path / "run/manifest.json").read_text("utf-8"))
    manifest |= {"arms": ["fifo", "dpp"]}
    (tmp_path / "run/manifest.json").write_text(
        json.dumps(manifest | {"baseline": "fifo"}), encoding="utf-8"
    )
    seal(tmp_path / "run/manifest.json")
    lines = Lines(Folder(tmp_path / "run"))
    with_bounds(
        lines,
        "fifo",
        {0: (2.0, False), 1: (2.0, False), 2: (2.0, True), 3: (2.0, True), 4: (2.0, False)},
    )
    with_bounds(
        lines,
        "dpp",
        {0: (1.0, False), 1: (1.0, True), 2: (1.0, False), 3: (5.0, False), 4: (5.0, True)},
    )
    summary = summarise_large(tmp_path / "run")
    fifo, dpp = summary.curves
    assert (dpp.below, dpp.above, dpp.compared, dpp.unknown) == (2, 1, 3, 2)
    assert (fifo.bounds, dpp.bounds) == (2, 2)
    assert (dpp.high.is_bound, fifo.high.is_bound) == (True, True), (
        "one that is larger may be a bound"
    )
    assert (fifo.low.value, fifo.low.is_bound) == (2.0, False)
    with (tmp_path / "run" / "sweep.csv").open(encoding="utf-8") as file:
        found = [row["bounds"] for row in csv.DictReader(file) if row["arm"] == "dpp"]
    assert found == ["0", "1", "0", "0", "1"]
    page = large_page(summary)
    assert "| orders | latency p99, ms | dpp | > 2.60 |" in page
    assert "of 3 points; a lower bound leaves it open at 2 more." in page
    assert "'>' marks a lower bound" in page
    assert "| 1 | > " in page.partition("## By users")[2], "means by value"


def test_the_figures_of_a_trial_name_their_bounds() -> None:
    waits = {"buckets": [[2 * 10**9, 9]], "count": 9, "longest_ps": 2 * 10**9}
    latency: dict[str, Any] = dict.fromkeys(("mean_ps", "min_ps", "max_ps", "p99_ps"), 10**9)
    latency |= {"count": 1, "buckets": [[10**9, 1]]}
    own = {"name": "orders", "kind": "oltp", "latency": latency, "cut_off": waits}
    bounded = trial("dpp", workloads=[own], end_ps=10**12)
    figures = {"orders": {"completion_s": 1.0, "latency_p99_ms": 2.0}}
    assert bounds_of(bounded, figures) == {"orders": ["latency_p99_ms"]}
    own["cut_off"] = waits | {"count": 0, "buckets": []}
    assert bounds_of(trial("dpp", workloads=[own], end_ps=10**12), figures) == {}


@pytest.mark.usefixtures("fake")
def test_the_page_of_an_axis_without_means_says_what_is_known_of_all_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace.results.large.summary.VALUES_MAX", 19)
    run, _ = swept(tmp_path / "run")
    run.run()
    page = large_page(summarise_large(tmp_path / "run"))
    assert "## By buffer" in page
    assert "## By users" not in page
    assert "users (20)" in page


@pytest.mark.usefixtures("fake")
def test_a_part_of_the_points_covers_the_whole_grid(tmp_path: Path) -> None:
    grid = swept(tmp_path / "run")[0].grid
    first = [
        grid.sweep.indices_at(int(key.arm.partition("@")[2]))
        for key, _ in zip(_keys(grid), range(60), strict=False)
    ]
    for path, count in ((USERS, 20), (BUFFER, 15)):
        seen = {indices_at[path] for indices_at in first}
        assert len(seen) > 0.8 * count, "after a fifth of the points most values have been seen"


def _keys(grid: Grid) -> LazyKeys:
    return LazyKeys(lambda: grid.keys(lambda *_reason: None), grid.count)


@pytest.mark.usefixtures("fake")
def test_an_interrupted_sweep_runs_the_rest_and_mends_a_torn_line(tmp_path: Path) -> None:
    run, first = swept(tmp_path / "run", Instant(stop_after=100))
    assert run.run().is_interrupted
    assert (
        json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))["state"]
        == "interrupted"
    )
    lines = Lines(Folder(tmp_path / "run")).names()
    first_lines = tmp_path / "run" / lines[0]
    first_lines.write_bytes(first_lines.read_bytes()[:-10])  # as a process that is killed leaves it
    assert summarise_large(tmp_path / "run").points_run == 99
    [listed] = find_runs(tmp_path)
    assert (listed["trials_done"], listed["trials_planned"]) == (99, POINTS)
    run, second = swept(tmp_path / "run")
    assert not run.run().is_interrupted
    assert len(second.ran) == POINTS - 99
    assert len({*first.ran, *second.ran}) == POINTS
    assert summarise_large(tmp_path / "run").points_run == POINTS


@pytest.mark.usefixtures("fake")
def test_points_that_make_no_sound_scenario_are_told_and_the_others_run(tmp_path: Path) -> None:
    # The limit of the queue may not exceed the buffer of its switch.
    axes = {
        BUFFER: "linear(1MB..15MB, 15)",
        "policies.dpp.queues.express.limit": "linear(150kB..1100kB, 20)",
    }
    run, executor = swept(tmp_path / "run", sweep={"axes": axes})
    ended = run.run()
    assert 0 < ended.bad < 20
    assert len(executor.ran) == POINTS - ended.bad
    summary = summarise_large(tmp_path / "run")
    assert summary.statuses == {"impossible": ended.bad, "ok": POINTS - ended.bad}
    assert "but the switch has a buffer of 1 MB" in summary.problems[0].reason
    again = swept(tmp_path / "run", sweep={"axes": axes})
    again[0].run()
    assert again[1].ran == []


def test_a_failed_trial_runs_again_and_its_later_line_counts(tmp_path: Path) -> None:
    (tmp_path / "trials").mkdir()
    lines = Lines(Folder(tmp_path))
    lines.add(Line(7, "dpp", 1, "failed", "killed 3 workers"))
    lines.add(Line(7, "dpp", 1, "ok", figures={"orders": {"completion_s": 1.0}}))
    [found] = lines.read()
    assert [line.status for line in found.values()] == ["ok"]
    (tmp_path / "trials" / "000000.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(TailraceError, match=r"000000\.jsonl:1: not a line of a large sweep"):
        list(lines.read())


def test_a_value_that_is_never_sound_is_refused_before_anything_runs() -> None:
    told = problems(
        sound(sweep={"axes": {USERS: [-1, *range(1, 20)], BUFFER: "linear(1MB..15MB, 15)"}})
    )
    assert len(told) == 1
    assert f"sweep.axes.{USERS}" in told[0]
    told = problems(sound(sweep={"axes": AXES}, arms={"own": {BUFFER: "2MB"}}))
    assert "the arm sets what the sweep varies" in told[0]


def test_an_absurd_size_is_refused_with_that_size(monkeypatch: pytest.MonkeyPatch) -> None:
    ranges = [f"linear(1{unit}..10000{unit}, 10000)" for unit in ("", "us", "MB")]
    axes = dict(zip((USERS, "workloads.orders.gap", BUFFER), ranges, strict=True))
    told = problems(sound(sweep={"axes": axes}))
    assert "the sweep has 1 000 000 000 000 points" in told[0]
    monkeypatch.setattr("tailrace.experiment.large.run.TRIALS_MAX", 10**5)
    loaded = load(sweep={"axes": AXES}, experiment__trials=1000)
    with pytest.raises(RunRefusedError, match="the sweep has 300 000 trials; the limit is 100 000"):
        LargeRun(loaded, Options(arms=["dpp"]), Silent(), Instant())


@pytest.mark.usefixtures("fake")
def test_what_reads_whole_trials_refuses_a_large_sweep(tmp_path: Path) -> None:
    run, _ = swept(tmp_path / "run", Instant(stop_after=3))
    run.run()
    with pytest.raises(TailraceError, match="a large sweep keeps figures alone"):
        Run.read(tmp_path / "run")
    with pytest.raises(RunRefusedError, match=r"has no experiment\.solo"):
        swept(tmp_path / "solo", experiment__solo=True)


def test_an_executor_is_handed_trials_as_it_needs_them() -> None:
    made: list[TrialKey] = []

    def make() -> "object":
        for number in range(5):
            made.append(TrialKey(f"a@{number}", 1))
            yield made[-1]

    waiting = Waiting(LazyKeys(make, 9))  # type: ignore[arg-type]
    assert waiting.batch(1) == [TrialKey("a@0", 1)]
    assert len(made) == 1
    waiting.measured("a@0", 0.001)
    while waiting.batch(1):
        pass
    assert (len(made), waiting.left) == (5, 0), "fewer were made than were announced"


@pytest.mark.slow
def test_the_command_runs_a_large_sweep_on_workers(tmp_path: Path) -> None:
    axes = {USERS: "linear(1..41, 41)", BUFFER: "linear(1MB..50MB, 50)"}
    YAML().dump(sound(sweep={"axes": axes}, experiment__trials=1), tmp_path / "lab.yaml")
    with cluster(tmp_path, workers=1, wall_s=0.0) as there:
        command = start_command(
            tmp_path, "run", "lab.yaml", "--arm", "dpp", "--out", "run", "--on", there.address
        )
        code = command.wait(4 * START_S)
    said = (tmp_path / "command.log").read_text("utf-8")
    assert code == 0, said
    assert "2 050 points of users (41) × buffer (50)" in said
    lines = [line for found in Lines(Folder(tmp_path / "run")).read() for line in found.values()]
    assert len(lines) == 2050
    assert (tmp_path / "run" / "sweep.md").is_file()
    again = start_command(tmp_path, "report", "run")
    assert again.wait(START_S) == 0


def test_a_large_sweep_is_described_by_a_dry_run_and_by_check(tmp_path: Path) -> None:
    axes = {USERS: "linear(1..41, 41)", BUFFER: "linear(1MB..50MB, 50)"}
    YAML().dump(sound(sweep={"axes": axes}), tmp_path / "lab.yaml")
    done = tailrace("run", str(tmp_path / "lab.yaml"), "--dry-run", "--scale", "0.02")
    assert "2050 points, 8200 trials" in done.stdout, done.stderr
    assert "at 2050 points" in tailrace("check", str(tmp_path / "lab.yaml")).stdout
    refused = tailrace("run", str(tmp_path / "lab.yaml"), "--exact")
    assert (refused.returncode, "keeps figures of simulated trials alone" in refused.stderr) == (
        2,
        True,
    )


def test_trials_of_a_large_sweep_have_the_cores_that_are_asked_for(tmp_path: Path) -> None:
    loaded = load(sweep={"axes": AXES})
    with pytest.raises(ScenarioError, match="--cores 2: "):  # one switch has nothing to divide
        LargeRun(loaded, Options(arms=["dpp"], cores=2, out=tmp_path / "run"), Silent())
    run = LargeRun(loaded, Options(arms=["dpp"], cores=1, out=tmp_path / "run"), Silent())
    assert run._manifest({})["cores_per_trial"] == 1
    assert run._manifest({"cores_per_trial": "auto"})["cores_per_trial"] == ["auto", 1]
