"""Spanning trees: the protocol and the parameters of each tree. Terms as in `spanning-tree` of
NX-OS."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from tailrace.scenario.policies.switch import BridgePriority
from tailrace.scenario.text.quantities import Part, refuse, stepped

PORT_PRIORITY = 128
"""IEEE 802.1Q-2018 table 13-3: the default."""
PORT_PRIORITY_STEP = 16
PORT_PRIORITY_MAX = 240
PATH_COST_MAX = 200_000_000
"""IEEE 802.1Q-2018 table 13-4: the largest."""
VLAN_MAX = 4_094
INSTANCES_MAX = 64
"""IEEE 802.1Q-2018 clause 8.9.2: instances besides the first."""
_VLANS = re.compile(r"^\s*\d{1,4}\s*(-\s*\d{1,4}\s*)?(,\s*\d{1,4}\s*(-\s*\d{1,4}\s*)?)*$")

Vlan = Annotated[int, Field(ge=1, le=VLAN_MAX, strict=True)]
"""A VLAN of IEEE 802.1Q."""
PathCost = Annotated[int, Field(ge=1, le=PATH_COST_MAX, strict=True)]


PortPriority = Annotated[int, *stepped(PORT_PRIORITY_STEP, PORT_PRIORITY_MAX, "port priority")]


def _vlans(value: object) -> list[int]:
    hint = "write 10, 10-20,30, or a list of such"
    if isinstance(value, list) and value:
        return sorted({vlan for entry in value for vlan in _vlans(entry)})
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _VLANS.fullmatch(text):
        raise refuse(f"{value!r} is not a list of VLANs", hint)
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = (end.strip() for end in part.partition("-"))
        low, high = int(first), int(last or first)
        if not 1 <= low <= high <= VLAN_MAX:
            raise refuse(
                f"'{part.strip()}' is not a range of VLANs",
                f"write 1 to {VLAN_MAX}, the lower one first",
            )
        found |= set(range(low, high + 1))
    return sorted(found)


_ONE_ENTRY = [
    {"type": "integer", "minimum": 1, "maximum": VLAN_MAX},
    {"type": "string", "pattern": _VLANS.pattern},
]
Vlans = Annotated[
    Any,
    BeforeValidator(_vlans),
    WithJsonSchema(
        {
            "anyOf": [
                *_ONE_ENTRY,
                {"type": "array", "items": {"anyOf": _ONE_ENTRY}, "minItems": 1},
            ],
            "examples": ["10-20"],
        }
    ),
]
"""VLANs: a number, `10-20,30`, or a list."""


class Tree(Part):
    """The tree of one VLAN (`spanning-tree vlan 10 priority 4096`)."""

    bridge_priority: dict[str, BridgePriority] = {}
    """Priorities of switches in this tree, by name; other switches use their `bridge_priority`."""


class Instance(Tree):
    """One MSTP instance (`instance 1 vlan 10-20`, `spanning-tree mst 1 priority 4096`)."""

    vlans: Vlans
    """Its VLANs: `10`, `10-20,30`, or a list."""


class SpanningTree(Part):
    """Spanning trees (IEEE 802.1Q clause 13) determine which links forward; without them all
    shortest paths are used.
    """

    protocol: Literal["rstp", "rapid-pvst", "mstp"]
    """rstp: one tree. rapid-pvst: a tree for each VLAN. mstp: a tree for each instance, all
    switches in one region."""
    vlans: dict[Vlan, Tree] = {}
    """rapid-pvst: settings of the trees by VLAN."""
    instances: dict[Annotated[int, Field(ge=1, le=INSTANCES_MAX)], Instance] = {}
    """mstp: the instances and their VLANs; all other frames take instance 0."""
    disjoint: bool = False
    """Choose the path costs of the listed VLANs or instances such that their trees share as few
    links as possible."""

    @property
    def trees(self) -> dict[int, tuple[list[int], dict[str, int]]]:
        """The trees besides the first, by number: VLANs and switch priorities."""
        if self.protocol == "mstp":
            return {
                number: (own.vlans, own.bridge_priority) for number, own in self.instances.items()
            }
        return {vlan: ([vlan], own.bridge_priority) for vlan, own in self.vlans.items()}
