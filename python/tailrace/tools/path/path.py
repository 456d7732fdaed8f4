"""The search on one direction of a path, with the evidence that the result rests on."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tailrace.tools.path import confidence
from tailrace.tools.path.search import (
    CONTROL_BYTES,
    Attempt,
    Found,
    NoAnswerError,
    Try,
    find_largest,
)
from tailrace.tools.path.talk import ProbeError

CONFIRMATIONS = 2
"""The smallest size that fails is tried so many times again, among as many small probes."""


@dataclass(frozen=True)
class Asked:
    """What the user asks of a path."""

    expected_mtu: int
    tries: int
    limit_s: float


@dataclass(frozen=True)
class Loss:
    """Probes of one size, all together."""

    sent: int
    received: int

    @property
    def lost(self) -> int:
        """Those that did not arrive."""
        return self.sent - self.received


@dataclass(frozen=True)
class Direction:
    """One direction of a path, as it was found."""

    source: str
    destination: str
    found: Found
    small: Loss
    """Small probes: the loss that a path has anyway."""
    silent: Loss
    """Probes of the smallest size that fails; none where the sender's kernel refused it."""
    where: dict[str, Any] | None = None
    """Where they ended, on a path whose counters are known."""
    is_round_trip: bool = False

    @property
    def payload_bytes(self) -> int:
        """The largest payload that passes."""
        return self.found.largest.payload_bytes

    @property
    def chance(self) -> float | None:
        """The chance that ordinary loss has taken all probes that failed, at most; None where none
        was sent."""
        if not self.silent.sent:
            return None
        return confidence.chance_of_silence(self.small.lost, self.small.sent, self.silent.sent)


Located = Callable[[Callable[[], None], int], dict[str, Any] | None]
"""Runs something that sends so many probes which are lost; returns where they ended."""


def probe(
    names: tuple[str, str],
    try_size: Try,
    asked: Asked,
    locate: Located | None = None,
    *,
    is_round_trip: bool = False,
) -> Direction:
    """Searches one direction; raises `ProbeError` when the other end does not answer."""
    source, destination = names
    deadline_s = time.monotonic() + asked.limit_s
    try:
        found = find_largest(try_size, asked.expected_mtu, asked.tries, deadline_s)
    except NoAnswerError as error:
        said = f" ({error})" if str(error) else ""
        raise ProbeError(
            f"{destination} does not answer {source}: "
            f"all {asked.tries} probes of {CONTROL_BYTES} bytes were lost{said} "
            "(hint: is the address right, is the host up, does a filter drop the probes?)"
        ) from None
    small, silent = Loss(found.control.sent, found.control.received), Loss(0, 0)
    where = None
    failed = found.failed
    if failed is not None and failed.own_mtu is None:
        small, silent, where = _confirm(try_size, failed, small, asked.tries, locate)
    return Direction(source, destination, found, small, silent, where, is_round_trip)


def _confirm(
    try_size: Try, failed: Attempt, small: Loss, tries: int, locate: Located | None
) -> tuple[Loss, Loss, dict[str, Any] | None]:
    """Tries the smallest size that fails again, among small probes; finds out where it ends."""
    kept = [failed]

    def again() -> None:
        kept.append(try_size(failed.payload_bytes, tries))

    where = None
    for number in range(CONFIRMATIONS):
        if number == 0 and locate is not None:
            where = locate(again, tries)
        else:
            again()
        control = try_size(CONTROL_BYTES, tries)
        small = Loss(small.sent + control.sent, small.received + control.received)
    return small, Loss(sum(each.sent for each in kept), sum(each.received for each in kept)), where
