"""Goals: what they say, and what is wrong with others."""

import pytest

from lab import load
from tailrace.errors import RunRefusedError, ScenarioError
from tailrace.scenario.figures import parse_goal
from tailrace.scenario.goal import SHORT, Goal, read_goal


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("shop.p99 < 5ms", Goal("shop", "latency_p99_ms", 5.0)),
        ("shop.p99<=500us", Goal("shop", "latency_p99_ms", 0.5)),
        ("shop.p95 < 1s", Goal("shop", "latency_p95_ms", 1000.0)),
        ("shop.latency_p99_9_ms < 5ms", Goal("shop", "latency_p99_9_ms", 5.0)),
        ("shop.p99.9", Goal("shop", "latency_p99_9_ms")),
        ("backup.goodput > 4Gbit/s", Goal("backup", "goodput_gbps", 4.0)),
        ("backup.goodput > 500Mbit/s", Goal("backup", "goodput_gbps", 0.5)),
        ("backup.completion < 2min", Goal("backup", "completion_s", 120.0)),
        ("shop.loss < 0.1 %", Goal("shop", "loss_percent", 0.1)),
        ("shop.rate > 1000/s", Goal("shop", "rate_per_s", 1000.0)),
        ("shop.loss <= 0", Goal("shop", "loss_percent", 0.0)),
    ],
)
def test_a_goal_is_a_workload_a_metric_and_a_bound(text: str, goal: Goal) -> None:
    assert read_goal(text) == goal
    assert read_goal(str(goal)) == goal, "it is told as it is written"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("orders", "this is no goal"),
        ("orders.p99 = 5ms", "this is no goal"),
        ("order.p99 < 5ms", "there is no workload 'order' (hint: did you mean 'orders'?"),
        ("orders.p98 < 5ms", "there is no metric 'p98'"),
        ("orders.p99 > 5ms", "less of it is better"),
        ("backup.goodput < 4Gbit/s", "more of it is better"),
        ("orders.p99 < 5 parsecs", "parsecs"),
        ("backup.goodput > 4ms", "'ms' is not a unit of rate"),
        ("orders.p99 < 0ms", "greater than zero"),
        ("orders.p99 < 5", "5 has no unit (hint: p99 is a time: write 5ms)"),
        ("backup.goodput > 5", "5 has no unit (hint: goodput is a rate: write 5Gbit/s)"),
        ("orders.rate > 5", "5 has no unit (hint: rate is a rate of requests: write 5/s)"),
        ("orders.loss < 5", "5 has no unit (hint: loss is a share: write 5%)"),
        (
            "backup.p99 < 5ms",
            "'backup' is of kind stream, which has no p99 (hint: backup has goodput, loss)",
        ),
        (
            "backup.completion < 5s",
            "'backup' has no end, and so no completion (hint: backup has goodput, loss)",
        ),
    ],
)
def test_what_is_wrong_with_a_goal_is_said(text: str, words: str) -> None:
    with pytest.raises(RunRefusedError, match="--goal") as refused:
        parse_goal(text, load().scenario)
    assert words in str(refused.value)


def test_latencies_of_a_group_are_pooled_and_other_figures_are_those_of_all_members() -> None:
    both = load(workloads__backup__group="all", workloads__orders__group="all").scenario
    assert parse_goal("all.p99 < 5ms", both).subject == "all"
    with pytest.raises(RunRefusedError, match="'backup' is of kind stream, which has no rate"):
        parse_goal("all.rate", both)


def test_what_has_an_end_has_a_completion() -> None:
    assert (
        parse_goal("backup.completion", load(workloads__backup__size="1MB").scenario).metric
        == "completion_s"
    )


def test_an_expectation_is_written_as_a_goal() -> None:
    texts = {
        "orders.p95 < 5ms": ("latency_p95_ms", None, 5.0),
        "backup.goodput > 5Gbit/s": ("goodput_gbps", 5.0, None),
    }
    for text, (metric, least, most) in texts.items():
        for written in (text, {"goal": text}):
            [one] = load(expect=[written]).scenario.expect
            subject = text.partition(".")[0]
            assert (one.workload, one.metric, one.at_least, one.at_most) == (
                subject,
                metric,
                least,
                most,
            )


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("orders.p99 < 5", "5 has no unit (hint: p99 is a time: write 5ms)"),
        ("orders.p99", "'orders.p99' has no bound (hint: write orders.p99 < and a value)"),
        (
            "backup.p99 < 5ms",
            "'backup' is of kind stream, which has no p99 (hint: backup has goodput, loss)",
        ),
        ("order.p99 < 5ms", "there is no workload 'order' (hint: did you mean 'orders'?)"),
        ({"goal": "orders.p99 < 5ms", "at_most": 5}, "goal and at_most exclude each other"),
        ({"goal": "orders.p99 < 5ms", "arm": "nobody"}, "there is no arm 'nobody'"),
        ({"arm": "fifo"}, "the expectation has no figure (hint: add goal"),
    ],
)
def test_an_expectation_without_a_figure_is_refused(written: object, words: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        load(expect=[written])
    assert words in str(refused.value)


def test_every_metric_has_a_short_name() -> None:
    assert {read_goal(f"a.{short}").metric for short in SHORT} == set(SHORT.values())


def test_a_bound_of_nothing_is_told_with_the_sign_that_it_can_meet() -> None:
    assert str(read_goal("shop.loss <= 0")) == "shop.loss <= 0 %"
    assert str(read_goal("shop.loss < 1%")) == "shop.loss < 1 %"
