"""The jobs that are measured: name, what it is, and the plan."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import workloads

Plan = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One row of the table. `peer` names the peers' job with the same work, if there is one."""

    name: str
    what: str
    plan: Callable[[], Plan]
    #: Simulated time of the shortened job whose instructions are counted, in picoseconds.
    counted_ps: int
    peer: str | None = None


MS = workloads.MS

JOBS = (
    Job("W1", "incast, 20 senders", workloads.w1, 200 * MS, peer="W1"),
    Job("W2", "fat tree, pinned paths", workloads.w2, 3 * MS, peer="W2"),
    Job("W3", "database mix, 5 s", workloads.w3, 500 * MS, peer="W3"),
    Job("W2-ecmp", "W2, paths by hash", lambda: workloads.w2(pinned=False), 3 * MS),
    Job(
        "W1-dpp",
        "W1, two queues with DPP",
        lambda: workloads.w1(policy=workloads.dpp(1_000_000)),
        200 * MS,
    ),
    Job("W1-all", "W1, DPP, AFD with ECN, ETS", workloads.w1_all, 200 * MS),
    Job(
        "W3-dpp",
        "W3, two queues with DPP",
        lambda: workloads.w3(policy=workloads.dpp(10_000_000)),
        500 * MS,
    ),
    Job("W1-hosts", "W1, default hosts", lambda: workloads.w1(default_hosts=True), 200 * MS),
    Job("W1-cpu", "W1, hosts with processors", workloads.w1_processors, 200 * MS),
    Job("W2-hosts", "W2, default hosts", lambda: workloads.w2(default_hosts=True), 3 * MS),
)


def shortened(plan: Plan, stop_ps: int) -> Plan:
    """The same plan, ended at this time."""
    return {**plan, "stop_at_ps": stop_ps}
