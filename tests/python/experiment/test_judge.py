"""What makes a trial invalid, and whose fault it is said to be."""

from typing import Any, cast

import pytest

from lab import load
from tailrace.experiment.engine import Engine
from tailrace.experiment.judge import Verdict, judged
from tailrace.experiment.native import Ran
from tailrace.outcome.types import Outcome
from whole import part

HOST = {"name": "client", "nic_queue_drops": 0, "rx_ring_drops": 0}


class Machine:
    """An engine that finds these faults of the machine."""

    def __init__(self, *reasons: str) -> None:
        self._reasons = list(reasons)

    def reasons(self, _outcome: object, _scenario: object) -> list[str]:
        return self._reasons


def verdict(*reasons: str, completion_ps: int | None = 10**12, drops: int = 0) -> Verdict:
    """Of a trial with one workload that has something to do."""
    scenario = load(experiment__invalid_if=["unfinished", "host-drops"]).arms["fifo"]
    outcome: dict[str, Any] = {
        "end_ps": 5 * 10**12,
        "workloads": [{"name": "orders", "kind": "oltp", "completion_ps": completion_ps}],
        "hosts": [HOST | {"rx_ring_drops": drops}],
    }
    return judged(Ran(part(Outcome, **outcome)), scenario, cast("Engine", Machine(*reasons)))


def test_a_trial_without_a_fault_counts() -> None:
    assert (verdict().status, verdict().reason) == ("ok", "")


def test_a_trial_whose_only_fault_is_that_it_did_not_finish_is_a_result() -> None:
    found = verdict(completion_ps=None)
    assert (found.status, found.unfinished) == ("invalid", ("orders",))
    assert found.reason == "workload orders did not finish within experiment.duration"


@pytest.mark.parametrize(("reasons", "drops"), [(("the fabric was late",), 0), ((), 3)])
def test_an_unfinished_trial_with_another_fault_is_no_result(
    reasons: tuple[str, ...], drops: int
) -> None:
    found = verdict(*reasons, completion_ps=None, drops=drops)
    assert found.status == "invalid"
    assert found.unfinished == ()


def test_a_trial_is_repeatable_where_the_machine_alone_is_at_fault() -> None:
    assert verdict("the fabric was late").is_machine_fault is True
    assert verdict("the fabric was late", drops=3).is_machine_fault is False
    assert verdict(drops=3).reason == "host client dropped 3 frames"


@pytest.mark.parametrize("end", [{"bytes": "1GiB"}, {"requests": 262144}])
def test_jobs_that_end_after_bytes_are_judged_as_those_that_end_after_requests(
    end: dict[str, Any],
) -> None:
    disk = {"kind": "storage", "initiators": ["db"], "device": "nvme", **end}
    scenario = load(workloads={"disk": disk}, experiment__warm_up="1s").arms["fifo"]

    def found(end_s: int, completion_ps: int | None) -> str:
        own = {"name": "disk", "kind": "storage", "completion_ps": completion_ps}
        outcome: dict[str, Any] = {"end_ps": end_s * 10**12, "workloads": [own], "hosts": [HOST]}
        return judged(Ran(part(Outcome, **outcome)), scenario, cast("Engine", Machine())).reason

    assert found(1, 10**12) == ""
    assert found(5, None) == "workload disk did not finish within experiment.duration"


@pytest.mark.parametrize(("end_s", "status"), [(1, "invalid"), (2, "invalid"), (3, "ok")])
def test_a_trial_that_ends_within_the_warm_up_has_measured_nothing_of_endless_workloads(
    end_s: int, status: str
) -> None:
    scenario = load(
        experiment__duration="5s", experiment__warm_up="2s", workloads__orders__transactions=None
    ).arms["fifo"]
    outcome: dict[str, Any] = {
        "end_ps": end_s * 10**12,
        "workloads": [{"name": "orders", "kind": "oltp", "completion_ps": None}],
        "hosts": [HOST],
    }
    found = judged(Ran(part(Outcome, **outcome)), scenario, cast("Engine", Machine()))
    assert found.status == status
    assert ("within experiment.warm_up" in found.reason) == (status == "invalid")
