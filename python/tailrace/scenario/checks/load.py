"""Warnings about congestion control: thresholds that no queue reaches, DCTCP without marks."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.switch import Policy
from tailrace.scenario.scenario import DEFAULTS, Scenario
from tailrace.scenario.text.units import format_size

Found = Iterator[tuple[KeyPath, str, str]]


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """Warnings about a valid scenario: path, problem, hint."""
    yield from _unreachable_thresholds(scenario, graph)
    if not any(_marks(policy) for policy in _used_policies(scenario, graph)):
        yield from _unmarked_dctcp(scenario, graph)


def _unreachable_thresholds(scenario: Scenario, graph: Graph) -> Found:
    """Warnings about queues that are full before their management acts."""
    for policy_name, policy in scenario.policies.items():
        for name, queue in policy.queues.items():
            begins = getattr(queue.aqm, "minimum", None) or getattr(queue.aqm, "threshold", None)
            if begins is None or queue.limit.unit != "bytes" or begins < queue.limit.amount:
                continue
            what = (
                f"the limit of {format_size(queue.limit.amount)} is not above the "
                f"{format_size(begins)} at which {queue.aqm.kind} begins: the queue acts as a FIFO"
            )
            yield (
                ("policies", policy_name, "queues", name, "aqm"),
                what,
                "raise the limit, or lower the threshold",
            )


def _unmarked_dctcp(scenario: Scenario, graph: Graph) -> Found:
    """Warnings about senders that need marks but get none; reported at the key that selects the
    congestion control."""
    blamed: set[str] = set()
    for workload in scenario.running.values():
        for sender in workload.senders(graph) if workload.facts().protocol == "tcp" else []:
            if scenario.host(sender).tcp.congestion_control != "dctcp":
                continue
            own = scenario.hosts.get(sender)
            blamed.add(sender if own is not None and "tcp" in own.model_fields_set else DEFAULTS)
    for name in sorted(blamed):
        what = "no queue of the network marks frames: without marks DCTCP reacts only to losses"
        yield (
            ("hosts", name, "tcp", "congestion_control"),
            what,
            "give a queue aqm: {kind: step, threshold: 90kB}",
        )


def _used_policies(scenario: Scenario, graph: Graph) -> list[Policy]:
    names = {
        name
        for node in graph.switches
        for switch in [scenario.switch(node)]
        for name in (switch.policy, *switch.ports.values())
    }
    return [policy for name in sorted(names) if (policy := scenario.policy(name)) is not None]


def _marks(policy: Policy) -> bool:
    """Whether a queue of this policy sets congestion marks."""
    return any(queue.aqm.marks() for queue in policy.queues.values())
