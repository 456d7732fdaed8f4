"""Facts about the plan of each arm that the report uses."""

from dataclasses import dataclass, field

from tailrace.plan.types import Dpp
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
    dpp: dict[tuple[str, str], Dpp] = field(default_factory=dict)
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
        {port: policy.dpp for port in prioritized if (policy := policy_of(*port)) and policy.dpp},
    )
