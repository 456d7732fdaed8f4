"""Two runs side by side."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from fake_run import FakeRun
from report_page import edit_trials
from tailrace.cli.inspect import print_comparison
from tailrace.errors import RunRefusedError
from tailrace.results import RunDirectoryError, compare, format_compare
from trial_files import read_trial, write_trial


def runs(path: Path, first: FakeRun, second: FakeRun) -> tuple[Path, Path]:
    return first.write(path / "a"), second.write(path / "b")


def test_a_faster_run_is_seen_and_its_size_is_told(tmp_path: Path) -> None:
    compared = compare(*runs(tmp_path, FakeRun(), FakeRun(seed=2, factor=0.9)))
    xs = next(
        d
        for d in compared.differences
        if (d.scope, d.workload, d.metric) == ("fifo", "XS", "completion_s")
    )
    assert xs.verdict == "lower"
    assert xs.improvement_percent == pytest.approx(10, abs=1)
    assert xs.improvement_interval.low < 10 < xs.improvement_interval.high
    assert not xs.is_paired, "other seeds"
    text = format_compare(compared)
    assert "fifo: plans differ" in text
    assert "XS: completion time is" in text
    assert "with b than with a" in text


def test_arms_with_too_few_trials_are_named_and_not_tabulated(tmp_path: Path) -> None:
    text = format_compare(compare(*runs(tmp_path, FakeRun(trials=6), FakeRun(trials=6, seed=2))))
    assert "too few trials to compare: solo:L1, solo:L2, solo:M, solo:S, solo:XS" in text
    assert not [
        line for line in text.splitlines() if line.startswith("completion_s") and "solo" in line
    ]


def test_the_same_run_twice_is_identical_event_by_event(tmp_path: Path) -> None:
    compared = compare(*runs(tmp_path, FakeRun(trials=2), FakeRun(trials=2)))
    assert compared.same_plan["fifo"] is True
    assert compared.same_plan["solo:XS"] is None, "the manifest has no hash of it"
    assert compared.identical_trials["fifo"] == 2
    assert "fifo: same plan; 2 trials have identical event digests" in format_compare(compared)
    json.dumps(to_builtins(compared), allow_nan=False)


def test_runs_of_other_scales_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"0\.05 and 0\.1.*hint: run both"):
        compare(*runs(tmp_path, FakeRun(trials=1), FakeRun(trials=1, scale=0.1)))


def test_runs_without_a_common_arm_are_refused(tmp_path: Path) -> None:
    first, second = (
        FakeRun(trials=1, arms=("fifo",), with_solo=False),
        FakeRun(trials=1, arms=("dpp",), with_solo=False),
    )
    with pytest.raises(RunDirectoryError, match="no arm in common"):
        compare(*runs(tmp_path, first, second))


def test_runs_without_valid_trials_are_refused(tmp_path: Path) -> None:
    failed = FakeRun(trials=1, with_solo=False, failed={("fifo", 1), ("dpp", 1)})
    with pytest.raises(RunDirectoryError, match="no arm has valid trials in both"):
        compare(*runs(tmp_path, FakeRun(trials=1, with_solo=False), failed))


def test_runs_that_did_other_work_are_refused(tmp_path: Path) -> None:
    a, b = runs(tmp_path, FakeRun(trials=1), FakeRun(trials=1))
    file = b / "trials" / "fifo" / "1.json"
    outcome = read_trial(file)
    outcome["workloads"][0]["transactions"] -= 20
    write_trial(file, outcome)
    with pytest.raises(
        RunDirectoryError,
        match="fifo: XS completed 41800 transactions in the first run and 41780 in the second",
    ):
        compare(a, b)


def test_what_only_one_run_has_is_said(tmp_path: Path) -> None:
    compared = compare(
        *runs(tmp_path, FakeRun(trials=1), FakeRun(trials=1, arms=("fifo",), with_solo=False))
    )
    assert compared.only_in_a[0] == "dpp"
    assert compared.only_in_b == []
    assert "only in a: dpp" in format_compare(compared)


@pytest.mark.parametrize(
    ("bounded", "verdict", "change"), [("a", "not tested", "< "), ("b", "not comparable", "–")]
)
def test_lower_bounds_are_compared_only_where_they_tell(
    tmp_path: Path, bounded: str, verdict: str, change: str
) -> None:
    """The second run is faster, all the more where the first one has bounds, and perhaps not where
    it has them."""
    paths = runs(tmp_path, FakeRun(with_solo=False), FakeRun(with_solo=False, seed=2, factor=0.5))
    edit_trials(paths["ab".index(bounded)], hardly_longer)
    compared = compare(*paths)
    [effect] = [
        e
        for e in compared.differences
        if (e.scope, e.workload, e.metric) == ("fifo", "XS", "latency_p99_ms")
    ]
    assert effect.verdict == verdict
    assert effect.change_interval is None
    assert effect.ratio_interval is None
    assert effect.bounds == (6 * (bounded == "a"), 6 * (bounded == "b"))
    row = next(
        line
        for line in format_compare(compared).splitlines()
        if re.match("latency_p99_ms +fifo +XS ", line)
    )
    assert row.count("> ") == 1
    assert change in row.replace("> ", "")
    assert verdict in row


def hardly_longer(outcome: dict[str, Any]) -> None:
    """A fiftieth of the transactions of XS is cut off at the largest latency of those that
    ended."""
    own = next(workload for workload in outcome["workloads"] if workload["name"] == "XS")
    longest, count = own["latency"]["max_ps"], own["latency"]["count"] // 50
    own["cut_off"] = {"count": count, "longest_ps": longest, "buckets": [[longest, count]]}


def test_one_run_is_not_a_comparison(tmp_path: Path) -> None:
    one = FakeRun(trials=1, with_solo=False).write(tmp_path / "a")
    with pytest.raises(
        RunRefusedError, match="compare takes 2 runs, or one run of each engine; there are 1"
    ):
        print_comparison([one], None, json_=False)
    assert "fifo: same plan; 1 trial has an identical event digest\n" in format_compare(
        compare(one, one)
    )
