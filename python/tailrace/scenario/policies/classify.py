"""Classification: the class, and thereby the queue, of a frame at a switch."""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from tailrace.scenario.text.quantities import Part, refuse
from tailrace.scenario.text.units import shown

DSCP_NAMES: dict[str, int] = {
    "default": 0,
    "be": 0,
    "le": 1,
    "va": 44,
    "ef": 46,
    **{f"cs{number}": 8 * number for number in range(8)},
    **{f"af{group}{drop}": 8 * group + 2 * drop for group in (1, 2, 3, 4) for drop in (1, 2, 3)},
}
"""Code points by name (RFC 2474, 2597, 3246, 5865, 8622)."""
PROTOCOLS = {"tcp": 6, "udp": 17}
"""The protocols that workloads use."""
_PORTS = re.compile(r"^\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?$")


def _dscp(value: object) -> object:
    if isinstance(value, str):
        number = DSCP_NAMES.get(value.strip().lower())
        if number is None:
            raise refuse(
                f"'{value}' is not a code point", "write 0 to 63, or a name such as ef, cs3, af41"
            )
        return number
    return value


def _ports(value: object) -> tuple[int, int]:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    match = _PORTS.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise refuse(
            f"{shown(value)} is not a port", "write a port or a range, such as 5432 or 1024-2047"
        )
    first, last = int(match[1]), int(match[2] or match[1])
    if not first <= last <= 65_535:
        raise refuse(f"'{text}' is not a range of ports", "write 0 to 65535, the lower one first")
    return first, last


Dscp = Annotated[
    int,
    BeforeValidator(_dscp),
    Field(ge=0, le=63, strict=True),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 63},
                {"enum": sorted(DSCP_NAMES)},
            ],
            "default": 0,
        }
    ),
]
"""A code point of the IP header, by number or name."""
Ports = Annotated[
    tuple[int, int],
    BeforeValidator(_ports),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 65_535},
                {"type": "string", "pattern": _PORTS.pattern},
            ]
        }
    ),
]
"""First and last port."""


class Rule(Part):
    """A classification rule: all of its conditions must hold. The first rule that matches
    applies."""

    model_config = ConfigDict(populate_by_name=True)

    class_: Annotated[int, Field(ge=0, le=7, strict=True, alias="class")]
    """Class of matching frames, 0 to 7; it replaces the frame's priority."""
    pcp: list[Annotated[int, Field(ge=0, le=7, strict=True)]] | None = None
    """Priority of the 802.1Q tag (a workload's `priority`), one or several."""
    dscp: list[Dscp] | None = None
    """Code point (a workload's `dscp`), by number or name, one or several."""
    vlan: list[Annotated[int, Field(ge=1, le=4094, strict=True)]] | None = None
    """VLAN (a workload's `vlan`), one or several."""
    ingress: str | None = None
    """Neighbour from which the frame arrived."""
    source: str | None = None
    """Host that sent the frame."""
    destination: str | None = None
    """Host that receives the frame."""
    protocol: Literal["tcp", "udp"] | None = None
    """Transport protocol."""
    source_port: Ports | None = None
    """Source port, or first-last."""
    destination_port: Ports | None = None
    """Destination port, or first-last."""
