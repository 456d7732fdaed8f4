"""A change that may help: its settings, the waits on which it acts, its costs, and its
application."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

QUEUES = frozenset({"switch_queue", "paused", "interface_queue"})
"""Waits behind other frames."""
REPEATS = frozenset({"fast_retransmission", "probe", "timeout", "reordering"})
"""Waits for lost frames or segments."""
WORK = frozenset(
    {"client_work", "server_work", "worker_wait", "core_wait", "receive", "wait_to_start"}
)
"""Time on cores, and before them."""
WINDOW = "windowed"
"""Round trips during which a window was closed. They consist of other parts, and are counted beside
them."""


@dataclass(frozen=True)
class Settings:
    """Commands for one kind of device or host, and the commands that undo them."""

    where: str
    apply: tuple[str, ...]
    undo: tuple[str, ...]


@dataclass(frozen=True)
class Candidate:
    """One change."""

    name: str
    """Name of its arm."""
    group: str
    """Only the best candidate of a group is followed, and no two of a group are combined: each
    replaces the other."""
    title: str
    """Its effect, as the beginning of a sentence."""
    changes: Mapping[str, Any] = field(repr=False)
    """Dotted paths of the scenario and values, as in an arm."""
    acts_on: frozenset[str]
    """Parts of a latency (`docs/models/causes.md`) that it can change, and `windowed`; empty for
    all."""
    costs: str
    """Its costs and risks."""
    settings: tuple[Settings, ...] = ()
    """Settings outside switches. The lines of switches follow from the changed policies."""
    evidence: str = ""
    """Source of measurements or publications with which the mechanism was compared."""
