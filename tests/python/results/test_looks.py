"""What looks at the trials of a run decide, by hand-made trials."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import whole
from tailrace.outcome.run_files import RunFiles
from tailrace.outcome.stored import Status
from tailrace.results.compare.effects import comparisons
from tailrace.results.compare.looks import Looked, compare_looked, complete_looks, judged
from tailrace.results.compare.looks_text import summarise_looks
from tailrace.results.directory.manifest import AutoTrials, Manifest
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.metrics.definitions import metric_of_trials
from tailrace.results.summary.summary import HeadlineFigure
from tailrace.statistics.looks import looks_until, share_of

PS_PER_S = 10**12
TRIALS = 12


def trial(arm: str, number: int, rate: int, seed: int, **parts: Any) -> Trial:
    own = {"name": "shop", "kind": "oltp", "transactions": rate, "completion_ps": None}
    return whole.trial(arm, number, seed=seed, end_ps=PS_PER_S, workloads=[own], **parts)


def run_of(arms: dict[str, list[Trial]]) -> Run:
    return Run(
        RunFiles(Path()), Manifest(name="x", seed=1, arms=list(arms), workloads=["shop"]), arms
    )


def arm(name: str, mean: float, seeds: list[int], luck: int = 1) -> list[Trial]:
    rng = random.Random(luck)
    return [
        trial(name, number, round(rng.gauss(mean, 20)), seed)
        for number, seed in enumerate(seeds, 1)
    ]


SEEDS = list(range(100, 100 + TRIALS))


def looked(run: Run, tests: int) -> Looked:
    [main] = [one for one in comparisons(run, "a") if one.is_main]
    return Looked(main, TRIALS, [main], tests, run.seed)


def test_only_looks_of_which_both_arms_have_all_trials_are_complete() -> None:
    arms = {name: arm(name, 1000, SEEDS) for name in ("a", "b")}
    assert complete_looks(run_of(arms), ["a", "b"]) == looks_until(TRIALS)
    first = looks_until(TRIALS)[0]
    ends: list[tuple[Status, list[int]]] = [("invalid", looks_until(TRIALS)), ("failed", [])]
    for status, complete in ends:
        spoilt = [
            *arms["b"][: first - 1],
            replace(arms["b"][first - 1], status=status),
            *arms["b"][first:],
        ]
        assert complete_looks(run_of(arms | {"b": spoilt}), ["a", "b"]) == complete, status
    assert complete_looks(run_of(arms | {"b": arms["b"][: first - 1]}), ["a", "b"]) == []


def grouped_run(without: str) -> Run:
    """Three arms with a group of two streams; one arm lacks one of them."""

    def streams(arm: str, number: int, seed: int) -> Trial:
        names = ["etl"] if arm == without else ["dump", "etl"]
        rate = (2 if arm == "dpp" else 1) * 10**9 + number * 10**6
        own = [
            {"name": name, "kind": "stream", "goodput_bytes": rate, "completion_ps": None}
            for name in names
        ]
        return whole.trial(arm, number, seed=seed, end_ps=PS_PER_S, workloads=own)

    names = ["fifo", "dpp", "no-dump"]
    arms = {
        arm: [streams(arm, number, seed) for number, seed in enumerate(SEEDS, 1)] for arm in names
    }
    groups = {"bulk": ["dump", "etl"]}
    auto = AutoTrials(trials_max=24, precision=0.05)
    headline = [HeadlineFigure(workload="bulk")]
    manifest = Manifest(
        seed=1, arms=names, workloads=groups["bulk"], groups=groups, headline=headline, auto=auto
    )
    return Run(RunFiles(Path()), manifest, arms)


def test_an_arm_without_a_member_of_a_group_takes_its_test_from_no_other_arm() -> None:
    run = grouped_run("no-dump")
    effects, found = compare_looked(run, "fifo")
    assert [(one.arm, one.workload, one.verdict) for one in effects if one.is_main] == [
        ("dpp", "bulk", "higher")
    ]
    assert [(one.arm, one.state) for one in found] == [("dpp", "different")]
    assert summarise_looks(run, found).is_decided


def test_what_has_no_main_figure_is_not_decided() -> None:
    run = grouped_run("fifo")
    alone = Run(RunFiles(Path()), run.manifest, {"fifo": run.trials["fifo"]})
    found = compare_looked(alone, None)[1]
    told = summarise_looks(alone, found)
    assert (told.sentence, told.is_decided) == (
        "After 12 trials there is no main figure to decide on.",
        False,
    )


def test_the_error_of_a_look_is_divided_by_the_main_comparisons() -> None:
    run = run_of({"a": arm("a", 1000, SEEDS), "b": arm("b", 1010, SEEDS, luck=2)})
    for tests in (1, 12):
        [change] = looked(run, tests).changes()
        assert change.interval
        assert change.interval.level == pytest.approx(1 - 0.05 * share_of(0) / tests)


def test_a_difference_that_lower_bounds_could_hide_is_not_told() -> None:
    run = run_of({"a": arm("a", 1000, SEEDS), "b": arm("b", 2000, SEEDS, luck=2)})
    known = looked(run, 1)
    assert [one.state for one in judged([known], 0.05)] == ["different"]
    # The first could be as large as the second.
    hidden = replace(known, main=replace(known.main, bounds=(TRIALS, 0)))
    assert [(one.state, one.trials_needed) for one in judged([hidden], 0.05)] == [
        ("undecided", None)
    ]
    told = replace(known, main=replace(known.main, bounds=(0, TRIALS)))
    assert [one.state for one in judged([told], 0.05)] == ["different"]


@pytest.mark.parametrize("tests", [1, 200])
def test_what_would_decide_is_a_later_look_at_which_the_test_can(tests: int) -> None:
    """The interval of the ratio is that of one trial of many times the others' rate; no pair else
    is like it."""
    first = [100, 100, 100, 100, 100, 90_000]
    second = [50, 200, 50, 200, 100, 117_000]
    arms = {
        name: [trial(name, number, rate, SEEDS[number]) for number, rate in enumerate(rates, 1)]
        for name, rates in (("a", first), ("b", second))
    }
    known = replace(looked(run_of(arms), tests), trials=6)
    [change] = known.changes()
    assert change.interval
    assert change.interval.low > 1
    [standing] = judged([known], 0.05)
    assert (standing.state, standing.trials_needed) == ("undecided", {1: 8, 200: 12}[tests])


def test_equal_figures_that_are_lower_bounds_are_not_alike() -> None:
    run = run_of({"a": arm("a", 1000, SEEDS), "b": arm("b", 1000, SEEDS)})
    equal = looked(run, 1)
    assert [one.state for one in judged([equal], 0.05)] == ["alike"]
    unknown = replace(equal, main=replace(equal.main, bounds=(TRIALS, TRIALS)))
    assert [one.state for one in judged([unknown], 0.05)] == ["undecided"]


@pytest.mark.parametrize(("common", "is_paired"), [(2, False), (3, True), (5, True)])
def test_trials_are_paired_from_three_common_seeds_on(common: int, is_paired: bool) -> None:
    seeds = SEEDS[:common] + [900 + number for number in range(TRIALS - common)]
    run = run_of({"a": arm("a", 1000, SEEDS), "b": arm("b", 1010, seeds, luck=2)})
    [main] = [one for one in comparisons(run, "a") if one.is_main]
    assert main.is_shared == is_paired
    assert [len(of) for of in main.samples] == ([common] * 2 if is_paired else [TRIALS] * 2)
    assert main.samples[0] == metric_of_trials(
        run.with_outcome("a")[: len(main.samples[0])], ["shop"], "rate_per_s"
    )
