"""Three ends of a goal: it is met, it is missed, or the trials leave it open."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

import whole
from drawn_trials import measured
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.decision import (
    Errors,
    decide,
    errors_of,
    takes,
    together,
)
from tailrace.results.metrics.definitions import bounds_of_trials
from tailrace.results.metrics.figure import Figure, bounds_of, figure_of
from tailrace.scenario.goal import Goal

P50, P99 = "latency_p50_ms", "latency_p99_ms"
PS_PER_S = 10**12


def trial(number: int, **workload: Any) -> Trial:
    own = {"name": "shop", "kind": "oltp", "transactions": 1, "completion_ps": None, **workload}
    return whole.trial(number=number, end_ps=PS_PER_S, workloads=[own])


def drawn(
    trials: int, transactions: int, *, cut: Sequence[float] = (), seed: int = 1
) -> list[Trial]:
    """Exponential latencies of a mean of 1 ms, with a little luck of each trial."""
    rng = random.Random(seed)
    found = []
    for number in range(1, trials + 1):
        scale = rng.lognormvariate(0, 0.02)
        found.append(
            trial(
                number, **measured([scale * rng.expovariate(1) for _ in range(transactions)], cut)
            )
        )
    return found


def rated(*rates: int) -> list[Trial]:
    return [trial(number, transactions=rate) for number, rate in enumerate(rates, 1)]


def shop(trials: Sequence[Trial], metric: str) -> Figure:
    return figure_of(trials, ["shop"], metric)


def test_a_percentile_is_that_of_all_transactions_with_its_interval() -> None:
    figure = shop(drawn(6, 4000), P99)
    data = figure.data()
    assert data.value == pytest.approx(4.605, rel=0.03)
    assert data.interval
    assert data.value
    low, high = data.interval.low, data.interval.high
    assert low < data.value < high
    assert len(data.values) == 6
    ends = [
        decide(Goal("shop", P99, bound), figure)
        for bound in (0.9 * low, 1.01 * low, 0.99 * high, 1.01 * high)
    ]
    assert ends == ["misses", "undecided", "undecided", "meets"]


def test_few_transactions_show_that_a_percentile_is_long_but_not_that_it_is_short() -> None:
    figure = shop(drawn(6, 500), P99)
    assert figure.data().interval is None
    goals = [Goal("shop", P99, bound) for bound in (2.0, 100.0)]
    assert [decide(goal, figure) for goal in goals] == ["misses", "undecided"]
    assert takes(goals[1], figure) == "about 40 trials of this length for an interval"
    assert decide(Goal("shop", P50, 1.0), shop(drawn(6, 500), P50)) == "meets", (
        "a median takes no such number"
    )


def test_fewer_than_three_trials_decide_nothing() -> None:
    for metric, trials in ((P99, drawn(2, 40_000)), ("rate_per_s", rated(100, 100))):
        figure = shop(trials, metric)
        goal = Goal("shop", metric, 50.0)
        assert decide(goal, figure) == "undecided"
        assert takes(goal, figure) == "about 3 trials of this length for an interval"


def test_a_lower_bound_can_miss_a_goal_and_never_meet_it() -> None:
    figure = shop(drawn(6, 4000, cut=[30.0] * 200), P99)
    assert (figure.is_bound, figure.data().interval) == (True, None)
    ends = {bound: decide(Goal("shop", P99, bound), figure) for bound in (2.0, 100.0)}
    assert ends == {2.0: "misses", 100.0: "undecided"}
    assert takes(Goal("shop", P99, 100.0), figure) == "a longer experiment.duration"
    mean = shop(drawn(6, 4000, cut=[30.0] * 200), "latency_mean_ms")
    assert [decide(Goal("shop", "latency_mean_ms", bound), mean) for bound in (0.5, 100.0)] == [
        "misses",
        "undecided",
    ]


def test_a_percentile_of_all_may_be_a_lower_bound_although_that_of_no_trial_is() -> None:
    """Of 52 that were running after 1 ms two were followed to the median of all, in a trial that
    knows its own."""
    trials = [trial(1, **measured([1.0] * 50, [2.0] * 50)), trial(2, **measured([1.0, 3.0, 3.0]))]
    assert bounds_of_trials(trials, ["shop"], P50) == 0
    assert bounds_of(trials, ["shop"], P50) == 1
    assert shop(trials, P50).is_bound


def test_what_more_is_better_of_is_judged_from_the_other_side() -> None:
    figure = shop(rated(98, 100, 102, 99, 101, 100), "rate_per_s")
    ends = [decide(Goal("shop", "rate_per_s", bound), figure) for bound in (95.0, 100.1, 105.0)]
    assert ends == ["meets", "undecided", "misses"]


def test_a_figure_of_all_trials_that_is_the_bound_keeps_it() -> None:
    """Goals are at least and at most: equal is enough, and a floor of nothing is not a goal of no
    events."""
    rates = shop(rated(100, 100, 100, 100, 100, 100), "rate_per_s")
    assert [decide(Goal("shop", "rate_per_s", bound), rates) for bound in (100.0, 0.0)] == [
        "meets",
        "meets",
    ]
    latencies = shop(drawn(6, 4000), P50)
    interval = latencies.interval
    assert interval
    assert decide(Goal("shop", P50, interval.high), latencies) == "meets"


def test_one_event_breaks_a_goal_of_none() -> None:
    counts = [{"answered": 1000, "failed": failed} for failed in (0, 0, 0, 0, 0, 1)]
    trials = [trial(number, request_counts=count) for number, count in enumerate(counts)]
    none, few = Goal("shop", "failed_percent", 0.0), Goal("shop", "failed_percent", 1.0)
    assert [
        decide(none, shop(some, "failed_percent")) for some in (trials, trials[:5], trials[5:])
    ] == [
        "misses",
        "meets",
        "misses",
    ]
    assert decide(few, shop(trials, "failed_percent")) == "meets"


def test_where_nothing_arrives_the_goal_is_missed() -> None:
    nothing = shop([trial(1), trial(2)], P99)
    assert decide(Goal("shop", P99, 5.0), nothing) == "misses"
    # A workload that did not end in each trial has no mean completion.
    some = shop([trial(1, completion_ps=PS_PER_S), trial(2)], "completion_s")
    assert decide(Goal("shop", "completion_s", 5.0), some) == "undecided"
    assert takes(Goal("shop", "completion_s", 5.0), some) == "a longer experiment.duration"


def test_what_an_undecided_goal_takes_follows_from_the_width_of_its_interval() -> None:
    figure = shop(rated(80, 100, 120, 90, 110, 100), "rate_per_s")
    assert takes(Goal("shop", "rate_per_s", 98.0), figure).startswith("about ")
    needed = int(takes(Goal("shop", "rate_per_s", 98.0), figure).split()[1])
    fewer = int(takes(Goal("shop", "rate_per_s", 92.0), figure).split()[1])
    assert 6 < fewer < needed
    assert takes(Goal("shop", "rate_per_s", 100.0), figure) == "more than 1000 trials"


def test_what_an_undecided_tail_takes_has_the_error_of_the_end_that_is_likely() -> None:
    """That it is short has a third of the error, and takes the more trials."""
    figure = shop(drawn(6, 4000), P99)
    assert figure.value
    short, long = Goal("shop", P99, 1.01 * figure.value), Goal("shop", P99, 0.99 * figure.value)
    errors, both_short, both_long = Errors(0.01, 0.03), Errors(0.01, 0.01), Errors(0.03, 0.03)
    assert (
        takes(short, figure, errors)
        == takes(short, figure, both_short)
        != takes(short, figure, both_long)
    )
    assert (
        takes(long, figure, errors)
        == takes(long, figure, both_long)
        != takes(long, figure, both_short)
    )


def test_several_goals_are_met_together() -> None:
    assert together(["meets", "meets"]) == "meets"
    assert together(["meets", "undecided"]) == "undecided"
    assert together(["undecided", "misses"]) == "misses"


def test_that_a_tail_is_short_has_a_third_of_the_error() -> None:
    assert errors_of(Goal("shop", P99, 1.0), 0.03) == Errors(0.03 / 3, 0.03)
    assert (
        errors_of(Goal("shop", P50, 1.0), 0.03)
        == errors_of(Goal("shop", "rate_per_s", 1.0), 0.03)
        == Errors(0.03, 0.03)
    )
    figure = shop(drawn(6, 4000), P99)
    assert figure.interval
    high = figure.interval.high
    goal = Goal("shop", P99, 1.002 * high)
    assert (decide(goal, figure), decide(goal, figure, errors_of(goal, 0.01))) == (
        "meets",
        "undecided",
    )


@pytest.mark.parametrize(
    ("metric", "truth", "transactions"), [(P50, 0.6931, 400), (P99, 4.605, 3400)]
)
def test_wrong_decisions_are_rare(metric: str, truth: float, transactions: int) -> None:
    """Of 25 looks at a bound that the truth just misses, few say that it is met, and the other way
    round."""
    wrong = {"meets": 0, "misses": 0}
    for seed in range(25):
        figure = shop(drawn(6, transactions, seed=seed), metric)
        for end, factor in (("meets", 0.9999), ("misses", 1.0001)):
            goal = Goal("shop", metric, factor * truth)
            wrong[end] += decide(goal, figure, errors_of(goal, 0.02)) == end
    assert max(wrong.values()) <= 2, wrong
