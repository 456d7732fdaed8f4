"""The sentence above everything else: it is made from all figures, and says both where they
disagree."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from outcomes import endless, state, write_run
from parts import part
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun
from tailrace.results import summarise
from tailrace.results.compare.headline import headline
from tailrace.results.compare.tone import direction
from tailrace.results.metrics.definitions import noun_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.summary import Summary
from tailrace.results.workload import REQUEST_COUNTERS
from tailrace.scenario.loading import load_scenario

ROOT = Path(__file__).parents[3]
Figures = Mapping[str, Mapping[str, float]]


def told(
    path: Path, figures: Mapping[str, Figures], *, trials: int = 6, **manifest: Any
) -> list[str]:
    """The headline of arms and workloads with these figures."""

    def change(outcome: dict[str, Any], arm: str, number: int) -> None:
        for name, workload in endless(outcome, *figures[arm]).items():
            state(workload, number, **figures[arm][name])

    arms = tuple(figures)
    names = list(figures[arms[0]])
    made = write_run(
        path / "run", change, manifest={"workloads": names, **manifest}, arms=arms, trials=trials
    )
    return headline(summarise(made))


def test_a_buffer_that_halves_the_transactions_is_worse_although_p99_is_lower(
    tmp_path: Path,
) -> None:
    small = {"XS": {"rate_per_s": 1000, "p50_ms": 7, "p99_ms": 200}}
    large = {"XS": {"rate_per_s": 490, "p50_ms": 7, "p99_ms": 153}}
    [sentence] = told(tmp_path, {"fifo": small, "dpp": large})
    words = "the transactions per second of XS fall from 1\u202f007 to 493 (−51.0 %; p99 −23.5 %)"
    assert sentence == f"With dpp instead of fifo, {words}."


def test_two_main_metrics_that_disagree_are_both_told(tmp_path: Path) -> None:
    small = {"XS": {"rate_per_s": 1000, "p50_ms": 7, "p99_ms": 200}}
    large = {"XS": {"rate_per_s": 490, "p50_ms": 7, "p99_ms": 153}}
    both = [{"workload": "XS", "metric": metric} for metric in ("rate_per_s", "latency_p99_ms")]
    [sentence] = told(tmp_path, {"fifo": small, "dpp": large}, headline=both)
    assert sentence == (
        "With dpp instead of fifo, the transactions per second of XS fall from 1\u202f007 to 493 "
        "(−51.0 %), while the p99 of XS falls from 201 to 154 ms (−23.5 %)."
    )


def test_where_nothing_is_told_of_the_rate_the_median_stands_beside_it(tmp_path: Path) -> None:
    before: Figures = {
        "XS": {"rate_per_s": 1000, "p50_ms": 7, "p99_ms": 200},
        "S": {"rate_per_s": 9, "p50_ms": 7, "p99_ms": 9},
    }
    after: Figures = {"XS": {"rate_per_s": 1000, "p50_ms": 16.1, "p99_ms": 200}, "S": before["S"]}
    for trials in (4, 8):
        [sentence] = told(tmp_path / str(trials), {"fifo": before, "dpp": after}, trials=trials)
        assert sentence == (
            "With dpp instead of fifo, the main figures of all workloads are the same, but the p50 "
            f"of XS rises from {'7.04 to 16.2' if trials == 4 else '7.07 to 16.3'} ms (+130.0 %)."
        )


def noisy(path: Path, arms: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The headline of arms of one workload whose rates vary from trial to trial, in each arm
    otherwise."""

    def change(outcome: dict[str, Any], arm: str, number: int) -> None:
        jitter = 1 + 0.02 * (number * (1 + 2 * list(arms).index(arm)) % 7 - 3)
        state(
            endless(outcome, "XS")["XS"],
            number,
            **arms[arm] | {"rate_per_s": arms[arm]["rate_per_s"] * jitter},
        )

    return headline(
        summarise(
            write_run(path, change, manifest={"workloads": ["XS"]}, arms=tuple(arms), trials=6)
        )
    )


def test_arms_without_a_difference_are_said_to_have_none(tmp_path: Path) -> None:
    one = {"rate_per_s": 1000, "p50_ms": 7, "p99_ms": 200}
    [same] = noisy(tmp_path / "same", {"left": one, "right": one})
    assert (
        same == "With right instead of left, the main figures of all workloads do not differ "
        "significantly."
    )
    [beside] = noisy(tmp_path / "beside", {"left": one, "right": one | {"p50_ms": 21}})
    assert beside == f"{same[:-1]}, but the p50 of XS rises from 7.06 to 21.2 ms (+200.0 %)."


