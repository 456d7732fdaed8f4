"""Searches over several values: proposals that continue after an interrupt, grids, impossible
settings."""

import sys
from pathlib import Path

import pytest

from command_line import tailrace
from tailrace.errors import RunRefusedError
from tailrace.experiment.points import Points
from tailrace.experiment.reporter import Silent
from tailrace.results import Run
from tailrace.scenario.loading import load_scenario
from tailrace.search.options import SearchOptions
from tailrace.search.search import Searched, search

HERE = Path(__file__).parent
LIMIT, BUFFER, GAP = (
    "policies.q.queues.normal.limit",
    "switches.leaf.buffer",
    "workloads.burst.interarrival",
)
FEW = 14


def proposed(out: Path, **options: object) -> Searched:
    wanted = SearchOptions(
        **{  # type: ignore[arg-type]
            "vary": [f"{LIMIT}=10kB..1MB", f"{GAP}=80us..1ms"],
            "goals": ["burst.loss <= 0"],
            "minimise": "limit",
            "evaluations": FEW,
            "out": out,
            **options,
        }
    )
    return search(load_scenario(HERE / "burst.yaml"), wanted, Silent())


def test_an_interrupted_search_continues_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = proposed(tmp_path / "whole")
    calls, run = 0, Points.run

    def interrupted(self: Points, changes: dict[str, object], trials: int, label: str) -> Run:
        nonlocal calls
        calls += 1
        if calls == FEW - 3:
            raise KeyboardInterrupt
        return run(self, changes, trials, label)

    monkeypatch.setattr(Points, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        proposed(tmp_path / "parts")
    parts = proposed(tmp_path / "parts")
    assert [one.values for one in parts.tried] == [one.values for one in whole.tried]
    assert parts.found == whole.found


def test_the_setting_that_is_found_has_more_trials_and_a_corrected_error(tmp_path: Path) -> None:
    found = proposed(tmp_path / "out")
    assert found.found is not None
    assert found.found.trials == 6
    assert found.rule.error == pytest.approx(0.05 / FEW)
    better = [one for one in found.tried if one.positions[0] < found.found.positions[0]]
    assert better, "smaller limits were tried"
    assert not any(one.is_met for one in better)


def test_a_grid_tries_all_and_tells_the_impossible(tmp_path: Path) -> None:
    found = proposed(
        tmp_path / "out", vary=[f"{LIMIT}=16kB,64kB,100kB", f"{BUFFER}=10kB,200kB"], sampler="grid"
    )
    verdicts = [
        (str(one.values[LIMIT]), str(one.values[BUFFER]), one.verdict) for one in found.tried
    ]
    assert len(verdicts) == 6
    assert ("16kB", "10kB", "impossible") in verdicts
    assert ("16kB", "200kB", "misses") in verdicts
    assert found.found is not None
    assert found.found.values == {LIMIT: "64kB", BUFFER: "200kB"}


def test_the_best_figure_is_an_aim_too(tmp_path: Path) -> None:
    found = proposed(
        tmp_path / "out",
        vary=[f"{LIMIT}=16kB,64kB,100kB"],
        minimise="burst.mean",
        goals=["burst.loss <= 0"],
        evaluations=3,
    )
    assert found.found is not None
    assert found.found.is_met


def test_without_the_package_the_remedy_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(RunRefusedError, match=r"pip install 'tailrace\[search\]'"):
        proposed(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_setting_is_an_exit_code_of_its_own(tmp_path: Path) -> None:
    done = tailrace("search", str(HERE / "burst.yaml"), "--vary", f"{LIMIT}=20kB,30kB", "--goal", "burst.loss <= 0",  # noqa: E501
                    "--minimise", "limit", "--out", str(tmp_path / "out"))  # fmt: skip
    assert done.returncode == 1
    assert "No setting meets burst.loss <= 0 %" in done.stdout


def test_a_figure_that_no_trial_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunRefusedError, match="trials have no such figure"):
        proposed(tmp_path / "out", vary=[f"{LIMIT}=10kB,12kB,14kB"], goals=["burst.mean < 1s"])
