"""What a search concludes from settings that meet a goal, miss it, or are undecided; latencies are
drawn."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

import whole
from drawn_trials import measured
from tailrace.experiment.reporter import Silent
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.figure import Figure, figure_of
from tailrace.scenario.loading import load_scenario
from tailrace.search.deciding import Decider
from tailrace.search.options import SearchOptions
from tailrace.search.search import Searched, search
from tailrace.search.text import answer, search_text

LIMIT = "policies.q.queues.normal.limit"
GOAL_MS = 20.0


def drawn_trial(number: int, p99_ms: float, spread: float, seed: str) -> Trial:
    """Exponential latencies; the luck of a trial moves its 99th percentile by about `spread`."""
    rng = random.Random(f"{seed}/{number}")
    scale = p99_ms / 4.605 * rng.lognormvariate(0, spread)
    own = {
        "name": "burst",
        "kind": "datagrams",
        **measured([scale * rng.expovariate(1) for _ in range(3500)]),
    }
    return whole.trial("base", number, end_ps=10**12, workloads=[own])


def searched(
    truths: Mapping[str, float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spread: float = 0.05,
    **options: object,
) -> Searched:
    """A search over settings whose 99th percentile in milliseconds is known."""

    def figures(decider: Decider, positions: tuple[int, ...], trials: int) -> list[Figure]:
        setting = str(decider.values(positions)[LIMIT])
        counted = [
            drawn_trial(number, truths[setting], spread, setting) for number in range(1, trials + 1)
        ]
        return [figure_of(counted, ["burst"], goal.metric) for goal in decider.goals]

    monkeypatch.setattr(Decider, "_figures", figures)
    vary = [f"{LIMIT}={','.join(truths)}"]
    wanted = SearchOptions(
        **{  # type: ignore[arg-type]
            "vary": vary,
            "goals": ["burst.p99 < 20ms"],
            "minimise": "limit",
            "out": tmp_path / "out",
            **options,
        }
    )
    return search(load_scenario(Path(__file__).parent / "burst.yaml"), wanted, Silent())


def test_half_of_the_trials_are_no_goal_that_is_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where p99 lies at the bound, about half of all trials keep it: that setting is undecided."""
    truths = {"1MB": 60.0, "2MB": 40.0, "3MB": GOAL_MS, "4MB": 8.0, "5MB": 5.0}
    found = searched(truths, tmp_path, monkeypatch)
    ends = {str(one.values[LIMIT]): one.end for one in found.tried}
    assert ends == {
        "1MB": "misses",
        "2MB": "misses",
        "3MB": "undecided",
        "4MB": "meets",
        "5MB": "meets",
    }
    trials = {str(one.values[LIMIT]): one.trials for one in found.tried}
    assert trials == {"1MB": 6, "2MB": 6, "3MB": 16, "4MB": 6, "5MB": 6}
    smallest, largest, undecided = answer(found)
    assert smallest.startswith(
        "The smallest value of limit that meets burst.p99 < 20 ms: limit=4MB (burst.p99 "
    )
    assert largest.startswith("The largest value that misses it: limit=2MB (")
    assert undecided.startswith("Undecided: limit=3MB (")
    assert "takes " in undecided


def test_the_sentence_does_not_contradict_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What more trials do not confirm is no setting that meets the goal, and not every setting
    meets it then."""
    decided, patience = Decider.try_at, []

    def unconfirmed(decider: Decider, positions: tuple[int, ...], rule: object = None) -> object:
        if rule is not None and positions == (0,):
            patience.append(positions)
            figures = decider._figures(positions, 12)
            decider.tried[positions] = found = decider._decided(positions, figures, decider.rule)
            return found.__class__(
                **{**found.__dict__, "end": "undecided", "takes": "about 40 trials"}
            )
        return decided(decider, positions, rule)  # type: ignore[arg-type]

    monkeypatch.setattr(Decider, "try_at", unconfirmed)
    found = searched({"1MB": 10.0, "2MB": 5.0, "3MB": 5.0}, tmp_path, monkeypatch, confirm=12)
    assert patience == [(0,)]
    assert found.state == "found"
    text = search_text(found)
    assert "Every setting" not in text
    assert "The smallest value of limit that meets burst.p99 < 20 ms: limit=2MB" in text
    assert "Undecided: limit=1MB (takes about 40 trials)." in text
    assert found.found is not None
    assert found.found.trials == 12, "the next one is confirmed, too"


def test_where_nothing_is_certain_it_is_said_what_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = searched(
        {"1MB": 60.0, "2MB": GOAL_MS, "3MB": GOAL_MS}, tmp_path, monkeypatch, spread=0.4
    )
    assert (found.state, found.found) == ("none", None)
    first, second, nearest = answer(found)
    assert first == (
        "No setting is certain to meet burst.p99 < 20 ms: of all 3 settings over limit 1MB, 2MB, "
        "3MB, 1 miss it and the others are undecided."
    )
    assert second.startswith("Undecided: ")
    assert nearest.startswith("Nearest to it: limit=")
    missed = searched({"1MB": 60.0, "2MB": 50.0}, tmp_path / "missed", monkeypatch)
    first, nearest = answer(missed)
    expected = (
        "No setting meets burst.p99 < 20 ms: all 2 settings over limit 1MB, 2MB were tried, "
        "and all miss it."
    )
    assert first == expected
    assert nearest.startswith("Nearest to it: limit=2MB (burst.p99 ")


def test_what_was_not_tried_is_not_said_to_miss_the_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A buffer meets the goal in a narrow range alone, which a bisection need not see."""
    truths = {f"{number}00kB": 60.0 - 0.1 * number for number in range(1, 60)} | {"6000kB": 70.0}
    found = searched(truths | {"1200kB": 5.0}, tmp_path, monkeypatch)
    first, nearest, caution = answer(found)
    assert first.startswith("No setting that was tried meets burst.p99 < 20 ms: ")
    assert f"{len(found.tried)} of 60 settings" in first
    assert nearest.startswith("Nearest to it: limit=")
    assert caution.startswith("Settings between those were not tried")


def test_of_trials_that_often_miss_the_goal_no_setting_is_said_to_meet_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where five of eight trials keep the bound the percentile of all lies at it: the worst one is
    undecided."""
    found = searched({"5MB": 10.0, "6MB": 11.0, "9MB": 19.5}, tmp_path, monkeypatch, spread=0.15)
    assert found.tried[-1].end == "undecided"
    assert not any(line.startswith("Every setting") for line in answer(found))
    every = searched({"5MB": 8.0, "6MB": 9.0}, tmp_path / "all", monkeypatch)
    assert list(answer(every))[1] == (
        "Every setting that was tried meets it: all 2 settings over limit 5MB, 6MB."
        " A smaller value outside of this range may meet it, too."
    )
