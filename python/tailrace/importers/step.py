"""Marking at a step threshold: WRED whose minimum equals its maximum."""

from typing import Any

Yaml = dict[str, Any]


def is_step(red: Yaml) -> bool:
    """Whether the thresholds of the instantaneous depth are equal, so that every frame above them
    is marked."""
    return (
        red.get("kind") == "red"
        and red["minimum"] == red["maximum"]
        and red["weight_exponent"] == 0
        and bool(red.get("ecn"))
        and "not_capable" not in red
    )


def steps_of_lossless_queues(queues: dict[int, Yaml], lossless: set[int]) -> None:
    """In a lossless queue nothing is dropped: a step lets frames without ECN pass.

    In other queues the same thresholds drop such frames, which `red` expresses with equal minimum
    and maximum.
    """
    for number in lossless & set(queues):
        red = queues[number].get("aqm", {})
        if is_step(red):
            queues[number]["aqm"] = {"kind": "step", "threshold": red["maximum"]}
