"""Goals of figures that are lower bounds."""

from pathlib import Path

import pytest

from fake_run import cut_off_in_the_last
from parts import part
from tailrace.advice.advise import Advice
from tailrace.advice.judging import decided, figure_in
from tailrace.advice.screening import Screening
from tailrace.advice.text import advice_text
from tailrace.results.directory.run_directory import Run
from tailrace.results.summary.figure import FigureSummary
from tailrace.scenario.goal import Goal

P50 = Goal("XS", "latency_p50_ms")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Of its trials the last has a lower bound."""
    return cut_off_in_the_last(tmp_path)


def test_a_goal_is_about_all_transactions_of_all_trials(run: Run) -> None:
    figure = figure_in(run, "fifo", Goal("XS", "latency_p99_ms"))
    assert len(figure.values) == 4
    assert figure.value is not None
    assert min(figure.values) < figure.value <= max(figure.values)
    above, below = (
        Goal("XS", "latency_p99_ms", factor * max(figure.values)) for factor in (2, 0.1)
    )
    end, takes = decided(above, figure)
    assert (end, takes) == ("undecided", "a longer experiment.duration"), (
        "of the last trial p99 is a lower bound"
    )
    assert decided(below, figure) == ("misses", "")
    assert decided(
        Goal("XS", "latency_p50_ms", 2 * max(figure.values)), figure_in(run, "fifo", P50)
    ) == ("meets", "")


@pytest.mark.parametrize(("is_bound", "told"), [(False, "is 12.0 ms"), (True, "is > 12.0 ms")])
def test_a_figure_at_present_is_marked_where_it_is_a_lower_bound(is_bound: bool, told: str) -> None:
    present = part(FigureSummary, value=12.0, values=[11.0, 13.0], bounds=int(is_bound))
    goal = Goal("XS", "latency_p99_ms")
    screening = Screening(trials=2, share=1.0, duration_s=1.0)
    advice = Advice(
        "s", "fifo", goal, Path("out"), None, present, "meets", "", [], screening, [], [], []
    )
    assert f"99th percentile of latency {told}" in advice_text(advice)
