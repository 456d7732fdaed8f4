"""A switch with a rate and a buffer, and a sender with a limit: what each test must find is
known."""

from dataclasses import dataclass, field
from typing import Any

from tailrace.tools.switch.frames import theoretical_fps
from tailrace.tools.switch.trial import Latency, Trial, TrialRequest


@dataclass
class FakeSwitch:
    """Forwards `fps` frames a second and holds `buffer_frames`; the sender reaches
    `sender_limit_fps`."""

    fps: float
    buffer_frames: int = 0
    sender_limit_fps: float = float("inf")
    is_simulated: bool = True
    rate_bps: int = 10**10
    mtu: int = 9000
    invalid: list[str] = field(default_factory=list)
    """What the machine does to the next trials, in order."""
    base_loss: float = 0.0
    """Share of all frames that is lost at any rate."""
    blocked_share: float = 0.0
    requests: list[TrialRequest] = field(default_factory=list)
    title: str = "a fake switch"

    @property
    def facts(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def run(self, request: TrialRequest) -> Trial:
        """By arithmetic."""
        self.requests.append(request)
        rate = min(
            request.fps,
            self.sender_limit_fps,
            theoretical_fps(request.frame_bytes, self.rate_bps) * 1.001,
        )
        offered = round(request.frames * rate / request.fps)
        carried = int(self.fps * request.duration_s) + self.buffer_frames
        forwarded = min(offered, carried) - int(offered * self.base_loss)
        latency = Latency(1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0)
        invalid = self.invalid.pop(0) if self.invalid else ""
        return Trial(
            request,
            offered,
            forwarded,
            request.duration_s,
            latency=latency,
            invalid=invalid,
            blocked_share=self.blocked_share,
        )

    def sender_fps(self, frame_bytes: int) -> float | None:
        """Its limit, where it has one."""
        return None if self.sender_limit_fps == float("inf") else self.sender_limit_fps

    def latency_ns(self, frame_bytes: int) -> float | None:
        """Of the empty path."""
        return 0.5
