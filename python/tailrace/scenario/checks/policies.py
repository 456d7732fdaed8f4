"""Semantic checks for queueing policies."""

from collections.abc import Iterator

from tailrace.errors import KeyPath, closest
from tailrace.scenario.checks import pause
from tailrace.scenario.checks.sharing import Sharing
from tailrace.scenario.policies.aqm.base import QueueManagement
from tailrace.scenario.policies.switch import Policy, Queue
from tailrace.scenario.scenario import Scenario

FLOW_ENTRIES_MIN = 4
FLOW_ENTRIES_MAX = 2**24
"""Half a gigabyte per port is more than any switch has."""
PRIORITIES = 8
"""IEEE 802.1Q: 0 to 7."""

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario) -> Found:
    """Problems of every policy."""
    for name, policy in scenario.policies.items():
        yield from check_policy(("policies", name), policy)


def check_policy(at: KeyPath, policy: Policy) -> Found:
    """Problems of one policy that do not depend on where it is used."""
    sharing = Sharing("queue", policy.queues)
    yield from sharing.problems((*at, "queues"))
    for name, queue in policy.queues.items():
        here: KeyPath = (*at, "queues", name)
        yield from sharing.problems_of(name, here)
        if queue.limit.amount == 0:
            yield (*here, "limit"), "`limit` must be greater than zero", "write a size such as 4MB"
        yield from _aqm((*here, "aqm"), queue.aqm)
        yield from _rates(here, queue)
    names = list(policy.queues)
    for priority, queue_name in policy.priorities.items():
        if queue_name not in policy.queues:
            hint = closest(queue_name, names, "queues")
            yield (*at, "priorities", priority), f"there is no queue '{queue_name}'", hint
    yield from _unreached(at, policy)
    yield from _dpp(at, policy)
    yield from _etrap(at, policy)
    yield from pause.check(at, policy)
    if policy.police is not None and policy.police.rate == 0:
        yield (
            (*at, "police", "rate"),
            "`rate` must be greater than zero",
            "write a rate such as 5Gbit/s",
        )


def _aqm(at: KeyPath, aqm: QueueManagement) -> Found:
    for path, what, hint in aqm.problems():
        yield (*at, *path), what, hint


def _rates(at: KeyPath, queue: Queue) -> Found:
    shape = queue.shape
    if shape is None:
        return
    if shape.min is None and shape.max is None:
        yield (*at, "shape"), "`shape` has neither min nor max", "write min, max, or both"
    if shape.max == 0:
        yield (*at, "shape", "max"), "`max` must be greater than zero", "omit it for no limit"
    elif shape.max is not None and (shape.min or 0) > shape.max:
        yield (*at, "shape"), "`min` must not exceed `max`", "swap the two values"


def _etrap(at: KeyPath, policy: Policy) -> Found:
    etrap = policy.etrap
    if etrap is None:
        return
    here: KeyPath = (*at, "etrap")
    entries = etrap.table_entries
    if not is_table_size(entries):
        yield (*here, "table_entries"), _no_table(entries), "65536 is the default"
    if etrap.age == 0:
        yield (*here, "age"), "`age` must be greater than zero", "50us is the default"
    if etrap.afd_period == 0:
        yield (*here, "afd_period"), "`afd_period` must be greater than zero", "25us is the default"
    if etrap.bandwidth_threshold == 0:
        yield (
            (*here, "bandwidth_threshold"),
            "`bandwidth_threshold` must be greater than zero",
            "500B is the default",
        )
    if not any(queue.aqm.needs_trap for queue in policy.queues.values()):
        yield (
            here,
            "no queue uses the elephant trap",
            "give a queue aqm: {kind: afd, desired: 150kB}, or remove it",
        )


def is_table_size(entries: int) -> bool:
    """The number of entries of a flow table must be a power of two."""
    return FLOW_ENTRIES_MIN <= entries <= FLOW_ENTRIES_MAX and not entries & (entries - 1)


def _no_table(entries: int) -> str:
    return f"{entries} is not a power of two from {FLOW_ENTRIES_MIN} to {FLOW_ENTRIES_MAX}"


def _unreached(at: KeyPath, policy: Policy) -> Found:
    """Queues that no frame can enter: an arm that adds one would have no effect."""
    if any(name not in policy.queues for name in policy.priorities.values()):
        return  # the intended queue is unknown
    if policy.dpp is not None and policy.dpp.express not in policy.queues:
        return
    reached = {*policy.priorities.values(), policy.dpp.express if policy.dpp else ""}
    if len(policy.priorities) < PRIORITIES:
        reached.add(policy.usual_queue)
    for name in policy.queues:
        if name not in reached:
            hint = f"add 'priorities: {{5: {name}}}' and give workloads 'priority: 5'"
            yield (
                (*at, "queues", name),
                f"no frame can enter queue '{name}': no priority is mapped to it",
                hint,
            )


def _dpp(at: KeyPath, policy: Policy) -> Found:
    dpp = policy.dpp
    if dpp is None:
        return
    here: KeyPath = (*at, "dpp")
    express = policy.queues.get(dpp.express)
    if express is None:
        hint = "add a queue that is strict: 1; " + closest(
            dpp.express, list(policy.queues), "queues"
        )
        yield (*here, "express"), f"there is no queue '{dpp.express}' for prioritised packets", hint
    elif express.strict is None:
        yield (
            (*here, "express"),
            f"queue '{dpp.express}' is not strict",
            f"write strict: 1 for queue '{dpp.express}'",
        )
    else:
        others = {
            name: queue.strict for name, queue in policy.queues.items() if name != dpp.express
        }
        sooner = next(
            (
                name
                for name, level in others.items()
                if level is not None and level <= express.strict
            ),
            None,
        )
        if sooner is not None:
            what = (
                f"queue '{sooner}' is not served after the express queue: later packets of a "
                "flow could overtake"
            )
            yield (*here, "express"), what, f"give '{sooner}' a level above {express.strict}"
    if not is_table_size(dpp.table_entries):
        yield (*here, "table_entries"), _no_table(dpp.table_entries), "65536 is the default"
