"""Latency at 10 to 100 % of the throughput (RFC 2544 section 26.2)."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from tailrace.tools.switch.rig import Rig
from tailrace.tools.switch.trial import Latency, Trial

SHARES = tuple(range(10, 101, 10))
"""Percent of the throughput; RFC 2544 asks for 100 alone."""


@dataclass(frozen=True)
class LatencyPoint:
    """Latency at one rate."""

    percent: int
    fps: float
    latency: Latency | None
    """Of the trial; the mean over several."""
    switch_ns: float | None
    """The mean without what an empty path takes (RFC 1242 section 3.8); None where that is not
    known."""
    loss_ratio: float
    invalid: bool

    def as_data(self) -> dict[str, Any]:
        """For the result file."""
        return {
            "percent_of_throughput": self.percent,
            "load_fps": self.fps,
            "latency_ns": None if self.latency is None else asdict(self.latency),
            "switch_latency_ns": self.switch_ns,
            "loss_ratio": self.loss_ratio,
            "invalid": self.invalid,
        }


def find_latency(
    rig: Rig, size: int, throughput_fps: float, duration_s: float, repeats: int
) -> Iterator[LatencyPoint]:
    """A point for each share, the lowest first."""
    empty_ns = rig.device.latency_ns(size)
    for percent in SHARES:
        fps = throughput_fps * percent / 100
        trials = [rig.at_fps(size, fps, duration_s) for _ in range(repeats)]
        latency = _mean([trial.latency for trial in trials if trial.latency is not None])
        own = None if latency is None or empty_ns is None else round(latency.mean - empty_ns, 3)
        yield LatencyPoint(
            percent,
            trials[0].request.fps,
            latency,
            own,
            _loss(trials),
            any(t.invalid for t in trials),
        )


def _mean(found: list[Latency]) -> Latency | None:
    """RFC 2544: the average of the reported values."""
    if not found:
        return None
    return Latency(
        **{key: fmean(getattr(one, key) for one in found) for key in Latency.__dataclass_fields__}
    )


def _loss(trials: list[Trial]) -> float:
    offered = sum(trial.offered for trial in trials)
    return sum(trial.lost for trial in trials) / offered if offered else 0.0
