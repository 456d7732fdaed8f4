"""What a terminal shows after a run: one screen, whatever the number of workloads and arms."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from fake_run import FakeRun
from outcomes import many
from parts import part
from tailrace.results import format_result, format_table, summarise
from tailrace.results.causes.verdict import path_limits
from tailrace.results.summary.causes import Band, Explained
from tailrace.results.summary.expectation import JudgedFigure
from tailrace.results.summary.summary import Problem, Summary
from tailrace.results.text.outcome_text import WIDTH
from tailrace.results.text.screen import LINES_MAX, screen_text

SIZES = [(1, 1), (2, 1), (1, 15), (3, 3), (3, 15), (2, 40), (12, 2), (12, 20), (40, 2)]


@pytest.mark.parametrize(("arms", "workloads"), SIZES)
def test_any_run_is_one_screen(arms: int, workloads: int, tmp_path: Path) -> None:
    summary = many(tmp_path, arms, workloads, trials=3)
    text = screen_text(summary)
    assert len(text.splitlines()) <= LINES_MAX
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "\n\n\n" not in text


def test_everything_at_once_is_one_screen(tmp_path: Path) -> None:
    summary = many(tmp_path, 3, 15, trials=3)
    failed = [
        part(
            JudgedFigure,
            metric="rate_per_s",
            workload=f"w{at}",
            kind="independent",
            is_run=True,
            passed=False,
        )
        for at in range(9)
    ]
    problem = part(
        Problem, arm="arm-1", trial=2, status="invalid", reason="the machine was too busy " * 20
    )
    summary = replace(
        summary, expectations=failed, run=replace(summary.run, problems=[problem] * 30)
    )
    lines = screen_text(summary).splitlines()
    assert len(lines) <= LINES_MAX == 39
    assert any("9 of 9" in line or "0 of 9" in line for line in lines)
    assert any(
        line.startswith("30 trials do not count, the first: arm-1 trial 2") for line in lines
    )


def shown(summary: Summary) -> list[str]:
    """Names of the workloads in the table, each on a line of its own."""
    return re.findall(r"^(workload-\d+)$", screen_text(summary), re.MULTILINE)


def test_what_got_worst_is_shown_and_how_many_are_not(tmp_path: Path) -> None:
    summary = many(tmp_path, 2, 20)
    worst = max(
        summary.comparisons, key=lambda effect: effect.is_main and effect.workload == "workload-17"
    )
    assert worst.is_main
    verdict = "lower" if worst.verdict == "higher" else "higher"
    worse = replace(worst, verdict=verdict, ratio=0.01, is_same=False)
    summary = replace(
        summary,
        comparisons=[worse if effect is worst else effect for effect in summary.comparisons],
    )
    names = shown(summary)
    assert "workload-17" in names
    assert f"and {20 - len(names)} more workloads and groups" in screen_text(summary)
    assert names == sorted(names, key=lambda name: int(name.split("-")[1])), (
        "in the order of the scenario"
    )


def test_the_full_text_has_every_table(tmp_path: Path) -> None:
    summary = summarise(FakeRun().write(tmp_path / "run"))
    assert format_result(summary, is_full=True) == format_table(summary)
    assert format_result(summary) == screen_text(summary)
    assert screen_text(summary).endswith("\nAll tables: --full, or the report.\n")


def test_the_trial_that_was_explained_is_named_below_the_causes(tmp_path: Path) -> None:
    summary = many(tmp_path, 2, 1)
    assert "Times of transactions" not in screen_text(summary)
    for at, arm in enumerate(summary.arms.values()):
        own = arm.workloads["workload-0"]
        band = part(Band, name="max", count=9, latency_ps=10.0, parts={"server_work": 10.0})
        causes = part(
            Explained, trial=1, transactions=9, bands=[band], until_s=0.25 if at else None
        )
        limits = path_limits(causes, ["workload-0"])
        arm.workloads["workload-0"] = replace(own, causes=causes, limits=limits)
    assert "\nTimes of transactions are from trial 1 or its beginning.\n" in screen_text(summary)
