"""What is computed from a trial for one table is not computed again for the next: a sweep has
thousands of trials."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from outcomes import write_run
from tailrace.results import Run, summarise
from tailrace.statistics import Histogram

PS_PER_MS = 10**9
ARMS = ("fifo", "dpp")
TRIALS = 3


def cut_off(outcome: dict[str, Any], _arm: str, number: int) -> None:
    for one in outcome["workloads"]:
        longest_ps = number * PS_PER_MS
        one["cut_off"] = {"count": 2, "longest_ps": longest_ps, "buckets": [[longest_ps, 2]]}


def test_latencies_of_a_trial_are_pooled_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_run(tmp_path / "run", cut_off, arms=ARMS, trials=TRIALS)
    workloads = len(Run.read(path).workloads)
    pooled: list[int] = []
    made = Histogram.from_outcomes.__func__  # type: ignore[attr-defined]

    def counted(
        cls: type[Histogram], latencies: Iterable[Any], cut_offs: Sequence[Any]
    ) -> Histogram | None:
        listed = list(latencies)
        pooled.append(len(listed))
        found: Histogram | None = made(cls, listed, cut_offs)
        return found

    together: list[int] = []
    added = Histogram.together.__func__  # type: ignore[attr-defined]

    def added_up(cls: type[Histogram], trials: Sequence[Histogram]) -> Histogram:
        together.append(len(trials))
        found: Histogram = added(cls, trials)
        return found

    monkeypatch.setattr(Histogram, "from_outcomes", classmethod(counted))
    monkeypatch.setattr(Histogram, "together", classmethod(added_up))
    summarise(path)
    assert pooled.count(1) == len(ARMS) * TRIALS * workloads
    assert together.count(TRIALS) == len(ARMS) * workloads


def test_a_plan_is_read_once_where_no_queue_has_fair_drop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_run(tmp_path / "run", lambda *_: None, arms=ARMS, trials=TRIALS)
    read: list[str] = []
    monkeypatch.setattr(Run, "plan", lambda _run, arm: read.append(arm))
    summarise(path)
    assert sorted(read) == sorted(ARMS)