def test_a_workload_that_is_better_in_one_arm_and_worse_in_another_is_told_with_both(
    tmp_path: Path,
) -> None:
    rates = {"XS": {"old": 100, "up": 300, "down": 100}, "S": {"old": 100, "up": 120, "down": 80}}
    rates |= {"M": {"old": 100, "up": 140, "down": 140}, "L1": {"old": 100, "up": 90, "down": 100}}
    arms = {
        arm: {
            name: {"rate_per_s": of[arm], "p50_ms": 8, "p99_ms": 10} for name, of in rates.items()
        }
        for arm in ("old", "up", "down")
    }
    last = told(tmp_path, arms, trials=8)[-1]
    words = "transactions per second"
    assert last == (
        f"Of the 3 others, 1 is better with one arm and worse with another (S with up: {words} "
        f"+20.0 %, with down: {words} −20.0 %), 1 is worse with at least one arm (L1 with up: "
        f"{words} −10.0 %) and 1 is better with at least one arm (M with up: {words} +40.0 %)."
    )


def test_twelve_databases_with_four_trials_are_not_silent_about_their_tails(tmp_path: Path) -> None:
    """Twelve workloads in one arm: none can be decided, and the sentence says what could, and what
    changed most."""
    names = ("XS", "S", "M")
    before = {name: {"rate_per_s": 1000, "p50_ms": 7, "p99_ms": 10} for name in names}
    after = {
        name: {"rate_per_s": 640 + number, "p50_ms": 7 + number, "p99_ms": 100 * (1 + number) + 20}
        for number, name in enumerate(names)
    }
    arms = {"fifo": before, "dpp": after, "ecn": after, "red": after, "pie": after}
    first, second, third = told(tmp_path, arms, trials=4)
    assert (
        "the transactions per second of XS fall from 1\u202f005 to 643 "
        "(−36.0 %; p99 × 12.0); 4 trials" in first
    )
    assert first.endswith("; 4 trials cannot decide 12 comparisons: 6 would.")
    assert second == "They are 643 with ecn, 643 with red and 643 with pie."
    assert "the transactions per second of M fall from" in third
    assert "p99 × 32.0" in third


def test_figures_that_agree_stand_behind_the_rate(tmp_path: Path) -> None:
    before = {"XS": {"rate_per_s": 1000, "p50_ms": 8, "p99_ms": 10}}
    after = {"XS": {"rate_per_s": 1400, "p50_ms": 2, "p99_ms": 9}}
    [sentence] = told(tmp_path, {"fifo": before, "dpp": after})
    words = (
        "the transactions per second of XS rise from 1\u202f007 to 1\u202f410 (+40.0 %; p50 "
        "−75.0 %, p99 −10.0 %)"
    )
    assert sentence == f"With dpp instead of fifo, {words}."


def test_requests_that_fail_stand_before_latencies_that_do_not_count_them(tmp_path: Path) -> None:
    figures = {"old": (1000, 8, 9, 0), "new": (900, 7, 9, 50)}

    def change(outcome: dict[str, Any], arm: str, number: int) -> None:
        rate, p50_ms, p99_ms, failed = figures[arm]
        workload = endless(outcome, "XS")["XS"]
        workload["kind"] = "requests"
        state(workload, number, rate_per_s=rate, p50_ms=p50_ms, p99_ms=p99_ms)
        done = workload["transactions"]
        counts = dict.fromkeys(REQUEST_COUNTERS, 0)
        workload["request_counts"] = counts | {
            "begun": done + failed,
            "answered": done,
            "failed": failed,
        }

    def made(name: str, *arms: str) -> Summary:
        return summarise(
            write_run(tmp_path / name, change, manifest={"workloads": ["XS"]}, arms=arms, trials=6)
        )

    [sentence] = headline(made("two", "old", "new"))
    assert re.search(r"but the failed requests of XS rise from 0 to [\d.]+ %\.$", sentence)
    [alone] = headline(made("one", "new"))
    assert re.fullmatch(
        r"With new, XS did 90\d requests per second, and [\d.]+ % of its requests failed\.", alone
    )


