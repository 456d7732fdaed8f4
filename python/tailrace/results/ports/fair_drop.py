"""Fair drop that had no elephants to act on, from what elephant traps have counted."""

from typing import Any, TypedDict

from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.format.numbers import digits_text, span_text
from tailrace.results.ports.queuing import port_policies

SHARE_MIN = 0.05
"""Of fewer bytes than this share fair drop cannot hold a queue."""
KEPT = 0.9
"""The age that is named as the least would have kept this share of the elephants that fell silent."""
FULL_CAUSES = ("tail-drop", "buffer-full")


class Idle(TypedDict):
    """A port where fair drop did next to nothing although its queue was too long; means over the trials of an arm."""

    port: str
    elephant_share: float
    """Share of the bytes that arrived from elephants, 0 to 1."""
    full_frames: float
    """Frames that found no room in queues with fair drop."""
    depth_mean_bytes: float
    desired_bytes: int
    age_ps: int
    age_needed_ps: int | None
    """The age that would have kept most elephants, in doublings; None where too few became one."""


def idle_fair_drop(run: Run, arm: str, trials: list[Trial]) -> list[Idle]:
    """Ports of an arm with hardly any elephants although a queue with fair drop overflowed or was too deep."""
    ports: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for trial in trials:
        for port in trial.outcome.get("ports", []):
            if (port.get("elephants") or {}).get("bytes"):
                ports.setdefault((port["node"], port["towards"]), []).append(port)
    if not ports:  # a plan takes as long to read as a trial
        return []
    policy_of = port_policies(run.plan(arm))
    found = (_of_port(policy_of(*place), seen) for place, seen in ports.items())
    return [idle for idle in found if idle is not None]


def _of_port(policy: dict[str, Any] | None, seen: list[dict[str, Any]]) -> Idle | None:
    if policy is None:
        return None
    desired = {
        queue["name"]: queue["aqm"]["afd"]["desired_bytes"]
        for queue in policy["queues"]
        if isinstance(queue["aqm"], dict) and "afd" in queue["aqm"]
    }
    queues = [queue for port in seen for queue in port["queues"] if queue["name"] in desired]
    full = sum(queue["drops"].get(cause, {"frames": 0})["frames"] for queue in queues for cause in FULL_CAUSES)
    deepest = max(queues, key=lambda queue: queue["depth_mean_bytes"] / desired[queue["name"]], default=None)
    traps = [port["elephants"] for port in seen]
    share = sum(trap["elephant_bytes"] for trap in traps) / sum(trap["bytes"] for trap in traps)
    if deepest is None or share >= SHARE_MIN:
        return None
    if not full and deepest["depth_mean_bytes"] <= desired[deepest["name"]]:
        return None
    age_ps = policy["etrap"]["age_ps"]
    return Idle(
        port=f"{seen[0]['node']}>{seen[0]['towards']}",
        elephant_share=share,
        full_frames=full / len(seen),
        depth_mean_bytes=deepest["depth_mean_bytes"],
        desired_bytes=desired[deepest["name"]],
        age_ps=age_ps,
        age_needed_ps=_age_needed(age_ps, [trap["silences"] for trap in traps]),
    )


def _age_needed(age_ps: int, silences: list[list[int]]) -> int | None:
    """The smallest age, in doublings, that would have kept `KEPT` of the elephants that fell silent."""
    counts = [sum(of) for of in zip(*silences, strict=True)]
    kept = 0
    for doublings, count in enumerate(counts, start=1):
        kept += count
        if kept >= KEPT * sum(counts) > 0:
            return age_ps << doublings
    return None


def fair_drop_sentences(arms: dict[str, dict[str, Any]]) -> list[str]:
    """One sentence for every arm and port."""
    return [_sentence(arm, idle) for arm, summary in arms.items() for idle in summary.get("idle_fair_drop", [])]


def _sentence(arm: str, idle: Idle) -> str:
    remedy = "raise etrap.age"
    if idle["age_needed_ps"] is not None:
        remedy = (
            f"{100 * KEPT:g} % of their pauses were shorter than {span_text(idle['age_needed_ps'])}, so `etrap.age` "
            "must be at least that (`tailrace check` proposes three rounds of the connections)"
        )
    return (
        f"With {arm}, fair drop at {idle['port']} applied to only {100 * idle['elephant_share']:.2g} % of the bytes, "
        f"and {digits_text(idle['full_frames'])} frames per trial arrived at a full queue (mean depth "
        f"{idle['depth_mean_bytes'] / idle['desired_bytes']:.2g} times `desired`): elephants pause for longer "
        f"than the trap's age of {span_text(idle['age_ps'])} and are evicted; {remedy}."
    )
