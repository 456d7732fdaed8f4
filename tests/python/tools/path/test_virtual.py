"""What the trials of a probe in virtual time are."""

import json
from typing import Any

from lab import load
from tailrace.outcome.types import Outcome
from tailrace.tools.path.search import Attempt
from tailrace.tools.path.virtual import VirtualWay
from whole import part

WARM = {"experiment__warm_up": "300ms", "experiment__duration": "1s"}


def trials(*bursts: tuple[int, int], **changes: Any) -> tuple[list[Attempt], list[dict[str, Any]]]:
    """What bursts of these payloads find, where all but one probe arrives, and their plans."""
    plans: list[dict[str, Any]] = []

    def run(plan: str) -> Outcome:
        plans.append(json.loads(plan))
        [sent] = plans[-1]["workloads"]
        return part(Outcome, workloads=[{"transactions": sent["body"]["datagrams"]["count"] - 1}])

    way = VirtualWay(run, load(**changes).scenario, ("client", "db"))
    return [way(*burst) for burst in bursts], plans


def test_each_burst_is_a_trial_of_its_own_with_the_probes_alone() -> None:
    found, plans = trials((64, 10), (1_000, 10), **WARM)
    assert [(each.sent, each.received) for each in found] == [(10, 9), (10, 9)]
    assert len({plan["seed"] for plan in plans}) == 2
    for plan in plans:
        assert [each["header"]["name"] for each in plan["workloads"]] == ["probe"]
        assert plan["observe"].get("warm_up_ps", 0) == 0
        assert plan["stop_at_ps"] == 10 * 10**10 + 10**12


def test_probes_of_a_slow_link_do_not_wait_for_each_other() -> None:
    _, [plan] = trials((1_000, 5), network__link={"rate": "100kbit/s"})
    [sent] = plan["workloads"]
    on_the_line_ps = (1_000 + 28) * 8 * 10**12 // 100_000
    assert sent["body"]["datagrams"]["interarrival"] == {"constant": 2 * on_the_line_ps}