def test_rates_of_requests_are_told_in_requests(tmp_path: Path) -> None:
    def change(outcome: dict[str, Any], arm: str, number: int) -> None:
        rate = {"old": 1000, "new": 1400}[arm]
        for name, workload in endless(outcome, "XS", "S").items():
            workload["kind"] = {"XS": "requests", "S": "oltp"}[name]
            state(workload, number, rate_per_s=rate, p50_ms=8, p99_ms=9)

    made = write_run(
        tmp_path / "run", change, manifest={"workloads": ["XS", "S"]}, arms=("old", "new"), trials=6
    )
    summary = summarise(made)
    first, second = headline(summary)
    assert "the transactions per second of S rise from 1\u202f007 to 1\u202f410 (+40.0 %)" in first
    assert (
        second
        == "Meanwhile the p99 of XS is exactly the same (9.05 ms; requests per second +40.0 %)."
    )
    rates = {e.workload: e.words for e in summary.comparisons if e.metric == "rate_per_s"}
    assert rates["XS"].startswith("XS: requests per second are 40.0 % higher")
    assert rates["S"].startswith("S: transactions per second are 40.0 % higher")
    assert noun_of(["requests", "oltp", "stream"]) == "transactions or requests"


def test_one_arm_is_told_with_the_scale_of_its_completion_times_alone(tmp_path: Path) -> None:
    [rates] = told(tmp_path, {"fifo": {"XS": {"rate_per_s": 1000, "p50_ms": 8, "p99_ms": 10}}})
    assert rates == "With fifo, XS did 1\u202f007 transactions per second."
    [scaled] = headline(
        summarise(write_run(tmp_path / "scaled", lambda *_: None, arms=("fifo",), scale=0.05))
    )
    assert scaled.endswith(" s (completion times at full scale).")
    [whole] = headline(
        summarise(write_run(tmp_path / "whole", lambda *_: None, arms=("fifo",), scale=1.0))
    )
    assert "full scale" not in whole


def test_a_fourfold_is_told_as_a_ratio(tmp_path: Path) -> None:
    before = {"XS": {"rate_per_s": 100, "p50_ms": 8, "p99_ms": 10}}
    after = {"XS": {"rate_per_s": 1425, "p50_ms": 8, "p99_ms": 10}}
    [sentence] = told(tmp_path, {"fifo": before, "dpp": after})
    assert "the transactions per second of XS rise from 101 to 1\u202f435 (× 14.2)" in sentence
    assert "%" not in sentence


def test_arms_of_which_the_same_is_said_share_a_sentence(tmp_path: Path) -> None:
    same = {"XS": {"rate_per_s": 100, "p50_ms": 8, "p99_ms": 10}}
    arms = dict.fromkeys(("fifo", *(f"arm-{n}" for n in range(6))), same)
    [sentence] = told(tmp_path, arms)
    assert sentence.startswith("With arm-0, arm-1, arm-2, arm-3 and 2 more arms instead of fifo, ")


def test_a_scenario_names_its_headline(tmp_path: Path) -> None:
    before = {
        "XS": {"rate_per_s": 1000, "p50_ms": 8, "p99_ms": 10},
        "S": {"rate_per_s": 10, "p50_ms": 8, "p99_ms": 9},
    }
    after = {
        "XS": {"rate_per_s": 1400, "p50_ms": 8, "p99_ms": 9},
        "S": {"rate_per_s": 12, "p50_ms": 8, "p99_ms": 8},
    }
    chosen = [{"workload": "XS", "metric": "latency_p99_ms"}]
    [sentence] = told(tmp_path, {"fifo": before, "dpp": after}, headline=chosen)
    words = "the p99 of XS falls from 10.1 to 9.05 ms (−10.0 %; transactions per second +40.0 %)"
    assert sentence == f"With dpp instead of fifo, {words}."


def test_a_group_is_told_by_its_total_and_a_member_that_disagrees_is_named(tmp_path: Path) -> None:
    before = {
        "XS": {"rate_per_s": 1000, "p50_ms": 8, "p99_ms": 10},
        "S": {"rate_per_s": 100, "p50_ms": 8, "p99_ms": 10},
    }
    after = {
        "XS": {"rate_per_s": 1400, "p50_ms": 8, "p99_ms": 10},
        "S": {"rate_per_s": 50, "p50_ms": 8, "p99_ms": 10},
    }
    groups = {"databases": ["XS", "S"]}
    [sentence] = told(tmp_path, {"fifo": before, "dpp": after}, groups=groups)
    assert (
        "the transactions per second of databases rise from 1\u202f108 to 1\u202f460 (+31.8 %)"
        in sentence
    )
    assert "while the transactions per second of S fall from 101 to 50.4 (−50.0 %)" in sentence


