"""Fair drop without elephants to act on, from the counters of elephant traps."""

from collections.abc import Mapping

from tailrace.outcome.types import Elephants, Port
from tailrace.plan.types import AqmByKind, Policy
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.format.numbers import digits_text, span_text
from tailrace.results.ports.queuing import port_policies
from tailrace.results.summary.network import IdleFairDrop
from tailrace.results.summary.summary import ArmSummary

SHARE_MIN = 0.05
"""Of fewer bytes than this share fair drop cannot hold a queue."""
KEPT = 0.9
"""The age that is named as the least would have kept this share of the elephants that fell
silent."""
FULL_CAUSES = ("tail-drop", "buffer-full")


def idle_fair_drop(run: Run, arm: str, trials: list[Trial]) -> list[IdleFairDrop]:
    """Ports of an arm with hardly any elephants although a queue with fair drop overflowed or was
    too deep."""
    ports: dict[tuple[str, str], list[tuple[Port, Elephants]]] = {}
    for trial in trials:
        for port in trial.outcome.ports:
            if port.elephants and port.elephants.bytes:
                ports.setdefault((port.node, port.towards), []).append((port, port.elephants))
    if not ports:
        return []
    policy_of = port_policies(run.plan(arm))
    found = (_of_port(policy_of(*port), seen) for port, seen in ports.items())
    return [idle for idle in found if idle is not None]


def _of_port(policy: Policy | None, seen: list[tuple[Port, Elephants]]) -> IdleFairDrop | None:
    if policy is None or policy.etrap is None:
        return None
    desired = {
        queue.name: queue.aqm.afd.desired_bytes
        for queue in policy.queues
        if isinstance(queue.aqm, AqmByKind) and queue.aqm.afd
    }
    queues = [queue for port, _ in seen for queue in port.queues if queue.name in desired]
    full = sum(
        lost.frames
        for queue in queues
        for cause, lost in queue.drops.items()
        if cause in FULL_CAUSES
    )
    depths = [(queue.depth_mean_bytes or 0.0, desired[queue.name]) for queue in queues]
    deepest = max(depths, key=lambda one: one[0] / one[1], default=None)
    traps = [trap for _, trap in seen]
    share = sum(trap.elephant_bytes for trap in traps) / sum(trap.bytes for trap in traps)
    if deepest is None or share >= SHARE_MIN:
        return None
    depth_mean_bytes, desired_bytes = deepest
    if not full and depth_mean_bytes <= desired_bytes:
        return None
    age_ps = policy.etrap.age_ps
    return IdleFairDrop(
        port=f"{seen[0][0].node}>{seen[0][0].towards}",
        elephant_share=share,
        full_frames=full / len(seen),
        depth_mean_bytes=depth_mean_bytes,
        desired_bytes=desired_bytes,
        age_ps=age_ps,
        age_needed_ps=_age_needed(age_ps, [trap.silences for trap in traps]),
    )


def _age_needed(age_ps: int, silences: list[list[int]]) -> int | None:
    """The smallest age, in doublings, that would have kept `KEPT` of the elephants that fell
    silent."""
    counts = [sum(of) for of in zip(*silences, strict=True)]
    kept = 0
    for doublings, count in enumerate(counts, start=1):
        kept += count
        if kept >= KEPT * sum(counts) > 0:
            return age_ps << doublings
    return None


def fair_drop_sentences(arms: Mapping[str, ArmSummary]) -> list[str]:
    """One sentence for every arm and port."""
    return [
        _sentence(arm, idle) for arm, summary in arms.items() for idle in summary.idle_fair_drop
    ]


def _sentence(arm: str, idle: IdleFairDrop) -> str:
    remedy = "raise etrap.age"
    if idle.age_needed_ps is not None:
        remedy = (
            f"{100 * KEPT:g} % of their pauses were shorter than "
            f"{span_text(idle.age_needed_ps)}, so `etrap.age` "
            "must be at least that (`tailrace check` proposes three rounds of the connections)"
        )
    return (
        f"With {arm}, fair drop at {idle.port} applied to only {100 * idle.elephant_share:.2g} % "
        f"of the bytes, and {digits_text(idle.full_frames)} frames per trial arrived at a full "
        f"queue (mean depth {idle.depth_mean_bytes / idle.desired_bytes:.2g} times `desired`): "
        f"elephants pause for longer than the trap's age of {span_text(idle.age_ps)} and are "
        f"evicted; {remedy}."
    )
