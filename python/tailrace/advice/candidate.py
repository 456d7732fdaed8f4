"""A change that may help: what it sets, on which waits it acts, what it costs, and how it is
applied."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

QUEUES = frozenset({"switch_queue", "paused", "interface_queue"})
"""Waits behind other frames."""
REPEATS = frozenset({"fast_retransmission", "probe", "timeout", "reordering"})
"""Waits for what was lost."""
WORK = frozenset(
    {"client_work", "server_work", "worker_wait", "core_wait", "receive", "wait_to_start"}
)
"""Time on cores, and before them."""
WINDOW = "windowed"
"""Round trips for which a window was closed: they consist of other parts, and are counted beside
them."""


@dataclass(frozen=True)
class Settings:
    """Commands for one kind of place, and those that take them back."""

    where: str
    apply: tuple[str, ...]
    undo: tuple[str, ...]


@dataclass(frozen=True)
class Candidate:
    """One change."""

    name: str
    """Name of its arm."""
    group: str
    """Of candidates of one group only the best is followed, and no two are combined: each replaces
    the other."""
    title: str
    """What it does, as the beginning of a sentence."""
    changes: Mapping[str, Any] = field(repr=False)
    """Dotted paths of the scenario and values, as in an arm."""
    acts_on: frozenset[str]
    """Parts of a latency (`docs/models/causes.md`) that it can change, and `windowed`; empty for
    any."""
    costs: str
    """What it costs, and what can go wrong."""
    settings: tuple[Settings, ...] = ()
    """What is set elsewhere than on switches, whose lines follow from the changed policies."""
    evidence: str = ""
    """Where the mechanism was compared with measurements or publications."""
