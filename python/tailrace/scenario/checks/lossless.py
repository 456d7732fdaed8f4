"""Semantic checks for lossless classes: other parts of the same policy that drop their frames despite pauses."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.policies.pause import PRIORITIES
from tailrace.scenario.policies.switch import Policy

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
    for name in lossless_queues(policy):
        aqm = policy.queues[name].aqm
        if aqm.drops_capable():
            what = f"{aqm.kind} drops frames of the lossless queue '{name}'; pauses do not prevent this"
            yield (*at, "queues", name, "aqm"), what, "write ecn: true and enable ECN on the senders, or omit aqm"
    if policy.pfc is None:
        return
    lossless = set(lossless_priorities(policy))
    if policy.police is not None and (policed := lossless & set(policy.police.priorities)):
        what = f"the policer drops frames of lossless priority {min(policed)}; pauses do not prevent this"
        yield (*at, "police", "priorities"), what, _leave_out("police", set(policy.police.priorities) - lossless)
    if policy.dpp is not None and (moved := lossless & set(policy.dpp.priorities)):
        what = (
            f"dpp moves packets of lossless priority {min(moved)} to queue '{policy.dpp.express}', "
            "which is not lossless"
        )
        yield (*at, "dpp", "priorities"), what, _leave_out("dpp", set(policy.dpp.priorities) - lossless)


def _leave_out(part: str, rest: set[int]) -> str:
    return f"{part}: {{priorities: {sorted(rest)}}}" if rest else f"remove {part}, or the priority from pfc"
