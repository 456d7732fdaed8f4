"""Runs trials on a device; those that the machine invalid are repeated, and all are counted."""

from dataclasses import dataclass, field

from tailrace.tools.switch.frames import PS_PER_S, interval_ps
from tailrace.tools.switch.trial import Device, Trial, TrialRequest

REPEATS_MAX = 2
"""An invalid trial is repeated so often; then it counts, and the result says so."""
REPEATS_IN_ALL = 60
"""So many of one measurement are, which keeps it within its time on a busy machine."""


@dataclass
class Rig:
    """A device with its count of trials."""

    device: Device
    trials: list[Trial] = field(default_factory=list)
    """Every trial, in order; invalid ones that were repeated as well."""
    repeats_left: int = REPEATS_IN_ALL
    most_fps: dict[int, float] = field(default_factory=dict)
    """By size, the largest rate that the sender reached."""

    def at_interval(self, size: int, interval: int, duration_s: float) -> Trial:
        """A trial of this length."""
        return self.run(TrialRequest.at(size, interval, duration_s))

    def at_fps(self, size: int, fps: float, duration_s: float) -> Trial:
        """The same at a rate; never faster than the line."""
        interval = max(round(PS_PER_S / fps), interval_ps(size, self.device.rate_bps))
        return self.at_interval(size, interval, duration_s)

    def run(self, request: TrialRequest) -> Trial:
        """A trial, repeated while it is invalid."""
        trial = self._once(request)
        for _ in range(REPEATS_MAX):
            if not trial.invalid or self.repeats_left == 0:
                break
            self.repeats_left -= 1
            trial = self._once(request)
        size = request.frame_bytes
        self.most_fps[size] = max(self.most_fps.get(size, 0.0), trial.offered_fps)
        return trial

    def _once(self, request: TrialRequest) -> Trial:
        trial = self.device.run(request)
        self.trials.append(trial)
        return trial

    @property
    def invalid(self) -> int:
        """Trials that the machine invalid."""
        return sum(1 for trial in self.trials if trial.invalid)
