"""Trials that ended with their work, long before the duration of the scenario, are told."""

from pathlib import Path
from typing import Any

import pytest

from outcomes import write_run
from tailrace.report import write
from tailrace.results import Result, format_table, summarise
from tailrace.results.sweep.text import format_sweep

PS_PER_MS = 10**9


@pytest.mark.parametrize(
    ("early", "words"),
    [
        (
            range(1, 7),
            "fifo, dpp: the trials ended when all work was done, after 5 ms of 2\u202f000 s.",
        ),
        (
            range(1, 3),
            "fifo, dpp: 2 of 6 trials ended within 10 % of the duration, when all work was done, "
            "after 5 ms of 2\u202f000 s.",
        ),
        (range(0), ""),
    ],
)
def test_a_trial_that_ended_long_before_its_duration_is_told(
    tmp_path: Path, early: range, words: str
) -> None:
    def end(outcome: dict[str, Any], _arm: str, number: int) -> None:
        outcome["end_ps"] = 5 * PS_PER_MS if number in early else 1_500 * 1_000 * PS_PER_MS

    path = write_run(tmp_path / "run", end, scale=1.0)
    text = format_table(summarise(path))
    page = write(path).read_text(encoding="utf-8")
    notebook = Result(path)._repr_html_()
    if words:
        assert words in text.replace("\n", " ")
        assert words in page
        assert words in notebook
    else:
        assert not any("all work was done" in each for each in (text, page, notebook))


def test_different_ends_are_a_range_at_any_scale(tmp_path: Path) -> None:
    def end(outcome: dict[str, Any], _arm: str, number: int) -> None:
        outcome["end_ps"] = (59 + number) * 1_000 * PS_PER_MS

    for scale, duration in ((1.0, "2\u202f000 s"), (0.5, "1\u202f000 s")):
        text = format_table(
            summarise(write_run(tmp_path / f"{scale}", end, scale=scale, arms=("fifo",)))
        )
        told = f"fifo: the trials ended when all work was done, after 60 s to 65 s of {duration}."
        assert told in text.replace("\n", " ")


def test_a_trial_that_did_not_finish_did_not_end_early(tmp_path: Path) -> None:
    def stop(outcome: dict[str, Any], _arm: str, number: int) -> None:
        outcome["end_ps"] = 5 * PS_PER_MS
        if number == 1:
            outcome |= {"status": "invalid", "reason": "did not finish", "unfinished": ["XS"]}

    summary = summarise(write_run(tmp_path / "run", stop, scale=1.0, arms=("fifo",)))
    assert summary.arms["fifo"].early_end.trials == 5


def test_a_sweep_tells_it_once_for_all_its_points(tmp_path: Path) -> None:
    labels = [f"users={users}" for users in range(1, 101)]
    arms = tuple(f"{arm}@{label}" for label in labels for arm in ("fifo", "dpp"))
    sweep = {
        "axes": [
            {
                "path": "workloads.XS.users",
                "name": "users",
                "values": [one.partition("=")[2] for one in labels],
            }
        ],
        "combine": "grid",
        "arms": ["fifo", "dpp"],
        "points": [
            {"label": one, "values": {"workloads.XS.users": one.partition("=")[2]}}
            for one in labels
        ],
    }
    ends_ps = {
        "fifo@users=99": 7 * PS_PER_MS,
        "dpp@users=99": 6 * PS_PER_MS,
        "dpp@users=100": 5 * PS_PER_MS,
    }

    def end(outcome: dict[str, Any], arm: str, _number: int) -> None:
        outcome["end_ps"] = ends_ps.get(arm, 1_500 * 1_000 * PS_PER_MS)

    path = write_run(
        tmp_path / "run", end, manifest={"sweep": sweep}, scale=1.0, arms=arms, trials=1
    )
    words = (
        "Trials at 2 of 100 points ended within 10 % of the duration, when all work was done: "
        "the shortest after 5 ms of 2\u202f000 s, dpp at users=100."
    )
    text = format_sweep(summarise(path)).replace("\n", " ")
    page = write(path).read_text(encoding="utf-8")
    for told in (text, page, Result(path)._repr_html_()):
        assert told.count(words) == 1
        assert told.count("all work was done") == 1

    ends_ps.clear()
    path = write_run(
        tmp_path / "none", end, manifest={"sweep": sweep}, scale=1.0, arms=arms, trials=1
    )
    text = format_sweep(summarise(path))
    assert "all work was done" not in text
    assert "missing" not in text
    for arm in ("fifo@users=99", "dpp@users=99", "dpp@users=98"):
        (path / "trials" / arm / "1.json").unlink()
    assert "Trials are missing at 2 of 100 points: run the same command again" in format_sweep(
        summarise(path)
    )
