"""What a probe has found, as data and as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log10
from typing import Any

from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.tools.path.path import Direction
from tailrace.tools.path.search import CONTROL_BYTES, HEADERS_BYTES, MTU_MAX

CHANCE_MIN = 1e-12
"""Smaller chances are stated as this one."""

ROUND_TRIP = (
    "There and back: a size passes when its reply has come back, whole or in fragments; a loss on "
    "the way there is not told from one on the way back. Between two hosts of a fabric each "
    "direction is probed by itself."
)
"""What a probe to an address cannot tell."""


@dataclass(frozen=True)
class Report:
    """The directions of a path, and the MTU that was asked for."""

    how: str
    """The engine or the fabric."""
    expected_mtu: int
    directions: Sequence[Direction]

    @property
    def is_carried(self) -> bool:
        """Whether the path carries packets of the asked size in every direction."""
        return all(direction.found.mtu >= self.expected_mtu for direction in self.directions)

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "how": self.how,
            "expected_mtu_bytes": self.expected_mtu,
            "is_carried": self.is_carried,
            "directions": [_data(direction) for direction in self.directions],
        }

    def text(self) -> str:
        """For people."""
        rows = [["path", "MTU", "passes", "does not pass"]]
        rows += [_row(direction) for direction in self.directions]
        reasons = [fill(f"{_way(each)}: {_why(each)}", WIDTH) for each in self.directions]
        return "\n".join([align(rows, left=1), *reasons, self._verdict()])

    def _verdict(self) -> str:
        return (
            f"{self._carried()}\n{fill(ROUND_TRIP, WIDTH)}"
            if self.directions[0].is_round_trip
            else self._carried()
        )

    def _carried(self) -> str:
        if self.is_carried:
            return f"The path carries packets of {self.expected_mtu} bytes ({self.how})."
        short = [
            f"{_way(each)} {each.found.mtu}"
            for each in self.directions
            if each.found.mtu < self.expected_mtu
        ]
        return (
            f"The path does not carry packets of {self.expected_mtu} bytes: {', '.join(short)} "
            f"({self.how})."
        )


def _data(direction: Direction) -> dict[str, Any]:
    found = direction.found
    failed = found.failed
    return {
        "from": direction.source,
        "to": direction.destination,
        "is_round_trip": direction.is_round_trip,
        "mtu_bytes": found.mtu,
        "payload_bytes": found.largest.payload_bytes,
        "failed_payload_bytes": None if failed is None else failed.payload_bytes,
        "cause": _cause(direction),
        "why": _why(direction),
        "own_mtu_bytes": None if failed is None else failed.own_mtu,
        "said": None if failed is None else failed.icmp,
        "router": None if failed is None else failed.router,
        "router_mtu_bytes": None if failed is None else failed.router_mtu,
        "silent": {"sent": direction.silent.sent, "lost": direction.silent.lost},
        "small": {
            "payload_bytes": CONTROL_BYTES,
            "sent": direction.small.sent,
            "lost": direction.small.lost,
        },
        "chance_of_ordinary_loss": direction.chance,
        "where": direction.where,
        "reply_fragment_bytes": found.largest.largest_fragment_bytes or None,
        "is_complete": found.is_complete,
        "tried": [
            {"payload_bytes": each.payload_bytes, "sent": each.sent, "received": each.received}
            for each in found.attempts
        ],
    }


def _row(direction: Direction) -> list[str]:
    found = direction.found
    failed = "-" if found.failed is None else str(found.failed.payload_bytes)
    return [_way(direction), str(found.mtu), str(found.largest.payload_bytes), failed]


def _way(direction: Direction) -> str:
    back = " and back" if direction.is_round_trip else ""
    return f"{direction.source} to {direction.destination}{back}"


def _cause(direction: Direction) -> str:
    failed = direction.found.failed
    if failed is None:
        return "none"
    if failed.own_mtu is not None:
        return "message-too-long"
    return "fragmentation-needed" if failed.router_mtu is not None else "silent-black-hole"


def _why(direction: Direction) -> str:
    failed, largest = direction.found.failed, direction.found.largest
    if failed is None:
        return f"the largest IPv4 packet ({MTU_MAX} bytes) passes"
    parts = []
    if failed.own_mtu is not None:
        parts.append(f"message too long, mtu={failed.own_mtu}: the interface of {direction.source}")
    elif failed.router_mtu is not None:
        parts.append(f"{failed.router} answers: fragmentation needed, mtu={failed.router_mtu}")
    else:
        parts += _silence(direction)
    if largest.largest_fragment_bytes:
        parts.append(
            f"the reply of {largest.payload_bytes} bytes came in fragments of "
            f"{largest.largest_fragment_bytes}"
        )
    if not direction.found.is_complete:
        parts.append(
            f"the time was over: between {direction.found.mtu} and "
            f"{failed.payload_bytes + HEADERS_BYTES - 1}"
        )
    return "; ".join(parts)


def _rounded_up(chance: float) -> str:
    """A power of ten that is not less: `1e-05`."""
    return f"1e{ceil(log10(max(chance, CHANCE_MIN))):03d}"


def _silence(direction: Direction) -> list[str]:
    silent, small = direction.silent, direction.small
    counted = f"{silent.lost} of {silent.sent} lost, {small.lost} of {small.sent} small ones"
    chance = direction.chance
    chance_text = "" if chance is None else f", by chance in at most {_rounded_up(chance)} of cases"
    where = direction.where["words"] if direction.where else None
    found = direction.found.failed
    said = [f"the sender's kernel says: {found.icmp}"] if found is not None and found.icmp else []
    return [f"silent black hole ({counted}{chance_text})", *said, *([where] if where else [])]
