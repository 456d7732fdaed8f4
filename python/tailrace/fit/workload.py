"""A fitted workload: its settings, each with its source, the goodness of fit, and the captured
quantities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tailrace.fit.group import Window
from tailrace.fit.quantities import time_text
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
        """The comment beside it in the file."""
        if self.origin is None:
            return self.note
        return f"{self.origin}: {self.note}" if self.note else str(self.origin)


@dataclass(frozen=True)
class Active:
    """From the first event of a workload to its last; times in ns."""

    begin_ns: int = 0
    """After the start of the capture."""
    span_ns: int = 1
    """At least 1 ns."""


@dataclass(frozen=True)
class Answers:
    """Inputs for corrections of the server's times; times in ns."""

    mean_ns: float
    """Of the latencies of transactions, as the client saw them."""
    p90_ns: float
    per_transaction: float
    """Exchanges of a transaction."""
    served_ns: tuple[int, ...]
    """Of each exchange, the time to the response without the path; queues that no acknowledgement
    shows are in it."""


@dataclass(frozen=True)
class Fit:
    """A workload with its evidence."""

    kind: str
    settings: tuple[Setting, ...]
    fits: Mapping[str, Fitted] = field(default_factory=dict)
    """By the key of the setting."""
    seen: Mapping[str, float] = field(default_factory=dict)
    """Statistics of the capture, named as the simulated ones that stand beside them."""
    active: Active = field(default_factory=Active)
    """When it was active in the capture: rates are counts over this time."""
    is_finite: bool = False
    """Whether it ends in the simulation when it has done the captured work."""
    payload_bytes: int = 0
    """Of the capture."""
    notes: tuple[str, ...] = ()
    """Unknown properties."""
    conversation: str = ""
    """Ends and port of its connections; workloads of the same connections share it."""
    answers: Answers | None = None
    """The inputs for corrections, of exchanges."""
    has_network_wait: bool = False
    """Its server times may contain waiting in the network."""
    recording: Sequence[Sequence[Recorded]] = ()
    """Of a replay: the requests of each connection."""


COUNTED_MOST = 100
"""A workload with fewer arrivals has as many in the simulation; of more, chance adds and takes 10 %
at most."""
SPAN_NS_LEAST = 1_000
"""Within a shorter time there is no rate."""
NS_PER_S = 10**9


def active_of(begin_ns: int, end_ns: int, window: Window) -> Active:
    """The time between two moments of the capture."""
    return Active(max(0, begin_ns - window.start_ns), max(1, end_ns - begin_ns))


def counted(count: int, payload_bytes: int, active: Active) -> dict[str, float]:
    """Rates over the time in which a workload was active; of a single event its data, because it
    has no rate."""
    if count < 2 or active.span_ns < SPAN_NS_LEAST:
        return {"count": count, "payload_bytes": payload_bytes}
    return {
        "rate_per_s": count * NS_PER_S / active.span_ns,
        "goodput_bits_per_s": 8 * payload_bytes * NS_PER_S / active.span_ns,
    }


def is_counted(count: int, active: Active, window: Window) -> bool:
    """Whether the simulation has as many events as the capture: few, or none in the last part of
    it."""
    return count < COUNTED_MOST or window.ends_early(
        window.start_ns + active.begin_ns + active.span_ns
    )


def begin_settings(active: Active, *, is_first_at_start: bool = True) -> list[Setting]:
    """Where the first event is."""
    found = []
    if active.begin_ns:
        found.append(Setting("start", time_text(active.begin_ns), Origin.MEASURED, "first event"))
    if is_first_at_start:
        found.append(Setting("first_at_start", True))
    return found


def distributed(key: str, fit: Fitted, origin: Origin, note: str) -> Setting:
    """A key whose value is a fitted distribution."""
    shape = "mean" if fit.is_constant else "shape"
    return Setting(
        key, fit.value, origin, f"{note}; {shape} of {fit.count}, distance {fit.distance:.3f}"
    )
