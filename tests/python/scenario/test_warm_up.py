"""A warm-up: where it is refused, what becomes of it, and what a result divides by."""

from typing import Any, cast

import pytest

from lab import load
from tailrace.errors import ScenarioError
from tailrace.experiment.engine import Engine
from tailrace.experiment.judge import judged
from tailrace.experiment.native import Ran
from tailrace.experiment.scale import scaled
from tailrace.outcome.types import Outcome
from tailrace.scenario.lowering.plan import lower
from whole import part

MS = 10**9


class Quiet:
    """An engine that has nothing against a trial."""

    def reasons(self, outcome: Any, scenario: Any) -> list[str]:
        return []


@pytest.mark.parametrize("warm_up", ["5s", "8s"])
def test_a_warm_up_that_leaves_nothing_is_refused(warm_up: str) -> None:
    with pytest.raises(
        ScenarioError, match=r"experiment\.warm_up: the warm-up leaves no time to measure.*5s"
    ):
        load(experiment__duration="5s", experiment__warm_up=warm_up)


def test_a_plan_without_a_warm_up_is_what_it_was() -> None:
    assert "warm_up_ps" not in lower(load().scenario, "dpp", 1)["observe"]


def test_a_warm_up_shrinks_with_the_trial() -> None:
    scenario = load(experiment__duration="5s", experiment__warm_up="200ms").scenario
    assert lower(scenario, "dpp", 1)["observe"]["warm_up_ps"] == 200 * MS
    assert lower(scaled(scenario, 0.05), "dpp", 1)["observe"]["warm_up_ps"] == 10 * MS


def test_a_trial_that_ends_within_its_warm_up_is_invalid() -> None:
    scenario = load(experiment__warm_up="200ms").scenario
    workloads = [
        {"name": name, "kind": kind, "completion_ps": 100 * MS if kind == "oltp" else None}
        for name, kind in (("orders", "oltp"), ("backup", "stream"))
    ]
    outcome: dict[str, Any] = {"workloads": workloads, "hosts": [], "end_ps": 100 * MS}
    found = judged(Ran(part(Outcome, **outcome)), scenario, cast("Engine", Quiet()))
    assert (found.status, "within experiment.warm_up" in found.reason) == ("invalid", True)
    assert "backup" in found.reason
    assert "orders" not in found.reason
    assert (
        judged(
            Ran(part(Outcome, **outcome | {"end_ps": 300 * MS})), scenario, cast("Engine", Quiet())
        ).status
        == "ok"
    )
