"""Trials that last to their duration, and workloads whose first event comes at their start."""

from typing import Any

from tailrace.experiment.native import make_trial, run_or_cancel
from tailrace.outcome.types import Outcome
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower

S_PS, MS_PS = 10**12, 10**9
SIZES = {"request": "100B", "response": "500B"}
BASE: dict[str, Any] = {
    "tailrace": 1,
    "name": "ends",
    "network": {"topology": {"kind": "star", "switch": "s", "hosts": ["a", "b"]}},
    "workloads": {
        "r": {"kind": "requests", "client": "a", "server": "b", "users": 3, "gap": "10ms", **SIZES},
        "one": {"kind": "stream", "source": "b", "destination": "a", "size": "22B"},
    },
    "experiment": {"duration": "500ms", "trials": 1},
}


def plan(workloads: dict[str, Any] | None = None, **experiment: Any) -> dict[str, Any]:
    data = BASE | {
        "experiment": BASE["experiment"] | experiment,
        "workloads": workloads or BASE["workloads"],
    }
    return lower(load_scenario(data).arms["base"], "base", 1)


def outcome(workloads: dict[str, Any] | None = None, **experiment: Any) -> Outcome:
    trial = make_trial(canonical_json(plan(workloads, **experiment)))
    return run_or_cancel(trial).outcome


def test_a_trial_ends_with_its_finite_work_or_at_its_duration() -> None:
    assert outcome().end_ps < 100 * MS_PS
    assert outcome(ends="duration").end_ps == S_PS // 2
    assert plan(ends="duration")["lasts_to_stop"] is True


def test_a_plan_without_it_is_as_before() -> None:
    assert "lasts_to_stop" not in plan()
    assert "is_first_at_start" not in plan()["workloads"][0]["header"]


def test_the_first_event_comes_at_the_start_if_it_is_told_to() -> None:
    request = {
        "kind": "requests",
        "client": "a",
        "server": "b",
        "arrivals": "200ms",
        "start": "150ms",
        **SIZES,
    }
    flow = {
        "kind": "flows",
        "sources": ["a"],
        "destinations": ["b"],
        "sizes": "1kB",
        "interarrival": "200ms",
    }
    datagram = {
        "kind": "datagrams",
        "source": "a",
        "destination": "b",
        "sizes": "100B",
        "interarrival": "200ms",
    }
    for workload in (request, flow | {"start": "150ms"}, datagram | {"start": "150ms"}):
        later = outcome({"w": workload}, ends="duration").workloads[0].transactions
        first = (
            outcome({"w": workload | {"first_at_start": True}}, ends="duration")
            .workloads[0]
            .transactions
        )
        assert (later, first) == (1, 2), workload["kind"]
