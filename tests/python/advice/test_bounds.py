"""Goals of figures that are lower bounds."""

from pathlib import Path
from typing import Any

import pytest

from fake_run import cut_off_in_the_last
from tailrace.advice.advise import Advice
from tailrace.advice.judging import figures, kept
from tailrace.advice.text import advice_text
from tailrace.results.directory.run_directory import Run
from tailrace.results.metrics.goal import Goal


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Of its trials the last has a lower bound."""
    return cut_off_in_the_last(tmp_path)


def test_a_trial_with_a_lower_bound_does_not_keep_a_goal_that_is_above_it(run: Run) -> None:
    values = figures(run, "fifo", Goal("XS", "latency_p99_ms"))
    above = Goal("XS", "latency_p99_ms", 2 * max(values))
    assert (len(values), kept(run, "fifo", above), kept(run, "dpp", above)) == (4, 3, 4)
    trials = sorted(run.trials["fifo"], key=lambda trial: trial.number)
    assert [above.is_met_in(trial, ["XS"]) for trial in trials] == [True, True, True, False]


@pytest.mark.parametrize(("bounds", "told"), [(0, "is 12.0 ms"), (1, "is > 12.0 ms")])
def test_a_figure_at_present_is_marked_where_it_is_a_lower_bound(bounds: int, told: str) -> None:
    present: dict[str, Any] = {"values": [11.0, 13.0], "mean": 12.0, "interval": None, "bounds": bounds}
    advice = Advice("s", "fifo", Goal("XS", "latency_p99_ms"), Path("out"), None, present, 0, [], [], [], [])
    assert f"99th percentile of latency {told}" in advice_text(advice)
