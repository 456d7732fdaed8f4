"""Classes: a queue of its own for the workload of the goal, and weights of queues."""

import copy
from collections.abc import Iterator
from typing import Any

from tailrace.advice.candidate import QUEUES, REPEATS, WINDOW, Candidate, Settings
from tailrace.advice.situation import PolicyEdit, Situation, unused
from tailrace.scenario.policies.switch import Policy

CLASS, DSCP = 4, "cs4"
"""Class selector 4 (RFC 2474), which RFC 4594 gives to real-time interactive traffic."""
QUEUES_MAX = 8
ACTS_ON = QUEUES | REPEATS | {WINDOW}
EVIDENCE = "reproductions/hagen-converged (weights of classes)"


def candidates(situation: Situation) -> Iterator[Candidate]:
    """A class of its own, weighted and strict, and a larger weight of the queue that it has."""
    if not situation.switches or not situation.others:
        return
    for name, title, queue, costs in (
        (
            "own-queue",
            "half of the line",
            {"share": "50%"},
            "Other workloads share the remaining half while it sends.",
        ),
        (
            "strict-queue",
            "strict priority",
            {"strict": 2},
            "Whatever it sends goes first: others can starve.",
        ),
    ):
        policies = situation.with_policies(_own_queue(situation, queue))
        yield Candidate(
            name=name,
            group="classes",
            title=f"A separate queue with {title} for {situation.goal_names}, by DSCP",
            changes={**policies, **_marked(situation)} if policies else {},
            acts_on=ACTS_ON,
            costs=costs,
            settings=(_marking(situation),),
            evidence=EVIDENCE,
        )
    yield Candidate(
        name="larger-share",
        group="classes",
        title=f"80 % of the weighted bandwidth for the queue of {situation.goal_names}",
        changes=situation.with_policies(_weighted(situation)),
        acts_on=ACTS_ON,
        costs="The other queues share the rest.",
        evidence=EVIDENCE,
    )


def _marked(situation: Situation) -> dict[str, Any]:
    """Changes that give the workloads the code point, and every switch a rule for it."""
    changes: dict[str, Any] = {f"workloads.{name}.dscp": DSCP for name in situation.targets}
    rule = {"class": CLASS, "dscp": [DSCP]}
    for path in situation.of_switches("classify", None):
        name = path.split(".")[1]
        stated = (situation.document.data.get("switches") or {}).get(name) or {}
        changes[path] = [dict(rule), *copy.deepcopy(stated.get("classify") or [])]
    return changes


def _marking(situation: Situation) -> Settings:
    rule = "POSTROUTING -t mangle -p tcp -m multiport --ports $PORT -j DSCP --set-dscp-class CS4"
    where = f"{situation.hosts_text(situation.goal_hosts)}, with the PORT of the service"
    return Settings(where, (f"iptables -A {rule}",), (f"iptables -D {rule}",))


def _own_queue(situation: Situation, queue: dict[str, Any]) -> PolicyEdit:
    del situation

    def edit(text: dict[str, Any], policy: Policy) -> bool:
        weighted = [name for name, one in policy.queues.items() if one.strict is None]
        if len(policy.queues) >= QUEUES_MAX or len(weighted) > 1 or CLASS in policy.priorities:
            return False
        if policy.pausing is not None or any(
            one.strict == queue.get("strict") for one in policy.queues.values() if one.strict
        ):
            return False
        usual = policy.usual_queue
        own = unused("goal", text["queues"])
        limit = (text["queues"][usual] or {}).get("limit")
        kept = {"limit": limit} if limit is not None else {}
        text["queues"] = {**text["queues"], own: {**queue, **kept}}
        # The queue of a class without an entry is the first weighted queue of the present policy.
        text["priorities"] = {**(text.get("priorities") or {}), CLASS: own}
        return True

    return edit


def _weighted(situation: Situation) -> PolicyEdit:
    classes = {workload.priority for workload in situation.of_goal.values()}

    def edit(text: dict[str, Any], policy: Policy) -> bool:
        weighted = [name for name, one in policy.queues.items() if one.strict is None]
        own = {policy.queue_of(priority) for priority in classes} & set(weighted)
        rest = [name for name in weighted if name not in own]
        if len(own) != 1 or not rest:
            return False
        for name in weighted:
            share = "80%" if name in own else f"{20 / len(rest):.6g}%"
            text["queues"][name] = {**(text["queues"][name] or {}), "share": share}
        return True

    return edit
