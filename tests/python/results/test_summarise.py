"""From a run directory to its summary."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from fake_run import FakeRun
from fake_trial import MIX
from tailrace.results import format_table, summarise
from tailrace.results.compare.headline import headline
from tailrace.results.directory.grid import grid_of
from tailrace.results.summary.network import Lost
from tailrace.results.summary.workload import CutOffWaits
from trial_files import read_trial, write_trial

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "reproductions" / "cisco-dpp" / "published.yaml"
GOLDEN = Path(__file__).parent / "golden_table.txt"


@pytest.fixture(scope="module")
def cisco(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = FakeRun().write(tmp_path_factory.mktemp("cisco") / "run")
    shutil.copy(PUBLISHED, path / "published.yaml")
    return path


def edit_trials(path: Path, arm: str, change: object) -> None:
    assert callable(change)
    for file in (path / "trials" / arm).glob("*.json"):
        outcome = read_trial(file)
        change(outcome, int(file.stem))
        write_trial(file, outcome)


def test_a_summary_is_plain_json_and_is_the_same_every_time(cisco: Path) -> None:
    first, second = (json.dumps(to_builtins(summarise(cisco)), allow_nan=False) for _ in range(2))
    assert first == second


def test_completion_is_shown_at_full_scale_by_the_count_that_was_run(cisco: Path) -> None:
    arm = summarise(cisco).arms["fifo"]
    for name, (_, count) in MIX.items():
        workload = arm.workloads[name]
        assert workload.scale == max(1, int(count * 0.05)) / count
        assert workload.completion_full_scale_s == [
            value / workload.scale for value in workload.completion_s.values
        ]
    # 507 x 0.05 is 25 transactions, not 25.35: dividing by 0.05 would be 1.4 % off.
    l1 = arm.workloads["L1"]
    assert sum(l1.completion_full_scale_s) / 6 == pytest.approx(646, rel=0.01)


def test_every_published_figure_is_judged_and_holds(cisco: Path) -> None:
    judged = summarise(cisco).expectations
    assert len(judged) == 20
    assert all(one.passed for one in judged)
    assert {one.source for one in judged} == {"table 1, p. 6", "table 2, p. 7"}


def test_slowdown_is_relative_to_the_own_solo_run(cisco: Path) -> None:
    slowdown = summarise(cisco).arms["fifo"].workloads["XS"].slowdown
    assert slowdown.mean == pytest.approx(572 / 300, rel=0.01)
    assert slowdown.solo_trials == 1
    assert slowdown.interval.low < slowdown.mean < slowdown.interval.high


def test_acceleration_has_an_interval_and_a_test_of_pairs(cisco: Path) -> None:
    effects = {e.workload: e for e in summarise(cisco).comparisons if e.metric == "completion_s"}
    xs = effects["XS"]
    assert xs.improvement_percent == pytest.approx(31.8, abs=0.6)
    assert xs.improvement_interval.low < xs.improvement_percent < xs.improvement_interval.high
    assert xs.is_paired
    assert xs.test == "Student's test", (
        "six pairs that exchange their labels cannot reach 0.05 among five tests"
    )
    assert (xs.p_value, xs.tests) == (2 / 924, 5)
    assert xs.p_adjusted == pytest.approx(5 * 2 / 924)
    assert "sooner" not in xs.words
    assert "lower with dpp than with fifo" in xs.words


def test_a_workload_that_did_not_finish_in_one_trial_has_no_mean(tmp_path: Path) -> None:
    path = FakeRun(trials=4, with_solo=False).write(tmp_path / "run")

    def stop(outcome: dict[str, list[dict[str, object]]], number: int) -> None:
        if number == 3:
            outcome["workloads"][0]["completion_ps"] = None

    edit_trials(path, "dpp", stop)
    summary = summarise(path)
    workload = summary.arms["dpp"].workloads["XS"]
    assert workload.unfinished_trials == [3]
    assert workload.completion_s.mean is None
    assert not [e for e in summary.comparisons if e.metric == "completion_s" and e.workload == "XS"]
    assert "unfinished in 3" in format_table(summary)


def test_failed_invalid_and_missing_trials_are_listed_and_never_averaged(tmp_path: Path) -> None:
    fake = FakeRun(failed={("dpp", 2)}, invalid={("fifo", 1)}, missing={("dpp", 6)})
    summary = summarise(fake.write(tmp_path / "run"))
    assert summary.run.is_partial
    problems = {(p.arm, p.trial): p.status for p in summary.run.problems}
    assert problems == {("fifo", 1): "invalid", ("dpp", 2): "failed", ("dpp", 6): "missing"}
    assert summary.arms["dpp"].trials == [1, 3, 4, 5]
    assert len(summary.arms["dpp"].workloads["XS"].completion_s.values) == 4
    effect = summary.comparisons[0]
    assert (effect.is_paired, effect.trials) == (True, (3, 3)), (
        "trials 3, 4 and 5 are left in both arms"
    )
    text = format_table(summary)
    assert "PARTIAL" in text
    assert "dpp trial 2: failed: the simulator ran out of memory" in text


def test_trials_with_a_common_seed_are_pairs(tmp_path: Path) -> None:
    fake = FakeRun(trials=7, with_solo=False, failed={("fifo", 1), ("dpp", 7)})
    effect = summarise(fake.write(tmp_path / "run")).comparisons[0]
    assert (effect.is_paired, effect.trials) == (True, (5, 5))
    assert "5 pairs of trials that share a seed" in effect.method


def test_trials_with_other_seeds_are_no_pairs(tmp_path: Path) -> None:
    failed = {("fifo", number) for number in (1, 2, 3)} | {("dpp", number) for number in (4, 5, 6)}
    fake = FakeRun(trials=6, with_solo=False, failed=failed)
    effect = summarise(fake.write(tmp_path / "run")).comparisons[0]
    assert (effect.is_paired, effect.trials) == (False, (3, 3))
    assert "3 against 3 trials" in effect.method


def test_a_run_without_any_valid_trial_is_summarised_all_the_same(tmp_path: Path) -> None:
    fake = FakeRun(trials=1, with_solo=False, failed={("fifo", 1), ("dpp", 1)})
    path = fake.write(tmp_path / "run")
    shutil.copy(PUBLISHED, path / "published.yaml")
    summary = summarise(path)
    assert summary.comparisons == []
    assert all(one.passed is None for one in summary.expectations)
    assert "no trial has it" in format_table(summary)


def test_expectations_of_arms_that_were_not_asked_for_are_told_apart(tmp_path: Path) -> None:
    path = FakeRun(trials=2).write(tmp_path / "run")
    shutil.copy(PUBLISHED, path / "published.yaml")
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    (path / "manifest.json").write_text(json.dumps(manifest | {"arms": ["fifo"]}), encoding="utf-8")
    text = format_table(summarise(path))
    assert "no trial has it" not in text
    assert "not run (--arm)" in text
    assert "); 10 not run (--arm).\n" in text


def test_two_trials_are_too_few_and_the_sizes_are_told(tmp_path: Path) -> None:
    summary = summarise(FakeRun(trials=2, with_solo=False).write(tmp_path / "run"))
    assert {e.verdict for e in summary.comparisons if e.is_main} == {"too few trials"}
    assert {e.trials_needed for e in summary.comparisons if e.is_main} == {5}
    assert summary.arms["fifo"].workloads["XS"].completion_s.interval is None
    text = format_table(summary)
    assert (
        "XS: completion time is 31.8 % lower with dpp than with fifo, but 2 trials cannot decide 5"
        in text
    )


def test_drops_are_counted_by_cause_in_switches_and_hosts(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")

    def lose(outcome: dict[str, list[dict[str, object]]], number: int) -> None:
        outcome["hosts"][0]["rx_ring_drops"] = 10 * number

    edit_trials(path, "fifo", lose)
    drops = summarise(path).arms["fifo"].drops
    assert drops["rx_ring"] == Lost(frames=15, bytes=None), "hosts count no bytes"
    assert set(drops) == {"shared_buffer_full", "rx_ring"}
    assert drops["shared_buffer_full"].frames > 1_000
    assert drops["shared_buffer_full"].bytes > drops["shared_buffer_full"].frames


def test_bytes_that_one_trial_did_not_count_are_not_known(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")

    def forget(outcome: dict[str, Any], number: int) -> None:
        drops = [queue["drops"] for port in outcome["ports"] for queue in port["queues"]]
        for lost in (
            each["shared_buffer_full"]
            for each in drops
            if "shared_buffer_full" in each and number == 1
        ):
            del lost["bytes"]

    edit_trials(path, "fifo", forget)
    fifo = summarise(path).arms["fifo"]
    assert fifo.drops["shared_buffer_full"].bytes is None
    causes = [queue.drops for port in fifo.ports for queue in port.queues if queue.drops]
    assert {each["shared_buffer_full"].bytes for each in causes} == {None}


def test_latencies_of_all_trials_are_pooled(cisco: Path) -> None:
    latency = summarise(cisco).arms["fifo"].workloads["XS"].latency_ms
    assert latency.count == 6 * 20 * int(41_805 * 0.05)
    ordered = [getattr(latency, key) for key in ("min", "p50", "p90", "p95", "p99", "p99_9", "max")]
    assert ordered == sorted(ordered)
    assert len(latency.of_trials["p99"]) == 6
    assert latency.intervals["p99"].low < latency.p99 < latency.intervals["p99"].high
    figure = summarise(cisco).arms["fifo"].figures["XS"]["latency_p99_ms"]
    assert (figure.value, figure.interval) == (latency.p99, latency.intervals["p99"])


def test_figures_that_fill_no_grid_are_listed(cisco: Path) -> None:
    summary = summarise(cisco)
    grid = grid_of(summary.expectations, summary.workloads)
    assert grid is not None
    assert [column.where for column in grid.columns] == ["alone", "fifo", "dpp", "dpp against fifo"]
    assert [judged.published for judged in grid.cells[0]] == [300, 572, 390, 31.8]
    summary.expectations.pop()
    assert grid_of(summary.expectations, summary.workloads) is None
    assert "dpp against fifo L1" in format_table(summary)


def test_what_does_not_hold_is_shown_with_its_interval(cisco: Path) -> None:
    summary = summarise(cisco)
    judged = summary.expectations
    judged[5] = replace(judged[5], passed=False, is_clear=True)
    text = format_table(summary)
    assert (
        "5 of 6 independent figures hold (and 3 of 3 derived, 6 of 6 bound, 5 of 5 fitted)." in text
    )
    missed = [line for line in text.splitlines() if line.startswith("completion_s")]
    assert len(missed) == 1
    assert " to " in missed[0]
    assert missed[0].endswith("FAIL")


def test_figures_without_kinds_are_counted_together(cisco: Path) -> None:
    summary = summarise(cisco)
    judged = [replace(judged, kind="independent") for judged in summary.expectations]
    assert format_table(replace(summary, expectations=judged)).endswith(
        "\n20 of 20 expectations hold.\n"
    )


def test_the_table_is_the_one_that_people_agreed_to(cisco: Path) -> None:
    assert format_table(summarise(cisco)) == GOLDEN.read_text(encoding="utf-8")


def test_an_arm_that_changes_nothing_is_told_so(tmp_path: Path) -> None:
    path = FakeRun().write(tmp_path / "run")
    shutil.rmtree(path / "trials" / "dpp")
    shutil.copytree(path / "trials" / "fifo", path / "trials" / "dpp")
    plan_hash = json.loads((path / "manifest.json").read_text())["plan_hashes"]["dpp"]
    for file in (path / "trials" / "dpp").glob("*.json"):
        write_trial(file, read_trial(file) | {"arm": "dpp", "plan_hash": plan_hash})
    summary = summarise(path)
    words = (
        "XS: completion time is exactly the same with dpp as with fifo in every trial; check "
        "that the overrides of dpp"
    )
    assert words in format_table(summary)
    assert headline(summary) == [
        "With dpp instead of fifo, the main figures of all workloads are the same."
    ]


def nothing_ended(outcome: dict[str, Any], _number: int) -> None:
    """XS has transactions that all were running when the trial ended."""
    for workload in outcome["workloads"]:
        if workload["name"] == "XS":
            workload["latency"] = {"count": 0, "buckets": []}
            workload["cut_off"] = {"count": 9, "longest_ps": 10**12, "buckets": [[10**12, 9]]}


def test_bounds_that_are_equal_are_not_called_the_same(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")
    for arm in ("fifo", "dpp"):
        edit_trials(path, arm, nothing_ended)
    effects = summarise(path).comparisons
    [effect] = [e for e in effects if (e.workload, e.metric) == ("XS", "latency_p99_ms")]
    assert effect.bounds == effect.trials
    assert not effect.is_same
    assert effect.verdict == "not comparable"
    assert "99th percentile of latency cannot be compared" in effect.words
    assert "a lower bound in 6 trials of fifo and 6 trials of dpp" in effect.words


def cut_off(outcome: dict[str, Any], _number: int) -> None:
    """XS has a transaction of every user cut off in the congested arm."""
    for workload in outcome["workloads"]:
        if workload["name"] == "XS":
            longest = 2 * workload["latency"]["max_ps"]
            count = 20 * workload["latency"]["count"] // 1000 + 20
            workload["cut_off"] = {
                "count": count,
                "longest_ps": longest,
                "buckets": [[longest, count]],
            }


def test_transactions_that_were_cut_off_are_told_and_count(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")
    before = summarise(path).arms["fifo"].workloads["XS"].latency_ms
    edit_trials(path, "fifo", cut_off)
    summary = summarise(path)
    latency = summary.arms["fifo"].workloads["XS"].latency_ms
    assert latency.p50 > before.p50
    assert latency.p99 == latency.cut_off.longest == latency.max
    assert {"p99", "p99_9", "max", "mean"} <= set(latency.bounds)
    assert latency.intervals["p99"] is None
    assert before.bounds == []
    assert before.cut_off == CutOffWaits(count=0, longest=0.0)
    text = format_table(summary)
    row = next(line for line in text.splitlines() if line.startswith("XS") and "> " in line)
    assert str(latency.cut_off.count) in row.replace(" ", "")
    assert "Kaplan-Meier" in text
    assert "Kaplan-Meier" not in format_table(
        summarise(FakeRun(with_solo=False).write(tmp_path / "other"))
    )


def test_a_workload_without_cuts_has_the_figures_that_its_engine_recorded(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")
    before = summarise(path)

    def nothing(outcome: dict[str, Any], _number: int) -> None:
        for workload in outcome["workloads"]:
            workload["cut_off"] = {"count": 0, "longest_ps": 0, "buckets": []}

    for arm in ("fifo", "dpp"):
        edit_trials(path, arm, nothing)
    assert summarise(path) == before


def test_an_effect_says_where_its_figures_are_bounds(tmp_path: Path) -> None:
    path = FakeRun(trials=10, with_solo=False).write(tmp_path / "run")
    edit_trials(path, "fifo", cut_off)
    effects = summarise(path).comparisons
    [effect] = [e for e in effects if (e.workload, e.metric) == ("XS", "latency_p99_ms")]
    assert effect.bounds == (10, 0)
    assert "a lower bound in 10 trials of fifo" in effect.words


def test_lower_bounds_have_no_interval(tmp_path: Path) -> None:
    path = FakeRun(trials=10, with_solo=False).write(tmp_path / "run")
    edit_trials(path, "fifo", cut_off)
    summary = summarise(path)
    fifo, dpp = (summary.arms[arm] for arm in ("fifo", "dpp"))
    for own, has_one in ((fifo, False), (dpp, True)):
        assert bool(own.figures["XS"]["latency_p99_ms"].interval) is has_one
        assert bool(own.workloads["XS"].latency_ms.intervals["p99"]) is has_one
    assert fifo.figures["XS"]["latency_p50_ms"].interval, "the median is known"
    effects = {e.metric: e for e in summary.comparisons if e.workload == "XS"}
    assert effects["latency_p99_ms"].change_interval is None
    assert effects["latency_p99_ms"].improvement_interval is None
    assert effects["latency_p50_ms"].change_interval
    assert "is at least " in effects["latency_p99_ms"].words, "less than what is more than a bound"
    cell = next(line for line in format_table(summary).splitlines() if "> " in line)
    assert "±" not in cell[cell.index("> ") : cell.index("> ") + 16]
