"""The screening: how long its trials are, and in which order candidates come."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import whole
from drawn_trials import measured
from tailrace.advice.candidate import QUEUES, Candidate
from tailrace.advice.causes import Makeup
from tailrace.advice.screening import EVENTS, LATENCIES_MIN, SHARE_MIN, screening_of
from tailrace.advice.situation import Situation
from tailrace.scenario.goal import Goal
from tailrace.scenario.loading import document_of, load_scenario

CASE = Path(__file__).parent / "cases" / "prioritise.yaml"
ARMS, TRIALS = 20, 2


def shares(events: int, latency_ms: float, goal: Goal) -> tuple[float, float]:
    """Share of a trial, and its length in seconds, where the present has so many events and this
    latency."""
    loaded = load_scenario(CASE)
    situation = Situation(document_of(loaded, "base"), loaded.scenario, ("orders",), goal.metric)
    own = {"name": "orders", "kind": "oltp", **measured([latency_ms] * 1000)}
    slower = {"name": "backup", "kind": "oltp", **measured([latency_ms * 1.7] * 1000)}
    outcome: Any = SimpleNamespace(
        events=events,
        workloads=whole.trial("base", 1, end_ps=10**12, workloads=[own, slower]).outcome.workloads,
    )
    present: Any = SimpleNamespace(outcome=outcome)
    found = screening_of(present, situation, goal, ARMS, TRIALS, 1.0)
    assert found.trials == TRIALS
    return found.share, found.duration_s


RATE, P99 = Goal("orders", "rate_per_s"), Goal("orders", "latency_p99_ms")


def test_all_trials_together_have_the_budget() -> None:
    share, duration_s = shares(EVENTS // (ARMS * TRIALS) * 2, 1.0, RATE)
    whole_s = load_scenario(CASE).scenario.experiment.duration / 1e12
    assert share == pytest.approx(0.5)
    assert duration_s == pytest.approx(whole_s / 2)
    assert shares(1000, 1.0, RATE)[0] == 1.0, "they are not longer than those of the scenario"
    assert shares(EVENTS, 1.0, RATE)[0] == SHARE_MIN


def test_a_trial_is_long_enough_for_what_is_waited_for() -> None:
    whole_s = load_scenario(CASE).scenario.experiment.duration / 1e12
    wait_ms = 0.5 / LATENCIES_MIN * whole_s * 1000
    assert shares(EVENTS, wait_ms, P99)[0] == pytest.approx(0.5, rel=0.02), (
        "and not for workloads without the goal"
    )
    assert shares(EVENTS, wait_ms, RATE)[0] == SHARE_MIN, "a rate is not waited for"


def test_what_acts_on_more_of_the_figure_comes_first() -> None:
    made = Makeup("p99", 1e9, {"timeout": 0.6, "switch_queue": 0.3, "server_work": 0.1})

    def acting_on(*parts: str) -> Candidate:
        return Candidate("a", "a", "A", {}, frozenset(parts), "Nothing.")

    candidates = [acting_on("server_work"), acting_on(*QUEUES), acting_on("timeout"), acting_on()]
    ordered = sorted(candidates, key=made.share_of, reverse=True)
    assert [made.share_of(one) for one in ordered] == [1.0, 0.6, 0.3, 0.1]
