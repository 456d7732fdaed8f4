"""One trial: frames of one size at one rate for some time, and what became of them."""

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from tailrace.tools.switch.frames import PS_PER_S

SHORTFALL = 0.005
"""A sender that offers this share less than it was asked for did not reach the rate."""


HELD_UP_SHARE = 0.1
"""A sender that finds no room in more of its calls waits for the switch."""


@dataclass(frozen=True)
class TrialRequest:
    """What a trial is to do."""

    frame_bytes: int
    interval_ps: int
    frames: int

    @classmethod
    def at(cls, frame_bytes: int, interval_ps: int, duration_s: float) -> "TrialRequest":
        """At an interval for some time; at least one frame."""
        return cls(frame_bytes, interval_ps, max(1, int(duration_s * PS_PER_S) // interval_ps))

    @property
    def fps(self) -> float:
        """Intended load, frames per second."""
        return PS_PER_S / self.interval_ps

    @property
    def duration_s(self) -> float:
        """Intended duration."""
        return self.frames * self.interval_ps / PS_PER_S


@dataclass(frozen=True)
class Latency:
    """One-way latencies of all frames of a trial, in ns."""

    min: float
    mean: float
    p50: float
    p90: float
    p99: float
    p99_9: float
    max: float


@dataclass(frozen=True)
class Trial:
    """What became of the frames of a request. The words are those of RFC 2544, RFC 2285 and RFC
    4737."""

    request: TrialRequest
    offered: int
    """Frames that were sent."""
    forwarded: int
    """Different frames that arrived."""
    sending_s: float
    """How long the sender was at work."""
    duplicates: int = 0
    reordered: int = 0
    latency: Latency | None = None
    paused_s: float = 0.0
    """How long the sender was away meanwhile; it did not make up for it."""
    blocked_share: float = 0.0
    """Share of the sender's calls in which the switch had no room for all frames that were due."""
    invalid: str = ""
    """What the machine did that no switch is to blame for; empty for a sound trial."""

    @property
    def lost(self) -> int:
        """Frames that were sent and did not arrive."""
        return self.offered - self.forwarded

    @property
    def loss_ratio(self) -> float:
        """RFC 2544 section 26.3."""
        return self.lost / self.offered if self.offered else 0.0

    @property
    def is_short(self) -> bool:
        """Whether the sender did not reach the rate that it was asked for."""
        at_work = 1 - self.paused_s / max(self.request.duration_s, self.paused_s, 1e-9)
        return self.offered < self.request.frames * at_work * (1 - SHORTFALL)

    @property
    def is_held_up(self) -> bool:
        """Whether the switch, and not the sender, is the reason for a shortfall: it did not empty
        its ring in time."""
        return self.is_short and self.blocked_share > HELD_UP_SHARE

    @property
    def offered_fps(self) -> float:
        """Offered load: what was intended, or what the sender reached."""
        if not self.is_short:
            return self.request.fps
        return self.offered / max(
            max(self.sending_s, self.request.duration_s) - self.paused_s, 1e-9
        )

    @property
    def forwarded_fps(self) -> float:
        """Forwarding rate (RFC 2285 section 3.6.1)."""
        return self.offered_fps * (1 - self.loss_ratio)

    def as_data(self) -> dict[str, Any]:
        """For the result file."""
        return {
            "frame_bytes": self.request.frame_bytes,
            "intended_load_fps": self.request.fps,
            "intended_count": self.request.frames,
            "intended_duration_s": self.request.duration_s,
            "offered_count": self.offered,
            "offered_load_fps": self.offered_fps,
            "forwarding_count": self.forwarded,
            "loss_count": self.lost,
            "loss_ratio": self.loss_ratio,
            "duplicates": self.duplicates,
            "reordered": self.reordered,
            "latency_ns": None if self.latency is None else asdict(self.latency),
            "held_up_by_the_switch": self.is_held_up,
            "invalid": self.invalid or None,
        }


class Device(Protocol):
    """A switch between a sender and a receiver."""

    @property
    def title(self) -> str:
        """What it is, for people."""
        ...

    @property
    def rate_bps(self) -> int:
        """Rate of the line that the result is compared with."""
        ...

    @property
    def is_simulated(self) -> bool:
        """Whether the same trial always has the same result, and its time is not that of a
        clock."""
        ...

    @property
    def mtu(self) -> int:
        """The largest MTU of the path."""
        ...

    @property
    def facts(self) -> dict[str, Any]:
        """What the result file keeps of it."""
        ...

    def run(self, request: TrialRequest) -> Trial:
        """Runs one trial."""
        ...

    def sender_fps(self, frame_bytes: int) -> float | None:
        """What the sender reaches by itself, without a switch; None where nothing limits it but the
        line."""
        ...

    def latency_ns(self, frame_bytes: int) -> float | None:
        """Latency of an empty path without the switch's own; None where it is not known."""
        ...
