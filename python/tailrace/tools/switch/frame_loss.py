"""Frame loss from the largest rate downwards (RFC 2544 section 26.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tailrace.tools.switch.rig import Rig

STEP_PERCENT = 10
ZERO_LOSS_TRIALS = 2
"""The curve ends when two trials in succession have lost nothing."""


@dataclass(frozen=True)
class LossPoint:
    """Loss at one rate."""

    percent: int
    """Of the largest rate: that of the line, or of the sender where it does not reach it."""
    offered_fps: float
    loss_ratio: float
    reordered: int
    duplicates: int
    invalid: bool

    def as_data(self) -> dict[str, Any]:
        """For the result file."""
        return {
            "percent_of_maximum": self.percent,
            "offered_load_fps": self.offered_fps,
            "loss_ratio": self.loss_ratio,
            "reordered": self.reordered,
            "duplicates": self.duplicates,
            "invalid": self.invalid,
        }


def find_loss(rig: Rig, size: int, most_fps: float, duration_s: float) -> Iterator[LossPoint]:
    """A point for each step, the largest rate first."""
    clean = 0
    for percent in range(100, 0, -STEP_PERCENT):
        trial = rig.at_fps(size, most_fps * percent / 100, duration_s)
        yield LossPoint(
            percent,
            trial.offered_fps,
            trial.loss_ratio,
            trial.reordered,
            trial.duplicates,
            bool(trial.invalid),
        )
        clean = 0 if trial.lost else clean + 1
        if clean == ZERO_LOSS_TRIALS:
            return
