"""What makes no sense about queueing policies."""

from collections.abc import Iterator

from tailrace.errors import KeyPath, closest
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.switch import ONE_PPB, Policy, Red

DWRR_SHARE_PPB_MIN = 10**6
"""Weights are counted in thousandths."""
DPP_ENTRIES_MIN = 4
PRIORITIES = 8
"""IEEE 802.1Q: 0 to 7."""

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario) -> Found:
    """Problems of every policy."""
    for name, policy in scenario.policies.items():
        yield from _policy(("policies", name), policy)


def _policy(at: KeyPath, policy: Policy) -> Found:
    shares = policy.shares()
    stated = sum(queue.share or 0 for queue in policy.queues.values())
    if stated > ONE_PPB:
        yield (*at, "queues"), f"the shares add up to {stated / 1e7:g} %", "they must not exceed 100%"
    for name, queue in policy.queues.items():
        here: KeyPath = (*at, "queues", name)
        if queue.strict is not None and queue.share is not None:
            yield here, "a queue is either strict or has a share", "remove one of the two"
        if queue.strict is None and shares[name] < DWRR_SHARE_PPB_MIN and stated <= ONE_PPB:
            yield here, f"queue '{name}' is left without a share", "give it at least 0.1%, or others less"
        if queue.limit.amount == 0:
            yield (*here, "limit"), "a queue of no size drops everything", "write a size such as 4MB"
        if isinstance(queue.aqm, Red) and queue.aqm.minimum >= queue.aqm.maximum:
            yield (*here, "aqm"), "the minimum is not below the maximum", "RED needs a range to rise in"
    names = list(policy.queues)
    for priority, queue_name in policy.priorities.items():
        if queue_name not in policy.queues:
            hint = closest(queue_name, names, "queues")
            yield (*at, "priorities", priority), f"there is no queue '{queue_name}'", hint
    yield from _unreached(at, policy)
    yield from _dpp(at, policy)


def _unreached(at: KeyPath, policy: Policy) -> Found:
    """Queues that no frame can come into: the arm that has them would quietly change nothing."""
    reached = {*policy.priorities.values(), policy.dpp.express if policy.dpp else ""}
    if len(policy.priorities) < PRIORITIES:
        reached.add(policy.usual_queue)
    for name in policy.queues:
        if name not in reached:
            hint = f"add 'priorities: {{5: {name}}}' and give workloads 'priority: 5'"
            yield (*at, "queues", name), f"no frame comes into queue '{name}': no priority leads to it", hint


def _dpp(at: KeyPath, policy: Policy) -> Found:
    dpp = policy.dpp
    if dpp is None:
        return
    here: KeyPath = (*at, "dpp")
    express = policy.queues.get(dpp.express)
    if express is None:
        hint = "add a queue that is strict: 1; " + closest(dpp.express, list(policy.queues), "queues")
        yield (*here, "express"), f"there is no queue '{dpp.express}' for prioritised packets", hint
    elif express.strict is None:
        yield (*here, "express"), f"queue '{dpp.express}' is not strict", f"write strict: 1 for queue '{dpp.express}'"
    entries = dpp.table_entries
    if entries < DPP_ENTRIES_MIN or entries & (entries - 1):
        yield (
            (*here, "table_entries"),
            f"{entries} is not a power of two from {DPP_ENTRIES_MIN}",
            "65536 is the default",
        )
