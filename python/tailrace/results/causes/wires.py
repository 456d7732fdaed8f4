"""Names of the wires of a plan."""

from collections.abc import Mapping
from typing import Any


def wire_names(plan: Mapping[str, Any]) -> list[str]:
    """`node>neighbour` of every wire: two for each link of the plan, in order, from its end `a`
    first."""
    return [
        f"{one}>{other}"
        for link in plan["links"]
        for one, other in ((link["a"], link["b"]), (link["b"], link["a"]))
    ]
