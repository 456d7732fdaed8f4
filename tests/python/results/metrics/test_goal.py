"""Goals: what they say, and what is wrong with others."""

import pytest

from lab import load
from tailrace.errors import RunRefusedError
from tailrace.results.metrics.goal import Goal, parse_goal, refuse_without_figure

SUBJECTS = ["shop", "backup"]


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("shop.p99 < 5ms", Goal("shop", "latency_p99_ms", 5.0)),
        ("shop.p99<=500us", Goal("shop", "latency_p99_ms", 0.5)),
        ("shop.latency_p99_9_ms < 5", Goal("shop", "latency_p99_9_ms", 5.0)),
        ("shop.p99.9", Goal("shop", "latency_p99_9_ms")),
        ("backup.goodput > 4Gbit/s", Goal("backup", "goodput_gbps", 4.0)),
        ("backup.completion < 2min", Goal("backup", "completion_s", 120.0)),
        ("shop.loss < 0.1 %", Goal("shop", "loss_percent", 0.1)),
        ("shop.rate > 1000", Goal("shop", "rate_per_s", 1000.0)),
        ("shop.loss <= 0", Goal("shop", "loss_percent", 0.0)),
    ],
)
def test_a_goal_is_a_workload_a_metric_and_a_bound(text: str, goal: Goal) -> None:
    assert parse_goal(text, SUBJECTS) == goal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("shop", "this is no goal"),
        ("shop.p99 = 5ms", "this is no goal"),
        ("chop.p99 < 5ms", "there is no workload 'chop' (hint: did you mean 'shop'?"),
        ("shop.p98 < 5ms", "there is no metric 'p98'"),
        ("shop.p99 > 5ms", "less of it is better"),
        ("backup.goodput < 4", "more of it is better"),
        ("shop.p99 < 5 parsecs", "parsecs"),
        ("backup.goodput > 4ms", "is no value of this metric (hint: write a number of Gbit/s)"),
        ("shop.p99 < 0ms", "greater than zero"),
    ],
)
def test_what_is_wrong_with_a_goal_is_said(text: str, words: str) -> None:
    with pytest.raises(RunRefusedError, match="--goal") as refused:
        parse_goal(text, SUBJECTS)
    assert words in str(refused.value)


def test_a_goal_is_told_as_it_is_written() -> None:
    assert str(Goal("shop", "latency_p99_ms", 5.0)) == "shop.p99 < 5 ms"
    assert str(Goal("backup", "goodput_gbps", 4.0)) == "backup.goodput > 4 Gbit/s"


def test_a_figure_that_a_kind_never_has_is_refused_before_anything_runs() -> None:
    scenario = load(workloads__backup__group="all").scenario
    goal = Goal("all", "latency_p99_ms", 5.0)
    with pytest.raises(RunRefusedError, match=r"--goal 'all.p99 < 5 ms': workloads of kind stream have no such figure"):
        refuse_without_figure(goal, scenario)
    both = load(workloads__backup__group="all", workloads__orders__group="all").scenario
    refuse_without_figure(goal, both)  # latencies of those that have them are pooled
    with pytest.raises(RunRefusedError, match="kind stream"):
        refuse_without_figure(Goal("all", "rate_per_s"), both)


def test_the_completion_of_what_has_no_end_is_refused() -> None:
    goal = Goal("backup", "completion_s")
    refuse_without_figure(goal, load(workloads__backup__size="1MB").scenario)
    endless = load().scenario
    with pytest.raises(RunRefusedError, match=r"--minimise 'backup.completion': 'backup' has no end, so that"):
        refuse_without_figure(goal, endless, "--minimise")
    refuse_without_figure(Goal("backup", "goodput_gbps"), endless)