def test_one_arm_is_told_by_what_the_scenario_names_and_groups_by_their_totals(
    tmp_path: Path,
) -> None:
    arm: dict[str, Figures] = {
        "fifo": {
            name: {"rate_per_s": rate, "p50_ms": 8, "p99_ms": 9}
            for name, rate in (("XS", 1000), ("S", 100))
        }
    }
    groups = {"databases": ["XS", "S"]}
    [total] = told(tmp_path, arm, groups=groups)
    assert total == "With fifo, databases did 1\u202f108 transactions per second."
    [named] = told(tmp_path / "named", arm, groups=groups, headline=[{"workload": "S"}])
    assert named == "With fifo, S did 101 transactions per second."


@pytest.mark.parametrize(
    ("rate", "after", "bounds", "words"),
    [
        (
            1000,
            (153, 160),
            [6, 0],
            ["of XS falls from at least 202 to 154 ms (< −23.5 %)", "(< −20.0 %)"],
        ),
        (
            1000,
            (1000, 2000),
            [0, 6],
            ["of S rises from 202 to at least 2\u202f016 ms (> × 10.0)", "(> × 5.00)"],
        ),
        (490, (153, 153), [6, 0], ["; p99 < −23.5 %)"]),
        (2000, (1000, 1000), [0, 6], ["; p99 > × 5.00)"]),
    ],
)
def test_a_difference_between_lower_bounds_is_at_least_so_large(
    tmp_path: Path, rate: float, after: tuple[float, float], bounds: list[int], words: list[str]
) -> None:
    new = dict(zip(("XS", "S"), after, strict=True))

    def change(outcome: dict[str, Any], arm: str, number: int) -> None:
        for name, workload in endless(outcome, *new).items():
            figures = {"rate_per_s": 1000, "p50_ms": 7, "p99_ms": 200}
            state(
                workload,
                number,
                **figures if arm == "fifo" else figures | {"rate_per_s": rate, "p99_ms": new[name]},
            )

    metric = "latency_p99_ms" if rate == 1000 else "rate_per_s"
    manifest = {
        "workloads": list(new),
        "headline": [{"workload": name, "metric": metric} for name in new],
    }
    summary = summarise(
        write_run(tmp_path / "run", change, manifest=manifest, arms=("fifo", "dpp"), trials=8)
    )
    assert "at least" not in "".join(headline(summary))
    effects = [
        replace(effect, bounds=bounds) if effect.metric == "latency_p99_ms" else effect
        for effect in summary.comparisons
    ]
    found = " ".join(headline(replace(summary, comparisons=effects)))
    assert all(part in found for part in words), found


def test_a_lower_bound_cannot_be_told_to_be_lower() -> None:
    lower = part(ArmEffect, metric="latency_p99_ms", verdict="lower", p_value=0.001)
    bounds = [(0, 0), (6, 0), (0, 6)]
    assert [direction(replace(lower, bounds=each)) for each in bounds] == [1, 1, 0]


def test_a_job_of_several_sizes_is_judged_by_its_completion(tmp_path: Path) -> None:
    """The median of iterations of two sizes is one of the small ones, which do not wait for the
    line."""
    scenario = tmp_path / "job.yaml"
    scenario.write_text(
        "tailrace: 1\nname: job\nnetwork: {topology: {kind: star, hosts: [a, b]}}\n"
        "workloads: {job: {kind: mpi, hosts: [a, b], sizes: [8B, 64KiB], iterations: 20}}\n"
        "arms: {fast: {}, slow: {network.link.rate: 1Gbit/s}}\nexperiment: {trials: 6, "
        "duration: 1s}\n",
        encoding="utf-8",
    )
    finished = ExperimentRun(load_scenario(scenario), Options(out=tmp_path / "run")).run()
    [sentence] = headline(summarise(finished.path))
    assert sentence.startswith("With slow instead of fast, the completion time of job rises from ")


@pytest.mark.parametrize("trials", [6])
def test_the_scenario_of_the_readme_leads_with_its_transactions(
    tmp_path: Path, trials: int
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    scenario = tmp_path / "backup-window.yaml"
    scenario.write_text(readme.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    loaded = load_scenario(scenario, {"experiment.trials": trials, "experiment.duration": "400ms"})
    finished = ExperimentRun(loaded, Options(out=tmp_path / "run")).run()
    summary = summarise(finished.path)
    first, second = headline(summary)
    assert first.startswith(
        "With dpp instead of fifo, the transactions per second of shop rise from "
    )
    assert second.startswith("Meanwhile the goodput of backup")
    rate, median = (
        next(e for e in summary.comparisons if (e.workload, e.metric) == ("shop", metric))
        for metric in ("rate_per_s", "latency_p50_ms")
    )
    assert rate.is_main
    assert rate.change_percent > 20
    assert median.change_percent < -50
