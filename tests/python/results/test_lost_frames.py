"""The lost share of workloads without a transport: what switches dropped of them, or what their own
ends counted."""

from typing import Any

import pytest

import whole
from tailrace.results.metrics.definitions import metric_of_members


def loss_percent(switches: list[dict[str, Any]], **outcome: Any) -> float | None:
    """Of a workload `blast`; ports have told nothing of it, as those without a second sender do."""
    own = {"name": "blast", "kind": "frames", "latency": None, **outcome}
    trial = whole.trial(hosts=[{"name": "h1"}], switches=switches, workloads=[own])
    return metric_of_members(trial, ["blast"], "loss_percent")


def dropping(frames: int, *workloads: str) -> dict[str, Any]:
    return {
        "losses": [
            {
                "workloads": list(workloads),
                "frames": frames,
                "policed_frames": 0,
                "too_long_frames": 0,
            }
        ]
    }


def test_a_workload_that_lost_nothing_has_zero() -> None:
    assert loss_percent([{"losses": []}], latency={"count": 40}) == 0
    assert loss_percent([dropping(7, "other")], latency={"count": 40}) == 0


def test_what_all_switches_dropped_is_added() -> None:
    assert loss_percent([dropping(10, "blast"), dropping(20, "blast")], latency={"count": 90}) == 25


def test_a_workload_of_which_nothing_arrived_has_lost_all() -> None:
    assert loss_percent([dropping(400, "blast")]) == 100


def test_nothing_sent_is_no_share() -> None:
    assert loss_percent([{"losses": []}]) is None


def test_ends_tell_where_switches_cannot() -> None:
    counted = {"sent": 200, "delivered": 150, "refused": 0}
    unknown: list[list[dict[str, Any]]] = [[dropping(80, "blast", "other")], [{}], []]
    for switches in unknown:
        assert loss_percent(switches, datagrams=counted) == pytest.approx(25), switches
        assert loss_percent(switches, datagrams={**counted, "delivered": 0}) == 100
        assert loss_percent(switches, latency={"count": 40}) is None, "neither tells"
