"""A step of marking: WRED whose minimum is its maximum."""

from typing import Any

Yaml = dict[str, Any]


def is_step(red: Yaml) -> bool:
    """Whether thresholds of the depth of the moment are one, so that everything above it is marked."""
    return (
        red.get("kind") == "red"
        and red["minimum"] == red["maximum"]
        and red["weight_exponent"] == 0
        and bool(red.get("ecn"))
        and "not_capable" not in red
    )


def steps_of_lossless_queues(queues: dict[int, Yaml], lossless: set[int]) -> None:
    """In a lossless queue nothing is dropped: what a step does to frames that cannot be marked is to let them pass.

    Elsewhere the same thresholds drop such frames, which `red` says with its minimum at its maximum.
    """
    for number in lossless & set(queues):
        red = queues[number].get("aqm", {})
        if is_step(red):
            queues[number]["aqm"] = {"kind": "step", "threshold": red["maximum"]}
