"""Values of EOS statements: ranges of ports, lists of numbers, factors of the free buffer."""

import re

from tailrace.scenario.policies.classify import DSCP_NAMES
from tailrace.scenario.policies.limit import ALPHA_MAX

PORTS_MAX = 1024
"""Ports of a range, at most."""


def expanded(names: str) -> list[str]:
    """The ports of `Ethernet1-4,7`."""
    found: list[str] = []
    kind = ""
    for part in re.split(r"\s*,\s*", names):
        piece = re.fullmatch(r"([A-Za-z-]*?)\s*((?:\d+/)*)(\d{1,4})(?:-(\d{1,4}))?", part)
        if piece is None:
            return [names]
        kind = piece[1] or kind
        first, last = int(piece[3]), int(piece[4] or piece[3])
        found += [
            f"{kind}{piece[2]}{number}" for number in range(first, min(last, first + PORTS_MAX) + 1)
        ]
    return found[:PORTS_MAX] or [names]


def numbers(listed: str, most: int) -> list[int] | None:
    """The numbers of `8 9`, `0-7,46` or `ef`; None for other words and numbers above `most`."""
    found: list[int] = []
    for piece in re.split(r"[\s,]+", listed.strip()):
        named = DSCP_NAMES.get(piece.lower())
        bounds = re.fullmatch(
            r"(\d{1,4})(?:-(\d{1,4}))?", str(named) if named is not None and most == 63 else piece
        )
        if bounds is None or int(bounds[2] or bounds[1]) > most:
            return None
        found += range(int(bounds[1]), int(bounds[2] or bounds[1]) + 1)
    return found


def alpha_of(text: str) -> str | None:
    """`1/8` or `8` as a factor of the free buffer."""
    over, _, under = text.partition("/")
    factor = int(over) / int(under or 1) if int(under or 1) else 0
    return f"dynamic({factor:g})" if 0.001 <= factor <= ALPHA_MAX else None
