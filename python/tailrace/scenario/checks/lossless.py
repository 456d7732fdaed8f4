"""Semantic checks for lossless classes: settings of the same policy that drop or delay their frames
despite pauses."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.pause import PRIORITIES
from tailrace.scenario.policies.switch import Policy
from tailrace.scenario.scenario import Scenario

Found = Iterator[tuple[KeyPath, str, str]]


def lossless_priorities(policy: Policy) -> list[int]:
    """Priorities whose senders this policy pauses: those of `pfc`, or all with `link_pause`."""
    pausing = policy.pausing
    if pausing is None or not pausing.sends:
        return []
    return sorted(set(policy.pfc.priorities)) if policy.pfc is not None else list(range(PRIORITIES))


def lossless_queues(policy: Policy) -> dict[str, int]:
    """Queues of the lossless priorities, each with the first priority mapped to it."""
    queues: dict[str, int] = {}
    for priority in lossless_priorities(policy):
        queues.setdefault(policy.queue_of(priority), priority)
    return {name: priority for name, priority in queues.items() if name in policy.queues}


def check(at: KeyPath, policy: Policy) -> Found:
    """Problems of the parts of a policy that drop frames of its lossless priorities."""
    if policy.pfc is None:
        return
    lossless = set(lossless_priorities(policy))
    if policy.police is not None and (policed := lossless & set(policy.police.priorities)):
        what = (
            f"the policer drops frames of lossless priority {min(policed)}; pauses do not "
            "prevent this"
        )
        yield (
            (*at, "police", "priorities"),
            what,
            _leave_out("police", set(policy.police.priorities) - lossless),
        )
    if policy.dpp is not None and (moved := lossless & set(policy.dpp.priorities)):
        what = (
            f"dpp moves packets of lossless priority {min(moved)} to queue '{policy.dpp.express}', "
            "which is not lossless"
        )
        yield (
            (*at, "dpp", "priorities"),
            what,
            _leave_out("dpp", set(policy.dpp.priorities) - lossless),
        )


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """Warnings about policies that a switch accepts although their lossless classes do not behave
    as such."""
    used = [scenario.switch(name) for name in graph.switches]
    for name in dict.fromkeys(
        policy for switch in used for policy in (switch.policy, *switch.ports.values())
    ):
        policy = scenario.policy(name)
        assert policy is not None, "checks reject unknown policies"
        at: KeyPath = ("policies", name)
        for queue in lossless_queues(policy):
            aqm = policy.queues[queue].aqm
            if aqm.drops_capable():
                what = (
                    f"{aqm.kind} drops frames of the lossless queue '{queue}'; pauses do not "
                    "prevent this"
                )
                yield (
                    (*at, "queues", queue, "aqm"),
                    what,
                    "write ecn: true and enable ECN on the senders, or omit aqm",
                )
        yield from _shared((*at, "pfc", "priorities"), policy)


def _shared(at: KeyPath, policy: Policy) -> Found:
    """Lossless priorities whose queue has frames of another priority too: a pause stops the whole
    queue."""
    lossless = set(policy.pfc.priorities) if policy.pfc is not None else set()
    members: dict[str, list[int]] = {}
    for priority in range(PRIORITIES):
        members.setdefault(policy.queue_of(priority), []).append(priority)
    for queue, priorities in members.items():
        paused = [priority for priority in priorities if priority in lossless]
        if paused and len(priorities) > 1:
            other = next(priority for priority in priorities if priority != paused[0])
            what = (
                f"lossless priority {paused[0]} shares queue '{queue}' with priority {other}: "
                "a pause of one stops both"
            )
            yield at, what, f"give it a separate queue: priorities: {{{paused[0]}: NAME}}"


def _leave_out(part: str, rest: set[int]) -> str:
    return (
        f"{part}: {{priorities: {sorted(rest)}}}"
        if rest
        else f"remove {part}, or the priority from pfc"
    )
