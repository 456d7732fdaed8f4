"""A fitted workload: its settings, each with where it is from, how well it fits, and what the capture shows of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tailrace.fit.shapes import Fitted
from tailrace.scenario.workloads.recording import Recorded


class Origin(StrEnum):
    """Where a value is from."""

    MEASURED = "measured"
    ESTIMATED = "estimated"
    ASSUMED = "assumed"
    STATED = "stated"


@dataclass(frozen=True)
class Setting:
    """One key of a scenario."""

    key: str
    value: Any
    origin: Origin | None = None
    note: str = ""

    @property
    def comment(self) -> str:
        """What the file says beside it."""
        if self.origin is None:
            return self.note
        return f"{self.origin}: {self.note}" if self.note else str(self.origin)


@dataclass(frozen=True)
class Fit:
    """A workload with its evidence."""

    kind: str
    settings: tuple[Setting, ...]
    fits: Mapping[str, Fitted] = field(default_factory=dict)
    """By the key of the setting."""
    seen: Mapping[str, float] = field(default_factory=dict)
    """Statistics of the capture, named as the simulated ones that stand beside them."""
    notes: tuple[str, ...] = ()
    """What cannot be known."""
    conversation: str = ""
    """Ends and port of its connections; workloads of the same connections share it."""
    has_network_wait: bool = False
    """Its server times may contain waiting in the network."""
    recording: Sequence[Sequence[Recorded]] = ()
    """Of a replay: the requests of each connection."""


def distributed(key: str, fit: Fitted, origin: Origin, note: str) -> Setting:
    """A key whose value is a fitted distribution."""
    shape = "mean" if fit.is_constant else "shape"
    return Setting(key, fit.value, origin, f"{note}; {shape} of {fit.count}, distance {fit.distance:.3f}")
