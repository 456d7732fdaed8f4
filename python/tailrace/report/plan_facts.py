"""What the report needs to know of the plan of each arm; the plan of a large network takes much memory."""

from dataclasses import dataclass, field
from typing import Any

from tailrace.results import Run
from tailrace.results.ports.queuing import port_policies
from tailrace.results.ports.timeouts import minimum_timeouts_ms
from tailrace.results.ports.waiting import crossings_of
from tailrace.results.summary.network import PortMeans


@dataclass(frozen=True)
class PlanFacts:
    """Facts of one arm; empty where the run kept no plan."""

    rto_min_ms: dict[str, float] = field(default_factory=dict)
    """By workload the smallest minimum retransmission timeout of its hosts."""
    crossings: dict[str, int] = field(default_factory=dict)
    """By workload in a closed loop how often one transaction crosses a port."""
    dpp: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """By node and neighbour the settings of packet prioritization."""


def plan_facts(run: Run, arm: str, ports: list[PortMeans]) -> PlanFacts:
    """Facts about an arm and these ports."""
    plan = run.plan(arm)
    if plan is None:
        return PlanFacts()
    policy_of = port_policies(plan)
    prioritized = [(port.node, port.towards) for port in ports if port.dpp]
    return PlanFacts(
        minimum_timeouts_ms(plan),
        crossings_of(plan),
        {place: dpp for place in prioritized if (dpp := (policy_of(*place) or {}).get("dpp"))},
    )
